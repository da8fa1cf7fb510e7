/* x-kubernetes-validations when a definition is written: which rules do not compile, or could never
 * be evaluated, and how that reads. */
#include <string.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/cel/cel_rules.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/schema.h"
#include "alm/obj/schema/schema_node.h"

#define EVAL_BYTES_MAX ((size_t)32 << 20)
#define PATH_BYTES_MAX ((size_t)64 << 10)

struct rule_check {
	struct field_errors *errors;
	struct strbuf path;
	struct arena *a;
	bool correlatable; /* is there an old value here? */
	const char *uncorrelatable_at;
	size_t n_schema; /* errors, of what is no rule */
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
	bool is_rule = strcmp(key, "rule") == 0;
	enum cel_kind kind = CEL_DYN, want = is_rule ? CEL_BOOL : CEL_STRING;
	struct cel_program *p = cel_parse(text, a, &b);
	cel_rule_with_optional(p, rule);
	if (p)
		cel_check(p, s, is_root, a, &b, &kind);
	if (b.len > 0)
		add_broken(c, rule, i, key,
			   arena_fmt(a,
				     is_rule ? "compilation failed: %s"
					     : "messageExpression compilation failed: %s",
				     b.buf));
	else if (kind != want && kind != CEL_DYN)
		add_broken(c, rule, i, key,
			   is_rule ? "cel expression must evaluate to a bool"
				   : "messageExpression must evaluate to a string");
	else
		return (struct checked){true, p && p->uses_old};
	return (struct checked){false, p && p->uses_old};
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

static void check_rules(struct rule_check *c, const struct schema *s, bool is_root)
{
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
static void check_below(struct rule_check *c, const struct schema *child, const char *step,
			bool correlatable)
{
	size_t at = c->path.len;
	bool before = c->correlatable;
	const char *before_at = c->uncorrelatable_at;
	if (!child || !child->has_rules_below)
		return;
	if (before && !correlatable)
		c->uncorrelatable_at = arena_strdup(c->a, c->path.buf);
	c->correlatable &= correlatable;
	strbuf_adds(&c->path, step);
	check_node(c, child, false);
	strbuf_truncate(&c->path, at);
	c->correlatable = before;
	c->uncorrelatable_at = before_at;
}

static void check_node(struct rule_check *c, const struct schema *s, bool is_root)
{
	check_below(c, s->additional, ".additionalProperties", true);
	for (size_t i = 0; i < s->n_properties; i++)
		check_below(c, s->properties[i].schema,
			    arena_fmt(c->a, ".properties[%s]", s->properties[i].name), true);
	check_below(c, s->items, ".items", s->list_type == LIST_MAP);
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
			       .n_schema = ret->n};
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	check_node(&c, s, true);
	strbuf_release(&c.path);
	arena_free(c.a);
}
