/* x-kubernetes-validations when a definition is written: which rules do not compile, or could never
 * be evaluated, and how that reads. */
#include <string.h>

#include "alm/obj/cel/cel.h"
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
};

/* The rule as Go prints the struct that upstream puts into its message. */
static void add_go_rule(const struct obj *rule, struct strbuf *b)
{
	static const struct {
		const char *key, *name;
	} rows[] = {{"rule", "Rule"},
		    {"message", "Message"},
		    {"messageExpression", "MessageExpression"}};
	strbuf_adds(b, "apiextensions.ValidationRule{");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = obj_as_string(obj_get(rule, rows[i].key));
		strbuf_addf(b, "%s:", rows[i].name);
		go_quote(str_of(text ? text : ""), b);
		strbuf_adds(b, ", ");
	}
	const char *field = obj_as_string(obj_get(rule, "fieldPath"));
	strbuf_addf(b, "Reason:(*apiextensions.FieldValueErrorReason)(%s), FieldPath:",
		    obj_has(rule, "reason") ? "0xc000000000" : "nil");
	go_quote(str_of(field ? field : ""), b);
	strbuf_addf(b, ", OptionalOldSelf:(*bool)(%s)}",
		    obj_has(rule, "optionalOldSelf") ? "0xc000000000" : "nil");
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

static void check_expression(struct rule_check *c, const struct schema *s, const struct obj *rule,
			     size_t i, const char *key, bool is_root)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES_MAX);
	const char *text = obj_as_string(obj_get(rule, key));
	bool is_rule = strcmp(key, "rule") == 0;
	enum cel_kind kind = CEL_DYN, want = is_rule ? CEL_BOOL : CEL_STRING;
	struct cel_program *p = cel_parse(text, a, &b);
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
	else if (p && p->uses_old && !c->correlatable && is_rule)
		add_uncorrelatable(c, text, i);
}

static void check_reason(struct rule_check *c, const struct obj *rule, size_t i)
{
	static const char *const reasons[] = {"FieldValueInvalid", "FieldValueForbidden",
					      "FieldValueRequired", "FieldValueDuplicate"};
	const char *reason = obj_as_string(obj_get(rule, "reason"));
	bool known = !reason;
	for (size_t k = 0; k < ARRAY_LEN(reasons) && !known; k++)
		known = strcmp(reasons[k], reason) == 0;
	if (known)
		return;
	size_t at = c->path.len;
	strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].reason", i);
	field_errors_add(c->errors, FIELD_NOT_SUPPORTED, c->path.buf,
			 "Unsupported value: \"%s\": supported values: \"FieldValueDuplicate\", "
			 "\"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\"",
			 reason);
	strbuf_truncate(&c->path, at);
}

static void check_rules(struct rule_check *c, const struct schema *s, bool is_root)
{
	for (size_t i = 0; i < obj_len(s->rules); i++) {
		const struct obj *rule = obj_at(s->rules, i);
		const char *text = obj_as_string(obj_get(rule, "rule"));
		if (!text || str_trim(str_of(text)).len == 0) {
			size_t at = c->path.len;
			strbuf_addf(&c->path, ".x-kubernetes-validations[%zu].rule", i);
			field_errors_add(c->errors, FIELD_REQUIRED, c->path.buf,
					 "Required value: rule is not specified");
			strbuf_truncate(&c->path, at);
			continue;
		}
		check_expression(c, s, rule, i, "rule", is_root);
		if (obj_as_string(obj_get(rule, "messageExpression")))
			check_expression(c, s, rule, i, "messageExpression", is_root);
		check_reason(c, rule, i);
		if (obj_is_true(obj_get(rule, "optionalOldSelf")))
			add_broken(c, rule, i, "optionalOldSelf",
				   "optionalOldSelf is not supported by this server");
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
	check_rules(c, s, is_root);
	for (size_t i = 0; i < s->n_properties; i++)
		check_below(c, s->properties[i].schema,
			    arena_fmt(c->a, ".properties[%s]", s->properties[i].name), true);
	check_below(c, s->additional, ".additionalProperties", true);
	check_below(c, s->items, ".items", s->list_type == LIST_MAP);
}
/* NOLINTEND(misc-no-recursion) */

void schema_check_rules(const struct obj *openapi, const char *path, struct field_errors *ret)
{
	CLEANUP(schema_freep) struct schema *s = NULL;
	struct error err = ERROR_INIT;
	if (schema_compile(openapi, &s, &err) < 0 || !s->has_rules_below)
		return; /* schema_check() tells */
	struct rule_check c = {.errors = ret, .a = arena_new(EVAL_BYTES_MAX), .correlatable = true};
	strbuf_init(&c.path, PATH_BYTES_MAX);
	strbuf_adds(&c.path, path);
	check_node(&c, s, true);
	strbuf_release(&c.path);
	arena_free(c.a);
}
