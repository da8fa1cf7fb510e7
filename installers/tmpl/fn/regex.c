/*
 * regex: the regex functions, on alm/obj/regex/regex.h. A limit that a pattern runs into ends the
 * render, it is never "no match".
 */
#include <string.h>

#include "alm/obj/regex/regex.h"
#include "installers/tmpl/fn/fn.h"
#include "installers/tmpl/run.h"
#include "installers/value/print.h"
#include "installers/value/regex_expand.h"
#include "installers/value/unicode.h"

#define MATCH_STEPS_MAX UINT64_C(100000000)
#define STEPS_OF_A_STEP 16 /* of the render: both about 80 ns then */
#define OUT_MAX         ((size_t)1 << 20)

/* A pattern of the render; kept, also when it is none. */
struct pattern {
	struct regex *re; /* NULL: not a pattern, msg says why */
	struct str text, msg;
	size_t *at; /* of the last match: start and end, of it and of its groups */
};

static void pattern_release(void *p)
{
	struct pattern *re = p;
	regex_free(re->re);
}

/* A pattern is compiled once a render. */
static int get_pattern(struct tmpl_run *run, struct str text, struct pattern **ret)
{
	struct pattern *p = table_get(&run->regexes, text);
	if (p) {
		*ret = p;
		return 0;
	}
	struct arena *a = tmpl_arena(run);
	p = ARENA_NEW(a, struct pattern);
	arena_defer(a, pattern_release, p);
	p->text = text;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(OUT_MAX);
	int r = regex_new_msg(text, &p->re, &msg);
	if (r == -E_LIMIT)
		return tmpl_fail_code(run, E_LIMIT, "RenderLimit: %s", msg.buf);
	if (r < 0)
		p->msg = value_text(value_take(a, &msg)); /* an answer too, and kept */
	else
		p->at = ARENA_ARRAY(a, size_t, 2 * (regex_groups(p->re) + 1));
	table_set(&run->regexes, text, p);
	*ret = p;
	return 0;
}

/* must: the bare message; else that of Go's MustCompile. */
static int want_pattern(struct tmpl_run *run, struct str text, bool must, struct pattern **ret)
{
	int r = get_pattern(run, text, ret);
	if (r < 0 || (*ret)->re)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUT_MAX);
	if (!must) {
		bool back = quote_can_backquote(text);
		strbuf_adds(&b, "regexp: Compile(");
		if (back) {
			strbuf_addc(&b, '`');
			strbuf_addstr(&b, text);
			strbuf_addc(&b, '`');
		} else {
			value_quote(&b, text);
		}
		strbuf_adds(&b, "): ");
	}
	strbuf_addstr(&b, (*ret)->msg);
	return tmpl_fail_str(run, strbuf_str(&b));
}

/* 1: a match at or after pos, its places in at, which may be NULL; 0: none. */
static int match_at(struct tmpl_run *run, struct pattern *p, struct str s, size_t pos, size_t *at)
{
	uint64_t left = MATCH_STEPS_MAX;
	enum regex_result m = regex_match(p->re, s, pos, at, &left);
	if (m == REGEX_LIMIT)
		return tmpl_fail_code(
			run, E_LIMIT,
			"RenderLimit: a regular expression needs more than %llu steps or too much "
			"memory for its groups",
			(unsigned long long)MATCH_STEPS_MAX);
	int r = tmpl_want_steps(run, STEPS_OF_A_STEP + (MATCH_STEPS_MAX - left) / STEPS_OF_A_STEP);
	return r < 0 ? r : m == REGEX_YES;
}

static size_t rune_width(struct str s, size_t pos)
{
	uint32_t r;
	return rune_next(str_skip(s, pos), &r);
}

struct span {
	size_t from, to;
};

struct spans {
	struct span *items;
	size_t n, cap;
};

static void add_span(struct spans *list, size_t from, size_t to)
{
	ARRAY_GROW(list->items, list->cap, list->n + 1);
	list->items[list->n++] = (struct span){from, to};
}

static void spans_release(struct spans *list)
{
	xfree(list->items);
}

/* All matches, at most max (negative: all); an empty one right after another does not count. */
static int find_all(struct tmpl_run *run, struct pattern *p, struct str s, int64_t max,
		    struct spans *list)
{
	size_t pos = 0;
	ptrdiff_t prev = -1;
	while (pos <= s.len && (max < 0 || list->n < (uint64_t)max)) {
		const size_t *at = p->at;
		int r = match_at(run, p, s, pos, p->at);
		if (r <= 0)
			return r;
		bool accept = true;
		size_t from = at[0], to = at[1];
		if (to == pos) {
			accept = (ptrdiff_t)from != prev;
			size_t width = rune_width(s, pos);
			pos = width ? pos + width : s.len + 1;
		} else {
			pos = to;
		}
		prev = (ptrdiff_t)to;
		if (accept)
			add_span(list, from, to);
		r = tmpl_want_list(run, list->n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- match, find ---- */
static int match_any(struct tmpl_run *run, struct pattern *p, struct str s, struct value *ret)
{
	int r = match_at(run, p, s, 0, NULL);
	*ret = value_bool(r > 0);
	return r < 0 ? r : 0;
}

FN(fn_regex_match)
{
	(void)n;
	struct pattern *p;
	int r = get_pattern(run, value_text(args[0]), &p);
	*ret = value_bool(false);
	return r < 0 || !p->re ? r : match_any(run, p, value_text(args[1]), ret);
}

FN(fn_must_regex_match)
{
	(void)n;
	struct pattern *p;
	int r = want_pattern(run, value_text(args[0]), true, &p);
	return r < 0 ? r : match_any(run, p, value_text(args[1]), ret);
}

static int find(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	struct pattern *p;
	struct str s = value_text(args[1]);
	int r = want_pattern(run, value_text(args[0]), must, &p);
	if (r < 0)
		return r;
	r = match_at(run, p, s, 0, p->at);
	*ret = value_str(r > 0 ? str_sub(s, p->at[0], p->at[1] - p->at[0]) : STR(""));
	return r < 0 ? r : 0;
}

FN(fn_regex_find)
{
	(void)n;
	return find(run, args, false, ret);
}

FN(fn_must_regex_find)
{
	(void)n;
	return find(run, args, true, ret);
}

static int find_list(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	struct pattern *p;
	struct str s = value_text(args[1]);
	int r = want_pattern(run, value_text(args[0]), must, &p);
	if (r < 0)
		return r;
	CLEANUP(spans_release) struct spans list = {0};
	r = find_all(run, p, s, args[2].i, &list);
	if (r < 0)
		return r;
	*ret = (struct value){.type = VALUE_STRINGS};
	if (list.n == 0)
		return 0;
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, list.n);
	for (size_t i = 0; i < list.n; i++)
		ret->items[i] = value_str(
			str_sub(s, list.items[i].from, list.items[i].to - list.items[i].from));
	return 0;
}

FN(fn_regex_find_all)
{
	(void)n;
	return find_list(run, args, false, ret);
}

FN(fn_must_regex_find_all)
{
	(void)n;
	return find_list(run, args, true, ret);
}

/* ---- replace ---- */

static int replace(struct tmpl_run *run, const struct value *args, bool must, bool literal,
		   struct value *ret)
{
	struct pattern *p;
	struct str s = value_text(args[1]), with = value_text(args[2]);
	int r = want_pattern(run, value_text(args[0]), must, &p);
	if (r < 0)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	size_t pos = 0, last = 0;
	while (pos <= s.len && !b.over) {
		r = match_at(run, p, s, pos, p->at);
		if (r <= 0)
			break;
		size_t from = p->at[0], to = p->at[1];
		strbuf_add(&b, s.ptr + last, from - last);
		if (to > last || from == 0) {
			if (literal)
				strbuf_addstr(&b, with);
			else
				regex_expand(p->re, p->at, with, s, &b);
		}
		last = to;
		size_t width = rune_width(s, pos);
		if (pos + width > to)
			pos += width;
		else
			pos = pos + 1 > to ? pos + 1 : to;
	}
	if (r < 0)
		return r;
	strbuf_addstr(&b, str_skip(s, last));
	return tmpl_return(run, &b, ret);
}

FN(fn_regex_replace_all)
{
	(void)n;
	return replace(run, args, false, false, ret);
}

FN(fn_must_regex_replace_all)
{
	(void)n;
	return replace(run, args, true, false, ret);
}

FN(fn_regex_replace_all_literal)
{
	(void)n;
	return replace(run, args, false, true, ret);
}

FN(fn_must_regex_replace_all_literal)
{
	(void)n;
	return replace(run, args, true, true, ret);
}

/* ---- split, quote ---- */
static int split(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	struct pattern *p;
	struct str s = value_text(args[1]);
	int64_t max = args[2].i;
	int r = want_pattern(run, value_text(args[0]), must, &p);
	if (r < 0)
		return r;
	*ret = (struct value){.type = VALUE_STRINGS};
	if (max == 0)
		return 0;
	if (p->text.len && !s.len) {
		*ret = value_list(tmpl_arena(run), VALUE_STRINGS, 1);
		ret->items[0] = value_str(STR(""));
		return 0;
	}
	CLEANUP(spans_release) struct spans list = {0};
	r = find_all(run, p, s, max, &list);
	if (r < 0)
		return r;
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, list.n + 1);
	size_t from = 0, end = 0, kept = 0;
	for (size_t i = 0; i < list.n; i++) {
		if (max > 0 && kept == (uint64_t)max - 1)
			break;
		end = list.items[i].from;
		if (list.items[i].to != 0)
			ret->items[kept++] = value_str(str_sub(s, from, end - from));
		from = list.items[i].to;
	}
	if (end != s.len)
		ret->items[kept++] = value_str(str_skip(s, from));
	ret->len = (uint32_t)kept;
	return 0;
}

FN(fn_regex_split)
{
	(void)n;
	return split(run, args, false, ret);
}

FN(fn_must_regex_split)
{
	(void)n;
	return split(run, args, true, ret);
}

FN(fn_regex_quote_meta)
{
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] && strchr("\\.+*?()|[]{}^$", s.ptr[i]))
			strbuf_addc(&b, '\\');
		strbuf_addc(&b, s.ptr[i]);
	}
	return tmpl_return(run, &b, ret);
}

/* clang-format off */
const struct tmpl_func tmpl_fn_regex[] = {
	{"regexMatch", "ss:b", fn_regex_match, 0},
	{"mustRegexMatch", "ss:b", fn_must_regex_match, 0},
	{"regexFind", "ss:s", fn_regex_find, 0},
	{"mustRegexFind", "ss:s", fn_must_regex_find, 0},
	{"regexFindAll", "ssi:S", fn_regex_find_all, 0},
	{"mustRegexFindAll", "ssi:S", fn_must_regex_find_all, 0},
	{"regexReplaceAll", "sss:s", fn_regex_replace_all, 0},
	{"mustRegexReplaceAll", "sss:s", fn_must_regex_replace_all, 0},
	{"regexReplaceAllLiteral", "sss:s", fn_regex_replace_all_literal, 0},
	{"mustRegexReplaceAllLiteral", "sss:s", fn_must_regex_replace_all_literal, 0},
	{"regexSplit", "ssi:S", fn_regex_split, 0},
	{"mustRegexSplit", "ssi:S", fn_must_regex_split, 0},
	{"regexQuoteMeta", "s:s", fn_regex_quote_meta, 0},
	{0},
};
/* clang-format on */
