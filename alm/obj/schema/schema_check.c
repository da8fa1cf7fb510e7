/*
 * schema_check.c: is this text a legal structural schema? (KEP 1693; the texts and their order are those of
 * apiextensions-apiserver 1.36.) Works on the text, not on the compiled form, as what is illegal may not
 * compile. Three passes: the structure (schema_structure.c), the defaults, and each node by itself.
 */
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_fault.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)

static bool is_there(const struct obj *o, const char *key)
{
	return obj_is_set(obj_get(o, key));
}

/* --- what cannot be read as a schema at all --- */

static void check_keyword_types(struct schema_checked *c, const struct obj *o)
{
	static const struct {
		const char *key;
		enum obj_type type;
	} rows[] = {
		{"type", OBJ_STRING},
		{"format", OBJ_STRING},
		{"pattern", OBJ_STRING},
		{"properties", OBJ_MAP},
		{"required", OBJ_LIST},
		{"enum", OBJ_LIST},
		{"allOf", OBJ_LIST},
		{"anyOf", OBJ_LIST},
		{"oneOf", OBJ_LIST},
		{"minimum", OBJ_INT},
		{"maximum", OBJ_INT},
		{"multipleOf", OBJ_INT},
		{"minLength", OBJ_INT},
		{"maxLength", OBJ_INT},
		{"minItems", OBJ_INT},
		{"maxItems", OBJ_INT},
		{"minProperties", OBJ_INT},
		{"maxProperties", OBJ_INT},
		{"nullable", OBJ_BOOL},
		{"uniqueItems", OBJ_BOOL},
		{"exclusiveMinimum", OBJ_BOOL},
		{"exclusiveMaximum", OBJ_BOOL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *value = obj_get(o, rows[i].key);
		enum obj_type type = obj_type(value);
		if (type == OBJ_ABSENT || type == OBJ_NULL || type == rows[i].type ||
		    (rows[i].type == OBJ_INT && obj_is_number(value)))
			continue;
		schema_invalid(c, rows[i].key, value, "has the wrong type");
	}
	const struct obj *required = obj_get(o, "required");
	for (size_t i = 0; i < obj_len(required); i++)
		if (!obj_as_string(obj_at(required, i)))
			schema_invalid(c, "required", required, "must be a list of strings");
}

/* Is it of a list of items, of which the list is told? */
static bool is_listed_item(const struct schema_checked *c)
{
	struct str before, index;
	return str_rcut(strbuf_str(&c->path), '[', &before, &index) && index.len &&
	       char_is_digit(index.ptr[0]) && str_has_suffix(before, STR(".items"));
}

static void check_readable(struct schema_checked *c, const struct obj *o)
{
	if (obj_type(o) == OBJ_NULL && is_listed_item(c))
		return;
	if (obj_type(o) == OBJ_MAP) {
		check_keyword_types(c, o);
		return;
	}
	field_errors_add(c->errors, FIELD_INVALID, c->path.buf, "Invalid value: must be a schema");
}

/* --- each node by itself --- */

static void check_unsupported(struct schema_checked *c, const struct obj *o)
{
	static const char *const texts[] = {"id"};
	static const char *const pointers[] = {"additionalItems"};
	static const char *const maps[] = {"patternProperties", "definitions"};
	static const char *const even_empty[] = {"dependencies", "$ref"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *found[8];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (*schema_text(o, texts[i]))
			found[n++] = texts[i];
	for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
		if (is_there(o, pointers[i]))
			found[n++] = pointers[i];
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		if (obj_len(obj_get(o, maps[i])))
			found[n++] = maps[i];
	for (size_t i = 0; i < ARRAY_LEN(even_empty); i++)
		if (is_there(o, even_empty[i]))
			found[n++] = even_empty[i];
	for (size_t i = 0; i < n; i++) {
		strbuf_clear(&b);
		strbuf_addf(&b, "%s is not supported", found[i]);
		schema_forbid(c, found[i], b.buf);
	}
}

static bool is_known_type(const char *type)
{
	static const char *const known[] = {"array",  "boolean", "integer", "number",
					    "object", "string",  NULL};
	return !*type || cstr_in(type, known);
}

static void check_type_name(struct schema_checked *c, const struct obj *o)
{
	const char *type = schema_text(o, "type");
	if (!is_known_type(type))
		schema_unsupported(c, "type", type,
				   "\"array\", \"boolean\", \"integer\", \"number\", \"object\", "
				   "\"string\"");
}

/* What is said of a node before those below it. */
static void check_first(struct schema_checked *c, const struct obj *o)
{
	const struct obj *additional = obj_get(o, "additionalProperties");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	check_type_name(c, o);
	if (c->no_defaults && is_there(o, "default")) {
		strbuf_addf(&b, "must not be set %s", c->no_defaults);
		schema_forbid(c, "default", b.buf);
	}
	check_unsupported(c, o);
	if (strcmp(schema_text(o, "type"), "null") == 0)
		schema_forbid(c, "type",
			      "type cannot be set to null, use nullable as an alternative");
	if (obj_type(obj_get(o, "items")) == OBJ_LIST && obj_len(obj_get(o, "items")))
		schema_forbid(c, "items", "items must be a schema object and not an array");
	if (c->in_meta && schema_flag(o, "x-kubernetes-embedded-resource"))
		schema_forbid(c, "x-kubernetes-embedded-resource",
			      "must not be used inside of resource meta");
	if (schema_flag(o, "uniqueItems"))
		schema_forbid(c, "uniqueItems",
			      "uniqueItems cannot be set to true since the runtime complexity "
			      "becomes quadratic");
	if (obj_len(obj_get(o, "properties")) && obj_is_set(additional) && !obj_is_true(additional))
		schema_forbid(c, "additionalProperties",
			      "additionalProperties and properties are mutual exclusive");
}

/* And after them. */
static void check_last(struct schema_checked *c, const struct obj *o)
{
	static const char preserve[] = "x-kubernetes-preserve-unknown-fields";
	static const char map_type[] = "x-kubernetes-map-type";
	static const char why[] = "must be object if x-kubernetes-map-type is specified";
	const struct obj *v = obj_get(o, preserve), *map = obj_get(o, map_type);
	const char *is = schema_text(o, map_type), *type = schema_text(o, "type");
	if (obj_type(v) == OBJ_BOOL && !obj_is_true(v))
		schema_invalid(c, preserve, v, "must be true or undefined");
	if (obj_type(map) == OBJ_STRING && strcmp(type, "object") != 0) {
		if (*type)
			schema_invalid(c, "type", obj_get(o, "type"), why);
		else
			schema_require(c, "type", why);
	}
	if (obj_type(map) == OBJ_STRING && strcmp(is, "atomic") != 0 && strcmp(is, "granular") != 0)
		schema_unsupported(c, map_type, is, "\"atomic\", \"granular\"");
	schema_check_list_type(c, o);
	schema_check_rule_fields(c, o);
}

static void check_node(struct schema_checked *c, const struct obj *o, bool is_root);

/* NOLINTBEGIN(misc-no-recursion): schema_enter() bounds the depth by SCHEMA_DEPTH_MAX */
static void check_at_key(struct schema_checked *c, const struct obj *o, const char *key,
			 const char *name)
{
	size_t at = c->path.len;
	if (obj_type(o) != OBJ_MAP)
		return;
	strbuf_addf(&c->path, name ? ".%s[%s]" : ".%s", key, name);
	check_node(c, o, false);
	strbuf_truncate(&c->path, at);
}

static void check_each(struct schema_checked *c, const struct obj *o, const char *key)
{
	const struct obj *list = obj_get(o, key);
	for (size_t i = 0; obj_type(list) == OBJ_LIST && i < obj_len(list); i++) {
		size_t at = c->path.len;
		strbuf_addf(&c->path, ".%s[%zu]", key, i);
		check_node(c, obj_at(list, i), false);
		strbuf_truncate(&c->path, at);
	}
}

/* The schema of the metadata of an object, or of its apiVersion and kind, has bounds of its own. */
static void check_properties(struct schema_checked *c, const struct obj *o, bool is_root)
{
	static const char *const meta[] = {"metadata", "kind", "apiVersion", NULL};
	bool is_object = is_root || schema_flag(o, "x-kubernetes-embedded-resource");
	OBJ_EACH (it, obj_get(o, "properties")) {
		char why[sizeof("in top-level apiVersion")];
		const char *before = c->no_defaults;
		bool before_meta = c->in_meta;
		if (is_object && cstr_in(it.key, meta)) {
			c->in_meta = true;
			snprintf(why, sizeof(why), "in top-level %s", it.key);
			c->no_defaults = is_root ? why : before;
		}
		check_at_key(c, it.value, "properties", it.key);
		c->no_defaults = before;
		c->in_meta = before_meta;
	}
}

static void check_additional(struct schema_checked *c, const struct obj *o)
{
	const char *before = c->no_defaults;
	if (c->in_meta)
		c->no_defaults = "inside additionalProperties applying to object metadata";
	check_at_key(c, obj_get(o, "additionalProperties"), "additionalProperties", NULL);
	c->no_defaults = before;
}

static void check_node(struct schema_checked *c, const struct obj *o, bool is_root)
{
	static const char *const branches[] = {"allOf", "oneOf", "anyOf"};
	static const char *const maps[] = {"definitions", "dependencies"};
	if (!schema_enter(c))
		return;
	check_first(c, o);
	check_additional(c, o);
	check_properties(c, o, is_root);
	check_at_key(c, obj_get(o, "not"), "not", NULL);
	for (size_t i = 0; i < ARRAY_LEN(branches); i++)
		check_each(c, o, branches[i]);
	OBJ_EACH (it, obj_get(o, maps[0]))
		check_at_key(c, it.value, maps[0], it.key);
	check_at_key(c, obj_get(o, "items"), "items", NULL);
	check_each(c, o, "items");
	OBJ_EACH (it, obj_get(o, maps[1]))
		check_at_key(c, it.value, maps[1], it.key);
	check_last(c, o);
	c->depth--;
}

/* --- defaults --- */

static void count_pruned(void *arg, const char *path)
{
	(void)path;
	++*(size_t *)arg;
}

static void check_value(struct schema_checked *c, const struct schema *s, const struct obj *value)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX * 2);
	struct field_errors *found = ARENA_NEW(a, struct field_errors);
	field_errors_init(found, a);
	schema_validate_default(s, value, found);
	bool by_rules = !found->n;
	if (by_rules)
		schema_validate_default_rules(s, value, found);
	for (size_t i = 0; i < found->n; i++) {
		const char *path = found->items[i].path;
		const char *dot = by_rules && *path == '[' ? "" : "."; /* sic: "default.[0]" */
		bool below = *path && strcmp(path, "<nil>") != 0;
		schema_fault_add(c, found->items[i].type,
				 below ? arena_fmt(a, "default%s%s", dot, path) : "default",
				 found->items[i].message);
	}
}

/* Of a type that is none, which is told elsewhere, no value is. */
static void check_default_of_none(struct schema_checked *c, const struct obj *o,
				  const struct obj *value)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const char *is = obj_type_name(obj_type(value)), *wanted = schema_text(o, "type");
	if (obj_is_number(value) && *schema_text(o, "format")) {
		is = obj_type(value) == OBJ_INT ? "int64" : "float64";
		wanted = schema_text(o, "format");
	}
	if (obj_len(value) && obj_type(value) == OBJ_MAP && !obj_len(obj_get(o, "properties")))
		schema_invalid(c, "default", value, "must not have unknown fields");
	strbuf_addf(&b, "Invalid value: \"%s\":  in body must be of type %s: \"%s\"", is, wanted,
		    is);
	schema_fault_add(c, FIELD_TYPE_INVALID, "default", b.buf);
}

static bool is_embedded_sound(struct schema_checked *c, const struct schema *s,
			      const struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(value);
	size_t at = c->path.len, from = c->errors->n;
	if (!c->of_default)
		return true;
	strbuf_adds(&c->path, ".default");
	c->of_default(s, c->path.buf, copy, c->errors);
	strbuf_truncate(&c->path, at);
	return c->errors->n == from;
}

/* The default must be valid, and nothing of it may be unknown. That of the root is a whole object. */
static void check_default(struct schema_checked *c, const struct obj *o, bool is_root)
{
	const struct obj *value = obj_get(o, "default");
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	size_t pruned = 0;
	if (obj_is_set(value) && !c->in_meta && !is_known_type(schema_text(o, "type"))) {
		check_default_of_none(c, o, value);
		return;
	}
	if (!obj_is_set(value) || c->in_meta || schema_compile(o, &s, &err) < 0)
		return;
	s->embedded |= is_root;
	s->has_embedded_below |= is_root;
	CLEANUP(obj_unrefp) struct obj *whole = obj_map();
	obj_set(whole, "default", obj_copy(value));
	schema_prune_value(s, obj_get_mut(whole, "default"), count_pruned, &pruned);
	if (pruned)
		schema_invalid(c, "default", value, "must not have unknown fields");
	if (is_embedded_sound(c, s, value))
		check_value(c, s, value);
}

/* Those of maps' values are refused elsewhere. */
static void check_defaults(struct schema_checked *c, const struct obj *o, bool is_root)
{
	const struct obj *items = obj_get(o, "items");
	size_t at = c->path.len;
	if (!schema_enter(c))
		return;
	check_default(c, o, is_root);
	if (obj_type(items) == OBJ_MAP) {
		strbuf_adds(&c->path, ".items");
		check_defaults(c, items, false);
		strbuf_truncate(&c->path, at);
	}
	OBJ_EACH (it, obj_get(o, "properties")) {
		strbuf_addf(&c->path, ".properties[%s]", it.key);
		check_defaults(c, it.value, false);
		strbuf_truncate(&c->path, at);
	}
	c->depth--;
}
/* NOLINTEND(misc-no-recursion) */

static void note_default(struct schema_checked *c, const struct obj *o)
{
	c->has_default |= obj_is_set(obj_get(o, "default"));
}

bool schema_has_defaults(const struct obj *openapi)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	struct schema_checked c = {.errors = ARENA_NEW(a, struct field_errors)};
	field_errors_init(c.errors, a);
	strbuf_init(&c.path, PATH_BYTES_MAX);
	schema_each(&c, openapi, note_default);
	strbuf_release(&c.path);
	return c.has_default;
}

bool schema_check(const struct obj *openapi, const char *path, schema_default_fn of_default,
		  struct field_errors *ret)
{
	struct schema_checked c = {.errors = ret, .of_default = of_default};
	const size_t before = ret->n;
	bool sound = false;
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	schema_each(&c, openapi, check_readable);
	if (ret->n == before && schema_flag(openapi, "nullable"))
		schema_forbid(&c, "nullable", "nullable cannot be true at the root");
	else if (ret->n > before)
		goto out;
	const size_t from = ret->n;
	const char *unread = schema_unread(openapi);
	if (!unread)
		schema_check_structure(&c, openapi);
	if (!unread && ret->n == from)
		check_defaults(&c, openapi, true);
	sound = !unread && ret->n == from;
	check_node(&c, openapi, true);
	if (ret->n == before && unread)
		field_errors_add(ret, FIELD_INVALID, path, "Invalid value: \"\": %s", unread);
out:
	strbuf_release(&c.path);
	return sound;
}
