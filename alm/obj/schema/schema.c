/* schema.c: what a compiled schema says of a value. */
#include "alm/obj/schema/schema.h"

#include <stdlib.h>
#include <string.h>

#include "alm/obj/schema/schema_node.h"

int schema_by_name(const void *a, const void *b)
{
	const struct schema_named *x = a, *y = b;
	return strcmp(x->name, y->name);
}

void schema_set_property(struct arena *a, struct schema *s, const char *name, struct schema *value)
{
	struct schema_named *old = s->properties;
	size_t n = s->n_properties;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(old[i].name, name)) {
			old[i].schema = value;
			return;
		}
	if (!(n & (n + 1))) { /* 0, 1, 3, 7 ...: it is full */
		s->properties = ARENA_ARRAY(a, struct schema_named, 2 * n + 1);
		for (size_t i = 0; i < n; i++)
			s->properties[i] = old[i];
	}
	s->properties[s->n_properties++] = (struct schema_named){name, value};
	qsort(s->properties, s->n_properties, sizeof(*s->properties), schema_by_name);
}

const struct schema *schema_property(const struct schema *s, const char *name)
{
	const struct schema_named key = {.name = name};
	const struct schema_named *found = NULL;
	if (s && s->n_properties)
		found = bsearch(&key, s->properties, s->n_properties, sizeof(key), schema_by_name);
	return found ? found->schema : NULL;
}

const struct schema *schema_field(const struct schema *s, const char *name)
{
	const struct schema *p = schema_property(s, name);
	return p || !s ? p : s->additional;
}

const struct schema *schema_items(const struct schema *s)
{
	return s ? s->items : NULL;
}

enum schema_list_type schema_list_type(const struct schema *s)
{
	return s ? s->list_type : LIST_ATOMIC;
}

size_t schema_list_keys(const struct schema *s, const char *const **ret_keys)
{
	if (!s)
		return 0;
	*ret_keys = s->list_keys;
	return s->n_list_keys;
}

bool schema_map_is_atomic(const struct schema *s)
{
	return s && s->map_atomic;
}

bool schema_is_declared(const struct schema *s, const char *name)
{
	if (!s || s->open || s->additional || s->additional_any)
		return true;
	if (!s->n_properties && !s->embedded) /* free in form, until it is pruned */
		return true;
	if (schema_property(s, name))
		return true;
	return s->embedded && (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 ||
			       strcmp(name, "metadata") == 0);
}

const struct obj *schema_default_of(const struct schema *s)
{
	return s ? s->default_value : NULL;
}

bool schema_has_type(const struct schema *s, const struct obj *o)
{
	int64_t ignored;
	switch (obj_type(o)) {
	case OBJ_MAP:
		return s->type & SCHEMA_OBJECT;
	case OBJ_LIST:
		return s->type & SCHEMA_ARRAY;
	case OBJ_STRING:
		return s->type & SCHEMA_STRING;
	case OBJ_BOOL:
		return s->type & SCHEMA_BOOLEAN;
	case OBJ_INT:
		return s->type & (SCHEMA_INTEGER | SCHEMA_NUMBER);
	case OBJ_DOUBLE: /* 1.0 and 1e3 are integers */
		return (s->type & SCHEMA_NUMBER) ||
		       ((s->type & SCHEMA_INTEGER) && obj_as_i64(o, &ignored));
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return false;
}
