/* cel_text: the functions of texts that Kubernetes adds (cel-go ext/strings.go, library/regex.go). */
#include <string.h>

#include "alm/obj/cel/cel_table.h"
#include "alm/obj/regex/regex.h"

#define ITEMS_MAX       100000
#define STEPS_OF_A_UNIT 10

/* The byte offset of code point i; false past the end. */
static bool offset_of(struct str s, int64_t i, size_t *ret)
{
	size_t at = 0;
	uint32_t rune;
	for (; i > 0 && at < s.len; i--) {
		size_t n = utf8_decode(str_skip(s, at), &rune);
		at += n ? n : 1;
	}
	*ret = at;
	return i == 0;
}

CEL_FN(contains)
{
	if (!cel_spend(c, v[0].str.len / 10 + v[0].str.len * v[1].str.len / 1000))
		return cel_over_budget(c);
	return cel_bool(v[1].str.len == 0 || str_contains(v[0].str, v[1].str));
}

CEL_FN(starts_with)
{
	return cel_bool(str_has_prefix(v[0].str, v[1].str));
}

CEL_FN(ends_with)
{
	return cel_bool(str_has_suffix(v[0].str, v[1].str));
}

/* As upstream by the lengths of both; what the pattern really takes counts when that is more. */
CEL_FN(matches)
{
	struct error err = ERROR_INIT;
	uint64_t steps = c->budget->left < REGEX_STEPS_MAX / STEPS_OF_A_UNIT
				 ? c->budget->left * STEPS_OF_A_UNIT
				 : REGEX_STEPS_MAX;
	uint64_t all = steps, usual = 10 + v[0].str.len / 10 * (1 + v[1].str.len / 4);
	int r = regex_matches(v[1].str, v[0].str, &steps, &err);
	uint64_t taken = (all - steps) / STEPS_OF_A_UNIT;
	if (!cel_spend(c, taken > usual ? taken : usual) || r == REGEX_LIMIT) {
		c->budget->over = true;
		return cel_over_budget(c);
	}
	return r < 0 ? cel_error(c->a, "%s", err.msg) : cel_bool(r == REGEX_YES);
}

/* The first match of the pattern, or "". */
CEL_FN(find_match)
{
	CLEANUP(regex_freep) struct regex *re = NULL;
	struct error err = ERROR_INIT;
	size_t at[2 * (REGEX_GROUPS_MAX + 1)];
	uint64_t steps = REGEX_STEPS_MAX, all = steps;
	if (regex_new(v[1].str, &re, &err) < 0)
		return cel_error(c->a, "%s", err.msg);
	enum regex_result r = regex_match(re, v[0].str, 0, at, &steps);
	if (!cel_spend(c, v[1].str.len + (all - steps) / STEPS_OF_A_UNIT +
				  v[0].str.len / 10 * (1 + v[1].str.len / 4)) ||
	    r == REGEX_LIMIT) {
		c->budget->over = true;
		return cel_over_budget(c);
	}
	return cel_string(r == REGEX_YES ? str_sub(v[0].str, at[0], at[1] - at[0]) : STR(""));
}

static struct cel_value each_char(struct str s, char (*fn)(char ch), struct cel_call *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	for (size_t i = 0; i < s.len; i++)
		strbuf_addc(&b, fn(s.ptr[i]));
	return cel_built(&b, c);
}

CEL_FN(lower)
{
	return each_char(v[0].str, char_lower, c);
}

CEL_FN(upper)
{
	return each_char(v[0].str, char_upper, c);
}

CEL_FN(trim)
{
	return cel_string(str_trim(v[0].str));
}

static struct cel_value join_with(const struct cel_value *list, struct str sep, struct cel_call *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	for (size_t i = 0; i < cel_size(list); i++) {
		struct cel_value item = cel_item(list, i, c->a);
		if (item.kind != CEL_STRING)
			return cel_error(c->a, "no such overload");
		if (i > 0)
			strbuf_addstr(&b, sep);
		strbuf_addstr(&b, item.str);
	}
	return cel_built(&b, c);
}

CEL_FN(join)
{
	return join_with(&v[0], STR(""), c);
}

CEL_FN(join_by)
{
	return join_with(&v[0], v[1].str, c);
}

CEL_FN(substring_between)
{
	size_t from = 0, to = 0;
	if (v[1].i > v[2].i)
		return cel_error(c->a, "invalid substring range. start: %lld, end: %lld",
				 (long long)v[1].i, (long long)v[2].i);
	if (v[1].i < 0 || !offset_of(v[0].str, v[1].i, &from))
		return cel_error(c->a, "index out of range: %lld", (long long)v[1].i);
	if (!offset_of(v[0].str, v[2].i, &to))
		return cel_error(c->a, "index out of range: %lld", (long long)v[2].i);
	return cel_string(str_sub(v[0].str, from, to - from));
}

CEL_FN(substring_from)
{
	int64_t n = (int64_t)utf8_count(v[0].str);
	struct cel_value args[] = {v[0], v[1], cel_int(n)};
	if (v[1].i > n)
		return cel_error(c->a, "index out of range: %lld", (long long)v[1].i);
	return substring_between(args, c);
}

CEL_FN(index_of_text)
{
	ptrdiff_t at = str_find(v[0].str, v[1].str);
	return cel_int(at < 0 ? -1 : (int64_t)utf8_count(str_sub(v[0].str, 0, (size_t)at)));
}

CEL_FN(char_at)
{
	size_t from, to;
	if (v[1].i < 0 || !offset_of(v[0].str, v[1].i, &from))
		return cel_error(c->a, "index out of range: %lld", (long long)v[1].i);
	(void)offset_of(str_skip(v[0].str, from), 1, &to);
	return cel_string(str_sub(v[0].str, from, to));
}

static int64_t runes_before(struct str s, size_t at)
{
	return (int64_t)utf8_count(str_sub(s, 0, at));
}

CEL_FN(index_from)
{
	size_t from;
	if (v[2].i < 0 || !offset_of(v[0].str, v[2].i, &from))
		return cel_error(c->a, "index out of range: %lld", (long long)v[2].i);
	ptrdiff_t at = str_find(str_skip(v[0].str, from), v[1].str);
	return cel_int(at < 0 ? -1 : runes_before(v[0].str, from + (size_t)at));
}

/* The last one that begins at this byte or before. */
static int64_t last_index(struct str s, struct str x, size_t from, struct cel_call *c)
{
	for (size_t at = from + 1; at > 0; at--)
		if (x.len <= s.len - (at - 1) && cel_spend(c, 1) &&
		    memcmp(s.ptr + at - 1, x.ptr, x.len) == 0)
			return runes_before(s, at - 1);
	return -1;
}

CEL_FN(last_index_of)
{
	if (v[1].str.len == 0)
		return cel_int((int64_t)utf8_count(v[0].str));
	if (v[1].str.len > v[0].str.len)
		return cel_int(-1);
	int64_t at = last_index(v[0].str, v[1].str, v[0].str.len - v[1].str.len, c);
	return c->budget->over ? cel_over_budget(c) : cel_int(at);
}

CEL_FN(last_index_from)
{
	size_t from;
	if (v[2].i < 0 || !offset_of(v[0].str, v[2].i, &from))
		return cel_error(c->a, "index out of range: %lld", (long long)v[2].i);
	if (v[1].str.len == 0)
		return cel_int(v[2].i);
	if (v[0].str.len == 0)
		return cel_int(-1);
	from = from < v[0].str.len ? from : v[0].str.len - 1;
	int64_t at = last_index(v[0].str, v[1].str, from, c);
	return c->budget->over ? cel_over_budget(c) : cel_int(at);
}

/* Go's strings.Replace: an empty text is before each character, and at the end. */
CEL_FN(replace)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	struct str rest = v[0].str, old = v[1].str;
	int64_t left = v[3].i < 0 ? INT64_MAX : v[3].i;
	if (!cel_spend(c, rest.len / 10))
		return cel_over_budget(c);
	for (bool first = true; left > 0 && !b.over; left--, first = false) {
		size_t keep = 0;
		if (old.len == 0 && !first && rest.len == 0)
			break;
		if (old.len == 0 && !first)
			(void)offset_of(rest, 1, &keep);
		ptrdiff_t at = old.len ? str_find(rest, old) : (ptrdiff_t)keep;
		if (at < 0)
			break;
		strbuf_addstr(&b, str_sub(rest, 0, (size_t)at));
		strbuf_addstr(&b, v[2].str);
		rest = str_skip(rest, (size_t)at + old.len);
	}
	strbuf_addstr(&b, rest);
	return cel_built(&b, c);
}

CEL_FN(replace_all)
{
	const struct cel_value args[] = {v[0], v[1], v[2], cel_int(-1)};
	return replace(args, c);
}

/* --- lists of texts --- */

struct texts {
	struct cel_value *items;
	size_t n, cap;
};

static bool add_text(struct texts *l, struct str s, struct cel_call *c)
{
	if (l->n == ITEMS_MAX || !cel_spend(c, 1))
		return false;
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct cel_value *wider = ARENA_ARRAY(c->a, struct cel_value, cap);
		if (l->n)
			memcpy(wider, l->items, l->n * sizeof(*wider));
		l->items = wider;
		l->cap = cap;
	}
	l->items[l->n++] = cel_string(s);
	return true;
}

static struct cel_value list_of(const struct texts *l)
{
	struct cel_value r = {.kind = CEL_LIST};
	r.list.items = l->items;
	r.list.n = l->n;
	return r;
}

CEL_FN(split_n)
{
	struct texts l = {0};
	struct str rest = v[0].str, sep = v[1].str;
	int64_t max = v[2].i;
	while (max != 0) {
		size_t one = 0;
		(void)offset_of(rest, 1, &one);
		ptrdiff_t at = sep.len ? str_find(rest, sep) : rest.len > one ? (ptrdiff_t)one : -1;
		bool last = at < 0 || (max > 0 && l.n + 1 == (size_t)max);
		if (!sep.len && rest.len == 0)
			break;
		if (!add_text(&l, last ? rest : str_sub(rest, 0, (size_t)at), c))
			return cel_over_budget(c);
		if (last)
			break;
		rest = str_skip(rest, (size_t)at + sep.len);
	}
	return list_of(&l);
}

CEL_FN(split)
{
	const struct cel_value args[] = {v[0], v[1], cel_int(-1)};
	return split_n(args, c);
}

/* Every match of the pattern, or the first ones. */
CEL_FN(find_some)
{
	CLEANUP(regex_freep) struct regex *re = NULL;
	struct error err = ERROR_INIT;
	struct texts l = {0};
	size_t at[2 * (REGEX_GROUPS_MAX + 1)], from = 0;
	uint64_t steps = REGEX_STEPS_MAX, all = steps;
	enum regex_result r = REGEX_NO;
	if (regex_new(v[1].str, &re, &err) < 0)
		return cel_error(c->a, "%s", err.msg);
	while (from <= v[0].str.len && (v[2].i < 0 || l.n < (size_t)v[2].i) &&
	       (r = regex_match(re, v[0].str, from, at, &steps)) == REGEX_YES) {
		if (!add_text(&l, str_sub(v[0].str, at[0], at[1] - at[0]), c))
			return cel_over_budget(c);
		size_t one = 1;
		if (at[1] == at[0])
			(void)offset_of(str_skip(v[0].str, at[1]), 1, &one);
		from = at[1] > at[0] ? at[1] : at[1] + (one ? one : 1);
	}
	if (!cel_spend(c, v[1].str.len + (all - steps) / STEPS_OF_A_UNIT +
				  v[0].str.len / 10 * (1 + v[1].str.len / 4)) ||
	    r == REGEX_LIMIT) {
		c->budget->over = true;
		return cel_over_budget(c);
	}
	return list_of(&l);
}

CEL_FN(find_all)
{
	const struct cel_value args[] = {v[0], v[1], cel_int(-1)};
	return find_some(args, c);
}

/* A key as a step of a JSON pointer. */
CEL_FN(escape_key)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_BYTES_MAX);
	if (!cel_spend(c, v[0].str.len))
		return cel_over_budget(c);
	for (size_t i = 0; i < v[0].str.len; i++) {
		char ch = v[0].str.ptr[i];
		if (ch == '~' || ch == '/')
			strbuf_adds(&b, ch == '~' ? "~0" : "~1");
		else
			strbuf_addc(&b, ch);
	}
	return cel_built(&b, c);
}

/* clang-format off */
const struct cel_overload cel_text_fns[] = {
	{"jsonpatch.escapeKey", "s", 's', 'g', escape_key},
	{"contains", "ss", 'b', 'm', contains}, {"startsWith", "ss", 'b', 'm', starts_with},
	{"endsWith", "ss", 'b', 'm', ends_with}, {"matches", "ss", 'b', '*', matches},
	{"find", "ss", 's', 'm', find_match}, {"lowerAscii", "s", 's', 'm', lower}, {"upperAscii", "s", 's', 'm', upper},
	{"trim", "s", 's', 'm', trim}, {"join", "l", 's', 'm', join}, {"join", "ls", 's', 'm', join_by},
	{"substring", "si", 's', 'm', substring_from}, {"substring", "sii", 's', 'm', substring_between},
	{"indexOf", "ss", 'i', 'm', index_of_text},
	{"charAt", "si", 's', 'm', char_at}, {"indexOf", "ssi", 'i', 'm', index_from},
	{"lastIndexOf", "ss", 'i', 'm', last_index_of}, {"lastIndexOf", "ssi", 'i', 'm', last_index_from},
	{"replace", "sss", 's', 'm', replace_all}, {"replace", "sssi", 's', 'm', replace},
	{"split", "ss", 'l', 'm', split}, {"split", "ssi", 'l', 'm', split_n},
	{"findAll", "ss", 'l', 'm', find_all}, {"findAll", "ssi", 'l', 'm', find_some},
	{0},
};
/* clang-format on */
