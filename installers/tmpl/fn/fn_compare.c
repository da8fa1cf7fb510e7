/* fn_compare: eq, ne, lt and the others of the language, with its rules for values of two types. */
#include <string.h>

#include "installers/tmpl/run.h"
#include "installers/value/print.h"

enum basic_kind {
	KIND_OTHER,
	KIND_BOOL,
	KIND_COMPLEX,
	KIND_INT,
	KIND_FLOAT,
	KIND_STRING,
	KIND_UINT
};

static enum basic_kind basic_kind(struct value v)
{
	if (v.type == VALUE_UINT8 || v.type == VALUE_UINT64)
		return KIND_UINT;
	if (value_is_int(v))
		return KIND_INT;
	if (v.type == VALUE_BOOL)
		return KIND_BOOL;
	if (v.type == VALUE_FLOAT)
		return KIND_FLOAT;
	if (v.type == VALUE_COMPLEX)
		return KIND_COMPLEX;
	return v.type == VALUE_STRING ? KIND_STRING : KIND_OTHER;
}

static bool is_nil(struct value v)
{
	if (value_is_map(v))
		return !v.map;
	if (value_is_list(v))
		return !v.items;
	return v.type == VALUE_NIL || (v.type == VALUE_BYTES && !v.s) ||
	       (v.type == VALUE_PTR && !v.st) || (v.type == VALUE_SEMVER && !v.ver);
}

static int incompatible(struct tmpl_run *run, struct value a, struct value b)
{
	enum tmpl_profile p = run->set->profile;
	return tmpl_fail(run, "incompatible types for comparison: %s and %s", value_type_name(a, p),
			 value_type_name(b, p));
}

/* Both of a kind without an order: maps, lists, structs. */
static int equal_other(struct tmpl_run *run, struct value a, struct value b, bool *ret)
{
	if (is_nil(a) || is_nil(b)) {
		*ret = is_nil(a) == is_nil(b);
		return 0;
	}
	struct value pair[2] = {a, b};
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(VALUE_TEXT_MAX);
	if (strcmp(value_kind(a), value_kind(b)) != 0) {
		struct value texts[4] = {a, value_cstr(value_type_name(a, run->set->profile)),
					 value_cstr(value_type_name(b, run->set->profile)), b};
		print_sprintf(&msg, STR("non-comparable types %s: %v, %s: %v"), texts, 4,
			      run->set->profile);
		return tmpl_fail_str(run, strbuf_str(&msg));
	}
	if (value_is_map(b) || value_is_list(b) || b.type == VALUE_BYTES) {
		pair[0] = b;
		pair[1] = value_cstr(value_type_name(b, run->set->profile));
		print_sprintf(&msg, STR("non-comparable type %s: %v"), pair, 2, run->set->profile);
		return tmpl_fail_str(run, strbuf_str(&msg));
	}
	*ret = value_deep_equal(a, b);
	return 0;
}

static int equal(struct tmpl_run *run, struct value a, struct value b, bool *ret)
{
	enum basic_kind x = basic_kind(a), y = basic_kind(b);
	*ret = false;
	if (x != y) {
		if ((x == KIND_INT && y == KIND_UINT) || (x == KIND_UINT && y == KIND_INT))
			*ret = a.i >= 0 && b.i >= 0 && a.u == b.u;
		else if (a.type != VALUE_NIL && b.type != VALUE_NIL)
			return incompatible(run, a, b);
		return 0;
	}
	switch (x) {
	case KIND_BOOL:
		*ret = a.b == b.b;
		return 0;
	case KIND_COMPLEX:
		*ret = a.z[0] == b.z[0] && a.z[1] == b.z[1];
		return 0;
	case KIND_FLOAT:
		*ret = a.f == b.f;
		return 0;
	case KIND_STRING:
		*ret = str_eq(value_text(a), value_text(b));
		return 0;
	case KIND_INT:
	case KIND_UINT:
		*ret = a.i == b.i;
		return 0;
	case KIND_OTHER:
		break;
	}
	return equal_other(run, a, b, ret);
}

static int fn_eq(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	if (n < 2)
		return tmpl_fail(run, "missing argument for comparison");
	bool yes = false;
	for (size_t i = 1; i < n && !yes; i++) {
		int r = equal(run, args[0], args[i], &yes);
		if (r < 0)
			return r;
	}
	*ret = value_bool(yes);
	return 0;
}

static int fn_ne(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	bool yes;
	int r = equal(run, args[0], args[1], &yes);
	*ret = value_bool(r == 0 && !yes);
	return r;
}

static int less(struct tmpl_run *run, struct value a, struct value b, bool *ret)
{
	enum basic_kind x = basic_kind(a), y = basic_kind(b);
	if (x == KIND_OTHER || y == KIND_OTHER)
		return tmpl_fail(run, "invalid type for comparison");
	if (x == KIND_INT && y == KIND_UINT)
		*ret = a.i < 0 || a.u < b.u;
	else if (x == KIND_UINT && y == KIND_INT)
		*ret = b.i >= 0 && a.u < b.u;
	else if (x != y)
		return incompatible(run, a, b);
	else if (x == KIND_BOOL || x == KIND_COMPLEX)
		return tmpl_fail(run, "invalid type for comparison");
	else if (x == KIND_FLOAT)
		*ret = a.f < b.f;
	else if (x == KIND_INT)
		*ret = a.i < b.i;
	else if (x == KIND_UINT)
		*ret = a.u < b.u;
	else
		*ret = str_cmp(value_text(a), value_text(b)) < 0;
	return 0;
}

static int fn_lt(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	bool yes = false;
	int r = less(run, args[0], args[1], &yes);
	*ret = value_bool(yes);
	return r;
}

static int less_or_equal(struct tmpl_run *run, const struct value *args, bool *ret)
{
	int r = less(run, args[0], args[1], ret);
	return r < 0 || *ret ? r : equal(run, args[0], args[1], ret);
}

static int fn_le(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	bool yes = false;
	int r = less_or_equal(run, args, &yes);
	*ret = value_bool(yes);
	return r;
}

static int fn_gt(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	bool yes = false;
	int r = less_or_equal(run, args, &yes);
	*ret = value_bool(!yes);
	return r;
}

static int fn_ge(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	bool yes = false;
	int r = less(run, args[0], args[1], &yes);
	*ret = value_bool(!yes);
	return r;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_compare[] = {
	{"eq", "rr*:b", fn_eq, 0},
	{"ne", "rr:b", fn_ne, 0},
	{"lt", "rr:b", fn_lt, 0},
	{"le", "rr:b", fn_le, 0},
	{"gt", "rr:b", fn_gt, 0},
	{"ge", "rr:b", fn_ge, 0},
	{0},
};
/* clang-format on */
