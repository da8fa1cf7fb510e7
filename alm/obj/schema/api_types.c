/* api_types: reading the table. See api_types.h. */
#include "alm/obj/schema/api_types.h"

#include <string.h>

const char *api_text(uint16_t offset)
{
	return api_texts + offset;
}

const struct api_type *api_type_of_kind(const char *api_version, const char *kind)
{
	for (size_t i = 0; api_version && kind && i < api_n_kinds; i++)
		if (strcmp(api_text(api_kinds[i].kind), kind) == 0 &&
		    strcmp(api_text(api_kinds[i].api_version), api_version) == 0)
			return &api_types[api_kinds[i].type];
	return NULL;
}

const struct api_type *api_type_named(const char *name)
{
	size_t low = 0, high = api_n_types;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(api_text(api_types[mid].name), name);
		if (c == 0)
			return &api_types[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct api_type *api_struct_of(const struct api_field *f)
{
	return f->shape == API_STRUCT ? &api_types[f->of] : NULL;
}

const struct api_field *api_fields_of(const struct api_type *t, size_t *ret_n)
{
	*ret_n = t->n;
	return &api_fields[t->first];
}

/* NOLINTBEGIN(misc-no-recursion): as deep as structs are embedded in each other, two levels */
const struct api_field *api_find(const struct api_type *t, const char *name,
				 const struct api_type **ret_holder)
{
	const struct api_field *fields = &api_fields[t->first];
	size_t low = 0, high = t->n;
	for (; low < high && fields[low].flags & API_EMBEDDED; low++) {
		const struct api_field *f = api_find(&api_types[fields[low].of], name, ret_holder);
		if (f)
			return f;
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(api_text(fields[mid].name), name);
		if (c == 0) {
			if (ret_holder)
				*ret_holder = t;
			return &fields[mid];
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static bool embeds(const struct api_type *t, const struct api_type *holder)
{
	const struct api_field *f = &api_fields[t->first];
	for (size_t i = 0; i < t->n && f[i].flags & API_EMBEDDED; i++)
		if (&api_types[f[i].of] == holder || embeds(&api_types[f[i].of], holder))
			return true;
	return false;
}

const struct api_type *api_embedded(const struct api_type *t, const struct api_type *holder,
				    size_t n)
{
	const struct api_field *f = &api_fields[t->first];
	for (size_t i = 0; i < t->n && f[i].flags & API_EMBEDDED; i++) {
		const struct api_type *in = &api_types[f[i].of];
		if (in == holder || embeds(in, holder))
			return n == 0 ? in : api_embedded(in, holder, n - 1);
	}
	return NULL;
}
/* NOLINTEND(misc-no-recursion) */

const char *api_go_type(const struct api_field *f)
{
	return f->shape == API_STRUCT ? "" : api_text(f->of);
}

const char *api_short_name(const struct api_type *t)
{
	return strrchr(api_text(t->name), '.') + 1;
}

const char *api_go_name(const struct api_type *t)
{
	const char *name = api_text(t->name), *at = strrchr(name, '.');
	while (at > name && at[-1] != '.')
		at--;
	return at;
}

bool api_is_replaced(const struct api_type *holder, const struct api_field *f)
{
	return cstr_eq(api_text(holder->name), "policy.v1.PodDisruptionBudgetSpec") &&
	       cstr_eq(api_text(f->name), "selector");
}

bool api_is_always(const struct api_field *f)
{
	bool scalar = f->shape == API_STRING || f->shape == API_BOOL || f->shape == API_INT32 ||
		      f->shape == API_INT64;
	if (f->shape == API_QUANTITY && !f->marks && f->flags & API_REQUIRED)
		return true;
	return scalar && !f->marks && f->flags & (API_REQUIRED | API_ALWAYS) &&
	       !(f->flags & (API_OMITTED | API_EMBEDDED));
}
