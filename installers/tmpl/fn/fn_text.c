/* fn_text: strings. Lengths and positions are bytes. */
#include <string.h>

#include "installers/tmpl/fn/fn.h"
#include "installers/tmpl/fn/text_case.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

/* ---- case ---- */
static int mapped(struct tmpl_run *run, struct str s, uint32_t (*map)(uint32_t), struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n))
		strbuf_addrune(&b, map(r));
	return tmpl_return(run, &b, ret);
}

FN(fn_upper)
{
	(void)n;
	return mapped(run, value_text(args[0]), rune_to_upper, ret);
}

FN(fn_lower)
{
	(void)n;
	return mapped(run, value_text(args[0]), rune_to_lower, ret);
}

FN(fn_title)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_title(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_untitle)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_untitle(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_swapcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_swapcase(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_snakecase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_snakecase(&b, value_text(args[0]), '_');
	return tmpl_return(run, &b, ret);
}

FN(fn_kebabcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_snakecase(&b, value_text(args[0]), '-');
	return tmpl_return(run, &b, ret);
}

FN(fn_camelcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	text_camelcase(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

/* Byte by byte as Latin-1, as goutils does; without white space the text stays as it is. */
FN(fn_nospace)
{
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	bool any = false;
	for (size_t i = 0; i < s.len; i++) {
		uint32_t c = (unsigned char)s.ptr[i];
		if (rune_is_space(c))
			any = true;
		else
			strbuf_addrune(&b, c);
	}
	if (!any) {
		*ret = args[0];
		return 0;
	}
	return tmpl_return(run, &b, ret);
}

FN(fn_initials)
{
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	bool last_space = true;
	for (size_t i = 0; i < s.len; i++) {
		uint32_t c = (unsigned char)s.ptr[i];
		if (rune_is_space(c))
			last_space = true;
		else if (last_space) {
			strbuf_addrune(&b, c);
			last_space = false;
		}
	}
	return tmpl_return(run, &b, ret);
}

/* ---- building ---- */
static int fail_repeat(struct tmpl_run *run)
{
	return tmpl_fail(run, "strings: negative Repeat count");
}

FN(fn_repeat)
{
	(void)n;
	int64_t count = args[0].i;
	struct str s = value_text(args[1]);
	if (count < 0)
		return fail_repeat(run);
	if (s.len && (uint64_t)count > fn_string_max(run) / s.len)
		return tmpl_want_string(run, SIZE_MAX);
	size_t len = s.len * (size_t)count, done = len ? s.len : 0;
	char *p = arena_alloc(tmpl_arena(run), len + 1);
	if (len)
		memcpy(p, s.ptr, done);
	for (size_t more; done < len; done += more) { /* what is there is there twice */
		more = done < len - done ? done : len - done;
		memcpy(p + done, p, more);
	}
	*ret = value_str(str_n(p, len));
	return 0;
}

static int indent(struct tmpl_run *run, const struct value *args, bool newline, struct value *ret)
{
	int64_t width = args[0].i;
	struct str s = value_text(args[1]);
	if (width < 0)
		return fail_repeat(run);
	size_t lines = 1;
	for (size_t i = 0; i < s.len; i++)
		lines += s.ptr[i] == '\n';
	if ((uint64_t)width > fn_string_max(run) / lines)
		return tmpl_want_string(run, SIZE_MAX);
	size_t pad = (size_t)width, total = s.len + lines * pad + newline;
	int r = tmpl_want_string(run, total);
	if (r < 0)
		return r;
	char *out = arena_alloc(tmpl_arena(run), total + 1), *p = out;
	if (newline)
		*p++ = '\n';
	memset(p, ' ', pad);
	p += pad;
	for (size_t i = 0; i < s.len; i++) {
		*p++ = s.ptr[i];
		if (s.ptr[i] == '\n') {
			memset(p, ' ', pad);
			p += pad;
		}
	}
	*ret = value_str(str_n(out, total));
	return 0;
}

FN(fn_indent)
{
	(void)n;
	return indent(run, args, false, ret);
}

FN(fn_nindent)
{
	(void)n;
	return indent(run, args, true, ret);
}

FN(fn_replace)
{
	(void)n;
	struct str old = value_text(args[0]), new = value_text(args[1]), s = value_text(args[2]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	if (old.len == 0) { /* before every rune and at the end */
		uint32_t r;
		strbuf_addstr(&b, new);
		for (size_t w; (w = rune_next(s, &r)) > 0; s = str_skip(s, w)) {
			strbuf_add(&b, s.ptr, w);
			strbuf_addstr(&b, new);
		}
		return tmpl_return(run, &b, ret);
	}
	for (ptrdiff_t i; (i = str_find(s, old)) >= 0 && !b.over;) {
		strbuf_add(&b, s.ptr, (size_t)i);
		strbuf_addstr(&b, new);
		s = str_skip(s, (size_t)i + old.len);
	}
	strbuf_addstr(&b, s);
	return tmpl_return(run, &b, ret);
}

/* Cuts at the last blank of each stretch, or keeps (cuts: cut) longer words. */
static int wrap(struct tmpl_run *run, int64_t width, struct str sep, bool cut, struct str s,
		struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	size_t w = width < 1 ? 1 : (size_t)width;
	size_t at = 0;
	if (sep.len == 0)
		sep = STR("\n");
	while (s.len > at && s.len - at > w && !b.over) {
		if (s.ptr[at] == ' ') {
			at++;
			continue;
		}
		size_t end = at + w + 1 <= s.len ? at + w + 1 : s.len;
		size_t blank = end;
		while (blank > at && s.ptr[blank - 1] != ' ')
			blank--;
		if (blank > at) { /* the blank is at blank - 1 */
			strbuf_add(&b, s.ptr + at, blank - 1 - at);
			strbuf_addstr(&b, sep);
			at = blank;
		} else if (cut) {
			strbuf_add(&b, s.ptr + at, w);
			strbuf_addstr(&b, sep);
			at += w;
		} else {
			ptrdiff_t next = str_find_char(str_skip(s, at + w), ' ');
			size_t stop = next < 0 ? s.len : at + w + (size_t)next;
			strbuf_add(&b, s.ptr + at, stop - at);
			at = stop;
			if (next >= 0) {
				strbuf_addstr(&b, sep);
				at++;
			}
		}
	}
	strbuf_addstr(&b, str_skip(s, at));
	return tmpl_return(run, &b, ret);
}

FN(fn_wrap)
{
	(void)n;
	return wrap(run, args[0].i, STR(""), false, value_text(args[1]), ret);
}

FN(fn_wrap_with)
{
	(void)n;
	return wrap(run, args[0].i, value_text(args[1]), true, value_text(args[2]), ret);
}

FN(fn_plural)
{
	(void)run;
	(void)n;
	*ret = args[2].i == 1 ? args[0] : args[1];
	return 0;
}

static int joined(struct tmpl_run *run, const struct value *args, size_t n, char quote,
		  struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
	bool any = false;
	for (size_t i = 0; i < n && !b.over; i++) {
		if (args[i].type == VALUE_NIL)
			continue;
		if (any)
			strbuf_addc(&b, ' ');
		any = true;
		if (quote == '"') {
			quote_str(&b, value_string(tmpl_arena(run), args[i]), false);
			continue;
		}
		if (quote)
			strbuf_addc(&b, quote);
		print_sprint(&b, &args[i], 1, tmpl_run_profile(run));
		if (quote)
			strbuf_addc(&b, quote);
	}
	return tmpl_return(run, &b, ret);
}

FN(fn_quote)
{
	return joined(run, args, n, '"', ret);
}

FN(fn_squote)
{
	return joined(run, args, n, '\'', ret);
}

FN(fn_cat)
{
	return joined(run, args, n, '\0', ret);
}

FN(fn_to_string)
{
	(void)n;
	*ret = value_str(value_string(tmpl_arena(run), args[0]));
	return 0;
}

/* ---- asking ---- */
FN(fn_contains)
{
	(void)run;
	(void)n;
	*ret = value_bool(str_contains(value_text(args[1]), value_text(args[0])));
	return 0;
}

FN(fn_has_prefix)
{
	(void)run;
	(void)n;
	*ret = value_bool(str_has_prefix(value_text(args[1]), value_text(args[0])));
	return 0;
}

FN(fn_has_suffix)
{
	(void)run;
	(void)n;
	*ret = value_bool(str_has_suffix(value_text(args[1]), value_text(args[0])));
	return 0;
}

FN(fn_hello)
{
	(void)run;
	(void)args;
	(void)n;
	*ret = value_cstr("Hello!");
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_text[] = {
	{"hello", ":s", fn_hello, 0},
	{"upper", "s:s", fn_upper, 0},
	{"lower", "s:s", fn_lower, 0},
	{"title", "s:s", fn_title, 0},
	{"untitle", "s:s", fn_untitle, 0},
	{"repeat", "is:s", fn_repeat, 0},
	{"nospace", "s:s", fn_nospace, 0},
	{"initials", "s:s", fn_initials, 0},
	{"swapcase", "s:s", fn_swapcase, 0},
	{"snakecase", "s:s", fn_snakecase, 0},
	{"camelcase", "s:s", fn_camelcase, 0},
	{"kebabcase", "s:s", fn_kebabcase, 0},
	{"wrap", "is:s", fn_wrap, 0},
	{"wrapWith", "iss:s", fn_wrap_with, 0},
	{"contains", "ss:b", fn_contains, 0},
	{"hasPrefix", "ss:b", fn_has_prefix, 0},
	{"hasSuffix", "ss:b", fn_has_suffix, 0},
	{"quote", "v*:s", fn_quote, 0},
	{"squote", "v*:s", fn_squote, 0},
	{"cat", "v*:s", fn_cat, 0},
	{"indent", "is:s", fn_indent, 0},
	{"nindent", "is:s", fn_nindent, 0},
	{"replace", "sss:s", fn_replace, 0},
	{"plural", "ssi:s", fn_plural, 0},
	{"toString", "v:s", fn_to_string, 0},
	{0},
};
/* clang-format on */
