/*
 * schema_compile.c: from the text of a structural schema to its compiled form. What is legal is judged by
 * schema_check.c; here a malformed keyword is an error, as nothing may be silently weaker than
 * written.
 */
#include "alm/obj/schema/schema.h"

#include <stdlib.h>
#include <string.h>

#include "alm/obj/cel/cel_rules.h"
#include "alm/obj/json.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_node.h"

/* Soft limit; a 1.5 MiB definition takes about 20 MiB. */
#define SCHEMA_BYTES_MAX ((size_t)512 << 20)

struct compile {
	struct arena *arena;
	struct error *err;
	unsigned depth;
	bool open, kept;                    /* of the next node, see schema_node.h */
	struct schema *plain[SCHEMA_TYPES]; /* see plain_node() */
};

static int compile_node(struct compile *c, const struct obj *o, struct schema **ret);

static void unref_obj(void *p)
{
	obj_unref(p);
}

static const struct obj *keep(struct compile *c, const struct obj *o)
{
	struct obj *r = obj_ref(o);
	arena_defer(c->arena, unref_obj, r);
	return r;
}

static unsigned type_bit(const char *name)
{
	static const struct {
		const char *name;
		unsigned bit;
	} types[] = {{"object", SCHEMA_OBJECT}, {"array", SCHEMA_ARRAY},
		     {"string", SCHEMA_STRING}, {"integer", SCHEMA_INTEGER},
		     {"number", SCHEMA_NUMBER}, {"boolean", SCHEMA_BOOLEAN}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].bit;
	return 0;
}

static int bad_keyword(struct compile *c, const char *key)
{
	return error_set(c->err, E_INVALID, "schema: %s has a value of the wrong type", key);
}

static int compile_type(struct compile *c, const struct obj *o, struct schema *s)
{
	const struct obj *type = obj_get(o, "type");
	const char *name = obj_as_string(type);
	s->int_or_string = obj_is_true(obj_get(o, "x-kubernetes-int-or-string"));
	if (type && !name)
		return bad_keyword(c, "type");
	if (name && *name) {
		s->type = type_bit(name);
		if (!s->type)
			return error_set(c->err, E_INVALID, "schema: unknown type %.100s", name);
	} else if (s->int_or_string) {
		s->type = SCHEMA_INTEGER | SCHEMA_STRING;
	}
	return 0;
}

static void note_defaulted(struct compile *c, struct schema *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n_properties; i++)
		n += s->properties[i].schema->default_value != NULL;
	s->defaulted = n ? ARENA_ARRAY(c->arena, struct schema_named, n) : NULL;
	for (size_t i = 0; n && i < s->n_properties; i++)
		if (s->properties[i].schema->default_value)
			s->defaulted[s->n_defaulted++] = s->properties[i];
}

static int compile_properties(struct compile *c, const struct obj *o, struct schema *s)
{
	const struct obj *properties = obj_get(o, "properties");
	if (!properties)
		return 0;
	if (obj_type(properties) != OBJ_MAP)
		return bad_keyword(c, "properties");
	s->properties = ARENA_ARRAY(c->arena, struct schema_named, obj_len(properties) + 1);
	OBJ_EACH (it, properties) {
		struct schema *child = NULL;
		int rc = compile_node(c, it.value, &child);
		if (rc < 0)
			return rc;
		s->properties[s->n_properties++] =
			(struct schema_named){arena_strdup(c->arena, it.key), child};
		s->has_rules_below |= child->has_rules_below;
		s->has_embedded_below |= child->has_embedded_below;
	}
	note_defaulted(c, s); /* in their order */
	qsort(s->properties, s->n_properties, sizeof(*s->properties), schema_by_name);
	return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): compile_node() bounds the depth by SCHEMA_DEPTH_MAX */
static int compile_child(struct compile *c, const struct obj *o, const char *key, struct schema *s,
			 struct schema **ret)
{
	const struct obj *value = obj_get(o, key);
	if (!value)
		return 0;
	int rc = compile_node(c, value, ret);
	if (rc >= 0) {
		s->has_rules_below |= (*ret)->has_rules_below;
		s->has_embedded_below |= (*ret)->has_embedded_below;
	}
	return rc;
}

static int compile_additional(struct compile *c, const struct obj *o, struct schema *s)
{
	const struct obj *value = obj_get(o, "additionalProperties");
	if (obj_type(value) == OBJ_BOOL) {
		s->additional_any = obj_is_true(value);
		return 0;
	}
	return compile_child(c, o, "additionalProperties", s, &s->additional);
}

static int compile_branches(struct compile *c, const struct obj *o, const char *key,
			    struct schema_branches *ret)
{
	const struct obj *list = obj_get(o, key);
	if (!list)
		return 0;
	if (obj_type(list) != OBJ_LIST)
		return bad_keyword(c, key);
	ret->n = obj_len(list);
	ret->items = ARENA_ARRAY(c->arena, struct schema *, ret->n);
	for (size_t i = 0; i < ret->n; i++) {
		int rc = compile_node(c, obj_at(list, i), &ret->items[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int compile_strings(struct compile *c, const struct obj *o, const char *key,
			   const char ***ret, size_t *ret_n)
{
	const struct obj *list = obj_get(o, key);
	if (!list)
		return 0;
	if (obj_type(list) != OBJ_LIST)
		return bad_keyword(c, key);
	*ret_n = obj_len(list);
	*ret = ARENA_ARRAY(c->arena, const char *, *ret_n);
	for (size_t i = 0; i < *ret_n; i++) {
		const char *text = obj_as_string(obj_at(list, i));
		if (!text)
			return bad_keyword(c, key);
		(*ret)[i] = arena_strdup(c->arena, text);
	}
	return 0;
}

static int compile_number(struct compile *c, const struct obj *o, const char *key,
			  const struct obj **ret)
{
	const struct obj *value = obj_get(o, key);
	if (!value || obj_type(value) == OBJ_NULL)
		return 0;
	if (!obj_is_number(value))
		return bad_keyword(c, key);
	*ret = keep(c, value);
	return 0;
}

static int compile_size(struct compile *c, const struct obj *o, const char *key, int64_t *ret)
{
	const struct obj *value = obj_get(o, key);
	*ret = SCHEMA_UNSET;
	if (!value || obj_type(value) == OBJ_NULL)
		return 0;
	if (!obj_as_i64(value, ret))
		return bad_keyword(c, key);
	return 0;
}

static int compile_bounds(struct compile *c, const struct obj *o, struct schema *s)
{
	const struct {
		const char *key;
		int64_t *out;
	} sizes[] = {
		{"minLength", &s->min_length},         {"maxLength", &s->max_length},
		{"minItems", &s->min_items},           {"maxItems", &s->max_items},
		{"minProperties", &s->min_properties}, {"maxProperties", &s->max_properties},
	};
	int rc = compile_number(c, o, "minimum", &s->minimum);
	if (rc >= 0)
		rc = compile_number(c, o, "maximum", &s->maximum);
	if (rc >= 0)
		rc = compile_number(c, o, "multipleOf", &s->multiple_of);
	for (size_t i = 0; rc >= 0 && i < ARRAY_LEN(sizes); i++)
		rc = compile_size(c, o, sizes[i].key, sizes[i].out);
	s->exclusive_minimum = obj_is_true(obj_get(o, "exclusiveMinimum"));
	s->exclusive_maximum = obj_is_true(obj_get(o, "exclusiveMaximum"));
	return rc;
}

static int compile_text(struct compile *c, const struct obj *o, struct schema *s)
{
	const char *format = obj_as_string(obj_get(o, "format"));
	const struct obj *pattern = obj_get(o, "pattern");
	if (format && *format)
		s->format = arena_strdup(c->arena, format);
	if (obj_type(pattern) != OBJ_STRING || !*obj_as_string(pattern))
		return 0;
	struct str text = obj_as_str(pattern);
	CLEANUP(regex_freep) struct regex *checked =
		NULL; /* made when it is needed: regex_matches() */
	s->pattern_text = arena_text(c->arena, text.ptr, text.len);
	s->pattern = str_n(s->pattern_text, text.len);
	return regex_new(text, &checked, c->err);
}

static int compile_lists(struct compile *c, const struct obj *o, struct schema *s)
{
	(void)c;
	const char *list = obj_as_string(obj_get(o, "x-kubernetes-list-type"));
	const char *map = obj_as_string(obj_get(o, "x-kubernetes-map-type"));
	s->has_list_type = list != NULL;
	if (list && strcmp(list, "set") == 0)
		s->list_type = LIST_SET;
	else if (list && strcmp(list, "map") == 0)
		s->list_type = LIST_MAP;
	s->map_atomic = map && strcmp(map, "atomic") == 0;
	s->preserve = obj_is_true(obj_get(o, "x-kubernetes-preserve-unknown-fields"));
	c->open = s->open |= s->preserve;
	s->embedded = s->has_embedded_below =
		obj_is_true(obj_get(o, "x-kubernetes-embedded-resource"));
	s->nullable = obj_is_true(obj_get(o, "nullable"));
	return 0;
}

static int compile_composition(struct compile *c, const struct obj *o, struct schema *s)
{
	int rc = compile_branches(c, o, "allOf", &s->all_of);
	if (rc >= 0)
		rc = compile_branches(c, o, "anyOf", &s->any_of);
	if (rc >= 0)
		rc = compile_branches(c, o, "oneOf", &s->one_of);
	struct schema *ignored = ARENA_NEW(c->arena, struct schema);
	if (rc >= 0)
		rc = compile_child(c, o, "not", ignored, &s->not_schema);
	return rc;
}

static int compile_values(struct compile *c, const struct obj *o, struct schema *s)
{
	const struct obj *values = obj_get(o, "enum"), *value = obj_get(o, "default");
	const struct obj *rules = obj_get(o, "x-kubernetes-validations");
	if (values && obj_type(values) != OBJ_LIST)
		return bad_keyword(c, "enum");
	if (obj_len(values) > 0)
		s->enum_values = keep(c, values);
	if (value) {
		CLEANUP(xfreep) char *text = json_text(value);
		s->default_value = keep(c, value);
		s->default_bytes = strlen(text);
	}
	if (obj_len(rules) > 0)
		s->rules = keep(c, rules);
	int rc = compile_strings(c, o, "required", &s->required, &s->n_required);
	if (rc >= 0)
		rc = compile_strings(c, o, "x-kubernetes-list-map-keys", &s->list_keys,
				     &s->n_list_keys);
	return rc;
}

/* After the children, as a rule is checked against the whole node. */
static void compile_rules(struct compile *c, struct schema *s)
{
	if (!s->rules)
		return;
	s->has_rules_below = true;
	s->cel = cel_rules_compile(s, c->arena);
}

/* First letters of the members, so that most of 35 lookups a node are left out. */
static void initials_of(const struct obj *o, char *out, size_t max)
{
	size_t n = 0;
	OBJ_EACH (it, o)
		if (n + 1 < max && it.key[0] && !memchr(out, it.key[0], n))
			out[n++] = it.key[0];
	out[n] = '\0';
}

static struct schema *node_new(struct compile *c)
{
	struct schema *s = ARENA_NEW(c->arena, struct schema);
	s->min_length = s->max_length = s->min_items = s->max_items = SCHEMA_UNSET;
	s->min_properties = s->max_properties = SCHEMA_UNSET;
	return s;
}

/* Most nodes of a definition say no more than a type, and what it is for: one node of each type
 * stands for all of them. NULL: this one says more. */
static struct schema *plain_node(struct compile *c, const struct obj *o)
{
	const char *name = obj_as_string(obj_get(o, "type"));
	unsigned bit = name ? type_bit(name) : 0;
	size_t known = 1 + obj_has(o, "description");
	if (!bit || obj_len(o) != known)
		return NULL;
	struct schema **plain = &c->plain[__builtin_ctz(bit)];
	if (!*plain) {
		*plain = node_new(c);
		(*plain)->type = bit;
	}
	return *plain;
}

/* NOLINTNEXTLINE(misc-no-recursion): compile_node() bounds the depth by SCHEMA_DEPTH_MAX */
static int compile_node(struct compile *c, const struct obj *o, struct schema **ret)
{
	if (obj_type(o) != OBJ_MAP)
		return error_set(c->err, E_INVALID, "schema: a node is %s, not an object",
				 obj_type_name(obj_type(o)));
	if (++c->depth > SCHEMA_DEPTH_MAX)
		return error_set(c->err, E_LIMIT, "schema: nested deeper than %d",
				 SCHEMA_DEPTH_MAX);
	bool open = c->open, kept = c->kept;
	c->kept = false;
	struct schema *s = c->depth > 1 && !open && !kept ? plain_node(c, o) : NULL;
	if (s) {
		c->depth--;
		*ret = s;
		return 0;
	}
	s = node_new(c);
	s->kept = kept;
	s->open = open;
	static const struct {
		const char *initials; /* of the keywords that the part reads */
		int (*read)(struct compile *, const struct obj *, struct schema *);
	} parts[] = {
		{"xn", compile_lists},     {"tx", compile_type},         {"p", compile_properties},
		{"a", compile_additional}, {"me", compile_bounds},       {"fp", compile_text},
		{"edxr", compile_values},  {"aon", compile_composition},
	};
	char initials[32];
	initials_of(o, initials, sizeof(initials));
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < ARRAY_LEN(parts); i++)
		if (strpbrk(initials, parts[i].initials))
			rc = parts[i].read(c, o, s);
	c->kept = s->preserve || kept;
	if (rc >= 0)
		rc = compile_child(c, o, "items", s, &s->items);
	c->kept = false;
	c->open = open;
	c->depth--;
	if (rc < 0)
		return rc;
	compile_rules(c, s);
	*ret = s;
	return 0;
}

int schema_compile(const struct obj *openapi, struct schema **ret, struct error *err)
{
	struct compile c = {.arena = arena_new(SCHEMA_BYTES_MAX), .err = err};
	struct schema *s = NULL;
	int rc = compile_node(&c, openapi, &s);
	if (rc < 0) {
		arena_free(c.arena);
		return rc;
	}
	s->arena = c.arena;
	*ret = s;
	return 0;
}

void schema_free(struct schema *s)
{
	if (s)
		arena_free(s->arena); /* s itself lives there */
}
