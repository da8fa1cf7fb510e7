/* cel_optional: values that may be absent, as cel-go's OptionalTypes: a.?b, a[?k], optional.of(x). */
#include "alm/obj/cel/cel_table.h"

static struct cel_value of_inner(const struct cel_value *v, struct cel_call *c)
{
	return (struct cel_value){.kind = CEL_OPTIONAL, .inner = arena_memdup(c->a, v, sizeof(*v))};
}

static struct cel_value none(void)
{
	return (struct cel_value){.kind = CEL_OPTIONAL};
}

static bool is_zero(const struct cel_value *v)
{
	switch ((int)v->kind) {
	case CEL_NULL:
		return true;
	case CEL_BOOL:
		return !v->b;
	case CEL_INT:
	case CEL_DURATION:
		return v->i == 0;
	case CEL_UINT:
		return v->u == 0;
	case CEL_DOUBLE:
		return v->d >= 0 && v->d <= 0;
	case CEL_STRING:
	case CEL_BYTES:
		return v->str.len == 0;
	case CEL_LIST:
	case CEL_MAP:
		return cel_size(v) == 0;
	default:
		return false;
	}
}

/* Of what is there: the member of a map, the item of a list; of an optional, of what it has. */
static struct cel_value found(const struct cel_value *v, const struct cel_value *key,
			      struct cel_call *c)
{
	struct cel_value r;
	if (v->kind == CEL_OPTIONAL && !v->inner)
		return none();
	if (v->kind == CEL_OPTIONAL)
		v = v->inner;
	if (v->kind == CEL_MAP && cel_lookup(v, key, c->budget, &r))
		return of_inner(&r, c);
	if (v->kind == CEL_MAP)
		return c->budget->over ? cel_over_budget(c) : none();
	if (v->kind != CEL_LIST || key->kind != CEL_INT)
		return v->kind == CEL_NULL ? none() : cel_error(c->a, "no such overload");
	if (key->i < 0 || (uint64_t)key->i >= cel_size(v))
		return none();
	r = cel_item(v, (size_t)key->i, c->a);
	return of_inner(&r, c);
}

/* clang-format off */
CEL_FN(member) { return found(&v[0], &v[1], c); }
CEL_FN(of) { return of_inner(&v[0], c); }
CEL_FN(of_nothing) { return none(); }
CEL_FN(of_non_zero) { return is_zero(&v[0]) ? none() : of_inner(&v[0], c); }
CEL_FN(has_value) { return cel_bool(v[0].inner != NULL); }
CEL_FN(or_value) { return v[0].inner ? *v[0].inner : v[1]; }
CEL_FN(or_else) { return v[0].inner ? v[0] : v[1]; }
/* clang-format on */

CEL_FN(value)
{
	return v[0].inner ? *v[0].inner : cel_error(c->a, "optional.none() dereference");
}

static struct cel_value end_of(const struct cel_value *list, bool last, struct cel_call *c)
{
	size_t n = cel_size(list);
	if (n == 0)
		return none();
	struct cel_value item = cel_item(list, last ? n - 1 : 0, c->a);
	return of_inner(&item, c);
}

/* clang-format off */
CEL_FN(first) { return end_of(&v[0], false, c); }
CEL_FN(last) { return end_of(&v[0], true, c); }
/* clang-format on */

/* The values of those that have one. */
CEL_FN(unwrap)
{
	size_t n = cel_size(&v[0]);
	if (!cel_spend(c, n))
		return cel_over_budget(c);
	struct cel_value *items = ARENA_ARRAY(c->a, struct cel_value, n + 1);
	struct cel_value made = cel_list(items, 0);
	for (size_t i = 0; i < n; i++) {
		struct cel_value item = cel_item(&v[0], i, c->a);
		if (item.kind != CEL_OPTIONAL)
			return cel_error(c->a, "no such overload");
		if (item.inner)
			items[made.list.n++] = *item.inner;
	}
	return made;
}

/* clang-format off */
const struct cel_overload cel_optional_fns[] = {
	{"_?._", "ms", 'O', 'g', member}, {"_?._", "Os", 'O', 'g', member},
	{"_[?_]", "m*", 'O', 'g', member}, {"_[?_]", "li", 'O', 'g', member}, {"_[?_]", "O*", 'O', 'g', member},
	{"optional.of", "*", 'O', 'g', of}, {"optional.none", "", 'O', 'g', of_nothing},
	{"optional.ofNonZeroValue", "*", 'O', 'g', of_non_zero},
	{"hasValue", "O", 'b', 'm', has_value}, {"value", "O", '*', 'm', value},
	{"first", "l", 'O', 'm', first}, {"last", "l", 'O', 'm', last},
	{"optional.unwrap", "l", 'l', 'g', unwrap}, {"unwrapOpt", "l", 'l', 'm', unwrap},
	{"orValue", "O*", '*', 'm', or_value}, {"or", "OO", 'O', 'm', or_else},
	{0},
};
/* clang-format on */
