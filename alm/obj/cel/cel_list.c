/* cel_list: functions of lists: what is in them, their order, and lists as sets. */
#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_table.h"

CEL_FN(in_list)
{
	for (size_t i = 0; i < cel_size(&v[1]); i++) {
		struct cel_value item = cel_item(&v[1], i);
		if (cel_equal(&v[0], &item, c->budget))
			return cel_bool(true);
		if (c->budget->over)
			return cel_over_budget(c);
	}
	return cel_bool(false);
}

CEL_FN(index_of_item)
{
	for (size_t i = 0; i < cel_size(&v[0]); i++) {
		struct cel_value item = cel_item(&v[0], i);
		if (cel_equal(&item, &v[1], c->budget))
			return cel_int((int64_t)i);
	}
	return cel_int(-1);
}

CEL_FN(last_index_of_item)
{
	for (size_t i = cel_size(&v[0]); i > 0; i--) {
		struct cel_value item = cel_item(&v[0], i - 1);
		if (cel_equal(&item, &v[1], c->budget))
			return cel_int((int64_t)i - 1);
	}
	return cel_int(-1);
}

/* How many of y are in x. */
static size_t in_common(const struct cel_value *x, const struct cel_value *y, struct cel_call *c)
{
	size_t n = 0;
	for (size_t i = 0; i < cel_size(y) && !c->budget->over; i++) {
		struct cel_value pair[] = {cel_item(y, i), *x};
		struct cel_value is = in_list(pair, c);
		n += is.kind == CEL_BOOL && is.b;
	}
	return n;
}

static struct cel_value decided(bool is, struct cel_call *c)
{
	return c->budget->over ? cel_over_budget(c) : cel_bool(is);
}

CEL_FN(sets_contain)
{
	return decided(in_common(&v[0], &v[1], c) == cel_size(&v[1]), c);
}

CEL_FN(sets_equivalent)
{
	return decided(in_common(&v[0], &v[1], c) == cel_size(&v[1]) &&
			       in_common(&v[1], &v[0], c) == cel_size(&v[0]),
		       c);
}

CEL_FN(sets_intersect)
{
	return decided(in_common(&v[0], &v[1], c) > 0, c);
}

CEL_FN(is_sorted)
{
	for (size_t i = 1; i < cel_size(&v[0]); i++) {
		struct cel_value pair[] = {cel_item(&v[0], i - 1), cel_item(&v[0], i)};
		int r = 0;
		if (!cel_compare(&pair[0], &pair[1], &r))
			return cel_error(c->a, "no such overload");
		if (r > 0)
			return cel_bool(false);
	}
	return cel_bool(true);
}

static struct cel_value extreme(const struct cel_value *list, int sign, struct cel_call *c)
{
	if (cel_size(list) == 0)
		return cel_error(c->a, "%s called on empty list", sign < 0 ? "min" : "max");
	struct cel_value best = cel_item(list, 0);
	for (size_t i = 1; i < cel_size(list); i++) {
		struct cel_value item = cel_item(list, i);
		int r = 0;
		if (!cel_compare(&item, &best, &r))
			return cel_error(c->a, "no such overload");
		if (r * sign > 0)
			best = item;
	}
	return best;
}

CEL_FN(min)
{
	return extreme(&v[0], -1, c);
}

CEL_FN(max)
{
	return extreme(&v[0], 1, c);
}

/* clang-format off */
const struct cel_overload cel_list_fns[] = {
	{"@in", "*l", 'b', 'g', in_list},
	{"indexOf", "l*", 'i', 'm', index_of_item},
	{"lastIndexOf", "l*", 'i', 'm', last_index_of_item},
	{"sets.contains", "ll", 'b', 'g', sets_contain},
	{"sets.equivalent", "ll", 'b', 'g', sets_equivalent},
	{"sets.intersects", "ll", 'b', 'g', sets_intersect},
	{"isSorted", "l", 'b', 'm', is_sorted},
	{"min", "l", '*', 'm', min},
	{"max", "l", '*', 'm', max},
	{0},
};
/* clang-format on */
