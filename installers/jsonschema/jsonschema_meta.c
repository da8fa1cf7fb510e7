/*
 * Is a schema a schema? The rules of the five drafts' own schemas as one table of keywords, with
 * the nesting of messages that the drafts' structure gives (2019-09 and 2020-12 are made of
 * vocabularies joined by allOf). References are resolved here once, so that a wrong one is told
 * even if no value reaches it.
 */
#include <math.h>
#include <string.h>

#include "installers/jsonschema/jsonschema_tree.h"

enum shape {
	SHAPE_SCHEMA,
	SHAPE_SCHEMAS, /* a list, not empty */
	SHAPE_SCHEMA_MAP,
	SHAPE_PATTERN_MAP,  /* names are patterns */
	SHAPE_ITEMS,        /* a schema or, before 2020-12, a list */
	SHAPE_ADDITIONAL,   /* a schema, in draft 4 also a bool */
	SHAPE_DEPENDENCIES, /* schemas or lists of names */
	SHAPE_NAMES,
	SHAPE_NAMES_MAP,
	SHAPE_COUNT, /* an integer from 0 */
	SHAPE_NUMBER,
	SHAPE_POSITIVE,
	SHAPE_BOUND, /* a number, in draft 4 a bool */
	SHAPE_STRING,
	SHAPE_REF,
	SHAPE_PATTERN,
	SHAPE_BOOL,
	SHAPE_LIST,
	SHAPE_TYPE,
};

/* In the order of the vocabularies of 2020-12. */
enum vocabulary {
	VOC_CORE,
	VOC_APPLICATOR,
	VOC_UNEVALUATED,
	VOC_VALIDATION,
	VOC_META,
	VOC_FORMAT,
	VOC_CONTENT,
	VOC_NONE, /* beside the vocabularies */
	N_VOC
};

struct keyword_rule {
	const char *name;
	size_t len;
	enum shape shape;
	enum vocabulary voc;
	enum draft first, last;
};

/* clang-format off */
#define RULE_TO(name, shape, voc, first, last) {name, sizeof(name) - 1, shape, voc, first, last}
#define RULE_FROM(name, shape, voc, first) RULE_TO(name, shape, voc, first, DRAFT_2020)
#define RULE(name, shape, voc) RULE_TO(name, shape, voc, DRAFT_4, DRAFT_2020)
static const struct keyword_rule rules[] = {
	RULE_FROM("$id", SHAPE_STRING, VOC_CORE, DRAFT_6),
	RULE("$schema", SHAPE_STRING, VOC_CORE),
	RULE("$ref", SHAPE_REF, VOC_CORE),
	RULE_FROM("$anchor", SHAPE_STRING, VOC_CORE, DRAFT_2019),
	RULE_FROM("$dynamicRef", SHAPE_REF, VOC_CORE, DRAFT_2020),
	RULE_FROM("$recursiveRef", SHAPE_REF, VOC_CORE, DRAFT_2019),
	RULE_FROM("$comment", SHAPE_STRING, VOC_CORE, DRAFT_7),
	RULE_FROM("$defs", SHAPE_SCHEMA_MAP, VOC_CORE, DRAFT_2019),
	RULE("definitions", SHAPE_SCHEMA_MAP, VOC_NONE),
	RULE("dependencies", SHAPE_DEPENDENCIES, VOC_NONE),
	RULE_FROM("prefixItems", SHAPE_SCHEMAS, VOC_APPLICATOR, DRAFT_2020),
	RULE("items", SHAPE_ITEMS, VOC_APPLICATOR),
	RULE_TO("additionalItems", SHAPE_ADDITIONAL, VOC_APPLICATOR, DRAFT_4, DRAFT_2019),
	RULE_FROM("contains", SHAPE_SCHEMA, VOC_APPLICATOR, DRAFT_6),
	RULE("additionalProperties", SHAPE_ADDITIONAL, VOC_APPLICATOR),
	RULE("properties", SHAPE_SCHEMA_MAP, VOC_APPLICATOR),
	RULE("patternProperties", SHAPE_PATTERN_MAP, VOC_APPLICATOR),
	RULE_FROM("dependentSchemas", SHAPE_SCHEMA_MAP, VOC_APPLICATOR, DRAFT_2019),
	RULE_FROM("propertyNames", SHAPE_SCHEMA, VOC_APPLICATOR, DRAFT_6),
	RULE_FROM("if", SHAPE_SCHEMA, VOC_APPLICATOR, DRAFT_7),
	RULE_FROM("then", SHAPE_SCHEMA, VOC_APPLICATOR, DRAFT_7),
	RULE_FROM("else", SHAPE_SCHEMA, VOC_APPLICATOR, DRAFT_7),
	RULE("allOf", SHAPE_SCHEMAS, VOC_APPLICATOR),
	RULE("anyOf", SHAPE_SCHEMAS, VOC_APPLICATOR),
	RULE("oneOf", SHAPE_SCHEMAS, VOC_APPLICATOR),
	RULE("not", SHAPE_SCHEMA, VOC_APPLICATOR),
	RULE_FROM("unevaluatedItems", SHAPE_SCHEMA, VOC_UNEVALUATED, DRAFT_2019),
	RULE_FROM("unevaluatedProperties", SHAPE_SCHEMA, VOC_UNEVALUATED, DRAFT_2019),
	RULE("type", SHAPE_TYPE, VOC_VALIDATION),
	RULE("enum", SHAPE_LIST, VOC_VALIDATION),
	RULE("multipleOf", SHAPE_POSITIVE, VOC_VALIDATION),
	RULE("maximum", SHAPE_NUMBER, VOC_VALIDATION),
	RULE("exclusiveMaximum", SHAPE_BOUND, VOC_VALIDATION),
	RULE("minimum", SHAPE_NUMBER, VOC_VALIDATION),
	RULE("exclusiveMinimum", SHAPE_BOUND, VOC_VALIDATION),
	RULE("maxLength", SHAPE_COUNT, VOC_VALIDATION),
	RULE("minLength", SHAPE_COUNT, VOC_VALIDATION),
	RULE("pattern", SHAPE_PATTERN, VOC_VALIDATION),
	RULE("maxItems", SHAPE_COUNT, VOC_VALIDATION),
	RULE("minItems", SHAPE_COUNT, VOC_VALIDATION),
	RULE("uniqueItems", SHAPE_BOOL, VOC_VALIDATION),
	RULE_FROM("maxContains", SHAPE_COUNT, VOC_VALIDATION, DRAFT_2019),
	RULE_FROM("minContains", SHAPE_COUNT, VOC_VALIDATION, DRAFT_2019),
	RULE("maxProperties", SHAPE_COUNT, VOC_VALIDATION),
	RULE("minProperties", SHAPE_COUNT, VOC_VALIDATION),
	RULE("required", SHAPE_NAMES, VOC_VALIDATION),
	RULE_FROM("dependentRequired", SHAPE_NAMES_MAP, VOC_VALIDATION, DRAFT_2019),
	RULE("title", SHAPE_STRING, VOC_META),
	RULE("description", SHAPE_STRING, VOC_META),
	RULE("format", SHAPE_STRING, VOC_FORMAT),
	RULE_FROM("contentEncoding", SHAPE_STRING, VOC_CONTENT, DRAFT_7),
	RULE_FROM("contentMediaType", SHAPE_STRING, VOC_CONTENT, DRAFT_7),
	RULE_FROM("contentSchema", SHAPE_SCHEMA, VOC_CONTENT, DRAFT_2019),
};
/* clang-format on */

struct level {
	struct schema_run *r;
	struct violation *out;
};

#define FAULT(l, at, ...) violation_add((l)->r, (l)->out, violation_new((l)->r, at, __VA_ARGS__))

/* What a reference finds: a group is reported where the reference stands. */
static void add_referred(struct schema_run *r, const struct place *at, const struct violation *sub,
			 struct violation *to)
{
	if (sub->n == 1 && !sub->kids[0]->group)
		violation_add(r, to, sub->kids[0]);
	else if (sub->n)
		violation_add(r, to,
			      violation_group(r, at, "validation failed",
					      sub->n == 1 ? sub->kids[0] : sub));
}

/* The top schema is no reference: its faults stand side by side. */
static void add_schema(struct schema_run *r, const struct place *at, const struct violation *sub,
		       struct violation *to)
{
	if (at) {
		add_referred(r, at, sub, to);
		return;
	}
	const struct violation *all = sub->n == 1 && sub->kids[0]->group ? sub->kids[0] : sub;
	for (size_t i = 0; i < all->n; i++)
		violation_add(r, to, all->kids[i]);
}

static bool want_type(struct level *l, const struct place *at, struct value v, const char *want)
{
	if (!strcmp(jsonschema_type(v), want))
		return true;
	FAULT(l, at, "got %s, want %s", jsonschema_type(v), want);
	return false;
}

static void check_pattern(struct level *l, const struct place *at, struct str pattern)
{
	const char *fault = "";
	if (schema_match(l->r->a, pattern, STR(""), &fault) >= 0)
		return;
	struct str q = schema_quote(l->r->a, pattern);
	FAULT(l, at, "%.*s is not valid regex: %s", STR_ARG(q), fault);
}

/* NOLINTBEGIN(misc-no-recursion): schema_check_meta() bounds the depth by VALUE_DEPTH_MAX */
static void check_list(struct level *l, const struct place *at, struct value v)
{
	if (!want_type(l, at, v, "array"))
		return;
	if (!v.len)
		FAULT(l, at, "minItems: got 0, want 1");
	for (size_t i = 0; i < v.len; i++) {
		struct place p = {.up = at, .index = i};
		schema_check_meta(l->r, v.items[i], &p, l->out);
	}
}

#define LIST_MAX 1000

static void check_unique(struct level *l, const struct place *at, struct value v)
{
	for (size_t i = 0; i < v.len && i < LIST_MAX; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!value_deep_equal(v.items[k], v.items[i]))
				continue;
			FAULT(l, at, "items at %zu and %zu are equal", k, i);
			return;
		}
	}
}

static void check_names(struct level *l, const struct place *at, struct value v)
{
	if (!want_type(l, at, v, "array"))
		return;
	for (size_t i = 0; i < v.len && i < LIST_MAX; i++) {
		struct place p = {.up = at, .index = i};
		want_type(l, &p, v.items[i], "string");
	}
	check_unique(l, at, v);
}

/* anyOf of a schema and something else, whose faults are in other. */
static void check_either(struct level *l, const struct place *at, struct value v,
			 const struct violation *other, bool other_first)
{
	struct violation *x = violation_new(l->r, at, "'anyOf' failed");
	if (other_first)
		add_referred(l->r, at, other, x);
	size_t before = x->n;
	schema_check_meta(l->r, v, at, x);
	if (x->n == before)
		return;
	if (!other_first)
		add_referred(l->r, at, other, x);
	violation_add(l->r, l->out, x);
}

static void check_items(struct level *l, const struct place *at, struct value v)
{
	struct violation found = {0};
	struct level sub = {l->r, &found};
	check_list(&sub, at, v);
	if (found.n)
		check_either(l, at, v, &found, false);
}

static void check_additional(struct level *l, const struct place *at, struct value v)
{
	struct violation found = {0};
	struct level sub = {l->r, &found};
	if (!want_type(&sub, at, v, "boolean"))
		check_either(l, at, v, &found, true);
}

static void check_dependency(struct level *l, const struct place *at, struct value v)
{
	struct violation found = {0};
	struct level sub = {l->r, &found};
	check_names(&sub, at, v);
	if (found.n)
		check_either(l, at, v, &found, false);
}

static void check_map(struct level *l, const struct place *at, struct value v, enum shape inner)
{
	if (!want_type(l, at, v, "object"))
		return;
	for (size_t i = 0; i < v.map->n; i++) {
		struct str key = v.map->entries[i].key;
		struct value x = v.map->entries[i].value;
		struct place p = {.up = at, .key = key.ptr ? key : STR("")};
		if (inner == SHAPE_PATTERN_MAP) {
			struct str q = schema_quote(l->r->a, key);
			struct violation *name =
				violation_new(l->r, NULL, "invalid propertyName %.*s", STR_ARG(q));
			struct level sub = {l->r, name};
			check_pattern(&sub, NULL, key);
			if (name->n)
				violation_add(l->r, l->out, name);
		}
		if (inner == SHAPE_NAMES)
			check_names(l, &p, x);
		else if (inner == SHAPE_DEPENDENCIES)
			check_dependency(l, &p, x);
		else
			schema_check_meta(l->r, x, &p, l->out);
	}
}

#define NO_TYPE_NAME \
	"value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'"

static bool is_type_name(struct value v)
{
	static const char *const names[] = {"array",  "boolean", "integer", "null",
					    "number", "object",  "string"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (value_is_string(v, names[i]))
			return true;
	return false;
}

static void check_type_names(struct level *l, const struct place *at, struct value v)
{
	check_unique(l, at, v);
	for (size_t i = 0; i < v.len && i < LIST_MAX; i++) {
		struct place p = {.up = at, .index = i};
		if (!is_type_name(v.items[i]))
			FAULT(l, &p, NO_TYPE_NAME);
	}
}

static void check_type_keyword(struct level *l, const struct place *at, struct value v)
{
	if (is_type_name(v))
		return;
	struct violation *x = violation_new(l->r, at, "'anyOf' failed");
	struct level sub = {l->r, x};
	FAULT(&sub, at, NO_TYPE_NAME);
	size_t before = x->n;
	if (want_type(&sub, at, v, "array")) {
		struct violation found = {0};
		struct level list = {l->r, &found};
		if (!v.len)
			FAULT(&list, at, "minItems: got 0, want 1");
		check_type_names(&list, at, v);
		violation_add_found(l->r, at, &found, x);
	}
	if (x->n > before)
		violation_add(l->r, l->out, x);
}

static void check_count(struct level *l, const struct place *at, struct value v)
{
	if (v.type != VALUE_FLOAT || v.f != floor(v.f))
		FAULT(l, at, "got %s, want integer", jsonschema_type(v));
	else if (v.f < 0)
		FAULT(l, at, "minimum: got %.0f, want 0", v.f);
}

static void check_reference(struct level *l, const struct place *at, struct value v)
{
	if (want_type(l, at, v, "string"))
		schema_resolve(l->r, value_text(v));
}

static void check_shape(struct level *l, enum shape shape, const struct place *at, struct value v)
{
	switch (shape) {
	case SHAPE_SCHEMA:
		schema_check_meta(l->r, v, at, l->out);
		return;
	case SHAPE_ITEMS:
		if (l->r->draft < DRAFT_2020)
			check_items(l, at, v);
		else
			schema_check_meta(l->r, v, at, l->out);
		return;
	case SHAPE_ADDITIONAL:
		if (l->r->draft == DRAFT_4)
			check_additional(l, at, v);
		else
			schema_check_meta(l->r, v, at, l->out);
		return;
	case SHAPE_SCHEMAS:
		check_list(l, at, v);
		return;
	case SHAPE_SCHEMA_MAP:
	case SHAPE_PATTERN_MAP:
	case SHAPE_DEPENDENCIES:
		check_map(l, at, v, shape);
		return;
	case SHAPE_NAMES_MAP:
		check_map(l, at, v, SHAPE_NAMES);
		return;
	case SHAPE_NAMES:
		check_names(l, at, v);
		return;
	case SHAPE_COUNT:
		check_count(l, at, v);
		return;
	case SHAPE_POSITIVE:
		if (want_type(l, at, v, "number") && v.f <= 0)
			FAULT(l, at, "exclusiveMinimum: got %.0f, want 0", v.f);
		return;
	case SHAPE_NUMBER:
		want_type(l, at, v, "number");
		return;
	case SHAPE_BOUND:
		want_type(l, at, v, l->r->draft == DRAFT_4 ? "boolean" : "number");
		return;
	case SHAPE_STRING:
		want_type(l, at, v, "string");
		return;
	case SHAPE_REF:
		check_reference(l, at, v);
		return;
	case SHAPE_PATTERN:
		if (want_type(l, at, v, "string"))
			check_pattern(l, at, value_text(v));
		return;
	case SHAPE_BOOL:
		want_type(l, at, v, "boolean");
		return;
	case SHAPE_LIST:
		want_type(l, at, v, "array");
		return;
	case SHAPE_TYPE:
		check_type_keyword(l, at, v);
		return;
	}
}

/* Drafts 4 to 7 have min... as allOf of one entry. */
static void wrap_count(struct level *l, const struct keyword_rule *rule, const struct place *at)
{
	if (rule->shape != SHAPE_COUNT || l->r->draft >= DRAFT_2019 || !l->out->n ||
	    strncmp(rule->name, "min", 3) != 0)
		return;
	struct violation *x = violation_group(l->r, at, "'allOf' failed", l->out);
	*l->out = (struct violation){0};
	violation_add(l->r, l->out, x);
}

/* Shapes that the drafts define once and refer to. */
static bool is_referred(enum shape shape)
{
	return shape == SHAPE_SCHEMAS || shape == SHAPE_NAMES;
}

/* A schema has a handful of keywords, and is looked at once for each vocabulary. */
struct keywords {
	const struct value *values[ARRAY_LEN(rules)]; /* NULL: not there */
};

static void find_keywords(const struct vmap *m, enum draft draft, struct keywords *ret)
{
	*ret = (struct keywords){0};
	for (size_t i = 0; i < m->n; i++) {
		struct str key = m->entries[i].key;
		size_t k = 0;
		while (k < ARRAY_LEN(rules) &&
		       (rules[k].len != key.len || memcmp(rules[k].name, key.ptr, key.len) != 0))
			k++;
		if (k < ARRAY_LEN(rules) && draft >= rules[k].first && draft <= rules[k].last)
			ret->values[k] = &m->entries[i].value;
	}
}

static enum vocabulary vocabulary_of(const struct keyword_rule *rule, enum draft draft)
{
	return rule->voc == VOC_UNEVALUATED && draft == DRAFT_2019 ? VOC_APPLICATOR : rule->voc;
}

static void check_vocabulary(struct schema_run *r, const struct keywords *words,
			     enum vocabulary voc, bool any, const struct place *at,
			     struct violation *out)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		const struct value *v = words->values[i];
		if (!v || (!any && vocabulary_of(&rules[i], r->draft) != voc))
			continue;
		struct place p = {.up = at, .key = str_of(rules[i].name)};
		struct violation found = {0};
		struct level l = {r, &found};
		check_shape(&l, rules[i].shape, &p, *v);
		wrap_count(&l, &rules[i], &p);
		if (is_referred(rules[i].shape))
			add_referred(r, &p, &found, out);
		else
			violation_add_found(r, &p, &found, out);
	}
}

void schema_check_meta(struct schema_run *r, struct value schema, const struct place *at,
		       struct violation *top)
{
	struct level l = {r, top};
	if (schema.type == VALUE_BOOL && r->draft != DRAFT_4)
		return;
	if (schema.type != VALUE_MAP) {
		FAULT(&l, at, "got %s, want %s", jsonschema_type(schema),
		      r->draft == DRAFT_4 ? "object" : "boolean or object");
		return;
	}
	if (++r->depth > VALUE_DEPTH_MAX || ++r->steps > JSONSCHEMA_STEPS_MAX) {
		schema_broken(r, "schema is too large or nested too deep");
		return;
	}
	struct keywords words;
	find_keywords(schema.map, r->draft, &words);
	if (r->draft < DRAFT_2019) {
		struct violation sub = {0};
		check_vocabulary(r, &words, VOC_CORE, true, at, &sub);
		add_schema(r, at, &sub, top);
		r->depth--;
		return;
	}
	struct violation all = {0}, both = {0};
	for (int voc = 0; voc < VOC_NONE; voc++) {
		struct violation sub = {0};
		check_vocabulary(r, &words, (enum vocabulary)voc, false, at, &sub);
		add_referred(r, at, &sub, &all);
	}
	check_vocabulary(r, &words, VOC_NONE, false, at, &both);
	if (all.n)
		violation_add(r, &both, violation_group(r, at, "'allOf' failed", &all));
	add_schema(r, at, &both, top);
	r->depth--;
}
/* NOLINTEND(misc-no-recursion) */
