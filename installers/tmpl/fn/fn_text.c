/* fn_text: strings. Lengths and positions are bytes. */
#include <string.h>

#include "alm/base/hash.h"
#include "installers/tmpl/cast.h"
#include "installers/tmpl/fn/text_case.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

static size_t limit(struct tmpl_run *run)
{
	return tmpl_run_limits(run)->string_bytes;
}

#define FN(name) \
	static int name(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)

/* ---- cutting ---- */
static struct str trim_space(struct str s)
{
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0 && rune_is_space(r);)
		s = str_skip(s, n);
	for (size_t n; (n = rune_last(s, &r)) > 0 && rune_is_space(r);)
		s.len -= n;
	return s;
}

FN(fn_trim)
{
	(void)run;
	(void)n;
	*ret = value_str(trim_space(value_text(args[0])));
	return 0;
}

static bool in_set(struct str set, uint32_t r)
{
	uint32_t c;
	for (size_t n; (n = rune_next(set, &c)) > 0; set = str_skip(set, n)) {
		if (c == r)
			return true;
	}
	return false;
}

FN(fn_trim_all)
{
	(void)run;
	(void)n;
	struct str set = value_text(args[0]), s = value_text(args[1]);
	uint32_t r;
	for (size_t w; (w = rune_next(s, &r)) > 0 && in_set(set, r);)
		s = str_skip(s, w);
	for (size_t w; (w = rune_last(s, &r)) > 0 && in_set(set, r);)
		s.len -= w;
	*ret = value_str(s);
	return 0;
}

FN(fn_trim_suffix)
{
	(void)run;
	(void)n;
	struct str cut = value_text(args[0]), s = value_text(args[1]);
	if (str_has_suffix(s, cut))
		s.len -= cut.len;
	*ret = value_str(s);
	return 0;
}

FN(fn_trim_prefix)
{
	(void)run;
	(void)n;
	struct str cut = value_text(args[0]), s = value_text(args[1]);
	*ret = value_str(str_has_prefix(s, cut) ? str_skip(s, cut.len) : s);
	return 0;
}

FN(fn_trunc)
{
	(void)run;
	(void)n;
	struct str s = value_text(args[1]);
	int64_t c = args[0].i;
	if (c < 0 && (int64_t)s.len + c > 0)
		s = str_skip(s, (size_t)((int64_t)s.len + c));
	else if (c >= 0 && s.len > (uint64_t)c)
		s.len = (size_t)c;
	*ret = value_str(s);
	return 0;
}

FN(fn_substr)
{
	(void)n;
	int64_t from = args[0].i, to = args[1].i;
	struct str s = value_text(args[2]);
	int64_t len = (int64_t)s.len;
	if (from < 0) {
		if (to < 0)
			return tmpl_fail(run, "runtime error: slice bounds out of range [:%lld]",
					 (long long)to);
		if (to > len)
			return tmpl_fail(
				run,
				"runtime error: slice bounds out of range [:%lld] with length %lld",
				(long long)to, (long long)len);
		from = 0;
	} else if (to < 0 || to > len) {
		to = len;
		if (from > len)
			return tmpl_fail(run,
					 "runtime error: slice bounds out of range [%lld:%lld]",
					 (long long)from, (long long)len);
	}
	if (from > to)
		return tmpl_fail(run, "runtime error: slice bounds out of range [%lld:%lld]",
				 (long long)from, (long long)to);
	*ret = value_str(str_sub(s, (size_t)from, (size_t)(to - from)));
	return 0;
}

FN(fn_abbrev)
{
	(void)n;
	struct str s = value_text(args[1]);
	int64_t width = args[0].i;
	*ret = args[1];
	if (width < 4 || s.len <= (uint64_t)width)
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	strbuf_add(&b, s.ptr, (size_t)width - 3);
	strbuf_adds(&b, "...");
	return tmpl_return(run, &b, ret);
}

FN(fn_abbrevboth)
{
	(void)n;
	int64_t from = args[0].i, width = args[1].i;
	struct str s = value_text(args[2]);
	int64_t len = (int64_t)s.len;
	*ret = args[2];
	if (width < 4 || (from > 0 && width < 7) || len <= width)
		return 0;
	if (from > len)
		from = len;
	if (len - from < width - 3)
		from = len - (width - 3);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	if (from <= 4) {
		strbuf_add(&b, s.ptr, (size_t)width - 3);
		strbuf_adds(&b, "...");
		return tmpl_return(run, &b, ret);
	}
	strbuf_adds(&b, "...");
	if (from + width - 3 < len) {
		strbuf_add(&b, s.ptr + from, (size_t)width - 6);
		strbuf_adds(&b, "...");
	} else {
		strbuf_add(&b, s.ptr + len - (width - 3), (size_t)width - 3);
	}
	return tmpl_return(run, &b, ret);
}

/* ---- case ---- */
static int mapped(struct tmpl_run *run, struct str s, uint32_t (*map)(uint32_t), struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_title(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_untitle)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_untitle(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_swapcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_swapcase(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_snakecase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_snakecase(&b, value_text(args[0]), '_');
	return tmpl_return(run, &b, ret);
}

FN(fn_kebabcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_snakecase(&b, value_text(args[0]), '-');
	return tmpl_return(run, &b, ret);
}

FN(fn_camelcase)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	text_camelcase(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

/* Byte by byte as Latin-1, as goutils does; without white space the text stays as it is. */
FN(fn_nospace)
{
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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
	if (s.len && (uint64_t)count > limit(run) / s.len)
		return tmpl_want_string(run, SIZE_MAX);
	char *p = arena_alloc(tmpl_arena(run), s.len * (size_t)count + 1);
	for (int64_t i = 0; s.len && i < count; i++)
		memcpy(p + (size_t)i * s.len, s.ptr, s.len);
	*ret = value_str(str_n(p, s.len * (size_t)count));
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
	if ((uint64_t)width > limit(run) / lines)
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
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

/* ---- splitting ---- */
/* strings.SplitN into a []string; max < 0: all. */
static int split_list(struct tmpl_run *run, struct str sep, struct str s, int64_t max,
		      struct value *ret)
{
	size_t count = 1;
	if (max == 0) {
		*ret = (struct value){.type = VALUE_STRINGS};
		return 0;
	}
	if (sep.len == 0)
		count = utf8_count(s);
	for (struct str t = s; sep.len;) {
		ptrdiff_t i = str_find(t, sep);
		if (i < 0)
			break;
		count++;
		t = str_skip(t, (size_t)i + sep.len);
	}
	if (max > 0 && count > (uint64_t)max)
		count = (size_t)max;
	int r = tmpl_want_list(run, count);
	if (r < 0)
		return r;
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, count);
	for (size_t k = 0; k < count; k++) {
		uint32_t rune;
		size_t len = s.len, skip = len;
		if (k + 1 < count) {
			ptrdiff_t i = sep.len ? str_find(s, sep) : (ptrdiff_t)rune_next(s, &rune);
			len = i < 0 ? s.len : (size_t)i;
			skip = len + sep.len;
		}
		ret->items[k] = value_str(str_sub(s, 0, len));
		s = str_skip(s, skip);
	}
	return 0;
}

FN(fn_split_list)
{
	(void)n;
	return split_list(run, value_text(args[0]), value_text(args[1]), -1, ret);
}

static int split_map(struct tmpl_run *run, struct value list, struct value *ret)
{
	struct vmap *m = vmap_new_sized(tmpl_arena(run), list.len);
	for (size_t i = 0; i < list.len; i++)
		vmap_setc(m, arena_fmt(tmpl_arena(run), "_%zu", i), list.items[i]);
	*ret = value_map_as(m, VALUE_STRMAP);
	return 0;
}

FN(fn_split)
{
	(void)n;
	struct value list;
	int r = split_list(run, value_text(args[0]), value_text(args[1]), -1, &list);
	return r < 0 ? r : split_map(run, list, ret);
}

FN(fn_splitn)
{
	(void)n;
	struct value list;
	int r = split_list(run, value_text(args[0]), value_text(args[2]), args[1].i, &list);
	return r < 0 ? r : split_map(run, list, ret);
}

/* ---- sums ---- */
static int hex_digest(struct tmpl_run *run, const char *name, struct str s, struct value *ret)
{
	unsigned char out[64];
	size_t len = hash_digest(name, s, out);
	char *hex = arena_alloc(tmpl_arena(run), 2 * len + 1);
	hex_encode(out, len, hex);
	*ret = value_str(str_n(hex, 2 * len));
	return 0;
}

FN(fn_sha1sum)
{
	(void)n;
	return hex_digest(run, "sha1", value_text(args[0]), ret);
}

FN(fn_sha256sum)
{
	(void)n;
	return hex_digest(run, "sha256", value_text(args[0]), ret);
}

FN(fn_sha512sum)
{
	(void)n;
	return hex_digest(run, "sha512", value_text(args[0]), ret);
}

FN(fn_adler32sum)
{
	(void)n;
	struct str s = value_text(args[0]);
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < s.len; i++) {
		a = (a + (unsigned char)s.ptr[i]) % 65521;
		b = (b + a) % 65521;
	}
	*ret = value_cstr(arena_fmt(tmpl_arena(run), "%u", b << 16 | a));
	return 0;
}

/* ---- random ---- */
/* A number below bound without bias, from the entropy of the request. */
static int random_below(struct tmpl_run *run, uint32_t bound, uint32_t *ret)
{
	uint32_t v, top = UINT32_MAX - UINT32_MAX % bound;
	do {
		int r = tmpl_entropy(run, &v, sizeof(v));
		if (r < 0)
			return r;
	} while (v >= top);
	*ret = v % bound;
	return 0;
}

static int random_text(struct tmpl_run *run, int64_t count, const char *set, struct value *ret)
{
	if (count < 0)
		count = 0;
	int r = tmpl_want_string(run, (size_t)count);
	if (r == 0)
		r = tmpl_want_steps(run, (size_t)count / 4);
	if (r < 0)
		return r;
	char *p = arena_alloc(tmpl_arena(run), (size_t)count + 1);
	for (int64_t i = 0; i < count; i++) {
		uint32_t k;
		r = random_below(run, (uint32_t)strlen(set), &k);
		if (r < 0)
			return r;
		p[i] = set[k];
	}
	*ret = value_str(str_n(p, (size_t)count));
	return 0;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

FN(fn_rand_alpha_num)
{
	(void)n;
	return random_text(run, args[0].i, LETTERS DIGITS, ret);
}

FN(fn_rand_alpha)
{
	(void)n;
	return random_text(run, args[0].i, LETTERS, ret);
}

FN(fn_rand_numeric)
{
	(void)n;
	return random_text(run, args[0].i, DIGITS, ret);
}

FN(fn_rand_ascii)
{
	(void)n;
	return random_text(run, args[0].i,
			   " !\"#$%&'()*+,-./" DIGITS ":;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
			   "abcdefghijklmnopqrstuvwxyz{|}~",
			   ret);
}

FN(fn_shuffle)
{
	(void)n;
	struct str s = value_text(args[0]);
	struct str *runes = ARENA_ARRAY(tmpl_arena(run), struct str, s.len + 1);
	size_t count = 0;
	uint32_t r;
	for (size_t w; (w = rune_next(s, &r)) > 0; s = str_skip(s, w))
		runes[count++] = str_sub(s, 0, w);
	int bad = tmpl_want_steps(run, count);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit(run));
	for (size_t i = count; bad == 0 && i > 0; i--) {
		uint32_t k = 0;
		bad = random_below(run, (uint32_t)i, &k);
		strbuf_addstr(&b, runes[k]);
		runes[k] = runes[i - 1];
	}
	return bad < 0 ? bad : tmpl_return(run, &b, ret);
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
	{"abbrev", "is:s", fn_abbrev, 0},
	{"abbrevboth", "iis:s", fn_abbrevboth, 0},
	{"trunc", "is:s", fn_trunc, 0},
	{"trim", "s:s", fn_trim, 0},
	{"upper", "s:s", fn_upper, 0},
	{"lower", "s:s", fn_lower, 0},
	{"title", "s:s", fn_title, 0},
	{"untitle", "s:s", fn_untitle, 0},
	{"substr", "iis:s", fn_substr, 0},
	{"repeat", "is:s", fn_repeat, 0},
	{"trimall", "ss:s", fn_trim_all, 0},
	{"trimAll", "ss:s", fn_trim_all, 0},
	{"trimSuffix", "ss:s", fn_trim_suffix, 0},
	{"trimPrefix", "ss:s", fn_trim_prefix, 0},
	{"nospace", "s:s", fn_nospace, 0},
	{"initials", "s:s", fn_initials, 0},
	{"randAlphaNum", "i:s", fn_rand_alpha_num, TMPL_FN_RANDOM},
	{"randAlpha", "i:s", fn_rand_alpha, TMPL_FN_RANDOM},
	{"randAscii", "i:s", fn_rand_ascii, TMPL_FN_RANDOM},
	{"randNumeric", "i:s", fn_rand_numeric, TMPL_FN_RANDOM},
	{"swapcase", "s:s", fn_swapcase, 0},
	{"shuffle", "s:s", fn_shuffle, TMPL_FN_RANDOM},
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
	{"sha1sum", "s:s", fn_sha1sum, 0},
	{"sha256sum", "s:s", fn_sha256sum, 0},
	{"sha512sum", "s:s", fn_sha512sum, 0},
	{"adler32sum", "s:s", fn_adler32sum, 0},
	{"toString", "v:s", fn_to_string, 0},
	{"split", "ss:m", fn_split, 0},
	{"splitList", "ss:S", fn_split_list, 0},
	{"splitn", "sis:m", fn_splitn, 0},
	{0},
};
/* clang-format on */
