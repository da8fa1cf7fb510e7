/* fn_cut: parts of texts: trimmed, cut and split. Lengths and positions are bytes. */
#include "installers/tmpl/fn/fn.h"
#include "installers/value/unicode.h"

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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
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
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(fn_string_max(run));
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

/* clang-format off */
const struct tmpl_func tmpl_fn_cut[] = {
	{"abbrev", "is:s", fn_abbrev, 0},
	{"abbrevboth", "iis:s", fn_abbrevboth, 0},
	{"trunc", "is:s", fn_trunc, 0},
	{"trim", "s:s", fn_trim, 0},
	{"substr", "iis:s", fn_substr, 0},
	{"trimall", "ss:s", fn_trim_all, 0},
	{"trimAll", "ss:s", fn_trim_all, 0},
	{"trimSuffix", "ss:s", fn_trim_suffix, 0},
	{"trimPrefix", "ss:s", fn_trim_prefix, 0},
	{"split", "ss:m", fn_split, 0},
	{"splitList", "ss:S", fn_split_list, 0},
	{"splitn", "sis:m", fn_splitn, 0},
	{0},
};
/* clang-format on */
