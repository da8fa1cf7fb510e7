/*
 * cel_rules.c: x-kubernetes-validations over a whole object: which rule meets which value, which
 * old value it may compare with, and how a failure reads (golden G20, G133, G134, G136).
 */
#include "alm/obj/cel/cel_rules.h"

#include <string.h>

#include "alm/obj/cel/cel.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/apply_walk.h"
#include "alm/obj/schema/schema_node.h"

/* Steps; those of Kubernetes are cost units of about the same size. */
#define RULE_STEPS_MAX   1000000
#define OBJECT_STEPS_MAX 10000000
#define EVAL_BYTES_MAX   ((size_t)32 << 20)
#define PATH_BYTES_MAX   ((size_t)64 << 10)
#define MESSAGE_MAX      5120

struct cel_rule {
	const char *text, *message, *reason, *field_path;
	struct cel_program *program, *message_program; /* NULL: did not compile */
	const char *broken;                            /* why */
};

struct cel_rules {
	struct cel_rule *items;
	size_t n;
};

static const char *member(const struct obj *rule, const char *key, struct arena *a)
{
	const char *s = obj_as_string(obj_get(rule, key));
	return arena_strdup(a, s ? s : "");
}

void cel_rule_with_optional(struct cel_program *p, const struct obj *rule)
{
	if (p)
		p->old_is_optional = obj_is_true(obj_get(rule, "optionalOldSelf"));
}

struct cel_rules *cel_rules_compile(const struct schema *s, struct arena *a)
{
	struct cel_rules *rules = ARENA_NEW(a, struct cel_rules);
	rules->n = obj_len(s->rules);
	rules->items = ARENA_ARRAY(a, struct cel_rule, rules->n);
	for (size_t i = 0; i < rules->n; i++) {
		const struct obj *o = obj_at(s->rules, i);
		struct cel_rule *rule = &rules->items[i];
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		*rule = (struct cel_rule){.text = member(o, "rule", a),
					  .message = member(o, "message", a),
					  .reason = member(o, "reason", a),
					  .field_path = member(o, "fieldPath", a)};
		const char *expression = member(o, "messageExpression", a);
		rule->program = cel_parse(rule->text, a, &b);
		if (*expression)
			rule->message_program = cel_parse(expression, a, &b);
		cel_rule_with_optional(rule->program, o);
		cel_rule_with_optional(rule->message_program, o);
		if (b.len > 0)
			rule->broken = arena_strdup(a, b.buf);
	}
	return rules;
}

struct run {
	struct field_errors *errors;
	struct field_errors *through; /* what is let through; NULL: nobody asks */
	struct strbuf path;
	uint64_t left; /* of the object */
	bool stopped;
	bool is_kept;    /* what has no old value is within a list that is as it was */
	bool is_default; /* of a schema: nothing is let through for being as it was */
};

static const char *type_word(const struct schema *s)
{
	switch (s->type) {
	case SCHEMA_OBJECT:
		return "object";
	case SCHEMA_ARRAY:
		return "array";
	case SCHEMA_STRING:
		return "string";
	case SCHEMA_INTEGER:
		return "integer";
	case SCHEMA_NUMBER:
		return "number";
	case SCHEMA_BOOLEAN:
		return "boolean";
	default:
		return "";
	}
}

/* The value of messageExpression, if it is one usable line; else NULL. */
static const char *message_value(const struct cel_rule *rule, const struct schema *s,
				 const struct obj *o, const struct obj *old, struct arena *a,
				 struct cel_budget *budget)
{
	if (!rule->message_program)
		return NULL;
	struct cel_value v = cel_eval(rule->message_program, s, o, old, a, budget);
	struct str text = v.kind == CEL_STRING ? str_trim(v.str) : STR_NONE;
	if (text.len == 0 || text.len > MESSAGE_MAX || str_find_char(text, '\n') >= 0)
		return NULL;
	return arena_strndup(a, text.ptr, text.len);
}

/* Of a rule that could not be asked. */
static void report(struct run *r, const struct schema *s, const char *message)
{
	field_errors_add(r->errors, FIELD_INVALID, r->path.len ? r->path.buf : "<nil>",
			 "Invalid value: \"%s\": %s", type_word(s), message);
}

/* ": 7"; of an object or a list nothing. */
static const char *shown_value(const struct schema *s, const struct obj *o, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	if (s->type == SCHEMA_OBJECT || s->type == SCHEMA_ARRAY)
		return "";
	strbuf_adds(&b, ": ");
	if (obj_type(o) == OBJ_MAP || obj_type(o) == OBJ_LIST)
		json_print_canonical(o, &b);
	else
		go_bad_value(o, &b);
	return arena_strndup(a, b.buf, b.len);
}

static void report_false(struct run *r, const struct cel_rule *rule, struct field_errors *e,
			 const char *value, const char *message)
{
	size_t at = r->path.len;
	const char *reason = rule->reason;
	if (*rule->field_path == '.' && at == 0)
		strbuf_adds(&r->path, rule->field_path + 1);
	else
		strbuf_adds(&r->path, rule->field_path);
	const char *path = r->path.len ? r->path.buf : "<nil>";
	if (strcmp(reason, "FieldValueForbidden") == 0)
		field_errors_add(e, FIELD_FORBIDDEN, path, "Forbidden: %s", message);
	else if (strcmp(reason, "FieldValueRequired") == 0)
		field_errors_add(e, FIELD_REQUIRED, path, "Required value: %s", message);
	else if (strcmp(reason, "FieldValueDuplicate") == 0)
		field_errors_add(e, FIELD_DUPLICATE, path, "Duplicate value%s", value);
	else
		field_errors_add(e, FIELD_INVALID, path, "Invalid value%s: %s", value, message);
	strbuf_truncate(&r->path, at);
}

/* KEP-4008: what stays as it was is let through, and told. Who is told what failed, or NULL. */
static struct field_errors *who_hears(const struct run *r, const struct cel_rule *rule,
				      const struct obj *o, const struct obj *old)
{
	bool same = old ? obj_equal(o, old) : r->is_kept;
	return !r->is_default && !rule->program->uses_old && same ? r->through : r->errors;
}

static void run_rule(struct run *r, const struct cel_rule *rule, const struct schema *s,
		     const struct obj *o, const struct obj *old, struct arena *a)
{
	uint64_t steps = r->left < RULE_STEPS_MAX ? r->left : RULE_STEPS_MAX;
	struct cel_budget budget = {.left = steps};
	const char *said = *rule->message ? rule->message : rule->text;
	if (rule->broken) {
		report(r, s, arena_fmt(a, "rule compile error: %s", rule->broken));
		return;
	}
	if (rule->program->uses_old && !old && !rule->program->old_is_optional)
		return;
	struct cel_value v = cel_eval(rule->program, s, o, old, a, &budget);
	if (v.kind == CEL_BOOL && !v.b) {
		struct field_errors *e = who_hears(r, rule, o, old);
		const char *text = e ? message_value(rule, s, o, old, a, &budget) : NULL;
		if (!text)
			text = *rule->message ? rule->message
					      : arena_fmt(a, "failed rule: %s", rule->text);
		if (e)
			report_false(r, rule, e, shown_value(s, o, a), text);
	} else if (budget.over) {
		report(r, s,
		       arena_fmt(a, "%s: no further validation rules will be run",
				 steps < RULE_STEPS_MAX
					 ? "validation failed due to running out of cost budget"
					 : "call cost exceeds limit for rule"));
		r->stopped = true;
	} else if (v.kind == CEL_ERROR && str_has_prefix(v.str, STR("no such overload"))) {
		report(r, s,
		       arena_fmt(a,
				 "'%.*s': call arguments did not match a supported operator, "
				 "function or macro signature for rule: %s",
				 STR_ARG(v.str), said));
	} else if (v.kind == CEL_ERROR) {
		report(r, s, arena_fmt(a, "%.*s evaluating rule: %s", STR_ARG(v.str), said));
	} else if (v.kind != CEL_BOOL) {
		report(r, s, arena_fmt(a, "rule evaluated to no bool: %s", said));
	}
	r->left -= steps - budget.left;
}

const char *cel_rule_fault(struct cel_program *p, const struct schema *s, bool is_rule,
			   bool is_root, struct strbuf *b, struct arena *a)
{
	enum cel_kind kind = CEL_DYN, want = is_rule ? CEL_BOOL : CEL_STRING;
	if (p)
		cel_check(p, s, is_root, a, b, &kind);
	if (!p || b->len > 0)
		return arena_fmt(a,
				 is_rule ? "compilation failed: %s"
					 : "messageExpression compilation failed: %s",
				 b->buf);
	if (kind != want && kind != CEL_DYN)
		return is_rule ? "cel expression must evaluate to a bool"
			       : "messageExpression must evaluate to a string";
	const char *fault = cel_constant_fault(p, a);
	return fault ? arena_fmt(a,
				 is_rule ? "program instantiation failed: %s"
					 : "messageExpression instantiation failed: %s",
				 fault)
		     : NULL;
}

/* The rules of a default run before anybody has looked at them. */
static const char *fault_of_default(const struct run *r, const struct cel_rule *rule,
				    const struct schema *s, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX);
	struct cel_program *p = cel_parse(rule->text, a, &b);
	if (p)
		p->old_is_optional = rule->program && rule->program->old_is_optional;
	return cel_rule_fault(p, s, true, r->path.len == 0 && s->embedded, &b, a);
}

static void run_rules(struct run *r, const struct schema *s, const struct obj *o,
		      const struct obj *old)
{
	for (size_t i = 0; s->cel && i < s->cel->n && !r->stopped; i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES_MAX);
		const struct cel_rule *rule = &s->cel->items[i];
		if (r->is_default && !str_trim(str_of(rule->text)).len)
			continue; /* which is told elsewhere */
		const char *fault = r->is_default ? fault_of_default(r, rule, s, a) : NULL;
		if (fault)
			report(r, s, arena_fmt(a, "rule compile error: %s", fault));
		else
			run_rule(r, rule, s, o, old, a);
	}
}

static void walk(struct run *r, const struct schema *s, const struct obj *o, const struct obj *old);

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
static void walk_map(struct run *r, const struct schema *s, const struct obj *o,
		     const struct obj *old)
{
	OBJ_EACH (it, o) {
		const struct schema *property = schema_property(s, it.key);
		size_t at = r->path.len;
		if (property)
			strbuf_addf(&r->path, "%s%s", at ? "." : "", it.key);
		else
			strbuf_addf(&r->path, "[%s]", it.key);
		walk(r, property ? property : s->additional, it.value, obj_get(old, it.key));
		strbuf_truncate(&r->path, at);
	}
}

/* Old items by their key; items of sets and atomic lists have no old value. */
static struct map *old_items(const struct schema *s, const struct obj *old, struct arena *a)
{
	struct apply_type list = {.s = s};
	struct map *m = map_new(NULL);
	if (s->list_type != LIST_MAP || obj_type(old) != OBJ_LIST)
		return m;
	for (size_t i = 0; i < obj_len(old); i++) {
		const char *step = apply_item_step(list, obj_at(old, i), a);
		if (step)
			map_set(m, step, obj_ref(obj_at(old, i)));
	}
	return m;
}

static void walk_list(struct run *r, const struct schema *s, const struct obj *o,
		      const struct obj *old)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES_MAX);
	struct apply_type list = {.s = s};
	struct map *before = old_items(s, old, a);
	bool kept = r->is_kept;
	if (old)
		r->is_kept = s->items->has_rules_below && obj_equal(o, old);
	for (size_t i = 0; i < obj_len(o); i++) {
		const struct obj *item = obj_at(o, i);
		const char *step = map_count(before) ? apply_item_step(list, item, a) : NULL;
		size_t at = r->path.len;
		strbuf_addf(&r->path, "[%zu]", i);
		walk(r, s->items, item, step ? map_get(before, step) : NULL);
		strbuf_truncate(&r->path, at);
	}
	r->is_kept = kept;
	for (struct map_entry *e = map_first(before); e; e = map_next(e))
		obj_unref(e->value);
	map_free(before);
}

static void walk(struct run *r, const struct schema *s, const struct obj *o, const struct obj *old)
{
	if (!s || !s->has_rules_below || r->stopped || obj_type(o) == OBJ_NULL)
		return;
	if (obj_type(old) == OBJ_NULL)
		old = NULL;
	run_rules(r, s, o, old);
	if (obj_type(o) == OBJ_MAP)
		walk_map(r, s, o, old);
	else if (obj_type(o) == OBJ_LIST && s->items)
		walk_list(r, s, o, old);
}
/* NOLINTEND(misc-no-recursion) */

/* As upstream: with these errors a rule could meet values of a shape it does not expect. */
static bool has_blocking(const struct field_errors *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].type == FIELD_NOT_SUPPORTED || e->items[i].type == FIELD_REQUIRED ||
		    e->items[i].type == FIELD_TOO_LONG || e->items[i].type == FIELD_TOO_MANY ||
		    e->items[i].type == FIELD_TYPE_INVALID)
			return true;
	return false;
}

void schema_validate_rules(const struct schema *s, const struct obj *o, const struct obj *old,
			   struct field_errors *ret)
{
	schema_validate_update_rules(s, o, old, ret, NULL);
}

void schema_validate_update_rules(const struct schema *s, const struct obj *o,
				  const struct obj *old, struct field_errors *ret,
				  struct field_errors *ret_through)
{
	struct run r = {.errors = ret, .through = ret_through, .left = OBJECT_STEPS_MAX};
	if (!s || !s->has_rules_below)
		return;
	if (has_blocking(ret)) {
		field_errors_add(ret, FIELD_INVALID, "<nil>",
				 "Invalid value: null: some validation rules were not checked "
				 "because the object was invalid; correct the existing errors to "
				 "complete validation");
		return;
	}
	strbuf_init(&r.path, PATH_BYTES_MAX);
	walk(&r, s, o, old);
	strbuf_release(&r.path);
}

void schema_validate_default_rules(const struct schema *s, const struct obj *o,
				   struct field_errors *ret)
{
	const struct obj *const olds[] = {o, NULL};
	const size_t from = ret->n;
	for (size_t i = 0; i < ARRAY_LEN(olds) && ret->n == from; i++) {
		struct run r = {.errors = ret, .left = OBJECT_STEPS_MAX, .is_default = true};
		strbuf_init(&r.path, PATH_BYTES_MAX);
		walk(&r, s, o, olds[i]);
		strbuf_release(&r.path);
	}
}
