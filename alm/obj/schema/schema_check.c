/*
 * schema_check.c: is this text a legal structural schema? (KEP 1693; the texts are those of
 * apiextensions-apiserver.) Works on the text, not on the compiled form, as what is illegal may not
 * compile.
 */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)
#define INT_OR_STRING  "x-kubernetes-int-or-string"

enum place { PLACE_ROOT, PLACE_FIELD, PLACE_ITEM };

struct check {
	struct field_errors *errors;
	struct strbuf path;
	unsigned depth;
};

static void add(struct check *c, enum field_error_type type, const char *key, const char *text)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, ".%s", key);
	field_errors_add(c->errors, type, c->path.buf, "%s", text);
	strbuf_truncate(&c->path, at);
}

static void forbid(struct check *c, const char *key, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "Forbidden: %s", why);
	add(c, FIELD_FORBIDDEN, key, b.buf);
}

static void require(struct check *c, const char *key, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "Required value: %s", why);
	add(c, FIELD_REQUIRED, key, b.buf);
}

static void invalid(struct check *c, const char *key, const struct obj *value, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "Invalid value: ");
	if (value)
		go_bad_value(value, &b);
	else
		strbuf_adds(&b, "\"\"");
	strbuf_addf(&b, ": %s", why);
	add(c, FIELD_INVALID, key, b.buf);
}

static void unsupported(struct check *c, const char *key, const char *value, const char *supported)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "Unsupported value: ");
	go_quote(str_of(value), &b);
	strbuf_addf(&b, ": supported values: %s", supported);
	add(c, FIELD_NOT_SUPPORTED, key, b.buf);
}

static bool flag(const struct obj *o, const char *key)
{
	return obj_is_true(obj_get(o, key));
}

static const char *text_of(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

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

static void check_forbidden_keywords(struct check *c, const struct obj *o)
{
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
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!is_empty(obj_get(o, rows[i].key)))
			forbid(c, rows[i].key, rows[i].why);
	const struct obj *additional = obj_get(o, "additionalProperties");
	if (obj_len(obj_get(o, "properties")) > 0 && additional && !obj_is_true(additional) &&
	    obj_type(additional) != OBJ_NULL)
		forbid(c, "additionalProperties",
		       "additionalProperties and properties are mutual exclusive");
	if (obj_type(obj_get(o, "items")) == OBJ_LIST)
		forbid(c, "items", "items must be a schema object and not an array");
}

static void check_type_name(struct check *c, const struct obj *o)
{
	static const char *const known[] = {"array",  "boolean", "integer",
					    "number", "object",  "string"};
	const char *type = text_of(o, "type");
	if (!*type)
		return;
	if (strcmp(type, "null") == 0) {
		forbid(c, "type", "type cannot be set to null, use nullable as an alternative");
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i], type) == 0)
			return;
	unsupported(c, "type", type,
		    "\"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
}

static void check_pattern(struct check *c, const struct obj *o)
{
	CLEANUP(regex_freep) struct regex *checked = NULL;
	struct error err = ERROR_INIT;
	const struct obj *text = obj_get(o, "pattern");
	if (is_empty(text))
		return;
	if (regex_new(obj_as_str(text), &checked, &err) < 0) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "must be a valid regular expression, but isn't: %s", err.msg);
		invalid(c, "pattern", text, b.buf);
	}
}

/* Types of keywords that schema_compile() would refuse. */
static void check_keyword_types(struct check *c, const struct obj *o)
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
		invalid(c, rows[i].key, value, "has the wrong type");
	}
	const struct obj *required = obj_get(o, "required");
	for (size_t i = 0; i < obj_len(required); i++)
		if (!obj_as_string(obj_at(required, i)))
			invalid(c, "required", required, "must be a list of strings");
}

/* Inside allOf, anyOf, oneOf, not. */
static void check_value_only(struct check *c, const struct obj *o, bool int_or_string)
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
	if (*text_of(o, "type") && !int_or_string)
		forbid(c, "type", "must be empty to be structural");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *value = obj_get(o, rows[i].key);
		if (strcmp(rows[i].key, "default") == 0 ? value != NULL : !is_empty(value))
			forbid(c, rows[i].key, rows[i].why);
	}
}

static void check_nested(struct check *c, const struct obj *o, const struct obj *structure,
			 bool int_or_string);

static size_t enter(struct check *c, const char *fmt, const char *name)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, "%s[%s]", fmt, name);
	return at;
}

/* NOLINTBEGIN(misc-no-recursion): check_node() and check_nested() bound the depth by
 * SCHEMA_DEPTH_MAX */
static void check_branches(struct check *c, const struct obj *o, const struct obj *structure,
			   bool int_or_string)
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
static void check_nested_children(struct check *c, const struct obj *o, const struct obj *structure)
{
	const struct obj *declared = obj_get(structure, "properties");
	OBJ_EACH (it, obj_get(o, "properties")) {
		size_t at = enter(c, ".properties", it.key);
		const struct obj *counterpart = obj_get(declared, it.key);
		check_nested(c, it.value, counterpart, flag(counterpart, INT_OR_STRING));
		strbuf_truncate(&c->path, at);
	}
	const struct obj *items = obj_get(o, "items");
	if (obj_type(items) == OBJ_MAP) {
		size_t at = c->path.len;
		const struct obj *counterpart = obj_get(structure, "items");
		strbuf_adds(&c->path, ".items");
		check_nested(c, items, counterpart, flag(counterpart, INT_OR_STRING));
		strbuf_truncate(&c->path, at);
	}
}

static void check_nested(struct check *c, const struct obj *o, const struct obj *structure,
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

static void check_type_present(struct check *c, const struct obj *o, enum place place)
{
	bool int_or_string = flag(o, INT_OR_STRING);
	bool preserve = flag(o, "x-kubernetes-preserve-unknown-fields");
	const char *type = text_of(o, "type");
	if (place == PLACE_ROOT && !*type)
		require(c, "type", "must not be empty at the root");
	else if (place == PLACE_ROOT && strcmp(type, "object") != 0)
		invalid(c, "type", obj_get(o, "type"), "must be object at the root");
	else if (!*type && !int_or_string && !preserve)
		require(c, "type",
			place == PLACE_ITEM ? "must not be empty for specified array items"
					    : "must not be empty for specified object fields");
	if (int_or_string && preserve)
		forbid(c, "x-kubernetes-preserve-unknown-fields",
		       "must be false if x-kubernetes-int-or-string is true");
}

static void check_embedded(struct check *c, const struct obj *o)
{
	if (!flag(o, "x-kubernetes-embedded-resource"))
		return;
	if (strcmp(text_of(o, "type"), "object") != 0)
		invalid(c, "type", obj_get(o, "type"),
			"must be object if x-kubernetes-embedded-resource is true");
	if (obj_len(obj_get(o, "properties")) == 0 &&
	    !flag(o, "x-kubernetes-preserve-unknown-fields"))
		require(c, "properties",
			"must not be empty if x-kubernetes-embedded-resource is true without "
			"x-kubernetes-preserve-unknown-fields");
}

static struct map *names_of(const struct obj *list)
{
	struct map *m = map_new(NULL);
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_as_string(obj_at(list, i)))
			map_set(m, obj_as_string(obj_at(list, i)), NULL);
	return m;
}

static void invalid_keys(struct check *c, const struct obj *keys, const char *why)
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
	add(c, FIELD_INVALID, "x-kubernetes-list-map-keys", b.buf);
}

/* c->path stands at the list. */
static void check_list_key(struct check *c, const struct obj *items, const struct obj *keys,
			   const struct map *required, const char *key)
{
	CLEANUP(strbuf_release) struct strbuf at = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *property = obj_get(obj_get(items, "properties"), key);
	const char *type = text_of(property, "type");
	if (!property) {
		invalid_keys(c, keys, "entries must all be names of item properties");
		return;
	}
	if (strcmp(type, "object") == 0 || strcmp(type, "array") == 0) {
		strbuf_addf(&at, "items.properties[%s].type", key);
		invalid(c, at.buf, obj_get(property, "type"),
			"must be a scalar type if parent array's x-kubernetes-list-type is map");
	}
	strbuf_clear(&at);
	if (!map_has(required, key) && !obj_has(property, "default")) {
		strbuf_addf(&at, "items.properties[%s].default", key);
		require(c, at.buf,
			"this property is in x-kubernetes-list-map-keys, so it must have a default "
			"or be a required property");
	}
	strbuf_clear(&at);
	if (flag(property, "nullable")) {
		strbuf_addf(&at, "items.properties[%s].nullable", key);
		forbid(c, at.buf,
		       "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
	}
}

static void check_list_map(struct check *c, const struct obj *o)
{
	const struct obj *keys = obj_get(o, "x-kubernetes-list-map-keys");
	const struct obj *items = obj_get(o, "items");
	if (obj_len(keys) == 0)
		require(c, "x-kubernetes-list-map-keys",
			"must not be empty if x-kubernetes-list-type is map");
	if (!items) {
		require(c, "items", "must have a schema if x-kubernetes-list-type is map");
		return;
	}
	if (strcmp(text_of(items, "type"), "object") != 0)
		invalid(c, "items.type", obj_get(items, "type"),
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

static void check_list_set(struct check *c, const struct obj *o)
{
	const struct obj *items = obj_get(o, "items");
	const char *type = text_of(items, "type");
	if (!items) {
		require(c, "items", "must have a schema if x-kubernetes-list-type is set");
		return;
	}
	if (flag(items, "nullable"))
		forbid(c, "items.nullable",
		       "cannot be nullable when x-kubernetes-list-type is set");
	if (strcmp(type, "object") == 0 &&
	    strcmp(text_of(items, "x-kubernetes-map-type"), "atomic") != 0)
		invalid(c, "items.x-kubernetes-map-type", obj_get(items, "x-kubernetes-map-type"),
			"must be atomic as item of a list with x-kubernetes-list-type=set");
	const char *inner = text_of(items, "x-kubernetes-list-type");
	if (strcmp(type, "array") == 0 && *inner && strcmp(inner, "atomic") != 0)
		invalid(c, "items.x-kubernetes-list-type", obj_get(items, "x-kubernetes-list-type"),
			"must be atomic as item of a list with x-kubernetes-list-type=set");
}

static void check_list_type(struct check *c, const struct obj *o)
{
	const struct obj *value = obj_get(o, "x-kubernetes-list-type");
	const char *list = text_of(o, "x-kubernetes-list-type");
	if (value && strcmp(text_of(o, "type"), "array") != 0)
		invalid(c, "type", obj_get(o, "type"),
			"must be array if x-kubernetes-list-type is specified");
	else if (strcmp(list, "map") == 0) {
		check_list_map(c, o);
	} else {
		if (obj_len(obj_get(o, "x-kubernetes-list-map-keys")) > 0)
			forbid(c, "x-kubernetes-list-map-keys",
			       "must be empty if x-kubernetes-list-type is not map");
		if (strcmp(list, "set") == 0)
			check_list_set(c, o);
		else if (value && strcmp(list, "atomic") != 0)
			unsupported(c, "x-kubernetes-list-type", list,
				    "\"atomic\", \"set\", \"map\"");
	}
	const char *map = text_of(o, "x-kubernetes-map-type");
	if (*map && strcmp(text_of(o, "type"), "object") != 0)
		invalid(c, "type", obj_get(o, "type"),
			"must be object if x-kubernetes-map-type is specified");
	if (*map && strcmp(map, "atomic") != 0 && strcmp(map, "granular") != 0)
		unsupported(c, "x-kubernetes-map-type", map, "\"atomic\", \"granular\"");
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
static void check_default(struct check *c, const struct obj *o)
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
		invalid(c, "default", value, "must not have unknown fields");
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	struct field_errors *found = ARENA_NEW(a, struct field_errors);
	field_errors_init(found, a);
	schema_validate(s, value, found);
	for (size_t i = 0; i < found->n; i++)
		add(c, found->items[i].type, "default", found->items[i].message);
}

static void check_metadata(struct check *c, const struct obj *o)
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
		forbid(c, "properties[metadata]",
		       "must not specify anything other than name and generateName, but metadata "
		       "is implicitly specified");
}

static void check_node(struct check *c, const struct obj *o, enum place place);

/* NOLINTBEGIN(misc-no-recursion): check_node() and check_nested() bound the depth by
 * SCHEMA_DEPTH_MAX */
static void check_children(struct check *c, const struct obj *o)
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
	} else if (!items && strcmp(text_of(o, "type"), "array") == 0) {
		require(c, "items", "must be specified");
	}
}

static void check_node(struct check *c, const struct obj *o, enum place place)
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
	check_type_name(c, o);
	check_type_present(c, o, place);
	check_embedded(c, o);
	check_list_type(c, o);
	check_pattern(c, o);
	check_branches(c, o, o, flag(o, INT_OR_STRING));
	check_children(c, o);
	if (place == PLACE_ROOT)
		check_metadata(c, o);
	check_default(c, o);
	c->depth--;
}
/* NOLINTEND(misc-no-recursion) */

void schema_check(const struct obj *openapi, const char *path, struct field_errors *ret)
{
	struct check c = {.errors = ret};
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	check_node(&c, openapi, PLACE_ROOT);
	strbuf_release(&c.path);
}
