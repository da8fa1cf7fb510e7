/* policy: see policy.h. */
#include "alm/apiserver/admission/policy_internal.h"

#include <string.h>

#define CONDITION_STEPS_MAX 2500000

/* --- compiling --- */

static const char *text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}

static void compile_variables(struct policy *p, const struct obj *list, struct arena *a)
{
	p->variables = ARENA_ARRAY(a, struct policy_expr, POLICY_VARIABLES_MAX);
	for (size_t i = 0; i < obj_len(list) && i < POLICY_VARIABLES_MAX; i++) {
		const struct obj *o = obj_at(list, i);
		struct policy_expr *x = &p->variables[p->n_variables++];
		policy_expr_compile(text(o, "expression"), USE_VARIABLE, &p->scope, x);
		policy_scope_add(&p->scope, arena_strdup(a, text(o, "name")), x->type);
	}
}

static int code_of(const char *reason)
{
	return strcmp(reason, "Forbidden") == 0               ? E_FORBIDDEN
	       : strcmp(reason, "RequestEntityTooLarge") == 0 ? E_TOOLARGE
							      : E_INVALID;
}

static void compile_validations(struct policy *p, const struct obj *list, struct arena *a)
{
	p->n_validations = obj_len(list);
	p->validations = ARENA_ARRAY(a, struct policy_validation, p->n_validations + 1);
	for (size_t i = 0; i < p->n_validations; i++) {
		const struct obj *o = obj_at(list, i);
		struct policy_validation *v = &p->validations[i];
		struct str message = str_trim(str_of(text(o, "message")));
		policy_expr_compile(text(o, "expression"), USE_VALIDATION, &p->scope, &v->test);
		if (*text(o, "messageExpression"))
			policy_expr_compile(text(o, "messageExpression"), USE_MESSAGE, &p->scope,
					    &v->message_expr);
		v->message = arena_strndup(a, message.ptr, message.len);
		v->code = code_of(text(o, "reason"));
	}
}

static void compile_mutations(struct policy *p, const struct obj *list, struct arena *a)
{
	p->n_mutations = obj_len(list);
	p->mutations = ARENA_ARRAY(a, struct policy_mutation, p->n_mutations + 1);
	for (size_t i = 0; i < p->n_mutations; i++) {
		const struct obj *o = obj_at(list, i);
		struct policy_mutation *m = &p->mutations[i];
		m->is_patch = cstr_eq(obj_str(o, "patchType"), "JSONPatch");
		const char *text = obj_str(o, m->is_patch ? "jsonPatch.expression"
							  : "applyConfiguration.expression");
		policy_expr_compile(text ? text : "", m->is_patch ? USE_PATCH : USE_APPLY,
				    &p->scope, &m->value);
	}
}

struct policy *policy_compile(const struct obj *o, struct arena *a)
{
	struct policy *p = ARENA_NEW(a, struct policy);
	const struct obj *conditions = obj_path(o, "spec.matchConditions");
	const struct obj *annotations = obj_path(o, "spec.auditAnnotations");
	p->ignores = cstr_eq(obj_str(o, "spec.failurePolicy"), "Ignore");
	policy_scope_init(&p->scope, o, a);
	compile_variables(p, obj_path(o, "spec.variables"), a);
	compile_validations(p, obj_path(o, "spec.validations"), a);
	compile_mutations(p, obj_path(o, "spec.mutations"), a);
	p->n_conditions = obj_len(conditions);
	p->conditions = ARENA_ARRAY(a, struct policy_expr, p->n_conditions + 1);
	for (size_t i = 0; i < p->n_conditions; i++)
		policy_expr_compile(text(obj_at(conditions, i), "expression"), USE_CONDITION,
				    &p->scope, &p->conditions[i]);
	p->n_annotations = obj_len(annotations);
	p->annotations = ARENA_ARRAY(a, struct policy_annotation, p->n_annotations + 1);
	for (size_t i = 0; i < p->n_annotations; i++) {
		const struct obj *x = obj_at(annotations, i);
		p->annotations[i].key = arena_strdup(a, text(x, "key"));
		policy_expr_compile(text(x, "valueExpression"), USE_ANNOTATION, &p->scope,
				    &p->annotations[i].value);
	}
	return p;
}

/* --- evaluating --- */

void policy_run_init(struct policy_run *r, const struct policy *p, const struct policy_input *in,
		     uint64_t steps, struct arena *a)
{
	const struct cel_value values[NAME_NONE] = {
		[NAME_OBJECT] = cel_of(in->object, NULL, NULL),
		[NAME_OLD] = cel_of(in->old, NULL, NULL),
		[NAME_REQUEST] = cel_of(in->request, p->scope.items[NAME_REQUEST].type.s, NULL),
		[NAME_SPACE] = cel_of(in->space, p->scope.items[NAME_SPACE].type.s, NULL),
		[NAME_AUTHORIZER] = cel_authorizer(in->who, CEL_AUTHORIZER),
		[NAME_ABOUT] = cel_authorizer(in->about, CEL_RESOURCE_CHECK),
		[NAME_PARAMS] = cel_of(in->params, NULL, NULL),
	};
	r->p = p;
	r->a = a;
	r->left = steps;
	r->scope = p->scope;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		r->scope.items[i].value = values[i];
}

struct cel_value policy_evaluate(struct policy_run *r, const struct policy_expr *x,
				 enum policy_use use)
{
	const struct cel_vars vars = policy_scope_of(&r->scope, use);
	uint64_t steps = r->left < CALL_STEPS_MAX ? r->left : CALL_STEPS_MAX;
	struct cel_budget budget = {.left = steps};
	if (!x->program)
		return cel_error(r->a, "%s", x->broken);
	if (steps == 0)
		return cel_error(r->a, "validation failed due to running out of cost budget, no "
				       "further validation rules will be run");
	struct cel_value v = cel_eval_with(x->program, &vars, r->a, &budget);
	r->left -= steps - budget.left;
	return v;
}

const char *policy_told(struct policy_run *r, const struct policy_expr *x,
			const struct cel_value *v)
{
	if (v->kind == CEL_ERROR)
		return arena_fmt(r->a, "expression '%s' resulted in error: %.*s", x->text,
				 STR_ARG(v->str));
	return arena_fmt(r->a, "expression '%s' resulted in error: no such overload", x->text);
}

/* A condition that does not hold decides, whatever failed beside it. */
bool policy_applies(const struct policy *p, const struct policy_input *in, struct arena *a,
		    const char **ret_failed)
{
	struct policy_run *r = ARENA_NEW(a, struct policy_run);
	const char *failed = NULL;
	*ret_failed = NULL;
	policy_run_init(r, p, in, CONDITION_STEPS_MAX, a);
	for (size_t i = 0; i < p->n_conditions; i++) {
		struct cel_value v = policy_evaluate(r, &p->conditions[i], USE_CONDITION);
		if (v.kind == CEL_BOOL && !v.b)
			return false;
		if (v.kind != CEL_BOOL && !failed)
			failed = policy_told(r, &p->conditions[i], &v);
	}
	if (failed && !p->ignores)
		*ret_failed = failed;
	return !failed;
}

void policy_evaluate_variables(struct policy_run *r)
{
	size_t n = r->scope.n;
	for (size_t i = 0; i < r->p->n_variables; i++) {
		struct cel_var *var = &r->scope.items[NAME_VARIABLE + i];
		r->scope.n = NAME_VARIABLE + i; /* it sees those before it */
		var->value = policy_evaluate(r, &r->p->variables[i], USE_VARIABLE);
		if (var->value.kind == CEL_ERROR)
			var->value = cel_error(r->a,
					       "composited variable \"%s\" fails to evaluate: %.*s",
					       var->name, STR_ARG(var->value.str));
	}
	r->scope.n = n;
}

/* Of messageExpression, if that gives one usable line; else message, else the expression. */
static const char *message_of(struct policy_run *r, const struct policy_validation *v)
{
	if (v->message_expr.program) {
		struct cel_value said = policy_evaluate(r, &v->message_expr, USE_MESSAGE);
		struct str s = said.kind == CEL_STRING ? str_trim(said.str) : STR_NONE;
		if (s.len > 0 && s.len <= POLICY_MESSAGE_MAX && str_find_char(s, '\n') < 0)
			return arena_strndup(r->a, s.ptr, s.len);
	}
	struct str test = str_trim(str_of(v->test.text));
	return *v->message ? v->message : arena_fmt(r->a, "failed expression: %.*s", STR_ARG(test));
}

static void add_failure(struct policy_verdict *ret, size_t i, int code, const char *message)
{
	ret->failures[ret->n++] =
		(struct policy_failure){.index = i, .code = code, .message = message};
}

static void annotate(struct policy_run *r, struct policy_verdict *ret)
{
	const struct policy *p = r->p;
	for (size_t i = 0; i < p->n_annotations; i++) {
		const struct policy_expr *x = &p->annotations[i].value;
		struct cel_value v = policy_evaluate(r, x, USE_ANNOTATION);
		if (v.kind != CEL_STRING && v.kind != CEL_NULL) {
			if (!p->ignores)
				add_failure(ret, p->n_validations + i, E_INVALID,
					    policy_told(r, x, &v));
			continue;
		}
		struct str s = v.kind == CEL_STRING ? str_trim(v.str) : STR_NONE;
		if (s.len > 0)
			obj_set(ret->annotations, p->annotations[i].key,
				obj_stringn(str_sub(s, 0, POLICY_ANNOTATION_MAX)));
	}
}

void policy_judge(const struct policy *p, const struct policy_input *in, struct arena *a,
		  struct policy_verdict *ret)
{
	struct policy_run *r = ARENA_NEW(a, struct policy_run);
	*ret = (struct policy_verdict){.failures =
					       ARENA_ARRAY(a, struct policy_failure,
							   p->n_validations + p->n_annotations + 1),
				       .annotations = obj_keep(a, obj_map())};
	policy_run_init(r, p, in, POLICY_STEPS_MAX, a);
	policy_evaluate_variables(r);
	for (size_t i = 0; i < p->n_validations; i++) {
		const struct policy_validation *v = &p->validations[i];
		struct cel_value holds = policy_evaluate(r, &v->test, USE_VALIDATION);
		if (holds.kind == CEL_BOOL && !holds.b)
			add_failure(ret, i, v->code, message_of(r, v));
		else if (holds.kind != CEL_BOOL && !p->ignores)
			add_failure(ret, i, E_INVALID, policy_told(r, &v->test, &holds));
	}
	annotate(r, ret);
}
