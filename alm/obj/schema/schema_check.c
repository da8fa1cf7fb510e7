/*
 * schema_check.c: is this text a legal structural schema? (KEP 1693; the texts are those of
 * apiextensions-apiserver.) Works on the text, not on the compiled form, as what is illegal may not
 * compile.
 */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_fault.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)
#define INT_OR_STRING  "x-kubernetes-int-or-string"

enum place { PLACE_ROOT, PLACE_FIELD, PLACE_ITEM };

static bool is_empty(const struct obj *value)
{
	switch (obj_type(value)) {
	case OBJ_ABSENT:
	case OBJ_NULL:
		return true;
	case OBJ_BOOL:
		return !obj_is_true(value);
	case OBJ_STRING:
		return obj_as_str(value).len == 0;
	case OBJ_LIST:
	case OBJ_MAP:
		return obj_len(value) == 0;
	case OBJ_INT:
	case OBJ_DOUBLE:
		break;
	}
	return false;
}

static void check_forbidden_keywords(struct schema_checked *c, const struct obj *o)
{
	static const char *const even_empty[] = {"$ref", "additionalItems", "dependencies", NULL};
	static const struct {
		const char *key, *why;
	} rows[] = {
		{"$ref", "$ref is not supported"},
		{"definitions", "definitions is not supported"},
		{"dependencies", "dependencies is not supported"},
		{"id", "id is not supported"},
		{"patternProperties", "patternProperties is not supported"},
		{"additionalItems", "additionalItems is not supported"},
		{"uniqueItems", "uniqueItems cannot be set to true since the runtime complexity "
				"becomes quadratic"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *v = obj_get(o, rows[i].key);
		bool is_there = cstr_in(rows[i].key, even_empty) && v && obj_type(v) != OBJ_NULL;
		if (is_there || !is_empty(v))
			schema_forbid(c, rows[i].key, rows[i].why);
	}
	c->says_schema = c->says_schema || !is_empty(obj_get(o, "$schema"));
	const struct obj *additional = obj_get(o, "additionalProperties");
	if (obj_len(obj_get(o, "properties")) > 0 && additional && !obj_is_true(additional) &&
	    obj_type(additional) != OBJ_NULL)
		schema_forbid(c, "additionalProperties",
			      "additionalProperties and properties are mutual exclusive");
	if (obj_type(obj_get(o, "items")) == OBJ_LIST && obj_len(obj_get(o, "items")))
		schema_forbid(c, "items", "items must be a schema object and not an array");
}

/* What only the root may not have. */
static void check_root(struct schema_checked *c, const struct obj *o)
{
	const struct obj *additional = obj_get(o, "additionalProperties");
	if (schema_flag(o, "nullable"))
		schema_forbid(c, "nullable", "nullable cannot be true at the root");
	if (additional && obj_type(additional) != OBJ_NULL)
		schema_forbid(c, "additionalProperties", "must not be used at the root");
}

/* What apiextensions says of a node after those below it. */
static void check_extensions(struct schema_checked *c, const struct obj *o)
{
	static const char preserve[] = "x-kubernetes-preserve-unknown-fields";
	static const char map_type[] = "x-kubernetes-map-type";
	static const char why[] = "must be object if x-kubernetes-map-type is specified";
	const struct obj *v = obj_get(o, preserve), *map = obj_get(o, map_type);
	const char *is = schema_text(o, map_type), *type = schema_text(o, "type");
	if (obj_type(v) == OBJ_BOOL && !obj_is_true(v))
		schema_invalid(c, preserve, v, "must be true or undefined");
	if (obj_type(map) != OBJ_STRING)
		return;
	if (!*type)
		schema_require(c, "type", why);
	else if (strcmp(type, "object") != 0)
		schema_invalid(c, "type", obj_get(o, "type"), why);
	if (strcmp(is, "atomic") != 0 && strcmp(is, "granular") != 0)
		schema_unsupported(c, map_type, is, "\"atomic\", \"granular\"");
}

static void check_type_name(struct schema_checked *c, const struct obj *o)
{
	static const char *const known[] = {"array",  "boolean", "integer",
					    "number", "object",  "string"};
	const char *type = schema_text(o, "type");
	if (!*type)
		return;
	if (strcmp(type, "null") == 0) {
		schema_forbid(c, "type",
			      "type cannot be set to null, use nullable as an alternative");
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i], type) == 0)
			return;
	schema_unsupported(
		c, "type", type,
		"\"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
}

static void check_pattern(struct schema_checked *c, const struct obj *o)
{
	CLEANUP(regex_freep) struct regex *checked = NULL;
	struct error err = ERROR_INIT;
	const struct obj *text = obj_get(o, "pattern");
	if (is_empty(text))
		return;
	if (regex_new(obj_as_str(text), &checked, &err) < 0) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "must be a valid regular expression, but isn't: %s", err.msg);
		schema_invalid(c, "pattern", text, b.buf);
	}
}

/* Types of keywords that schema_compile() would refuse. */
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

/* Inside allOf, anyOf, oneOf, not. */
static void check_value_only(struct schema_checked *c, const struct obj *o, bool int_or_string)
{
	static const struct {
		const char *key, *why;
	} rows[] = {
		{"additionalProperties", "must be undefined to be structural"},
		{"default", "must be undefined to be structural"},
		{"description", "must be empty to be structural"},
		{"title", "must be empty to be structural"},
		{"nullable", "must be false to be structural"},
		{"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
		{"x-kubernetes-embedded-resource", "must be false to be structural"},
		{"x-kubernetes-int-or-string", "must be false to be structural"},
		{"x-kubernetes-list-map-keys", "must be empty to be structural"},
		{"x-kubernetes-list-type", "must be undefined to be structural"},
		{"x-kubernetes-map-type", "must be undefined to be structural"},
		{"x-kubernetes-validations", "must be empty to be structural"},
	};
	if (*schema_text(o, "type") && !int_or_string)
		schema_forbid(c, "type", "must be empty to be structural");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *value = obj_get(o, rows[i].key);
		if (strcmp(rows[i].key, "default") == 0 ? value != NULL : !is_empty(value))
			schema_forbid(c, rows[i].key, rows[i].why);
	}
}

static void check_nested(struct schema_checked *c, const struct obj *o, const struct obj *structure,
			 bool int_or_string);

static size_t enter(struct schema_checked *c, const char *fmt, const char *name)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, "%s[%s]", fmt, name);
	return at;
}

/* NOLINTBEGIN(misc-no-recursion): check_node() and check_nested() bound the depth by
 * SCHEMA_DEPTH_MAX */
static void check_branches(struct schema_checked *c, const struct obj *o,
			   const struct obj *structure, bool int_or_string)
{
	static const char *const keys[] = {"allOf", "anyOf", "oneOf"};
	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		const struct obj *list = obj_get(o, keys[k]);
		for (size_t i = 0; i < obj_len(list); i++) {
			size_t at = c->path.len;
			strbuf_addf(&c->path, ".%s[%zu]", keys[k], i);
			check_nested(c, obj_at(list, i), structure, int_or_string);
			strbuf_truncate(&c->path, at);
		}
	}
	const struct obj *not_schema = obj_get(o, "not");
	if (not_schema) {
		size_t at = c->path.len;
		strbuf_adds(&c->path, ".not");
		check_nested(c, not_schema, structure, false);
		strbuf_truncate(&c->path, at);
	}
}

/* That the structure declares what a branch names is the rule of the documents, but no server
 * enforces it. */
static void check_nested_children(struct schema_checked *c, const struct obj *o,
				  const struct obj *structure)
{
	const struct obj *declared = obj_get(structure, "properties");
	OBJ_EACH (it, obj_get(o, "properties")) {
		size_t at = enter(c, ".properties", it.key);
		const struct obj *counterpart = obj_get(declared, it.key);
		check_nested(c, it.value, counterpart, schema_flag(counterpart, INT_OR_STRING));
		strbuf_truncate(&c->path, at);
	}
	const struct obj *items = obj_get(o, "items");
	if (obj_type(items) == OBJ_MAP) {
		size_t at = c->path.len;
		const struct obj *counterpart = obj_get(structure, "items");
		strbuf_adds(&c->path, ".items");
		check_nested(c, items, counterpart, schema_flag(counterpart, INT_OR_STRING));
		strbuf_truncate(&c->path, at);
	}
}

static void check_nested(struct schema_checked *c, const struct obj *o, const struct obj *structure,
			 bool int_or_string)
{
	if (obj_type(o) != OBJ_MAP) {
		field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
				 "Invalid value: must be a schema");
		return;
	}
	if (++c->depth > SCHEMA_DEPTH_MAX) {
		c->depth--;
		field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
				 "Invalid value: nested deeper than %d", SCHEMA_DEPTH_MAX);
		return;
	}
	check_keyword_types(c, o);
	check_forbidden_keywords(c, o);
	check_value_only(c, o, int_or_string);
	check_pattern(c, o);
	check_nested_children(c, o, structure);
	check_branches(c, o, structure, int_or_string);
	c->depth--;
}
/* NOLINTEND(misc-no-recursion) */

static void check_type_present(struct schema_checked *c, const struct obj *o, enum place place)
{
	bool int_or_string = schema_flag(o, INT_OR_STRING);
	bool preserve = schema_flag(o, "x-kubernetes-preserve-unknown-fields");
	const char *type = schema_text(o, "type");
	if (place == PLACE_ROOT && !*type)
		schema_require(c, "type", "must not be empty at the root");
	else if (place == PLACE_ROOT && strcmp(type, "object") != 0)
		schema_invalid(c, "type", obj_get(o, "type"), "must be object at the root");
	else if (!*type && !int_or_string && !preserve)
		schema_require(c, "type",
			       place == PLACE_ITEM
				       ? "must not be empty for specified array items"
				       : "must not be empty for specified object fields");
	if (int_or_string && preserve)
		schema_forbid(c, "x-kubernetes-preserve-unknown-fields",
			      "must be false if x-kubernetes-int-or-string is true");
}

static void check_embedded(struct schema_checked *c, const struct obj *o)
{
	if (!schema_flag(o, "x-kubernetes-embedded-resource"))
		return;
	if (strcmp(schema_text(o, "type"), "object") != 0)
		schema_invalid(c, "type", obj_get(o, "type"),
			       "must be object if x-kubernetes-embedded-resource is true");
	if (obj_len(obj_get(o, "properties")) == 0 &&
	    !schema_flag(o, "x-kubernetes-preserve-unknown-fields"))
		schema_require(
			c, "properties",
			"must not be empty if x-kubernetes-embedded-resource is true without "
			"x-kubernetes-preserve-unknown-fields");
}

struct pruned {
	size_t n;
};

static void count_pruned(void *arg, const char *path)
{
	(void)path;
	((struct pruned *)arg)->n++;
}

/* The default must be valid, and nothing of it may be unknown. */
static void check_default(struct schema_checked *c, const struct obj *o)
{
	const struct obj *value = obj_get(o, "default");
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	if (!value)
		return;
	if (schema_compile(o, &s, &err) < 0)
		return; /* reported by its own check */
	struct pruned pruned = {0};
	CLEANUP(obj_unrefp) struct obj *whole = obj_map();
	obj_set(whole, "default", obj_copy(value));
	schema_prune_value(s, obj_get_mut(whole, "default"), count_pruned, &pruned);
	if (pruned.n > 0)
		schema_invalid(c, "default", value, "must not have unknown fields");
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct field_errors *found = ARENA_NEW(a, struct field_errors);
	field_errors_init(found, a);
	schema_validate(s, value, found);
	for (size_t i = 0; i < found->n; i++)
		schema_fault_add(c, found->items[i].type, "default", found->items[i].message);
}

static void check_metadata(struct schema_checked *c, const struct obj *o)
{
	const struct obj *meta = obj_get(obj_get(o, "properties"), "metadata");
	bool ok = true;
	OBJ_EACH (it, meta) {
		bool known = strcmp(it.key, "type") == 0 || strcmp(it.key, "description") == 0 ||
			     strcmp(it.key, "properties") == 0;
		ok &= known;
	}
	OBJ_EACH (it, obj_get(meta, "properties"))
		ok &= strcmp(it.key, "name") == 0 || strcmp(it.key, "generateName") == 0;
	if (!ok)
		schema_forbid(
			c, "properties[metadata]",
			"must not specify anything other than name and generateName, but metadata "
			"is implicitly specified");
}

static void check_node(struct schema_checked *c, const struct obj *o, enum place place);

/* NOLINTBEGIN(misc-no-recursion): check_node() and check_nested() bound the depth by
 * SCHEMA_DEPTH_MAX */
static void check_children(struct schema_checked *c, const struct obj *o)
{
	OBJ_EACH (it, obj_get(o, "properties")) {
		size_t at = enter(c, ".properties", it.key);
		check_node(c, it.value, PLACE_FIELD);
		strbuf_truncate(&c->path, at);
	}
	const struct obj *additional = obj_get(o, "additionalProperties");
	size_t at = c->path.len;
	if (obj_type(additional) == OBJ_MAP) {
		strbuf_adds(&c->path, ".additionalProperties");
		check_node(c, additional, PLACE_FIELD);
		strbuf_truncate(&c->path, at);
	}
	const struct obj *items = obj_get(o, "items");
	if (obj_type(items) == OBJ_MAP) {
		strbuf_adds(&c->path, ".items");
		check_node(c, items, PLACE_ITEM);
		strbuf_truncate(&c->path, at);
	} else if (!items && strcmp(schema_text(o, "type"), "array") == 0) {
		schema_require(c, "items", "must be specified");
	}
}

static void check_node(struct schema_checked *c, const struct obj *o, enum place place)
{
	if (obj_type(o) != OBJ_MAP) {
		field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
				 "Invalid value: must be a schema");
		return;
	}
	if (++c->depth > SCHEMA_DEPTH_MAX) {
		c->depth--;
		field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
				 "Invalid value: nested deeper than %d", SCHEMA_DEPTH_MAX);
		return;
	}
	if (place == PLACE_ROOT)
		check_root(c, o);
	check_keyword_types(c, o);
	check_forbidden_keywords(c, o);
	check_type_name(c, o);
	check_type_present(c, o, place);
	check_embedded(c, o);
	schema_check_list_type(c, o);
	check_pattern(c, o);
	check_branches(c, o, o, schema_flag(o, INT_OR_STRING));
	check_children(c, o);
	check_extensions(c, o);
	if (place == PLACE_ROOT)
		check_metadata(c, o);
	check_default(c, o);
	c->depth--;
}
/* NOLINTEND(misc-no-recursion) */

void schema_check(const struct obj *openapi, const char *path, struct field_errors *ret)
{
	struct schema_checked c = {.errors = ret};
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	size_t before = ret->n;
	check_node(&c, openapi, PLACE_ROOT);
	if (c.says_schema && ret->n == before)
		field_errors_add(ret, FIELD_INVALID, path,
				 "Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported");
	strbuf_release(&c.path);
}
