/* api_same: see api_same.h. Recursion is as deep as the objects, OBJ_DEPTH_MAX. */
#include "alm/obj/schema/api_same.h"

#include "alm/obj/quantity.h"

static bool is_same_amount(const struct obj *a, const struct obj *b)
{
	struct quantity x, y;
	return quantity_read(obj_as_str(a), &x) && quantity_read(obj_as_str(b), &y) &&
	       x.nanos == y.nanos;
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the objects */
/* What stands in a field, or (marks) in a list or a map of it. */
static bool is_same(const struct api_field *f, unsigned marks, const struct obj *a,
		    const struct obj *b)
{
	if (marks & (API_LIST | API_MAP) && obj_len(a) != obj_len(b))
		return false;
	if (marks & API_MAP) {
		OBJ_EACH (it, a) {
			const struct obj *other = obj_get(b, it.key);
			if (!other || !is_same(f, marks & ~(unsigned)API_MAP, it.value, other))
				return false;
		}
		return true;
	}
	for (size_t i = 0; marks & API_LIST && i < obj_len(a); i++)
		if (!is_same(f, marks & ~(unsigned)API_LIST, obj_at(a, i), obj_at(b, i)))
			return false;
	if (marks & API_LIST || !a || !b)
		return marks & API_LIST || !a == !b;
	if (f->shape == API_STRUCT)
		return api_same(api_struct_of(f), a, b);
	return obj_equal(a, b) || (f->shape == API_QUANTITY && is_same_amount(a, b));
}

/* Each member of a as it is in b; others: those alone that b does not have, as the rest was looked at. */
static bool has_all(const struct api_type *t, const struct obj *a, const struct obj *b, bool others)
{
	OBJ_EACH (it, a) {
		const struct api_field *f = api_find(t, it.key, NULL);
		const struct obj *other = obj_get(b, it.key);
		if (others && other)
			continue;
		if (f ? !is_same(f, f->marks, it.value, other)
		      : !other || !obj_equal(it.value, other))
			return false;
	}
	return true;
}

bool api_same(const struct api_type *t, const struct obj *a, const struct obj *b)
{
	if (!a || !b)
		return !a == !b;
	return has_all(t, a, b, false) && has_all(t, b, a, true);
}
/* NOLINTEND(misc-no-recursion) */
