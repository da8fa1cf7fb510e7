/* builtin_types: the table of api_types.h as schemas, each made when it is first asked for. */
#include "alm/obj/schema/builtin_types.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_types.h"
#include "alm/obj/schema/schema_node.h"

#define TYPES_BYTES_MAX ((size_t)4 << 20)

/* Immutable once made, and good for the life of the process. */
static struct arena *types_arena;
static struct map *types;

static struct schema *struct_node(const struct api_type *t);

static struct schema *new_node(unsigned type)
{
	struct schema *s = ARENA_NEW(types_arena, struct schema);
	s->type = type;
	s->min_length = s->max_length = s->min_items = s->max_items = SCHEMA_UNSET;
	s->min_properties = s->max_properties = SCHEMA_UNSET;
	return s;
}

/* Scalars of a type are one node. */
static struct schema *scalar_node(unsigned type)
{
	static struct schema *nodes[2 * SCHEMA_BOOLEAN];
	if (!nodes[type]) {
		nodes[type] = new_node(type);
		nodes[type]->preserve = type == 0; /* free form */
	}
	return nodes[type];
}

/* An object of any kind, which has one owner. */
static struct schema *raw_node(void)
{
	static struct schema *node;
	if (!node) {
		node = new_node(0);
		node->preserve = node->map_atomic = true;
	}
	return node;
}

/* A map of anything. */
static struct schema *fields_node(void)
{
	static struct schema *node;
	if (!node) {
		node = new_node(SCHEMA_OBJECT);
		node->preserve = true;
	}
	return node;
}

/* NOLINTBEGIN(misc-no-recursion): struct_node() makes each type once */
static struct schema *element_node(const struct api_field *f)
{
	switch ((enum api_shape)f->shape) {
	case API_STRUCT:
		return struct_node(api_struct_of(f));
	case API_STRING:
	case API_BYTES:
		return scalar_node(SCHEMA_STRING);
	case API_TIME:
	case API_MICRO_TIME:
	case API_QUANTITY:
		return scalar_node(SCHEMA_ANY_SCALAR);
	case API_BOOL:
		return scalar_node(SCHEMA_BOOLEAN);
	case API_INT32:
	case API_INT64:
		return scalar_node(SCHEMA_INTEGER);
	case API_DOUBLE:
		return scalar_node(SCHEMA_NUMBER);
	case API_RAW:
		return raw_node();
	case API_FIELDS:
		return fields_node();
	case API_JSON:
	case API_INT_OR_STRING: /* whatever it is: the converter judges it */
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		break;
	}
	return scalar_node(0);
}

static struct schema *list_node(const struct api_field *f)
{
	struct schema *s = new_node(SCHEMA_ARRAY);
	struct str rest = str_of(api_text(f->list_keys)), key;
	s->items = element_node(f);
	s->has_list_type = rest.len > 0 || f->flags & API_SET;
	if (s->has_list_type)
		s->list_type = rest.len > 0 ? LIST_MAP : LIST_SET;
	s->list_keys = ARENA_ARRAY(types_arena, const char *, rest.len / 2 + 1);
	while (str_next(&rest, ',', &key))
		s->list_keys[s->n_list_keys++] = arena_strndup(types_arena, key.ptr, key.len);
	return s;
}

/* Where it is missing it is "", by which items of lists are told apart. The name of a LocalObjectReference, its first field, is
 * optional and one, too. */
static bool is_required_text(const struct api_field *f)
{
	return f->shape == API_STRING && f->marks == 0 && !*api_text(f->default_json) &&
	       (f->flags & API_REQUIRED ||
		(f->number == 1 && strcmp(api_text(f->name), "name") == 0));
}

static struct schema *required_text(bool always)
{
	static struct schema *nodes[2];
	if (!nodes[always]) {
		nodes[always] = new_node(SCHEMA_STRING);
		nodes[always]->default_value = obj_string("");
		nodes[always]->value_struct = always;
	}
	return nodes[always];
}

static struct schema *field_node(const struct api_field *f)
{
	static struct obj *zero; /* of a number that Go writes always; by it items are told apart */
	struct schema *s;
	if (!zero)
		zero = obj_int(0);
	if (f->marks & API_MAP) {
		s = new_node(SCHEMA_OBJECT);
		s->additional = f->marks & API_LIST ? list_node(f) : element_node(f);
		s->map_atomic = f->flags & API_ATOMIC;
		return s;
	}
	if (f->marks & API_LIST) {
		s = list_node(f);
		s->value_struct =
			f->flags & (API_REQUIRED | API_ALWAYS) && !(f->flags & API_OMITTED);
		return s;
	}
	if (is_required_text(f))
		return required_text(api_is_always(f));
	struct schema *plain = element_node(f);
	bool is_time = f->shape == API_TIME || f->shape == API_MICRO_TIME;
	bool always = (f->shape == API_STRUCT && !(f->marks & API_POINTER)) ||
		      (is_time && f->flags & API_ALWAYS) || api_is_always(f);
	bool granular = strcmp(api_text(f->name), "claimRef") == 0; /* the one reference that is */
	const char *json = api_text(f->default_json);
	if (!always && !(f->flags & API_ATOMIC) && !*json && !granular)
		return plain;
	s = ARENA_NEW(types_arena, struct schema);
	*s = *plain;
	s->value_struct = always;
	s->map_atomic = !granular && (plain->map_atomic || f->flags & API_ATOMIC);
	struct error err;
	struct obj *value = NULL;
	if (*json && json_parse(str_of(json), &value, &err) == 0)
		s->default_value = value;
	else if (always && s->type == SCHEMA_INTEGER)
		s->default_value = zero;
	return s;
}

static void add_fields(struct schema *s, const struct api_type *t)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (fields[i].flags & API_EMBEDDED)
			add_fields(s, api_struct_of(&fields[i]));
		else
			schema_set_property(types_arena, s, api_text(fields[i].name),
					    field_node(&fields[i]));
	}
}

/* A type that holds itself does so in a list, a map or by a pointer, and finds the node that is
 * being made; only what is no pointer is copied, when it is whole. */
static struct schema *struct_node(const struct api_type *t)
{
	static const char *const of_kind[] = {"apiVersion", "kind"};
	const char *name = api_text(t->name);
	struct schema *s = map_get(types, name);
	if (s)
		return s;
	s = new_node(SCHEMA_OBJECT);
	map_set(types, name, s);
	s->map_atomic = t->flags & API_ATOMIC;
	add_fields(s, t);
	s->preserve = !t->n && !(t->flags & API_IS_KIND); /* OpenAPI says no more than "object" */
	for (size_t i = 0; t->flags & API_IS_KIND && i < ARRAY_LEN(of_kind); i++)
		schema_set_property(types_arena, s, of_kind[i], scalar_node(SCHEMA_STRING));
	if (strcmp(name, "core.v1.TypedObjectReference") ==
	    0) { /* a pointer that is always written */
		struct schema *group = new_node(SCHEMA_STRING);
		group->value_struct = group->nullable = true;
		schema_set_property(types_arena, s, "apiGroup", group);
	}
	return s;
}
/* NOLINTEND(misc-no-recursion) */

static const struct schema *schema_of(const struct api_type *t)
{
	if (!t)
		return NULL;
	if (!types) {
		types_arena = arena_new(TYPES_BYTES_MAX);
		types = map_new(NULL);
	}
	return struct_node(t);
}

const struct schema *builtin_schema(const char *api_version, const char *kind)
{
	return schema_of(api_type_of_kind(api_version, kind));
}

const struct schema *builtin_object_meta(void)
{
	return schema_of(api_type_named("apis.meta.v1.ObjectMeta"));
}
