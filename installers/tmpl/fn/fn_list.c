/* fn_list: lists. Results are new []interface {}; only slice keeps the type of its operand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "installers/tmpl/cast.h"
#include "installers/tmpl/tmpl.h"

#define NIL_PANIC "runtime error: invalid memory address or nil pointer dereference"

static bool is_slice(struct value v)
{
	return value_is_list(v) || v.type == VALUE_BYTES;
}

/* Item i; of bytes a number. */
static struct value item(struct value list, size_t i)
{
	if (list.type == VALUE_BYTES)
		return (struct value){.type = VALUE_UINT8, .u = (unsigned char)list.s[i]};
	return list.items[i];
}

/* what: "find first on" in "Cannot find first on type string". */
static int want_slice(struct tmpl_run *run, struct value v, const char *what)
{
	if (v.type == VALUE_NIL)
		return tmpl_fail(run, NIL_PANIC);
	if (!is_slice(v))
		return tmpl_fail(run, "Cannot %s type %s", what, value_kind(v));
	return tmpl_want_steps(run, v.len / 16);
}

static struct value new_list(struct tmpl_run *run, size_t n)
{
	return value_list(tmpl_arena(run), VALUE_LIST, n);
}

static int fn_list(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	*ret = new_list(run, n);
	if (n)
		memcpy(ret->items, args, n * sizeof(*args));
	return 0;
}

static int fn_append(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "push on");
	if (r >= 0)
		r = tmpl_want_list(run, args[0].len + 1);
	if (r < 0)
		return r;
	*ret = new_list(run, args[0].len + 1);
	for (size_t i = 0; i < args[0].len; i++)
		ret->items[i] = item(args[0], i);
	ret->items[args[0].len] = args[1];
	return 0;
}

static int fn_prepend(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "prepend on");
	if (r >= 0)
		r = tmpl_want_list(run, args[0].len + 1);
	if (r < 0)
		return r;
	*ret = new_list(run, args[0].len + 1);
	ret->items[0] = args[1];
	for (size_t i = 0; i < args[0].len; i++)
		ret->items[i + 1] = item(args[0], i);
	return 0;
}

static int fn_first(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find first on");
	if (r == 0 && args[0].len)
		*ret = item(args[0], 0);
	return r;
}

static int fn_last(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find last on");
	if (r == 0 && args[0].len)
		*ret = item(args[0], args[0].len - 1);
	return r;
}

/* Items from..from+n; nil of an empty list. */
static void part(struct tmpl_run *run, struct value list, size_t from, struct value *ret)
{
	if (list.len == 0) {
		*ret = (struct value){.type = VALUE_LIST};
		return;
	}
	*ret = new_list(run, list.len - 1);
	for (size_t i = 0; i + 1 < list.len; i++)
		ret->items[i] = item(list, i + from);
}

static int fn_rest(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find rest on");
	if (r == 0)
		part(run, args[0], 1, ret);
	return r;
}

static int fn_initial(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find initial on");
	if (r == 0)
		part(run, args[0], 0, ret);
	return r;
}

static int fn_reverse(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find reverse on");
	if (r < 0)
		return r;
	*ret = new_list(run, args[0].len);
	for (size_t i = 0; i < args[0].len; i++)
		ret->items[args[0].len - 1 - i] = item(args[0], i);
	return 0;
}

static int fn_compact(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "compact on");
	if (r < 0)
		return r;
	*ret = new_list(run, args[0].len);
	size_t kept = 0;
	for (size_t i = 0; i < args[0].len; i++) {
		struct value v = item(args[0], i);
		if (!value_is_empty(v))
			ret->items[kept++] = v;
	}
	ret->len = (uint32_t)kept;
	return 0;
}

static bool in_list(const struct value *items, size_t n, struct value v)
{
	for (size_t i = 0; i < n; i++) {
		if (value_deep_equal(v, items[i]))
			return true;
	}
	return false;
}

static int fn_uniq(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int r = want_slice(run, args[0], "find uniq on");
	if (r < 0)
		return r;
	struct value list = new_list(run, args[0].len);
	size_t kept = 0;
	for (size_t i = 0; i < args[0].len; i++) {
		struct value v = item(args[0], i);
		r = tmpl_want_steps(run, kept / 16);
		if (r < 0)
			return r;
		if (!in_list(list.items, kept, v))
			list.items[kept++] = v;
	}
	list.len = (uint32_t)kept;
	*ret = list;
	return 0;
}

static int fn_without(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	int r = want_slice(run, args[0], "find without on");
	if (r < 0)
		return r;
	*ret = new_list(run, args[0].len);
	size_t kept = 0;
	for (size_t i = 0; i < args[0].len; i++) {
		struct value v = item(args[0], i);
		if (!in_list(args + 1, n - 1, v))
			ret->items[kept++] = v;
	}
	ret->len = (uint32_t)kept;
	return 0;
}

static int fn_has(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	*ret = value_bool(false);
	if (args[1].type == VALUE_NIL)
		return 0;
	int r = want_slice(run, args[1], "find has on");
	for (size_t i = 0; r == 0 && i < args[1].len; i++) {
		if (value_deep_equal(args[0], item(args[1], i))) {
			*ret = value_bool(true);
			break;
		}
	}
	return r;
}

static int fn_slice(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	struct value list = args[0];
	if (list.type == VALUE_NIL)
		return tmpl_fail(run, NIL_PANIC);
	if (!is_slice(list))
		return tmpl_fail(run, "list should be type of slice or array but %s",
				 value_kind(list));
	if (list.len == 0)
		return 0;
	int64_t from = n > 1 ? cast_int64(args[1]) : 0;
	int64_t to = n > 2 ? cast_int64(args[2]) : (int64_t)list.len;
	/* Go would allow positions up to the capacity, which no chart can rely on. */
	if (from < 0 || to < from || to > (int64_t)list.len)
		return tmpl_fail(run, "reflect.Value.Slice: slice index out of bounds");
	*ret = list;
	ret->len = (uint32_t)(to - from);
	if (list.type == VALUE_BYTES)
		ret->s += from;
	else
		ret->items += from;
	return 0;
}

static int fn_concat(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	size_t total = 0;
	for (size_t i = 0; i < n; i++) {
		if (args[i].type == VALUE_NIL)
			return tmpl_fail(run, NIL_PANIC);
		if (!is_slice(args[i]))
			return tmpl_fail(run, "Cannot concat type %s as list", value_kind(args[i]));
		total += args[i].len;
	}
	int r = tmpl_want_list(run, total);
	if (r < 0)
		return r;
	*ret = (struct value){.type = VALUE_LIST};
	if (total == 0)
		return 0;
	*ret = new_list(run, total);
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < args[i].len; j++)
			ret->items[k++] = item(args[i], j);
	}
	return tmpl_want_steps(run, total / 16);
}

static int fn_chunk(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct value list = args[1];
	if (list.type == VALUE_NIL)
		return tmpl_fail(run, NIL_PANIC);
	if (!is_slice(list))
		return tmpl_fail(run, "Cannot chunk type %s", value_kind(list));
	double size = (double)args[0].i;
	double chunks = floor(((double)list.len - 1) / size) + 1;
	if (!(chunks >= 0) || args[0].i == 0)
		return tmpl_fail(run, "runtime error: makeslice: len out of range");
	size_t count = (size_t)chunks;
	*ret = value_list(tmpl_arena(run), VALUE_LISTS, count);
	for (size_t i = 0; i < count; i++) {
		size_t from = i * (size_t)args[0].i;
		size_t len = list.len - from;
		if (i + 1 < count)
			len = (size_t)args[0].i;
		if (len > list.len || from + len > list.len ||
		    (args[0].i < 0 && (list.len != 1 || args[0].i == -1)))
			return tmpl_fail(run, "runtime error: makeslice: len out of range");
		struct value chunk = new_list(run, len);
		for (size_t j = 0; j < len; j++)
			chunk.items[j] = item(list, from + j);
		ret->items[i] = chunk;
	}
	return 0;
}

/* ---- lists of texts ---- */
static int list_strings(struct tmpl_run *run, struct value v, struct value *ret)
{
	struct arena *a = tmpl_arena(run);
	if (v.type == VALUE_STRINGS || v.type == VALUE_VERSIONS) {
		*ret = v;
		ret->type = VALUE_STRINGS;
		return 0;
	}
	size_t n = v.type == VALUE_NIL ? 0 : is_slice(v) ? v.len : 1;
	*ret = value_list(a, VALUE_STRINGS, n);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct value e = is_slice(v) ? item(v, i) : v;
		if (e.type != VALUE_NIL)
			ret->items[kept++] = value_str(value_string(a, e));
	}
	ret->len = (uint32_t)kept;
	return tmpl_want_steps(run, n / 4);
}

static int fn_to_strings(struct tmpl_run *run, const struct value *args, size_t n,
			 struct value *ret)
{
	(void)n;
	return list_strings(run, args[0], ret);
}

static int cmp_text(const void *a, const void *b)
{
	const struct value *x = a, *y = b;
	return str_cmp(value_text(*x), value_text(*y));
}

static int fn_sort_alpha(struct tmpl_run *run, const struct value *args, size_t n,
			 struct value *ret)
{
	(void)n;
	if (!is_slice(args[0])) {
		*ret = value_list(tmpl_arena(run), VALUE_STRINGS, 1);
		ret->items[0] = value_str(value_string(tmpl_arena(run), args[0]));
		return 0;
	}
	int r = list_strings(run, args[0], ret);
	if (r == 0 && ret->len > 1) /* in place, as Go sorts a []string */
		qsort(ret->items, ret->len, sizeof(*ret->items), cmp_text);
	return r;
}

static int fn_join(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct value list;
	int r = list_strings(run, args[1], &list);
	if (r < 0)
		return r;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	for (size_t i = 0; i < list.len && !b.over; i++) {
		if (i > 0)
			strbuf_addstr(&b, value_text(args[0]));
		strbuf_addstr(&b, value_text(list.items[i]));
	}
	return tmpl_return(run, &b, ret);
}

/* clang-format off */
const struct tmpl_func tmpl_fn_list[] = {
	{"list", "v*:A", fn_list, 0},
	{"tuple", "v*:A", fn_list, 0},
	{"append", "vv:A", fn_append, 0},
	{"push", "vv:A", fn_append, 0},
	{"mustAppend", "vv:A", fn_append, 0},
	{"mustPush", "vv:A", fn_append, 0},
	{"prepend", "vv:A", fn_prepend, 0},
	{"mustPrepend", "vv:A", fn_prepend, 0},
	{"first", "v:v", fn_first, 0},
	{"mustFirst", "v:v", fn_first, 0},
	{"last", "v:v", fn_last, 0},
	{"mustLast", "v:v", fn_last, 0},
	{"rest", "v:A", fn_rest, 0},
	{"mustRest", "v:A", fn_rest, 0},
	{"initial", "v:A", fn_initial, 0},
	{"mustInitial", "v:A", fn_initial, 0},
	{"reverse", "v:A", fn_reverse, 0},
	{"mustReverse", "v:A", fn_reverse, 0},
	{"compact", "v:A", fn_compact, 0},
	{"mustCompact", "v:A", fn_compact, 0},
	{"uniq", "v:A", fn_uniq, 0},
	{"mustUniq", "v:A", fn_uniq, 0},
	{"without", "vv*:A", fn_without, 0},
	{"mustWithout", "vv*:A", fn_without, 0},
	{"has", "vv:b", fn_has, 0},
	{"mustHas", "vv:b", fn_has, 0},
	{"slice", "vv*:v", fn_slice, 0},
	{"mustSlice", "vv*:v", fn_slice, 0},
	{"concat", "v*:v", fn_concat, 0},
	{"chunk", "iv:A", fn_chunk, 0},
	{"mustChunk", "iv:A", fn_chunk, 0},
	{"toStrings", "v:S", fn_to_strings, 0},
	{"sortAlpha", "v:S", fn_sort_alpha, 0},
	{"join", "sv:s", fn_join, 0},
	{0},
};
/* clang-format on */
