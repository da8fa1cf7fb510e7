/* x-kubernetes-validations when a definition is written: which rules do not compile, or could never
 * be evaluated, and how that reads. */
#include <stdio.h>
#include <string.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_cost.h"
#include "alm/obj/cel/cel_rules.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"
#include "alm/obj/schema/schema_node.h"

#define EVAL_BYTES_MAX ((size_t)32 << 20)
#define PATH_BYTES_MAX ((size_t)64 << 10)
#define DEAREST_MAX    4                           /* rules that are told */
#define DEAR_COST      (CEL_COST_SCHEMA_MAX / 100) /* what costs less is not */

struct rule_check {
	struct field_errors *errors;
	struct strbuf path;
	struct arena *a;
	bool correlatable; /* is there an old value here? */
	const char *uncorrelatable_at;
	size_t n_schema; /* errors, of what is no rule */
	bool bounded;    /* are there limits to how often a value occurs, */
	uint64_t times;  /* and how often then? */
	uint64_t total;  /* cost */
	struct dear {
		const char *path;
		uint64_t cost;
	} dearest[DEAREST_MAX]; /* the dearest first */
	size_t n_dearest;
};

/* The rule as the struct that Go has for it. */
static void add_go_rule(const struct obj *rule, struct strbuf *b)
{
	static const struct {
		const char *key, *name, *none;
	} rows[] = {{"rule", "Rule", "\"\""},
		    {"message", "Message", "\"\""},
		    {"messageExpression", "MessageExpression", "\"\""},
		    {"reason", "Reason", "null"},
		    {"fieldPath", "FieldPath", "\"\""},
		    {"optionalOldSelf", "OptionalOldSelf", "null"}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *v = obj_get(rule, rows[i].key);
		strbuf_addf(b, "%s\"%s\":", i ? "," : "{", rows[i].name);
		if (obj_is_set(v))
			json_print(v, b);
		else
			strbuf_adds(b, rows[i].none);
	}
	strbuf_addc(b, '}');
}

static void add_broken(struct rule_check *c, const struct obj *rule, size_t i, const char *key,
		       const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	size_t at = c->path.len;
	if (!field_errors_full(c->errors))
		add_go_rule(rule, &b);
	strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].%s", i, key);
	field_errors_add(c->errors, FIELD_INVALID, c->path.buf, "Invalid value: %s: %s", b.buf,
			 why);
	strbuf_truncate(&c->path, at);
}

static void add_uncorrelatable(struct rule_check *c, const char *text, size_t i)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	size_t at = c->path.len;
	go_quote(str_of(text), &b);
	strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].rule", i);
	field_errors_add(
		c->errors, FIELD_INVALID, c->path.buf,
		"Invalid value: %s: oldSelf cannot be used on the uncorrelatable portion of "
		"the schema within %s",
		b.buf, c->uncorrelatable_at);
	strbuf_truncate(&c->path, at);
}

static void add_optional(struct rule_check *c, const struct obj *optional, size_t i)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].optionalOldSelf", i);
	field_errors_add(c->errors, FIELD_INVALID, c->path.buf,
			 "Invalid value: %s: may not be set if oldSelf is not used in rule",
			 obj_is_true(optional) ? "true" : "false");
	strbuf_truncate(&c->path, at);
}

static void add_cost(struct rule_check *c, const char *path, const char *what, uint64_t cost,
		     uint64_t most)
{
	double factor = (double)cost / (double)most;
	char text[32] = "more than 100";
	if (factor <= 100)
		snprintf(text, sizeof(text), factor < 1.5 ? "%f" : "%.1f", factor);
	field_errors_add(c->errors, FIELD_FORBIDDEN, path,
			 "Forbidden: %s exceeds budget by factor of %sx (try simplifying the rule, "
			 "or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
			 "strings are declared)",
			 what, text);
}

static void remember_dear(struct rule_check *c, const char *path, uint64_t cost)
{
	size_t at = c->n_dearest;
	while (at > 0 && c->dearest[at - 1].cost < cost)
		at--;
	if (cost < DEAR_COST || at == DEAREST_MAX)
		return;
	if (c->n_dearest < DEAREST_MAX)
		c->n_dearest++;
	for (size_t i = c->n_dearest - 1; i > at; i--)
		c->dearest[i] = c->dearest[i - 1];
	c->dearest[at] = (struct dear){arena_strdup(c->a, path), cost};
}

/* Of an expression that holds: a rule runs for each value that an object may have there. */
static void count_cost(struct rule_check *c, const struct schema *s, size_t i, const char *key,
		       uint64_t cost)
{
	size_t at = c->path.len;
	bool is_rule = strcmp(key, "rule") == 0;
	if (is_rule)
		cost = cel_cost_times(cost, c->bounded ? c->times : cel_cardinality(s));
	strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].%s", i, key);
	if (cost > CEL_COST_RULE_MAX)
		add_cost(c, c->path.buf,
			 is_rule ? "estimated rule cost" : "estimated messageExpression cost", cost,
			 CEL_COST_RULE_MAX);
	c->total = cel_cost_plus(c->total, cost);
	remember_dear(c, c->path.buf, cost);
	strbuf_truncate(&c->path, at);
}

/* Behind all others. */
static void add_total(struct rule_check *c, const char *path)
{
	if (c->total <= CEL_COST_SCHEMA_MAX)
		return;
	for (size_t i = 0; i < c->n_dearest; i++)
		field_errors_add(c->errors, FIELD_FORBIDDEN, c->dearest[i].path,
				 "Forbidden: contributed to estimated rule cost total exceeding "
				 "cost limit for entire OpenAPIv3 schema");
	add_cost(c, path,
		 "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
		 c->total, CEL_COST_SCHEMA_MAX);
}

struct checked {
	bool holds; /* it is an expression of its type */
	bool uses_old;
};

static struct checked check_expression(struct rule_check *c, const struct schema *s,
				       const struct obj *rule, size_t i, const char *key,
				       bool is_root)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES_MAX);
	const char *text = obj_as_string(obj_get(rule, key));
	struct cel_program *p = cel_parse(text, a, &b);
	cel_rule_with_optional(p, rule);
	const char *fault = cel_rule_fault(p, s, strcmp(key, "rule") == 0, is_root, &b, a);
	if (fault)
		add_broken(c, rule, i, key, fault);
	else if (p)
		count_cost(c, s, i, key, cel_cost(p, s, is_root, a));
	return (struct checked){!fault, p && p->uses_old};
}

/* Was something of the schema here wrong? Then nothing is said of its rules. */
static bool is_unsound(const struct rule_check *c)
{
	for (size_t i = 0; i < c->n_schema; i++) {
		const char *path = c->errors->items[i].path;
		if (strncmp(path, c->path.buf, c->path.len) == 0 &&
		    (!path[c->path.len] || path[c->path.len] == '.' || path[c->path.len] == '['))
			return true;
	}
	return false;
}

/* Is nothing of it known to an expression? */
/* NOLINTNEXTLINE(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
static bool is_unknown(const struct schema *s)
{
	if (s->type == SCHEMA_ARRAY)
		return !s->items || is_unknown(s->items);
	return s->additional ? is_unknown(s->additional) : !s->type && !s->embedded;
}

static void check_rules(struct rule_check *c, const struct schema *s, bool is_root)
{
	if (obj_len(s->rules) && !is_unsound(c) && !is_root && is_unknown(s)) {
		field_errors_add(
			c->errors, FIELD_INTERNAL,
			arena_fmt(c->a, "%s.x-kubernetes-validations", c->path.buf),
			"Internal error: internal error: failed to construct type "
			"information for x-kubernetes-validations rules: unable to convert "
			"structural schema to CEL declarations");
		return;
	}
	for (size_t i = 0; i < obj_len(s->rules) && !is_unsound(c); i++) {
		const struct obj *rule = obj_at(s->rules, i);
		struct str made = obj_as_str(obj_get(rule, "messageExpression"));
		if (!str_trim(obj_as_str(obj_get(rule, "rule"))).len)
			continue;
		struct checked is = check_expression(c, s, rule, i, "rule", is_root);
		const struct obj *optional = obj_get(rule, "optionalOldSelf");
		if (is.holds && made.len)
			(void)check_expression(c, s, rule, i, "messageExpression", is_root);
		if (is.holds && is.uses_old && !c->correlatable)
			add_uncorrelatable(c, obj_as_string(obj_get(rule, "rule")), i);
		if (obj_is_set(optional) && !is.uses_old)
			add_optional(c, optional, i);
	}
}

static void check_node(struct rule_check *c, const struct schema *s, bool is_root);

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
/* times: how many of it one of those above has at most; SCHEMA_UNSET: nobody says. */
static void check_below(struct rule_check *c, const struct schema *child, const char *step,
			int64_t times, bool correlatable)
{
	size_t at = c->path.len;
	uint64_t times_before = c->times;
	bool before = c->correlatable, bounded_before = c->bounded;
	const char *before_at = c->uncorrelatable_at;
	if (!child || !child->has_rules_below)
		return;
	if (before && !correlatable)
		c->uncorrelatable_at = arena_strdup(c->a, c->path.buf);
	c->correlatable &= correlatable;
	c->bounded &= times != SCHEMA_UNSET;
	c->times = cel_cost_times(c->times, times > 0 ? (uint64_t)times : 0);
	strbuf_adds(&c->path, step);
	check_node(c, child, false);
	strbuf_truncate(&c->path, at);
	c->times = times_before;
	c->bounded = bounded_before;
	c->correlatable = before;
	c->uncorrelatable_at = before_at;
}

static void check_node(struct rule_check *c, const struct schema *s, bool is_root)
{
	check_below(c, s->additional, ".additionalProperties", s->max_properties, true);
	for (size_t i = 0; i < s->n_properties; i++)
		check_below(c, s->properties[i].schema,
			    arena_fmt(c->a, ".properties[%s]", s->properties[i].name), 1, true);
	check_below(c, s->items, ".items", s->max_items, s->list_type == LIST_MAP);
	check_rules(c, s, is_root);
}
/* NOLINTEND(misc-no-recursion) */

void schema_check_rules(const struct obj *openapi, const char *path, struct field_errors *ret)
{
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	if (schema_compile(openapi, &s, &err) < 0 || !s->has_rules_below)
		return; /* schema_check() tells */
	struct rule_check c = {.errors = ret,
			       .a = arena_new(EVAL_BYTES_MAX),
			       .correlatable = true,
			       .bounded = true,
			       .times = 1,
			       .n_schema = ret->n};
	cel_measure(s);
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	check_node(&c, s, true);
	add_total(&c, path);
	strbuf_release(&c.path);
	arena_free(c.a);
}
