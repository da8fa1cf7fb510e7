/*
 * regex: the regex functions. Patterns go through regex_syntax into PCRE2; a limit that PCRE2 runs
 * into ends the render, it is never "no match".
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "installers/tmpl/print.h"
#include "installers/tmpl/regex_syntax.h"
#include "installers/tmpl/run.h"
#include "installers/tmpl/unicode.h"

#define MATCH_LIMIT    10000000
#define DEPTH_LIMIT    10000
#define HEAP_LIMIT_KIB 20480
#define OUT_MAX        ((size_t)1 << 20)

struct regex {
	pcre2_code *code; /* NULL: not a pattern, msg says why */
	pcre2_match_data *match;
	pcre2_match_context *context;
	struct regex_names names;
	struct str pattern, msg;
};

static void regex_release(void *p)
{
	struct regex *re = p;
	pcre2_code_free(re->code);
	pcre2_match_data_free(re->match);
	pcre2_match_context_free(re->context);
}

static bool has_class(struct str name)
{
	char text[80] = "\\p{";
	int error;
	PCRE2_SIZE at;
	if (name.len > 64 || !char_is_upper(name.ptr[0]))
		return false;
	memcpy(text + 3, name.ptr, name.len);
	text[3 + name.len] = '}';
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)text, name.len + 4, PCRE2_UTF, &error, &at, NULL);
	pcre2_code_free(code);
	return code != NULL;
}

static int compile(struct tmpl_run *run, struct regex *re, struct str translated)
{
	int error;
	PCRE2_SIZE at;
	const uint32_t options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	re->code = pcre2_compile((PCRE2_SPTR)translated.ptr, translated.len, options, &error, &at,
				 context);
	pcre2_compile_context_free(context);
	if (!re->code) {
		PCRE2_UCHAR text[128];
		pcre2_get_error_message(error, text, sizeof(text));
		return tmpl_fail_code(run, E_LIMIT,
				      "RenderLimit: a regular expression cannot be compiled: %s",
				      (const char *)text);
	}
	re->match = pcre2_match_data_create_from_pattern(re->code, NULL);
	re->context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(re->context, MATCH_LIMIT);
	pcre2_set_depth_limit(re->context, DEPTH_LIMIT);
	pcre2_set_heap_limit(re->context, HEAP_LIMIT_KIB);
	return 0;
}

/* A pattern is compiled once a render. */
static int get_regex(struct tmpl_run *run, struct str pattern, struct regex **ret)
{
	struct regex *re = table_get(&run->regexes, pattern);
	if (re) {
		*ret = re;
		return 0;
	}
	struct arena *a = tmpl_arena(run);
	re = ARENA_NEW(a, struct regex);
	arena_defer(a, regex_release, re);
	re->pattern = pattern;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(OUT_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(OUT_MAX);
	int r = regex_translate(a, pattern, has_class, &out, &re->names, &msg);
	if (r == -E_LIMIT)
		return tmpl_fail_code(run, E_LIMIT, "%s", msg.buf);
	bool bad = r < 0;
	if (bad)
		re->msg = value_text(value_take(a, &msg)); /* an answer too, and kept */
	else
		r = compile(run, re, strbuf_str(&out));
	if (r < 0 && !bad)
		return r;
	table_set(&run->regexes, pattern, re);
	*ret = re;
	return 0;
}

/* must: the bare message; else that of Go's MustCompile. */
static int want_regex(struct tmpl_run *run, struct str pattern, bool must, struct regex **ret)
{
	int r = get_regex(run, pattern, ret);
	if (r < 0 || (*ret)->code)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUT_MAX);
	if (!must) {
		bool back = quote_can_backquote(pattern);
		strbuf_adds(&b, "regexp: Compile(");
		if (back) {
			strbuf_addc(&b, '`');
			strbuf_addstr(&b, pattern);
			strbuf_addc(&b, '`');
		} else {
			value_quote(&b, pattern);
		}
		strbuf_adds(&b, "): ");
	}
	strbuf_addstr(&b, (*ret)->msg);
	return tmpl_fail_str(run, strbuf_str(&b));
}

/* Go takes an invalid byte for U+FFFD; PCRE2 would match nothing there. So such a text is copied
 * with the byte replaced, and positions are translated. */
struct subject {
	struct str s;    /* as given */
	struct str text; /* as matched */
	size_t *old;     /* offsets in text -> s, with the end; NULL: the same */
	size_t *new;     /* offsets in s -> text */
};

static void subject_init(struct arena *a, struct subject *j, struct str s)
{
	*j = (struct subject){.s = s, .text = s};
	if (utf8_valid(s))
		return;
	char *text = arena_alloc(a, 3 * s.len + 1);
	j->old = ARENA_ARRAY(a, size_t, 3 * s.len + 1);
	j->new = ARENA_ARRAY(a, size_t, s.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		size_t w = rune_next(str_skip(s, i), &r);
		bool bad = w == 1 && r == RUNE_ERROR;
		size_t out = bad ? 3 : w;
		memcpy(text + n, bad ? "\xef\xbf\xbd" : s.ptr + i, out);
		for (size_t k = 0; k < out; k++)
			j->old[n + k] = i + (bad ? 0 : k);
		for (size_t k = 0; k < w; k++)
			j->new[i + k] = n + k;
		n += out;
		i += w;
	}
	j->old[n] = s.len;
	j->new[s.len] = n;
	j->text = str_n(text, n);
}

static int over_limit(struct tmpl_run *run, int rc)
{
	static const char outer[] = "RenderLimit: a regular expression needs more than";
	if (rc == PCRE2_ERROR_DEPTHLIMIT)
		return tmpl_fail_code(run, E_LIMIT, "%s %d steps in each other", outer,
				      DEPTH_LIMIT);
	if (rc == PCRE2_ERROR_HEAPLIMIT)
		return tmpl_fail_code(run, E_LIMIT, "%s %d KiB of memory", outer, HEAP_LIMIT_KIB);
	return tmpl_fail_code(run, E_LIMIT, "%s %d steps", outer, MATCH_LIMIT);
}

/* 1: a match at or after pos, its positions in *ret; 0: none. */
static int match_at(struct tmpl_run *run, struct regex *re, const struct subject *j, size_t pos,
		    const PCRE2_SIZE **ret)
{
	int r = tmpl_want_steps(run, 16);
	if (r < 0)
		return r;
	int rc = pcre2_match(re->code, (PCRE2_SPTR)j->text.ptr, j->text.len,
			     j->new ? j->new[pos] : pos, 0, re->match, re->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc < 0)
		return over_limit(run, rc);
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(re->match);
	size_t n = 2 * (size_t)pcre2_get_ovector_count(re->match);
	for (size_t i = 0; j->old && i < n; i++)
		at[i] = at[i] == PCRE2_UNSET ? at[i] : j->old[at[i]];
	*ret = at;
	return 1;
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
static int find_all(struct tmpl_run *run, struct regex *re, struct str s, int64_t max,
		    struct spans *list)
{
	size_t pos = 0;
	ptrdiff_t prev = -1;
	struct subject j;
	subject_init(tmpl_arena(run), &j, s);
	while (pos <= s.len && (max < 0 || list->n < (uint64_t)max)) {
		const PCRE2_SIZE *at;
		int r = match_at(run, re, &j, pos, &at);
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

#define FN(name) \
	static int name(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)

/* ---- match, find ---- */
static int match_any(struct tmpl_run *run, struct regex *re, struct str s, struct value *ret)
{
	const PCRE2_SIZE *at;
	struct subject j;
	subject_init(tmpl_arena(run), &j, s);
	int r = match_at(run, re, &j, 0, &at);
	*ret = value_bool(r > 0);
	return r < 0 ? r : 0;
}

FN(fn_regex_match)
{
	(void)n;
	struct regex *re;
	int r = get_regex(run, value_text(args[0]), &re);
	*ret = value_bool(false);
	return r < 0 || !re->code ? r : match_any(run, re, value_text(args[1]), ret);
}

FN(fn_must_regex_match)
{
	(void)n;
	struct regex *re;
	int r = want_regex(run, value_text(args[0]), true, &re);
	return r < 0 ? r : match_any(run, re, value_text(args[1]), ret);
}

static int find(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	struct regex *re;
	const PCRE2_SIZE *at;
	struct str s = value_text(args[1]);
	int r = want_regex(run, value_text(args[0]), must, &re);
	if (r < 0)
		return r;
	struct subject j;
	subject_init(tmpl_arena(run), &j, s);
	r = match_at(run, re, &j, 0, &at);
	*ret = value_str(r > 0 ? str_sub(s, at[0], at[1] - at[0]) : STR(""));
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
	struct regex *re;
	struct str s = value_text(args[1]);
	int r = want_regex(run, value_text(args[0]), must, &re);
	if (r < 0)
		return r;
	CLEANUP(spans_release) struct spans list = {0};
	r = find_all(run, re, s, args[2].i, &list);
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
/* The name after a $: bytes used, or 0 if it is none. */
static size_t template_name(struct str t, struct str *ret)
{
	bool brace = t.len && t.ptr[0] == '{';
	struct str s = str_skip(t, brace);
	size_t n = 0;
	uint32_t r;
	for (size_t w; (w = rune_next(str_skip(s, n), &r)) > 0 && rune_is_alnum(r);)
		n += w;
	if (n == 0)
		return 0;
	*ret = str_sub(s, 0, n);
	if (!brace)
		return n;
	return n < s.len && s.ptr[n] == '}' ? n + 2 : 0;
}

/* The group of a name or number; 0 is the whole match, -1 there is none. */
static ptrdiff_t group_of(const struct regex *re, struct str name, const PCRE2_SIZE *at)
{
	int64_t number = -1;
	bool digits = true;
	for (size_t i = 0; i < name.len; i++)
		digits = digits && char_is_digit(name.ptr[i]);
	if (digits && !(name.len > 1 && name.ptr[0] == '0') && name.len < 9 &&
	    str_parse_i64(name, &number))
		return (uint64_t)number <= re->names.n ? (ptrdiff_t)number : -1;
	for (size_t i = 0; i < re->names.n; i++) {
		if (str_eq(re->names.name[i], name) && at[2 * (i + 1)] != PCRE2_UNSET)
			return (ptrdiff_t)i + 1;
	}
	return -1;
}

static void expand(struct strbuf *b, const struct regex *re, struct str t, struct str s,
		   const PCRE2_SIZE *at)
{
	while (t.len && !b->over) {
		ptrdiff_t dollar = str_find_char(t, '$');
		if (dollar < 0)
			break;
		strbuf_add(b, t.ptr, (size_t)dollar);
		t = str_skip(t, (size_t)dollar + 1);
		if (t.len && t.ptr[0] == '$') {
			strbuf_addc(b, '$');
			t = str_skip(t, 1);
			continue;
		}
		struct str name;
		size_t used = template_name(t, &name);
		if (used == 0) {
			strbuf_addc(b, '$');
			continue;
		}
		t = str_skip(t, used);
		ptrdiff_t g = group_of(re, name, at);
		if (g >= 0 && at[2 * g] != PCRE2_UNSET)
			strbuf_addstr(b, str_sub(s, at[2 * g], at[2 * g + 1] - at[2 * g]));
	}
	strbuf_addstr(b, t);
}

static int replace(struct tmpl_run *run, const struct value *args, bool must, bool literal,
		   struct value *ret)
{
	struct regex *re;
	struct str s = value_text(args[1]), with = value_text(args[2]);
	int r = want_regex(run, value_text(args[0]), must, &re);
	if (r < 0)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(run->limits->string_bytes);
	size_t pos = 0, last = 0;
	struct subject j;
	subject_init(tmpl_arena(run), &j, s);
	while (pos <= s.len && !b.over) {
		const PCRE2_SIZE *at;
		r = match_at(run, re, &j, pos, &at);
		if (r <= 0)
			break;
		size_t from = at[0], to = at[1];
		strbuf_add(&b, s.ptr + last, from - last);
		if (to > last || from == 0) {
			if (literal)
				strbuf_addstr(&b, with);
			else
				expand(&b, re, with, s, at);
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
	struct regex *re;
	struct str s = value_text(args[1]);
	int64_t max = args[2].i;
	int r = want_regex(run, value_text(args[0]), must, &re);
	if (r < 0)
		return r;
	*ret = (struct value){.type = VALUE_STRINGS};
	if (max == 0)
		return 0;
	if (re->pattern.len && !s.len) {
		*ret = value_list(tmpl_arena(run), VALUE_STRINGS, 1);
		ret->items[0] = value_str(STR(""));
		return 0;
	}
	CLEANUP(spans_release) struct spans list = {0};
	r = find_all(run, re, s, max, &list);
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
