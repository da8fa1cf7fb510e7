/* schema_check_list: is what a schema says of its lists and maps, as things to merge, legal? */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_fault.h"
#include "alm/obj/schema/schema_node.h"

static struct map *names_of(const struct obj *list)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			map_set(m, obj_as_string(obj_at(list, i)), NULL);
	return m;
}

static void invalid_keys(struct schema_checked *c, const struct obj *keys, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (field_errors_full(c->errors))
		return;
	strbuf_adds(&b, "Invalid value: []string{");
	for (size_t i = 0; i < obj_len(keys); i++) {
		strbuf_adds(&b, i ? ", " : "");
		go_syntax(obj_at(keys, i), &b);
	}
	strbuf_addf(&b, "}: %s", why);
	schema_fault_add(c, FIELD_INVALID, "x-kubernetes-list-map-keys", b.buf);
}

/* c->path stands at the list. */
static void check_list_key(struct schema_checked *c, const struct obj *items,
			   const struct obj *keys, const struct map *required, const char *key)
{
	CLEANUP(strbuf_release) struct strbuf at = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *property = obj_get(obj_get(items, "properties"), key);
	const char *type = schema_text(property, "type");
	if (!property) {
		invalid_keys(c, keys, "entries must all be names of item properties");
		return;
	}
	if (strcmp(type, "object") == 0 || strcmp(type, "array") == 0) {
		strbuf_addf(&at, "items.properties[%s].type", key);
		schema_invalid(
			c, at.buf, obj_get(property, "type"),
			"must be a scalar type if parent array's x-kubernetes-list-type is map");
	}
	strbuf_clear(&at);
	if (!map_has(required, key) && !obj_has(property, "default")) {
		strbuf_addf(&at, "items.properties[%s].default", key);
		schema_require(
			c, at.buf,
			"this property is in x-kubernetes-list-map-keys, so it must have a default "
			"or be a required property");
	}
	strbuf_clear(&at);
	if (schema_flag(property, "nullable")) {
		strbuf_addf(&at, "items.properties[%s].nullable", key);
		schema_forbid(
			c, at.buf,
			"this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
	}
}

static void check_list_map(struct schema_checked *c, const struct obj *o)
{
	const struct obj *keys = obj_get(o, "x-kubernetes-list-map-keys");
	const struct obj *items = obj_get(o, "items");
	if (obj_len(keys) == 0)
		schema_require(c, "x-kubernetes-list-map-keys",
			       "must not be empty if x-kubernetes-list-type is map");
	if (!items) {
		schema_require(c, "items", "must have a schema if x-kubernetes-list-type is map");
		return;
	}
	if (strcmp(schema_text(items, "type"), "object") != 0)
		schema_invalid(c, "items.type", obj_get(items, "type"),
			       "must be object if parent array's x-kubernetes-list-type is map");
	CLEANUP(map_freep) struct map *required = names_of(obj_get(items, "required"));
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(keys); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		if (!key || map_has(seen, key))
			invalid_keys(c, keys, "must not contain duplicate entries");
		else
			check_list_key(c, items, keys, required, key);
		if (key)
			map_set(seen, key, NULL);
	}
}

static void check_list_set(struct schema_checked *c, const struct obj *o)
{
	const struct obj *items = obj_get(o, "items");
	const char *type = schema_text(items, "type");
	if (!items) {
		schema_require(c, "items", "must have a schema if x-kubernetes-list-type is set");
		return;
	}
	if (schema_flag(items, "nullable"))
		schema_forbid(c, "items.nullable",
			      "cannot be nullable when x-kubernetes-list-type is set");
	if (strcmp(type, "object") == 0 &&
	    strcmp(schema_text(items, "x-kubernetes-map-type"), "atomic") != 0)
		schema_invalid(c, "items.x-kubernetes-map-type",
			       obj_get(items, "x-kubernetes-map-type"),
			       "must be atomic as item of a list with x-kubernetes-list-type=set");
	const char *inner = schema_text(items, "x-kubernetes-list-type");
	if (strcmp(type, "array") == 0 && *inner && strcmp(inner, "atomic") != 0)
		schema_invalid(c, "items.x-kubernetes-list-type",
			       obj_get(items, "x-kubernetes-list-type"),
			       "must be atomic as item of a list with x-kubernetes-list-type=set");
}

void schema_check_list_type(struct schema_checked *c, const struct obj *o)
{
	static const char *const types[] = {"atomic", "set", "map", NULL};
	const struct obj *value = obj_get(o, "x-kubernetes-list-type");
	const char *list = schema_text(o, "x-kubernetes-list-type");
	if (value && strcmp(schema_text(o, "type"), "array") != 0) {
		schema_invalid(c, "type", obj_get(o, "type"),
			       "must be array if x-kubernetes-list-type is specified");
		if (!cstr_in(list, types))
			schema_unsupported(c, "x-kubernetes-list-type", list,
					   "\"atomic\", \"set\", \"map\"");
	} else if (strcmp(list, "map") == 0) {
		check_list_map(c, o);
	} else {
		if (obj_len(obj_get(o, "x-kubernetes-list-map-keys")) > 0)
			schema_require(c, "x-kubernetes-list-type",
				       "must be map if x-kubernetes-list-map-keys is non-empty");
		if (strcmp(list, "set") == 0)
			check_list_set(c, o);
		else if (value && strcmp(list, "atomic") != 0)
			schema_unsupported(c, "x-kubernetes-list-type", list,
					   "\"atomic\", \"set\", \"map\"");
	}
}
