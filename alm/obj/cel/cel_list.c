/* cel_list: functions of lists: what is in them, their order, and lists as sets. */
#include <stdlib.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_table.h"

CEL_FN(in_list)
{
	for (size_t i = 0; i < cel_size(&v[1]); i++) {
		struct cel_value item = cel_item(&v[1], i, c->a);
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
		struct cel_value item = cel_item(&v[0], i, c->a);
		if (cel_equal(&item, &v[1], c->budget))
			return cel_int((int64_t)i);
	}
	return cel_int(-1);
}

CEL_FN(last_index_of_item)
{
	for (size_t i = cel_size(&v[0]); i > 0; i--) {
		struct cel_value item = cel_item(&v[0], i - 1, c->a);
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
		struct cel_value pair[] = {cel_item(y, i, c->a), *x};
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
		struct cel_value pair[] = {cel_item(&v[0], i - 1, c->a), cel_item(&v[0], i, c->a)};
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
	struct cel_value best = cel_item(list, 0, c->a);
	for (size_t i = 1; i < cel_size(list); i++) {
		struct cel_value item = cel_item(list, i, c->a);
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

/* Room for n items; NULL: the budget has none. */
static struct cel_value *room(size_t n, struct cel_call *c)
{
	return cel_spend(c, n > CEL_ITEMS_MAX ? UINT64_MAX : n)
		       ? ARENA_ARRAY(c->a, struct cel_value, n + 1)
		       : NULL;
}

CEL_FN(slice)
{
	long long from = v[1].i, to = v[2].i;
	size_t size = cel_size(&v[0]);
	if (from < 0 || to < 0)
		return cel_error(c->a, "cannot slice(%lld, %lld), negative indexes not supported",
				 from, to);
	if (from > to)
		return cel_error(c->a,
				 "cannot slice(%lld, %lld), start index must be less than or equal "
				 "to end index",
				 from, to);
	if ((uint64_t)to > size)
		return cel_error(c->a, "cannot slice(%lld, %lld), list is length %zu", from, to,
				 size);
	size_t n = (size_t)(to - from);
	struct cel_value *items = room(n, c);
	for (size_t i = 0; items && i < n; i++)
		items[i] = cel_item(&v[0], (size_t)from + i, c->a);
	return items ? cel_list(items, n) : cel_over_budget(c);
}

CEL_FN(reverse)
{
	size_t n = cel_size(&v[0]);
	struct cel_value *items = room(n, c);
	for (size_t i = 0; items && i < n; i++)
		items[i] = cel_item(&v[0], n - 1 - i, c->a);
	return items ? cel_list(items, n) : cel_over_budget(c);
}

CEL_FN(range)
{
	size_t n = v[0].i > 0 ? (size_t)v[0].i : 0;
	struct cel_value *items = room(n, c);
	for (size_t i = 0; items && i < n; i++)
		items[i] = cel_int((int64_t)i);
	return items ? cel_list(items, n) : cel_over_budget(c);
}

CEL_FN(distinct)
{
	size_t n = cel_size(&v[0]);
	struct cel_value *items = room(n, c), made = cel_list(items, 0);
	for (size_t i = 0; items && i < n && !c->budget->over; i++) {
		struct cel_value pair[] = {cel_item(&v[0], i, c->a), made},
				 there = in_list(pair, c);
		if (there.kind == CEL_BOOL && !there.b)
			items[made.list.n++] = pair[0];
	}
	return items && !c->budget->over ? made : cel_over_budget(c);
}

struct flat {
	struct cel_value *items;
	size_t n, cap;
};

/* NOLINTNEXTLINE(misc-no-recursion): lists that a rule makes nest at most CEL_DEPTH_MAX deep, objects OBJ_DEPTH_MAX */
static void flatten_into(struct flat *f, const struct cel_value *list, int64_t depth,
			 struct cel_call *c)
{
	for (size_t i = 0; i < cel_size(list) && cel_spend(c, 1); i++) {
		struct cel_value item = cel_item(list, i, c->a);
		if (item.kind == CEL_LIST && depth > 0) {
			flatten_into(f, &item, depth - 1, c);
			continue;
		}
		if (f->n == CEL_ITEMS_MAX) {
			(void)cel_spend(c, UINT64_MAX);
			return;
		}
		if (f->n == f->cap) {
			f->cap = f->cap ? 2 * f->cap : 8;
			f->items = arena_grown(c->a, f->items, f->n, f->cap, sizeof(*f->items));
		}
		f->items[f->n++] = item;
	}
}

static struct cel_value flat(const struct cel_value *list, int64_t depth, struct cel_call *c)
{
	struct flat f = {0};
	if (depth < 0)
		return cel_error(c->a, "level must be non-negative");
	flatten_into(&f, list, depth, c);
	return c->budget->over ? cel_over_budget(c) : cel_list(f.items, f.n);
}

/* clang-format off */
CEL_FN(flatten) { return flat(&v[0], 1, c); }
CEL_FN(flatten_to) { return flat(&v[0], v[1].i, c); }
/* clang-format on */

struct keyed {
	struct cel_value key;
	size_t at;
};

static int by_key(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;
	int r = 0;
	cel_compare(&a->key, &b->key, &r);
	return r ? r : (a->at > b->at) - (a->at < b->at);
}

struct cel_value cel_list_sorted(const struct cel_value *list, const struct cel_value *keys,
				 size_t n, struct cel_call *c)
{
	struct cel_value *items = room(n, c);
	int r;
	if (!items || !cel_spend(c, n * 8)) /* compared as often, about */
		return cel_over_budget(c);
	struct keyed *order = ARENA_ARRAY(c->a, struct keyed, n + 1);
	for (size_t i = 0; i < n; i++) {
		order[i] = (struct keyed){keys[i], i};
		if (!cel_compare(&keys[i], &keys[i], &r))
			return cel_error(c->a, "list elements must be comparable");
		if (keys[i].kind != keys[0].kind)
			return cel_error(c->a, "list elements must have the same type");
	}
	qsort(order, n, sizeof(*order), by_key);
	for (size_t i = 0; i < n; i++)
		items[i] = cel_item(list, order[i].at, c->a);
	return cel_list(items, n);
}

CEL_FN(sort)
{
	size_t n = cel_size(&v[0]);
	struct cel_value *keys = room(n, c);
	for (size_t i = 0; keys && i < n; i++)
		keys[i] = cel_item(&v[0], i, c->a);
	return keys ? cel_list_sorted(&v[0], keys, n, c) : cel_over_budget(c);
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
	{"slice", "lii", 'l', 'm', slice}, {"reverse", "l", 'l', 'm', reverse}, {"lists.range", "i", 'l', 'g', range},
	{"distinct", "l", 'l', 'm', distinct}, {"sort", "l", 'l', 'm', sort},
	{"flatten", "l", 'l', 'm', flatten}, {"flatten", "li", 'l', 'm', flatten_to},
	{0},
};
/* clang-format on */
