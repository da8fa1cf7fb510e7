#include "installers/jsonschema/jsonschema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "installers/format/json_go.h"
#include "installers/jsonschema/jsonschema_tree.h"
#include "installers/value/unicode.h"

/* Which members and elements some schema has looked at, for unevaluated*. */
struct seen {
	bool *props, *items; /* NULL if the value is no map or list */
	size_t n;
};

struct check {
	struct schema_run *r;
	struct value v;
	const struct place *at;
	struct violation *out;
	struct seen *seen;
};

static void check_value(struct schema_run *r, struct value schema, struct value v,
			const struct place *at, struct violation *out, struct seen *seen);

/* ---- keywords about one value ---- */

static const struct value *keyword(struct value schema, const char *name)
{
	return schema.type == VALUE_MAP ? vmap_getc(schema.map, name) : NULL;
}

static bool number_keyword(struct value schema, const char *name, double *ret)
{
	const struct value *v = keyword(schema, name);
	if (!v || !jsonschema_is_number(*v))
		return false;
	*ret = jsonschema_number(*v);
	return true;
}

#define ADD(c, ...) violation_add((c)->r, (c)->out, violation_new((c)->r, (c)->at, __VA_ARGS__))

static bool check_type(struct check *c, struct value want)
{
	static const char *const order[] = {"null",   "boolean", "number", "integer",
					    "string", "array",   "object"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct value one = want;
	size_t n = want.type == VALUE_LIST ? want.len : 1;
	const struct value *items = want.type == VALUE_LIST ? want.items : &one;
	for (size_t i = 0; i < n; i++)
		if (items[i].type != VALUE_STRING ||
		    jsonschema_has_type(c->v, value_text(items[i])))
			return true;
	for (size_t k = 0; k < ARRAY_LEN(order); k++)
		for (size_t i = 0; i < n; i++)
			if (value_is_string(items[i], order[k]))
				strbuf_addf(&b, "%s%s", b.len ? " or " : "", order[k]);
	ADD(c, "got %s, want %s", jsonschema_type(c->v), b.buf);
	return false;
}

static bool is_scalar(struct value v)
{
	return !value_is_map(v) && !value_is_list(v);
}

static void print_scalar(struct check *c, struct value v, struct strbuf *b)
{
	if (v.type == VALUE_STRING)
		strbuf_addstr(b, schema_quote(c->r->a, value_text(v)));
	else if (v.type == VALUE_NIL)
		strbuf_adds(b, "<nil>");
	else if (jsonschema_is_number(v))
		value_float_json(b, jsonschema_number(v));
	else
		value_print(b, v);
}

static bool check_const(struct check *c, struct value want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (jsonschema_equal(c->v, want))
		return true;
	if (is_scalar(want)) {
		print_scalar(c, want, &b);
		ADD(c, "value must be %s", b.buf);
	} else {
		ADD(c, "'const' failed");
	}
	return false;
}

static bool check_enum(struct check *c, struct value want)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	bool scalars = true;
	for (size_t i = 0; i < want.len; i++) {
		if (jsonschema_equal(c->v, want.items[i]))
			return true;
		scalars = scalars && is_scalar(want.items[i]);
		if (i)
			strbuf_adds(&b, ", ");
		if (scalars)
			print_scalar(c, want.items[i], &b);
	}
	if (!scalars)
		ADD(c, "'enum' failed");
	else if (want.len == 1)
		ADD(c, "value must be %s", b.buf);
	else
		ADD(c, "value must be one of %s", b.buf);
	return false;
}

/* got: its limits are compared as they are, not as doubles: 2^64 is above 2^64 - 1. */
static void check_limit(struct check *c, struct value schema, const char *name, struct value got,
			bool minimum, bool exclusive)
{
	const struct value *limit = keyword(schema, name);
	if (!limit || !jsonschema_is_number(*limit))
		return;
	int order = jsonschema_compare(got, *limit);
	if ((minimum ? order < 0 : order > 0) || (exclusive && order == 0))
		ADD(c, "%s: got %s, want %s", name,
		    jsonschema_number_text(c->r->a, jsonschema_number(got)),
		    jsonschema_number_text(c->r->a, jsonschema_number(*limit)));
}

/* Draft 4: exclusiveMinimum is a flag of minimum. */
static void check_bound(struct check *c, struct value schema, const char *name,
			const char *exclusive_name, bool minimum)
{
	double want;
	const struct value *flag = keyword(schema, exclusive_name);
	if (!flag || flag->type != VALUE_BOOL || !flag->b) {
		check_limit(c, schema, name, c->v, minimum, false);
		check_limit(c, schema, exclusive_name, c->v, minimum, true);
	} else if (number_keyword(schema, name, &want)) {
		int order = jsonschema_compare(c->v, *keyword(schema, name));
		if (minimum ? order <= 0 : order >= 0)
			ADD(c, "%s: got %s, want %s", exclusive_name,
			    jsonschema_number_text(c->r->a, jsonschema_number(c->v)),
			    jsonschema_number_text(c->r->a, want));
	}
}

static void check_number(struct check *c, struct value schema)
{
	double want, got = jsonschema_number(c->v);
	check_bound(c, schema, "minimum", "exclusiveMinimum", true);
	check_bound(c, schema, "maximum", "exclusiveMaximum", false);
	if (!number_keyword(schema, "multipleOf", &want) || want <= 0)
		return;
	double q = got / want;
	if (fabs(q - nearbyint(q)) > 1e-9 * fmax(1, fabs(q)))
		ADD(c, "multipleOf: got %s, want %s", jsonschema_number_text(c->r->a, got),
		    jsonschema_number_text(c->r->a, want));
}

static void check_string(struct check *c, struct value schema)
{
	struct str s = value_text(c->v);
	const struct value *pattern = keyword(schema, "pattern");
	const char *fault;
	double n = (double)utf8_count(s);
	check_limit(c, schema, "minLength", value_int64((int64_t)n), true, false);
	check_limit(c, schema, "maxLength", value_int64((int64_t)n), false, false);
	if (!pattern || pattern->type != VALUE_STRING)
		return;
	int hit = schema_match(c->r->a, value_text(*pattern), s, &fault);
	if (hit == 0) {
		struct str q = schema_quote(c->r->a, s);
		struct str p = schema_quote(c->r->a, value_text(*pattern));
		ADD(c, "%.*s does not match pattern %.*s", STR_ARG(q), STR_ARG(p));
	}
}

/* ---- what was looked at ---- */

/* NOLINTBEGIN(misc-no-recursion): check_value() bounds the depth by JSONSCHEMA_REF_STEPS_MAX */
static struct seen *seen_new(struct check *c)
{
	struct seen *s = ARENA_NEW(c->r->a, struct seen);
	if (value_is_map(c->v)) {
		s->n = vmap_count(c->v.map);
		s->props = ARENA_ARRAY(c->r->a, bool, s->n + 1);
	} else if (value_is_list(c->v)) {
		s->n = c->v.len;
		s->items = ARENA_ARRAY(c->r->a, bool, s->n + 1);
	}
	return s;
}

static void seen_merge(struct seen *to, const struct seen *from)
{
	for (size_t i = 0; to && i < from->n; i++) {
		if (from->props && from->props[i])
			to->props[i] = true;
		if (from->items && from->items[i])
			to->items[i] = true;
	}
}

/* Applies schema to the same value; true if it holds, and then what it saw counts. */
static bool holds(struct check *c, struct value schema, struct violation *out)
{
	struct seen *s = c->seen ? seen_new(c) : NULL;
	size_t before = out->n;
	check_value(c->r, schema, c->v, c->at, out, s);
	if (out->n > before)
		return false;
	if (s)
		seen_merge(c->seen, s);
	return true;
}
/* NOLINTEND(misc-no-recursion) */

/* ---- objects ---- */

static void mark(bool *flags, size_t i)
{
	if (flags)
		flags[i] = true;
}

static void check_required(struct check *c, struct value list)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	size_t n = 0;
	for (size_t i = 0; i < list.len; i++) {
		if (list.items[i].type != VALUE_STRING ||
		    vmap_get(c->v.map, value_text(list.items[i])))
			continue;
		struct str q = schema_quote(c->r->a, value_text(list.items[i]));
		strbuf_addf(&b, "%s%.*s", n++ ? ", " : "", STR_ARG(q));
	}
	if (n)
		ADD(c, n == 1 ? "missing property %s" : "missing properties %s", b.buf);
}

/* NOLINTBEGIN(misc-no-recursion): check_value() bounds the depth by JSONSCHEMA_REF_STEPS_MAX,
 * equal() by VALUE_DEPTH_MAX */
static void check_member(struct check *c, size_t i, struct value schema)
{
	struct place at = {.up = c->at, .key = c->v.map->entries[i].key};
	check_value(c->r, schema, c->v.map->entries[i].value, &at, c->out, NULL);
	if (c->seen)
		mark(c->seen->props, i);
}

/* properties and patternProperties; *known tells which members they cover. */
static void check_named(struct check *c, struct value schema, bool *known)
{
	const struct value *props = keyword(schema, "properties");
	const struct value *patterns = keyword(schema, "patternProperties");
	for (size_t i = 0; i < c->v.map->n; i++) {
		struct str key = c->v.map->entries[i].key;
		const struct value *s =
			props && props->type == VALUE_MAP ? vmap_get(props->map, key) : NULL;
		const char *fault;
		if (s) {
			known[i] = true;
			check_member(c, i, *s);
		}
		for (size_t k = 0; patterns && patterns->type == VALUE_MAP && k < patterns->map->n;
		     k++) {
			if (schema_match(c->r->a, patterns->map->entries[k].key, key, &fault) <= 0)
				continue;
			known[i] = true;
			check_member(c, i, patterns->map->entries[k].value);
		}
	}
}

static void check_additional(struct check *c, struct value schema, const bool *known)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct value *more = keyword(schema, "additionalProperties");
	if (!more)
		return;
	for (size_t i = 0; i < c->v.map->n; i++) {
		if (known[i])
			continue;
		if (more->type == VALUE_BOOL && !more->b) {
			struct str q = schema_quote(c->r->a, c->v.map->entries[i].key);
			strbuf_addf(&b, "%s%.*s", b.len ? ", " : "", STR_ARG(q));
			continue;
		}
		check_member(c, i, *more);
	}
	if (b.len)
		ADD(c, "additional properties %s not allowed", b.buf);
}

static void check_names(struct check *c, struct value schema)
{
	const struct value *names =
		c->r->draft >= DRAFT_6 ? keyword(schema, "propertyNames") : NULL;
	for (size_t i = 0; names && i < c->v.map->n; i++) {
		struct str key = c->v.map->entries[i].key;
		struct str q = schema_quote(c->r->a, key);
		struct violation *x =
			violation_new(c->r, NULL, "invalid propertyName %.*s", STR_ARG(q));
		check_value(c->r, *names, value_str(key), NULL, x, NULL);
		violation_flatten(x);
		if (x->n)
			violation_add(c->r, c->out, x);
	}
}

static void check_dependent_list(struct check *c, struct str key, struct value list)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < list.len; i++) {
		if (list.items[i].type != VALUE_STRING ||
		    vmap_get(c->v.map, value_text(list.items[i])))
			continue;
		struct str q = schema_quote(c->r->a, value_text(list.items[i]));
		strbuf_addf(&b, "%s%.*s", b.len ? ", " : "", STR_ARG(q));
	}
	if (b.len) {
		struct str q = schema_quote(c->r->a, key);
		ADD(c, "properties %s required, if %.*s exists", b.buf, STR_ARG(q));
	}
}

static void check_dependent(struct check *c, struct value schema, const char *name)
{
	const struct value *deps = keyword(schema, name);
	if (!deps || deps->type != VALUE_MAP)
		return;
	for (size_t i = 0; i < deps->map->n; i++) {
		struct str key = deps->map->entries[i].key;
		struct value v = deps->map->entries[i].value;
		if (!vmap_get(c->v.map, key))
			continue;
		if (v.type == VALUE_LIST)
			check_dependent_list(c, key, v);
		else
			holds(c, v, c->out);
	}
}

static void check_object(struct check *c, struct value schema)
{
	size_t n = vmap_count(c->v.map);
	const struct value *required = keyword(schema, "required");
	bool *known = ARENA_ARRAY(c->r->a, bool, n + 1);
	if (!c->v.map)
		return;
	check_limit(c, schema, "minProperties", value_int64((int64_t)n), true, false);
	check_limit(c, schema, "maxProperties", value_int64((int64_t)n), false, false);
	if (required && required->type == VALUE_LIST)
		check_required(c, *required);
	check_named(c, schema, known);
	check_additional(c, schema, known);
	check_names(c, schema);
	check_dependent(c, schema, "dependencies");
	if (c->r->draft < DRAFT_2019)
		return;
	check_dependent(c, schema, "dependentRequired");
	check_dependent(c, schema, "dependentSchemas");
}

/* ---- lists ---- */

/* told: the index that messages have: what follows prefixItems or a list of items is counted again.
 */
static void check_item(struct check *c, size_t i, size_t told, struct value schema)
{
	struct place at = {.up = c->at, .index = told};
	check_value(c->r, schema, c->v.items[i], &at, c->out, NULL);
	if (c->seen)
		mark(c->seen->items, i);
}

static void check_items(struct check *c, struct value schema)
{
	bool v2020 = c->r->draft >= DRAFT_2020;
	const struct value *first = keyword(schema, v2020 ? "prefixItems" : "items");
	const struct value *rest = keyword(schema, v2020 ? "items" : "additionalItems");
	size_t n = first && first->type == VALUE_LIST ? first->len : 0;
	if (!v2020 && first && first->type != VALUE_LIST)
		rest = first;
	else if (!v2020 && !first)
		rest = NULL;
	for (size_t i = 0; i < n && i < c->v.len; i++)
		check_item(c, i, i, first->items[i]);
	if (!rest || c->v.len <= n)
		return;
	if (!v2020 && rest->type == VALUE_BOOL && !rest->b && rest != first) {
		ADD(c, "last %zu additionalItem(s) not allowed", c->v.len - n);
		return;
	}
	for (size_t i = n; i < c->v.len; i++)
		check_item(c, i, i - n, *rest);
}

static void check_unique(struct check *c, struct value schema)
{
	const struct value *unique = keyword(schema, "uniqueItems");
	if (!unique || unique->type != VALUE_BOOL || !unique->b)
		return;
	for (size_t i = 1; i < c->v.len; i++) {
		c->r->steps += i / 16;
		if (c->r->steps > JSONSCHEMA_STEPS_MAX)
			return;
		for (size_t k = 0; k < i; k++) {
			if (!jsonschema_equal(c->v.items[k], c->v.items[i]))
				continue;
			ADD(c, "items at %zu and %zu are equal", k, i);
			return;
		}
	}
}

static void report_contains(struct check *c, size_t matched, const char *places, double min,
			    bool has_min, struct violation *tried)
{
	struct violation *x =
		has_min ? violation_new(c->r, c->at,
					"min %s items required to match contains schema, but %s",
					jsonschema_number_text(c->r->a, min),
					matched ? arena_fmt(c->r->a, "matched %zu items at %s",
							    matched, places)
						: "none matched")
			: violation_new(c->r, c->at, "no items match contains schema");
	x->kids = tried->kids;
	x->n = tried->n;
	violation_add(c->r, c->out, x);
}

static void check_contains(struct check *c, struct value schema)
{
	const struct value *want = c->r->draft >= DRAFT_6 ? keyword(schema, "contains") : NULL;
	CLEANUP(strbuf_release) struct strbuf places = STRBUF_INIT(STRBUF_SMALL);
	struct violation tried = {0};
	double min = 1, max;
	size_t matched = 0;
	if (!want)
		return;
	bool has_min = c->r->draft >= DRAFT_2019 && number_keyword(schema, "minContains", &min);
	for (size_t i = 0; i < c->v.len; i++) {
		struct place at = {.up = c->at, .index = i};
		size_t before = tried.n;
		check_value(c->r, *want, c->v.items[i], &at, &tried, NULL);
		if (tried.n > before)
			continue;
		strbuf_addf(&places, "%s%zu", matched++ ? " " : "", i);
		if (c->seen && c->r->draft >= DRAFT_2020)
			mark(c->seen->items, i);
	}
	if ((double)matched < min)
		report_contains(c, matched, places.buf, min, has_min, &tried);
	if (c->r->draft >= DRAFT_2019 && number_keyword(schema, "maxContains", &max) &&
	    (double)matched > max)
		ADD(c,
		    "max %s items required to match contains schema, but matched %zu items at %s",
		    jsonschema_number_text(c->r->a, max), matched, places.buf);
}

static void check_list(struct check *c, struct value schema)
{
	check_limit(c, schema, "minItems", value_int64((int64_t)c->v.len), true, false);
	check_limit(c, schema, "maxItems", value_int64((int64_t)c->v.len), false, false);
	check_unique(c, schema);
	check_items(c, schema);
	check_contains(c, schema);
}

/* ---- combinations ---- */

static void check_all_of(struct check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'allOf' failed");
	for (size_t i = 0; i < list.len; i++)
		holds(c, list.items[i], x);
	if (x->n)
		violation_add(c->r, c->out, x);
}

static void check_any_of(struct check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'anyOf' failed");
	bool matched = false;
	for (size_t i = 0; i < list.len && (!matched || c->seen); i++)
		matched |= holds(c, list.items[i], x);
	if (!matched)
		violation_add(c->r, c->out, x);
}

static void check_one_of(struct check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'oneOf' failed, none matched");
	ptrdiff_t first = -1;
	for (size_t i = 0; i < list.len; i++) {
		if (!holds(c, list.items[i], x))
			continue;
		if (first >= 0) {
			ADD(c, "'oneOf' failed, subschemas %td, %zu matched", first, i);
			return;
		}
		first = (ptrdiff_t)i;
	}
	if (first < 0)
		violation_add(c->r, c->out, x);
}

static void check_if(struct check *c, struct value schema)
{
	const struct value *cond = keyword(schema, "if");
	if (!cond || c->r->draft < DRAFT_7)
		return;
	struct violation sub = {0};
	const struct value *then = keyword(schema, holds(c, *cond, &sub) ? "then" : "else");
	if (then)
		holds(c, *then, c->out);
}

static void check_combined(struct check *c, struct value schema)
{
	const struct value *list, *no = keyword(schema, "not");
	struct violation sub = {0};
	if (no && (check_value(c->r, *no, c->v, c->at, &sub, NULL), !sub.n))
		ADD(c, "'not' failed");
	list = keyword(schema, "allOf");
	if (list && list->type == VALUE_LIST)
		check_all_of(c, *list);
	list = keyword(schema, "anyOf");
	if (list && list->type == VALUE_LIST)
		check_any_of(c, *list);
	list = keyword(schema, "oneOf");
	if (list && list->type == VALUE_LIST)
		check_one_of(c, *list);
	check_if(c, schema);
}

static void check_unevaluated(struct check *c, struct value schema)
{
	const struct value *props = keyword(schema, "unevaluatedProperties");
	const struct value *items = keyword(schema, "unevaluatedItems");
	for (size_t i = 0; props && c->seen->props && i < c->seen->n; i++)
		if (!c->seen->props[i])
			check_member(c, i, *props);
	for (size_t i = 0; items && c->seen->items && i < c->seen->n; i++)
		if (!c->seen->items[i])
			check_item(c, i, i, *items);
}

/* ---- references ---- */

static bool check_ref(struct check *c, struct value schema, const char *name)
{
	const struct value *ref = keyword(schema, name);
	struct violation sub = {0};
	if (!ref || ref->type != VALUE_STRING)
		return false;
	const struct value *target = schema_resolve(c->r, value_text(*ref));
	if (!target || holds(c, *target, &sub))
		return true;
	struct violation *kid = sub.kids[0];
	if (kid->group) { /* reported where the reference stands */
		kid->at = place_text(c->r->a, c->at);
		kid->group = false;
	}
	violation_add(c->r, c->out, kid);
	return true;
}

/* What follows the checks that end at the first fault: type, const, enum, format. */
static void check_rest(struct check *c, struct value schema)
{
	if (value_is_map(c->v))
		check_object(c, schema);
	else if (value_is_list(c->v))
		check_list(c, schema);
	else if (c->v.type == VALUE_STRING)
		check_string(c, schema);
	else if (jsonschema_is_number(c->v))
		check_number(c, schema);
	if (c->r->draft == DRAFT_2019)
		check_ref(c, schema, "$recursiveRef");
	else if (c->r->draft == DRAFT_2020)
		check_ref(c, schema, "$dynamicRef");
	check_combined(c, schema);
	if (c->r->draft >= DRAFT_2019)
		check_unevaluated(c, schema);
}

static bool check_format(struct check *c, struct value format)
{
	if (c->r->draft >= DRAFT_2019 || format.type != VALUE_STRING || c->v.type != VALUE_STRING)
		return true;
	const char *fault = schema_format_fault(c->r->a, value_text(format), value_text(c->v));
	if (!fault)
		return true;
	struct str q = schema_quote(c->r->a, value_text(c->v)), f = value_text(format);
	ADD(c, "%.*s is not valid %.*s: %s", STR_ARG(q), STR_ARG(f), fault);
	return false;
}

static void check_schema(struct check *c, struct value schema)
{
	const struct value *k = keyword(schema, "type");
	if (c->r->draft < DRAFT_2019 && check_ref(c, schema, "$ref"))
		return; /* its neighbours do not count */
	if (k && !check_type(c, *k))
		return;
	k = keyword(schema, "const");
	if (k && c->r->draft >= DRAFT_6 && !check_const(c, *k))
		return;
	k = keyword(schema, "enum");
	if (k && k->type == VALUE_LIST && !check_enum(c, *k))
		return;
	k = keyword(schema, "format");
	if (k && !check_format(c, *k))
		return;
	if (c->r->draft >= DRAFT_2019)
		check_ref(c, schema, "$ref");
	check_rest(c, schema);
}

/* Depth and steps are bounded; a reference that leads to itself runs into the depth. */
static void check_value(struct schema_run *r, struct value schema, struct value v,
			const struct place *at, struct violation *out, struct seen *seen)
{
	struct violation found = {0};
	struct check c = {.r = r, .v = v, .at = at, .out = &found, .seen = seen};
	if (r->broken)
		return;
	if (schema.type == VALUE_BOOL) {
		if (!schema.b)
			violation_add(r, out, violation_new(r, at, "false schema"));
		return;
	}
	if (++r->steps > JSONSCHEMA_STEPS_MAX) {
		schema_broken(r, "schema takes more than %d steps", JSONSCHEMA_STEPS_MAX);
		return;
	}
	if (++r->depth > JSONSCHEMA_REF_STEPS_MAX)
		schema_broken(r, "schema has a reference cycle or is nested deeper than %d",
			      JSONSCHEMA_REF_STEPS_MAX);
	if (!c.seen && r->draft >= DRAFT_2019)
		c.seen = seen_new(&c);
	check_schema(&c, schema);
	violation_add_found(r, at, &found, out);
	r->depth--;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- a schema ---- */

static enum draft draft_of(struct value schema)
{
	static const struct {
		const char *part;
		enum draft draft;
	} known[] = {{"draft-04", DRAFT_4},
		     {"draft-06", DRAFT_6},
		     {"draft-07", DRAFT_7},
		     {"2019-09", DRAFT_2019}};
	const struct value *url = keyword(schema, "$schema");
	for (size_t i = 0; url && url->type == VALUE_STRING && i < ARRAY_LEN(known); i++)
		if (str_contains(value_text(*url), str_of(known[i].part)))
			return known[i].draft;
	return DRAFT_2020;
}

static int check_well_formed(struct schema_run *r)
{
	struct violation top = {0};
	schema_check_meta(r, r->root, NULL, &top);
	if (r->broken)
		return -E_INVALID;
	if (!top.n)
		return 0;
	strbuf_addf(r->msg,
		    "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema "
		    "validation failed with '%s'\n",
		    schema_draft_url(r->draft));
	violation_print(&top, r->msg);
	strbuf_truncate(r->msg, r->msg->len - 1);
	return -E_INVALID;
}

int jsonschema_check(struct arena *a, struct str schema, struct value v, struct warnings *w,
		     struct strbuf *msg)
{
	struct schema_run r = {.a = a, .w = w, .first_warning = w ? w->n : 0, .msg = msg};
	struct violation top = {0};
	size_t mark = msg->len;
	if (!str_trim(schema).len) {
		strbuf_adds(msg, "EOF");
		return -E_INVALID;
	}
	if (json_go_decode_exact(a, schema, &r.root, msg) < 0) {
		if (str_is(str_skip(strbuf_str(msg), mark), "unexpected end of JSON input")) {
			strbuf_truncate(msg, mark);
			strbuf_adds(msg, "unexpected EOF");
		} else if (str_has_suffix(strbuf_str(msg), STR("after top-level value"))) {
			strbuf_truncate(msg, mark);
			strbuf_adds(msg, "invalid character after top-level value");
		}
		return -E_INVALID;
	}
	r.draft = draft_of(r.root);
	if (check_well_formed(&r) < 0)
		return -E_INVALID;
	check_value(&r, r.root, v, NULL, &top, NULL);
	if (r.broken)
		return -E_INVALID;
	if (!top.n)
		return 0;
	violation_print_sorted(&top, msg);
	return -E_INVALID;
}

/* NOLINTBEGIN(misc-no-recursion): check_value() bounds the depth by JSONSCHEMA_REF_STEPS_MAX,
 * equal() by VALUE_DEPTH_MAX */
static bool check_charts(const struct chart *c, struct vmap *values, struct warnings *w,
			 struct strbuf *msg)
{
	bool good = true;
	if (c->schema.ptr) {
		CLEANUP(arena_freep) struct arena *a = arena_new(JSONSCHEMA_BYTES_MAX);
		size_t mark = msg->len;
		strbuf_addf(msg, "%.*s:\n", STR_ARG(c->meta.name));
		good = jsonschema_check(a, c->schema, value_map(values), w, msg) == 0;
		if (good)
			strbuf_truncate(msg, mark);
	}
	for (size_t i = 0; i < c->n_charts; i++) {
		struct vmap *own = values_table(values, c->charts[i]->meta.name);
		if (own && !check_charts(c->charts[i], own, w, msg))
			good = false;
	}
	return good;
}
/* NOLINTEND(misc-no-recursion) */

int jsonschema_check_chart(const struct chart *c, struct vmap *values, struct warnings *w,
			   struct strbuf *msg)
{
	size_t mark = msg->len;
	strbuf_adds(msg, "values don't meet the specifications of the schema(s) in the following "
			 "chart(s):\n");
	if (!check_charts(c, values, w, msg))
		return -E_INVALID;
	strbuf_truncate(msg, mark);
	return 0;
}
