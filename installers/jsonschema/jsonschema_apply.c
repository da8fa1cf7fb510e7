/* jsonschema_apply: a schema at a value, with all schemas that it leads to: those of members and
 * elements, of combinations and of references. */
#include "installers/jsonschema/jsonschema_apply.h"

#include "installers/jsonschema/jsonschema.h"
#include "installers/jsonschema/jsonschema_assert.h"
#include "installers/jsonschema/jsonschema_tree.h"

/* Which members and elements some schema has looked at, for unevaluated*. */
struct schema_seen {
	bool *props, *items; /* NULL if the value is no map or list */
	size_t n;
};

/* ---- what was looked at ---- */

/* NOLINTBEGIN(misc-no-recursion): schema_apply() bounds the depth by JSONSCHEMA_REF_STEPS_MAX */
static struct schema_seen *seen_new(struct schema_check *c)
{
	struct schema_seen *s = ARENA_NEW(c->r->a, struct schema_seen);
	if (value_is_map(c->v)) {
		s->n = vmap_count(c->v.map);
		s->props = ARENA_ARRAY(c->r->a, bool, s->n + 1);
	} else if (value_is_list(c->v)) {
		s->n = c->v.len;
		s->items = ARENA_ARRAY(c->r->a, bool, s->n + 1);
	}
	return s;
}

static void seen_merge(struct schema_seen *to, const struct schema_seen *from)
{
	for (size_t i = 0; to && i < from->n; i++) {
		if (from->props && from->props[i])
			to->props[i] = true;
		if (from->items && from->items[i])
			to->items[i] = true;
	}
}

/* Applies schema to the same value; true if it holds, and then what it saw counts. */
static bool holds(struct schema_check *c, struct value schema, struct violation *out)
{
	struct schema_seen *s = c->seen ? seen_new(c) : NULL;
	size_t before = out->n;
	schema_apply(c->r, schema, c->v, c->at, out, s);
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

static void check_required(struct schema_check *c, struct value list)
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
		SCHEMA_FAULT(c, n == 1 ? "missing property %s" : "missing properties %s", b.buf);
}

/* NOLINTBEGIN(misc-no-recursion): schema_apply() bounds the depth by JSONSCHEMA_REF_STEPS_MAX */
static void check_member(struct schema_check *c, size_t i, struct value schema)
{
	struct place at = {.up = c->at, .key = c->v.map->entries[i].key};
	schema_apply(c->r, schema, c->v.map->entries[i].value, &at, c->out, NULL);
	if (c->seen)
		mark(c->seen->props, i);
}

/* properties and patternProperties; *known tells which members they cover. */
static void check_named(struct schema_check *c, struct value schema, bool *known)
{
	const struct value *props = schema_keyword(schema, "properties");
	const struct value *patterns = schema_keyword(schema, "patternProperties");
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

static void check_additional(struct schema_check *c, struct value schema, const bool *known)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct value *more = schema_keyword(schema, "additionalProperties");
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
		SCHEMA_FAULT(c, "additional properties %s not allowed", b.buf);
}

static void check_names(struct schema_check *c, struct value schema)
{
	const struct value *names =
		c->r->draft >= DRAFT_6 ? schema_keyword(schema, "propertyNames") : NULL;
	for (size_t i = 0; names && i < c->v.map->n; i++) {
		struct str key = c->v.map->entries[i].key;
		struct str q = schema_quote(c->r->a, key);
		struct violation *x =
			violation_new(c->r, NULL, "invalid propertyName %.*s", STR_ARG(q));
		schema_apply(c->r, *names, value_str(key), NULL, x, NULL);
		violation_flatten(x);
		if (x->n)
			violation_add(c->r, c->out, x);
	}
}

static void check_dependent_list(struct schema_check *c, struct str key, struct value list)
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
		SCHEMA_FAULT(c, "properties %s required, if %.*s exists", b.buf, STR_ARG(q));
	}
}

static void check_dependent(struct schema_check *c, struct value schema, const char *name)
{
	const struct value *deps = schema_keyword(schema, name);
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

static void check_object(struct schema_check *c, struct value schema)
{
	size_t n = vmap_count(c->v.map);
	const struct value *required = schema_keyword(schema, "required");
	bool *known = ARENA_ARRAY(c->r->a, bool, n + 1);
	if (!c->v.map)
		return;
	schema_check_limit(c, schema, "minProperties", value_int64((int64_t)n), true, false);
	schema_check_limit(c, schema, "maxProperties", value_int64((int64_t)n), false, false);
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
static void check_item(struct schema_check *c, size_t i, size_t told, struct value schema)
{
	struct place at = {.up = c->at, .index = told};
	schema_apply(c->r, schema, c->v.items[i], &at, c->out, NULL);
	if (c->seen)
		mark(c->seen->items, i);
}

static void check_items(struct schema_check *c, struct value schema)
{
	bool v2020 = c->r->draft >= DRAFT_2020;
	const struct value *first = schema_keyword(schema, v2020 ? "prefixItems" : "items");
	const struct value *rest = schema_keyword(schema, v2020 ? "items" : "additionalItems");
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
		SCHEMA_FAULT(c, "last %zu additionalItem(s) not allowed", c->v.len - n);
		return;
	}
	for (size_t i = n; i < c->v.len; i++)
		check_item(c, i, i - n, *rest);
}

static void check_unique(struct schema_check *c, struct value schema)
{
	const struct value *unique = schema_keyword(schema, "uniqueItems");
	if (!unique || unique->type != VALUE_BOOL || !unique->b)
		return;
	for (size_t i = 1; i < c->v.len; i++) {
		c->r->steps += i / 16;
		if (c->r->steps > JSONSCHEMA_STEPS_MAX)
			return;
		for (size_t k = 0; k < i; k++) {
			if (!jsonschema_equal(c->v.items[k], c->v.items[i]))
				continue;
			SCHEMA_FAULT(c, "items at %zu and %zu are equal", k, i);
			return;
		}
	}
}

static void report_contains(struct schema_check *c, size_t matched, const char *places, double min,
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

static void check_contains(struct schema_check *c, struct value schema)
{
	const struct value *want =
		c->r->draft >= DRAFT_6 ? schema_keyword(schema, "contains") : NULL;
	CLEANUP(strbuf_release) struct strbuf places = STRBUF_INIT(STRBUF_SMALL);
	struct violation tried = {0};
	double min = 1, max;
	size_t matched = 0;
	if (!want)
		return;
	bool has_min =
		c->r->draft >= DRAFT_2019 && schema_number_keyword(schema, "minContains", &min);
	for (size_t i = 0; i < c->v.len; i++) {
		struct place at = {.up = c->at, .index = i};
		size_t before = tried.n;
		schema_apply(c->r, *want, c->v.items[i], &at, &tried, NULL);
		if (tried.n > before)
			continue;
		strbuf_addf(&places, "%s%zu", matched++ ? " " : "", i);
		if (c->seen && c->r->draft >= DRAFT_2020)
			mark(c->seen->items, i);
	}
	if ((double)matched < min)
		report_contains(c, matched, places.buf, min, has_min, &tried);
	if (c->r->draft >= DRAFT_2019 && schema_number_keyword(schema, "maxContains", &max) &&
	    (double)matched > max)
		SCHEMA_FAULT(c,
			     "max %s items required to match contains schema, but matched %zu "
			     "items at %s",
			     jsonschema_number_text(c->r->a, max), matched, places.buf);
}

static void check_list(struct schema_check *c, struct value schema)
{
	schema_check_limit(c, schema, "minItems", value_int64((int64_t)c->v.len), true, false);
	schema_check_limit(c, schema, "maxItems", value_int64((int64_t)c->v.len), false, false);
	check_unique(c, schema);
	check_items(c, schema);
	check_contains(c, schema);
}

/* ---- combinations ---- */

static void check_all_of(struct schema_check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'allOf' failed");
	for (size_t i = 0; i < list.len; i++)
		holds(c, list.items[i], x);
	if (x->n)
		violation_add(c->r, c->out, x);
}

static void check_any_of(struct schema_check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'anyOf' failed");
	bool matched = false;
	for (size_t i = 0; i < list.len && (!matched || c->seen); i++)
		matched |= holds(c, list.items[i], x);
	if (!matched)
		violation_add(c->r, c->out, x);
}

static void check_one_of(struct schema_check *c, struct value list)
{
	struct violation *x = violation_new(c->r, c->at, "'oneOf' failed, none matched");
	ptrdiff_t first = -1;
	for (size_t i = 0; i < list.len; i++) {
		if (!holds(c, list.items[i], x))
			continue;
		if (first >= 0) {
			SCHEMA_FAULT(c, "'oneOf' failed, subschemas %td, %zu matched", first, i);
			return;
		}
		first = (ptrdiff_t)i;
	}
	if (first < 0)
		violation_add(c->r, c->out, x);
}

static void check_if(struct schema_check *c, struct value schema)
{
	const struct value *cond = schema_keyword(schema, "if");
	if (!cond || c->r->draft < DRAFT_7)
		return;
	struct violation sub = {0};
	const struct value *then = schema_keyword(schema, holds(c, *cond, &sub) ? "then" : "else");
	if (then)
		holds(c, *then, c->out);
}

static void check_combined(struct schema_check *c, struct value schema)
{
	const struct value *list, *no = schema_keyword(schema, "not");
	struct violation sub = {0};
	if (no && (schema_apply(c->r, *no, c->v, c->at, &sub, NULL), !sub.n))
		SCHEMA_FAULT(c, "'not' failed");
	list = schema_keyword(schema, "allOf");
	if (list && list->type == VALUE_LIST)
		check_all_of(c, *list);
	list = schema_keyword(schema, "anyOf");
	if (list && list->type == VALUE_LIST)
		check_any_of(c, *list);
	list = schema_keyword(schema, "oneOf");
	if (list && list->type == VALUE_LIST)
		check_one_of(c, *list);
	check_if(c, schema);
}

static void check_unevaluated(struct schema_check *c, struct value schema)
{
	const struct value *props = schema_keyword(schema, "unevaluatedProperties");
	const struct value *items = schema_keyword(schema, "unevaluatedItems");
	for (size_t i = 0; props && c->seen->props && i < c->seen->n; i++)
		if (!c->seen->props[i])
			check_member(c, i, *props);
	for (size_t i = 0; items && c->seen->items && i < c->seen->n; i++)
		if (!c->seen->items[i])
			check_item(c, i, i, *items);
}

/* ---- references ---- */

static bool check_ref(struct schema_check *c, struct value schema, const char *name)
{
	const struct value *ref = schema_keyword(schema, name);
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
static void check_rest(struct schema_check *c, struct value schema)
{
	if (value_is_map(c->v))
		check_object(c, schema);
	else if (value_is_list(c->v))
		check_list(c, schema);
	else if (c->v.type == VALUE_STRING)
		schema_check_string(c, schema);
	else if (jsonschema_is_number(c->v))
		schema_check_number(c, schema);
	if (c->r->draft == DRAFT_2019)
		check_ref(c, schema, "$recursiveRef");
	else if (c->r->draft == DRAFT_2020)
		check_ref(c, schema, "$dynamicRef");
	check_combined(c, schema);
	if (c->r->draft >= DRAFT_2019)
		check_unevaluated(c, schema);
}

static void check_schema(struct schema_check *c, struct value schema)
{
	const struct value *k = schema_keyword(schema, "type");
	if (c->r->draft < DRAFT_2019 && check_ref(c, schema, "$ref"))
		return; /* its neighbours do not count */
	if (k && !schema_check_type(c, *k))
		return;
	k = schema_keyword(schema, "const");
	if (k && c->r->draft >= DRAFT_6 && !schema_check_const(c, *k))
		return;
	k = schema_keyword(schema, "enum");
	if (k && k->type == VALUE_LIST && !schema_check_enum(c, *k))
		return;
	k = schema_keyword(schema, "format");
	if (k && !schema_check_format(c, *k))
		return;
	if (c->r->draft >= DRAFT_2019)
		check_ref(c, schema, "$ref");
	check_rest(c, schema);
}

/* Depth and steps are bounded; a reference that leads to itself runs into the depth. */
void schema_apply(struct schema_run *r, struct value schema, struct value v, const struct place *at,
		  struct violation *out, struct schema_seen *seen)
{
	struct violation found = {0};
	struct schema_check c = {.r = r, .v = v, .at = at, .out = &found, .seen = seen};
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
