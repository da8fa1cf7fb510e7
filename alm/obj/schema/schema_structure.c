/* schema_structure: is a schema structural, as apiextensions-apiserver 1.36 says it (KEP 1693)? What junctors hold only bounds
 * what the structure around them declares. Its findings are told sorted. */
#include <stdlib.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_fault.h"
#include "alm/obj/schema/schema_node.h"

#define INT_OR_STRING  "x-kubernetes-int-or-string"
#define PRESERVE       "x-kubernetes-preserve-unknown-fields"
#define EMBEDDED       "x-kubernetes-embedded-resource"
#define PATH_BYTES_MAX ((size_t)64 << 10)

static const char *const branches[] = {"anyOf", "allOf", "oneOf"};

bool schema_enter(struct schema_checked *c)
{
	if (c->depth < SCHEMA_DEPTH_MAX) {
		c->depth++;
		return true;
	}
	field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
			 "Invalid value: nested deeper than %d", SCHEMA_DEPTH_MAX);
	return false;
}

/* --- every node, whatever it is in --- */

typedef void (*node_fn)(struct schema_checked *c, const struct obj *o);

/* NOLINTBEGIN(misc-no-recursion): schema_enter() bounds the depth by SCHEMA_DEPTH_MAX */
static void each_at(struct schema_checked *c, const struct obj *o, node_fn fn, const char *key,
		    const char *name)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, name ? ".%s[%s]" : ".%s", key, name);
	schema_each(c, o, fn);
	strbuf_truncate(&c->path, at);
}

static void each_of_list(struct schema_checked *c, const struct obj *list, node_fn fn,
			 const char *key)
{
	for (size_t i = 0; obj_type(list) == OBJ_LIST && i < obj_len(list); i++) {
		size_t at = c->path.len;
		strbuf_addf(&c->path, ".%s[%zu]", key, i);
		schema_each(c, obj_at(list, i), fn);
		strbuf_truncate(&c->path, at);
	}
}

void schema_each(struct schema_checked *c, const struct obj *o, node_fn fn)
{
	static const char *const maps[] = {"properties", "definitions", "patternProperties"};
	const struct obj *items = obj_get(o, "items");
	if (!schema_enter(c))
		return;
	fn(c, o);
	for (size_t i = 0; i < ARRAY_LEN(branches); i++)
		each_of_list(c, obj_get(o, branches[i]), fn, branches[i]);
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		OBJ_EACH (it, obj_get(o, maps[i]))
			each_at(c, it.value, fn, maps[i], it.key);
	OBJ_EACH (it, obj_get(o, "dependencies"))
		if (obj_type(it.value) == OBJ_MAP)
			each_at(c, it.value, fn, "dependencies", it.key);
	if (obj_is_set(obj_get(o, "not")))
		each_at(c, obj_get(o, "not"), fn, "not", NULL);
	if (obj_type(items) == OBJ_LIST)
		each_of_list(c, items, fn, "items");
	else if (obj_is_set(items))
		each_at(c, items, fn, "items", NULL);
	if (obj_type(obj_get(o, "additionalProperties")) == OBJ_MAP)
		each_at(c, obj_get(o, "additionalProperties"), fn, "additionalProperties", NULL);
	c->depth--;
}

static const char *first_unread(const struct obj *list)
{
	const char *why = NULL;
	for (size_t i = 0; !why && i < obj_len(list); i++)
		why = schema_unread(obj_at(list, i));
	return why;
}

/* Without what the others tell in their own words, too. */
const char *schema_unread(const struct obj *o)
{
	static const struct {
		const char *key, *why;
	} any[] = {{"id", "OpenAPIV3Schema 'id' is not supported"},
		   {"$schema", "OpenAPIV3Schema 'schema' is not supported"},
		   {"$ref", "OpenAPIV3Schema '$ref' is not supported"},
		   {"patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"},
		   {"dependencies", "OpenAPIV3Schema 'dependencies' is not supported"},
		   {"additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"},
		   {"definitions", "OpenAPIV3Schema 'definitions' is not supported"}};
	const struct obj *items = obj_get(o, "items"), *keeps = obj_get(o, PRESERVE);
	const char *why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(any); i++)
		if (*schema_text(o, any[i].key) || obj_len(obj_get(o, any[i].key)) ||
		    (strcmp(any[i].key, "additionalItems") == 0 &&
		     obj_is_set(obj_get(o, any[i].key))))
			return any[i].why;
	if ((obj_type(keeps) == OBJ_BOOL && !obj_is_true(keeps)) ||
	    (obj_type(items) == OBJ_LIST && obj_len(items)))
		return "OpenAPIV3Schema has what is not supported";
	for (size_t i = 0; !why && i < ARRAY_LEN(branches); i++)
		why = first_unread(obj_get(o, branches[i]));
	OBJ_EACH (it, obj_get(o, "properties"))
		why = why ? why : schema_unread(it.value);
	why = why ? why : (obj_type(items) == OBJ_MAP ? schema_unread(items) : NULL);
	if (!why && obj_type(obj_get(o, "not")) == OBJ_MAP)
		why = schema_unread(obj_get(o, "not"));
	if (!why && obj_type(obj_get(o, "additionalProperties")) == OBJ_MAP)
		why = schema_unread(obj_get(o, "additionalProperties"));
	return why;
}

/* --- junctors --- */

static void check_pattern(struct schema_checked *c, const struct obj *o)
{
	CLEANUP(regex_freep) struct regex *checked = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	const struct obj *text = obj_get(o, "pattern");
	if (!*schema_text(o, "pattern") || regex_new(obj_as_str(text), &checked, &err) == 0)
		return;
	strbuf_addf(&b, "must be a valid regular expression, but isn't: %s", err.msg);
	schema_invalid(c, "pattern", text, b.buf);
}

/* Is nothing said but that type? What the structural form does not have says nothing, nor does an empty list of alternatives; that
 * nothing is required, or has rules, is something. */
static bool says_only_type(const struct obj *o, const char *type)
{
	static const char *const no_part[] = {"$ref", "definitions", "dependencies",
					      "patternProperties", NULL};
	static const char *const alternatives[] = {"allOf", "anyOf", "oneOf", "enum", NULL};
	OBJ_EACH (it, o) {
		bool is_off = (strcmp(it.key, "additionalProperties") == 0 &&
			       obj_type(it.value) == OBJ_BOOL && !obj_is_true(it.value)) ||
			      (strcmp(it.key, "items") == 0 && obj_type(it.value) == OBJ_LIST);
		if (strcmp(it.key, "type") != 0 && !is_off && !cstr_in(it.key, no_part) &&
		    (obj_len(it.value) || !cstr_in(it.key, alternatives)))
			return false;
	}
	return strcmp(schema_text(o, "type"), type) == 0;
}

/* anyOf an integer and a text, and nothing else about either. */
static bool is_int_or_string(const struct obj *any)
{
	return obj_len(any) == 2 && says_only_type(obj_at(any, 0), "integer") &&
	       says_only_type(obj_at(any, 1), "string");
}

static bool says(const struct obj *v)
{
	return obj_is_true(v) || obj_as_str(v).len || obj_len(v) || obj_is_number(v);
}

static void check_value_only(struct schema_checked *c, const struct obj *o)
{
	enum { FILLED, SET };
	static const struct {
		const char *key, *why;
		int when;
	} rows[] = {
		{"type", "must be empty to be structural", FILLED},
		{"default", "must be undefined to be structural", SET},
		{"title", "must be empty to be structural", FILLED},
		{"description", "must be empty to be structural", FILLED},
		{"nullable", "must be false to be structural", FILLED},
		{PRESERVE, "must be false to be structural", FILLED},
		{EMBEDDED, "must be false to be structural", FILLED},
		{INT_OR_STRING, "must be false to be structural", FILLED},
		{"x-kubernetes-list-map-keys", "must be empty to be structural", FILLED},
		{"x-kubernetes-list-type", "must be undefined to be structural", SET},
		{"x-kubernetes-map-type", "must be undefined to be structural", SET},
		{"x-kubernetes-validations", "must be empty to be structural", FILLED},
	};
	const struct obj *additional = obj_get(o, "additionalProperties");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *v = obj_get(o, rows[i].key);
		if (rows[i].when == SET ? obj_is_set(v) : says(v))
			schema_forbid(c, rows[i].key, rows[i].why);
	}
	if (obj_type(additional) == OBJ_MAP || obj_is_true(additional))
		schema_forbid(c, "additionalProperties", "must be undefined to be structural");
	if (obj_has(obj_get(o, "properties"), "metadata"))
		schema_forbid(c, "properties[metadata]",
			      "must not be specified in a nested context");
}

static void check_junctors(struct schema_checked *c, const struct obj *o, bool any_is_known,
			   bool first_is_known);

static void check_nested(struct schema_checked *c, const struct obj *o, const char *step,
			 const char *name, bool any_is_known)
{
	size_t at = c->path.len;
	const struct obj *items = obj_get(o, "items");
	if (obj_type(o) != OBJ_MAP || !schema_enter(c))
		return;
	strbuf_addf(&c->path, name ? ".%s[%s]" : ".%s", step, name);
	check_junctors(c, o, any_is_known, false);
	if (obj_type(items) == OBJ_MAP)
		check_nested(c, items, "items", NULL, false);
	OBJ_EACH (it, obj_get(o, "properties"))
		check_nested(c, it.value, "properties", it.key, false);
	check_value_only(c, o);
	strbuf_truncate(&c->path, at);
	c->depth--;
}

static void check_junctors(struct schema_checked *c, const struct obj *o, bool any_is_known,
			   bool first_is_known)
{
	for (size_t k = 0; k < ARRAY_LEN(branches); k++) {
		const struct obj *list = obj_get(o, branches[k]);
		for (size_t i = 0; i < obj_len(list) && !(k == 0 && any_is_known); i++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			strbuf_addf(&b, "%zu", i);
			check_nested(c, obj_at(list, i), branches[k], b.buf,
				     k == 1 && i == 0 && first_is_known);
		}
	}
	check_nested(c, obj_get(o, "not"), "not", NULL, false);
	check_pattern(c, o);
}

/* --- the structure --- */

static void check_metadata(struct schema_checked *c, const struct obj *meta, bool is_root)
{
	static const char *const even_empty[] = {"required",
						 "x-kubernetes-list-map-keys",
						 "x-kubernetes-validations",
						 "x-kubernetes-list-type",
						 "x-kubernetes-map-type",
						 "additionalProperties",
						 "externalDocs",
						 NULL};
	bool ok = true;
	if (!meta)
		return;
	if (strcmp(schema_text(meta, "type"), "object") != 0)
		schema_invalid(c, "properties[metadata].type", obj_get(meta, "type"),
			       "must be object");
	OBJ_EACH (it, meta)
		ok &= strcmp(it.key, "type") == 0 || strcmp(it.key, "default") == 0 ||
		      strcmp(it.key, "properties") == 0 ||
		      (!says(it.value) && !cstr_in(it.key, even_empty));
	OBJ_EACH (it, obj_get(meta, "properties"))
		ok &= strcmp(it.key, "name") == 0 || strcmp(it.key, "generateName") == 0;
	if (!ok && is_root)
		schema_forbid(
			c, "properties[metadata]",
			"must not specify anything other than name and generateName, but metadata "
			"is implicitly specified");
}

/* Of the root, and of an object in an object. */
static void check_object(struct schema_checked *c, const struct obj *o, bool is_root)
{
	static const char *const texts[] = {"kind", "apiVersion"};
	const struct obj *all = obj_get(o, "properties");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const struct obj *p = obj_get(all, texts[i]);
		if (!p || strcmp(schema_text(p, "type"), "string") == 0)
			continue;
		strbuf_clear(&b);
		strbuf_addf(&b, "properties[%s].type", texts[i]);
		schema_invalid(c, b.buf, obj_get(p, "type"), "must be string");
	}
	check_metadata(c, obj_get(all, "metadata"), is_root);
}

static void check_type(struct schema_checked *c, const struct obj *o, enum schema_place place)
{
	static const char *const whys[] = {
		[SCHEMA_AT_ROOT] = "must not be empty at the root",
		[SCHEMA_AT_FIELD] = "must not be empty for specified object fields",
		[SCHEMA_AT_ITEM] = "must not be empty for specified array items"};
	static const char embedded[] = "must be object if " EMBEDDED " is true";
	const char *type = schema_text(o, "type");
	bool is_object = strcmp(type, "object") == 0;
	if (schema_flag(o, EMBEDDED) && !is_object) {
		if (*type)
			schema_invalid(c, "type", obj_get(o, "type"), embedded);
		else
			schema_require(c, "type", embedded);
	} else if (!*type && !schema_flag(o, INT_OR_STRING) && !schema_flag(o, PRESERVE)) {
		schema_require(c, "type", whys[place]);
	}
	if (place == SCHEMA_AT_ROOT && *type && !is_object)
		schema_invalid(c, "type", obj_get(o, "type"), "must be object at the root");
}

static void check_extensions(struct schema_checked *c, const struct obj *o)
{
	static const char *const others[] = {PRESERVE, EMBEDDED};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (schema_flag(o, INT_OR_STRING) && schema_flag(o, others[i]))
			schema_invalid(c, others[i], obj_get(o, others[i]),
				       "must be false if " INT_OR_STRING " is true");
	if (schema_flag(o, EMBEDDED) && !schema_flag(o, PRESERVE) &&
	    !obj_len(obj_get(o, "properties")))
		schema_require(c, "properties",
			       "must not be empty if " EMBEDDED " is true without " PRESERVE);
}

static void check_structure(struct schema_checked *c, const struct obj *o, enum schema_place place)
{
	const struct obj *additional = obj_get(o, "additionalProperties");
	const struct obj *items = obj_get(o, "items");
	bool is_root = place == SCHEMA_AT_ROOT;
	size_t at = c->path.len;
	if (!schema_enter(c))
		return;
	if (strcmp(schema_text(o, "type"), "array") == 0 && obj_type(items) != OBJ_MAP)
		schema_require(c, "items", "must be specified");
	if (obj_type(items) == OBJ_MAP) {
		strbuf_adds(&c->path, ".items");
		check_structure(c, items, SCHEMA_AT_ITEM);
		strbuf_truncate(&c->path, at);
	}
	OBJ_EACH (it, obj_get(o, "properties")) {
		strbuf_addf(&c->path, ".properties[%s]", it.key);
		check_structure(c, it.value, SCHEMA_AT_FIELD);
		strbuf_truncate(&c->path, at);
	}
	if (is_root && obj_is_set(additional))
		schema_forbid(c, "additionalProperties", "must not be used at the root");
	if (schema_flag(o, EMBEDDED) && obj_is_set(additional))
		schema_forbid(c, "additionalProperties", "must not be used if " EMBEDDED " is set");
	if (obj_type(additional) == OBJ_MAP) {
		strbuf_adds(&c->path, ".additionalProperties");
		check_structure(c, additional, SCHEMA_AT_FIELD);
		strbuf_truncate(&c->path, at);
	}
	check_extensions(c, o);
	check_junctors(c, o, is_int_or_string(obj_get(o, "anyOf")),
		       is_int_or_string(obj_get(obj_at(obj_get(o, "allOf"), 0), "anyOf")));
	check_type(c, o, place);
	if (is_root || schema_flag(o, EMBEDDED))
		check_object(c, o, is_root);
	c->depth--;
}

/* --- is all there that the root's junctors speak of? --- */

struct completeness {
	struct schema_checked *c; /* its path is that of what is declared */
	struct strbuf *in;        /* where it is spoken of */
};

static void missing(struct completeness *w)
{
	field_errors_add(w->c->errors, FIELD_REQUIRED, w->c->path.buf,
			 "Required value: because it is defined in %s", w->in->buf);
}

static void complete_junctors(struct completeness *w, const struct obj *v, const struct obj *s);

static void complete(struct completeness *w, const struct obj *v, const struct obj *s)
{
	size_t at = w->c->path.len, in = w->in->len;
	if (obj_type(v) != OBJ_MAP || !schema_enter(w->c))
		return;
	if (!s)
		missing(w);
	else
		complete_junctors(w, v, s);
	if (s && obj_type(obj_get(v, "items")) == OBJ_MAP) {
		strbuf_adds(&w->c->path, ".items");
		strbuf_adds(w->in, ".items");
		complete(w, obj_get(v, "items"), obj_get(s, "items"));
		strbuf_truncate(&w->c->path, at);
		strbuf_truncate(w->in, in);
	}
	OBJ_EACH (it, s ? obj_get(v, "properties") : NULL) {
		strbuf_addf(&w->c->path, ".properties[%s]", it.key);
		strbuf_addf(w->in, ".properties[%s]", it.key);
		complete(w, it.value, obj_get(obj_get(s, "properties"), it.key));
		strbuf_truncate(&w->c->path, at);
		strbuf_truncate(w->in, in);
	}
	w->c->depth--;
}

static void complete_junctors(struct completeness *w, const struct obj *v, const struct obj *s)
{
	size_t in = w->in->len;
	strbuf_adds(w->in, ".not");
	complete(w, obj_get(v, "not"), s);
	strbuf_truncate(w->in, in);
	for (size_t k = 0; k < ARRAY_LEN(branches); k++) {
		const struct obj *list = obj_get(v, branches[k]);
		for (size_t i = 0; i < obj_len(list); i++) {
			strbuf_addf(w->in, ".%s[%zu]", branches[k], i);
			complete(w, obj_at(list, i), s);
			strbuf_truncate(w->in, in);
		}
	}
}
/* NOLINTEND(misc-no-recursion) */

/* By their whole text, "PATH: MESSAGE". */
static int by_text(const void *x, const void *y)
{
	const struct field_error *a = x, *b = y;
	size_t n = 0;
	while (a->path[n] && a->path[n] == b->path[n])
		n++;
	int ca = a->path[n] ? (unsigned char)a->path[n] : ':';
	int cb = b->path[n] ? (unsigned char)b->path[n] : ':';
	return ca != cb ? ca - cb : strcmp(a->message, b->message);
}

void schema_check_structure(struct schema_checked *c, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(PATH_BYTES_MAX);
	struct completeness w = {c, &in};
	size_t from = c->errors->n;
	strbuf_addstr(&in, strbuf_str(&c->path));
	check_structure(c, o, SCHEMA_AT_ROOT);
	complete_junctors(&w, o, o);
	qsort(c->errors->items + from, c->errors->n - from, sizeof(*c->errors->items), by_text);
}
