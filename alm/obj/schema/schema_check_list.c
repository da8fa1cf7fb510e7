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
	strbuf_adds(&b, "Invalid value: ");
	go_bad_value(keys, &b);
	strbuf_addf(&b, ": %s", why);
	schema_fault_add(c, FIELD_INVALID, "x-kubernetes-list-map-keys", b.buf);
}

/* c->path stands at the list, whose items are objects. */
static void check_key_names(struct schema_checked *c, const struct obj *items,
			    const struct obj *keys)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	for (size_t i = 0; i < obj_len(keys) && !field_errors_full(c->errors); i++) {
		CLEANUP(strbuf_release) struct strbuf at = STRBUF_INIT(STRBUF_SMALL);
		const char *key = obj_as_string(obj_at(keys, i));
		const struct obj *p = key ? obj_get(obj_get(items, "properties"), key) : NULL;
		const char *type = schema_text(p, "type");
		strbuf_addf(&at, "items.properties[%s].type", key ? key : "");
		if (!p)
			invalid_keys(c, keys, "entries must all be names of item properties");
		else if (strcmp(type, "object") == 0 || strcmp(type, "array") == 0)
			schema_invalid(c, at.buf, obj_get(items, "type"), /* sic */
				       "must be a scalar type if parent array's "
				       "x-kubernetes-list-type is map");
		if (!key || map_has(seen, key))
			invalid_keys(c, keys, "must not contain duplicate entries");
		if (key)
			(void)map_set(seen, key, NULL);
	}
}

static void check_list_map(struct schema_checked *c, const struct obj *o)
{
	const struct obj *keys = obj_get(o, "x-kubernetes-list-map-keys");
	const struct obj *items = obj_get(o, "items");
	const char *type = schema_text(items, "type");
	if (obj_len(keys) == 0)
		schema_require(c, "x-kubernetes-list-map-keys",
			       "must not be empty if x-kubernetes-list-type is map");
	if (!obj_is_set(items))
		schema_require(c, "items", "must have a schema if x-kubernetes-list-type is map");
	else if (obj_type(items) == OBJ_LIST)
		schema_invalid(c, "items", items,
			       "must only have a single schema if x-kubernetes-list-type is map");
	else if (strcmp(type, "object") != 0)
		schema_invalid(c, "items.type", obj_get(items, "type"),
			       "must be object if parent array's x-kubernetes-list-type is map");
	else
		check_key_names(c, items, keys);
}

/* What an item is known by has to be there. */
static void check_key(struct schema_checked *c, const struct obj *p, bool is_required,
		      const char *key)
{
	CLEANUP(strbuf_release) struct strbuf at = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&at, "items.properties[%s].default", key);
	if (!is_required && !obj_is_set(obj_get(p, "default")))
		schema_require(
			c, at.buf,
			"this property is in x-kubernetes-list-map-keys, so it must have a default "
			"or be a required property");
	strbuf_clear(&at);
	strbuf_addf(&at, "items.properties[%s].nullable", key);
	if (schema_flag(p, "nullable"))
		schema_forbid(
			c, at.buf,
			"this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
}

static void check_items(struct schema_checked *c, const struct obj *o, const char *list)
{
	const struct obj *items = obj_get(o, "items");
	const struct obj *keys = obj_get(o, "x-kubernetes-list-map-keys");
	bool is_map = strcmp(list, "map") == 0;
	CLEANUP(map_freep) struct map *required = names_of(obj_get(items, "required"));
	if (obj_type(items) != OBJ_MAP || (!is_map && strcmp(list, "set") != 0))
		return;
	if (schema_flag(items, "nullable"))
		schema_forbid(c, "items.nullable",
			      is_map ? "cannot be nullable when x-kubernetes-list-type is map"
				     : "cannot be nullable when x-kubernetes-list-type is set");
	for (size_t i = 0; is_map && i < obj_len(keys); i++) {
		const char *key = obj_as_string(obj_at(keys, i));
		const struct obj *p = key ? obj_get(obj_get(items, "properties"), key) : NULL;
		if (p)
			check_key(c, p, map_has(required, key), key);
	}
}

static void check_set(struct schema_checked *c, const struct obj *items)
{
	static const char why[] = "must be atomic as item of a list with "
				  "x-kubernetes-list-type=set";
	const struct obj *list = obj_get(items, "x-kubernetes-list-type");
	const char *type = schema_text(items, "type"),
		   *is = schema_text(items, "x-kubernetes-list-type");
	CLEANUP(obj_unrefp) struct obj *null = obj_null();
	if (strcmp(type, "array") == 0 && list && strcmp(is, "atomic") != 0)
		schema_invalid(c, "items.x-kubernetes-list-type", list, why);
	if (strcmp(type, "object") == 0 &&
	    strcmp(schema_text(items, "x-kubernetes-map-type"), "atomic") != 0)
		schema_invalid(c, "items.x-kubernetes-map-type", list ? list : null, why); /* sic */
}

void schema_check_list_type(struct schema_checked *c, const struct obj *o)
{
	static const char *const types[] = {"atomic", "set", "map", NULL};
	static const char array[] = "must be array if x-kubernetes-list-type is specified";
	static const char keyed[] = "must be map if x-kubernetes-list-map-keys is non-empty";
	const struct obj *value = obj_get(o, "x-kubernetes-list-type"), *type = obj_get(o, "type");
	const char *list = schema_text(o, "x-kubernetes-list-type");
	bool has_type = obj_is_set(value), is_map = strcmp(list, "map") == 0;
	if (has_type && strcmp(schema_text(o, "type"), "array") != 0) {
		if (*schema_text(o, "type"))
			schema_invalid(c, "type", type, array);
		else
			schema_require(c, "type", array);
	} else if (strcmp(list, "set") == 0 && obj_type(obj_get(o, "items")) == OBJ_MAP) {
		check_set(c, obj_get(o, "items"));
	}
	if (has_type && !cstr_in(list, types))
		schema_unsupported(c, "x-kubernetes-list-type", list,
				   "\"atomic\", \"set\", \"map\"");
	if (obj_len(obj_get(o, "x-kubernetes-list-map-keys")) && !has_type)
		schema_require(c, "x-kubernetes-list-type", keyed);
	else if (obj_len(obj_get(o, "x-kubernetes-list-map-keys")) && !is_map)
		schema_invalid(c, "x-kubernetes-list-type", value, keyed);
	if (is_map)
		check_list_map(c, o);
	check_items(c, o, list);
}
