/* policy_check: see policy_check.h. */
#include "alm/apiserver/admission/policy_check.h"

#include <string.h>

#include "alm/apiserver/admission/policy_expr.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define CHECK_BYTES_MAX ((size_t)32 << 20)
#define SHOWN_MAX       ((size_t)4 << 10)

static bool is_blank(const char *s)
{
	return str_trim(str_of(s)).len == 0;
}

static const char *at(struct field_errors *e, const char *list, size_t i, const char *field)
{
	return arena_fmt(e->arena, "spec.%s[%zu].%s", list, i, field);
}

static void invalid(struct field_errors *e, const char *path, const char *value, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CEL_TEXT_MAX * 4);
	json_quote(str_of(value), &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", b.buf, why);
}

static void duplicate(struct field_errors *e, const char *path, const char *value)
{
	field_errors_add_text(e, FIELD_DUPLICATE, path, value);
}

/* Is the i-th member of that key one that came before? The lists are bounded where they are read. */
static bool came_before(const struct obj *list, size_t i, const char *key)
{
	const char *s = check_text(obj_at(list, i), key);
	for (size_t k = 0; k < i; k++)
		if (*s && strcmp(s, check_text(obj_at(list, k), key)) == 0)
			return true;
	return false;
}

static void too_many(struct field_errors *e, const char *path, size_t n, int max)
{
	field_errors_add(e, FIELD_TOO_MANY, path, "Too many: %zu: must have at most %d items", n,
			 max);
}

static struct policy_expr compiled(struct field_errors *e, const char *path, const char *expression,
				   enum policy_use use, const struct policy_scope *s)
{
	struct policy_expr x;
	policy_expr_compile(expression, use, s, &x);
	if (x.broken)
		invalid(e, path, x.text, x.broken);
	return x;
}

/* Its parts: told is the whole. */
static void check_group_version(const char *path, const char *group, const char *version,
				struct field_errors *e)
{
	const char *fault = *group ? name_fault(NAME_DNS_SUBDOMAIN, str_of(group)) : NULL;
	if (fault)
		invalid(e, path, group, fault);
	fault = name_fault(NAME_DNS1035_LABEL, str_of(version));
	if (fault)
		invalid(e, path, version, fault);
}

static void check_param_kind(const struct obj *policy, struct field_errors *e)
{
	const struct obj *o = obj_path(policy, "spec.paramKind");
	const char *api = check_text(o, "apiVersion"), *kind = check_text(o, "kind");
	const char *api_at = "spec.paramKind.apiVersion", *kind_at = "spec.paramKind.kind";
	if (!o)
		return;
	const char *group, *version;
	if (!*api)
		check_required(e, api_at, NULL);
	else if (strcmp(api, "/") == 0) /* both parts are empty there */
		invalid(e, api_at, api, "version must be specified");
	else if (!gvk_split_api_version(api, e->arena, &group, &version))
		invalid(e, api_at, api,
			arena_fmt(e->arena, "unexpected GroupVersion string: %s", api));
	else
		check_group_version(api_at, group, version, e);
	char *lower = arena_strdup(e->arena, kind);
	for (char *p = lower; *p; p++)
		*p = char_lower(*p);
	const char *fault = name_fault(NAME_DNS1035_LABEL, str_of(lower));
	if (!*kind)
		check_required(e, kind_at, NULL);
	else if (fault)
		invalid(e, kind_at, kind,
			arena_fmt(e->arena, "may have mixed case, but should otherwise match: %s",
				  fault));
}

void conditions_check(const struct obj *list, const char *list_at, const struct policy_scope *s,
		      struct field_errors *e)
{
	if (obj_len(list) > POLICY_CONDITIONS_MAX)
		too_many(e, list_at, obj_len(list), POLICY_CONDITIONS_MAX);
	for (size_t i = 0; i < obj_len(list) && i < POLICY_CONDITIONS_MAX; i++) {
		const struct obj *o = obj_at(list, i);
		const char *path = arena_fmt(e->arena, "%s[%zu].expression", list_at, i);
		const char *name_at = arena_fmt(e->arena, "%s[%zu].name", list_at, i);
		const char *name = check_text(o, "name");
		if (is_blank(check_text(o, "expression")))
			check_required(e, path, NULL);
		else
			compiled(e, path, check_text(o, "expression"), USE_CONDITION, s);
		if (!*name)
			check_required(e, name_at, NULL);
		else
			check_qualified(e, name_at, name);
		if (came_before(list, i, "name"))
			duplicate(e, name_at, name);
	}
}

static bool is_identifier(const char *name, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(STRBUF_SMALL);
	const struct cel_program *p = cel_parse(name, a, &ignored);
	return p && p->root->op == CEL_OP_IDENT && strcmp(p->root->name, name) == 0;
}

static void check_variables(const struct obj *policy, struct policy_scope *s,
			    struct field_errors *e)
{
	const struct obj *list = obj_path(policy, "spec.variables");
	if (obj_len(list) > POLICY_VARIABLES_MAX)
		too_many(e, "spec.variables", obj_len(list), POLICY_VARIABLES_MAX);
	for (size_t i = 0; i < obj_len(list) && i < POLICY_VARIABLES_MAX; i++) {
		const struct obj *o = obj_at(list, i);
		const char *path = at(e, "variables", i, "expression");
		const char *name_at = at(e, "variables", i, "name"), *name = check_text(o, "name");
		struct policy_expr x = {.type = {.kind = CEL_DYN}};
		if (is_blank(name))
			check_required(e, name_at, "name is not specified");
		else if (!is_identifier(name, s->a))
			invalid(e, name_at, name, "must be a valid CEL identifier");
		if (is_blank(check_text(o, "expression")))
			check_required(e, path, "expression is not specified");
		else
			x = compiled(e, path, check_text(o, "expression"), USE_VARIABLE, s);
		policy_scope_add(s, name, x.type);
	}
}

static void check_message(const struct obj *o, size_t i, const struct policy_scope *s,
			  struct field_errors *e)
{
	const char *made = check_text(o, "messageExpression"), *said = check_text(o, "message");
	const char *made_at = at(e, "validations", i, "messageExpression");
	const char *said_at = at(e, "validations", i, "message");
	if (*made && is_blank(made))
		invalid(e, made_at, made, "must be non-empty if specified");
	else if (*made)
		compiled(e, made_at, made, USE_MESSAGE, s);
	if (*said && is_blank(said))
		invalid(e, said_at, said, "must be non-empty if specified");
	else if (str_find_char(str_trim(str_of(said)), '\n') >= 0)
		invalid(e, said_at, said, "must not contain line breaks");
}

static void check_validations(const struct obj *policy, const struct policy_scope *s,
			      struct field_errors *e)
{
	static const char *const reasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge",
					      NULL};
	const struct obj *list = obj_path(policy, "spec.validations");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const struct obj *o = obj_at(list, i);
		const char *path = at(e, "validations", i, "expression");
		if (is_blank(check_text(o, "expression")))
			check_required(e, path, "expression is not specified");
		else
			compiled(e, path, check_text(o, "expression"), USE_VALIDATION, s);
		check_message(o, i, s, e);
		if (obj_has(o, "reason"))
			field_errors_one_of(e, at(e, "validations", i, "reason"),
					    check_text(o, "reason"), reasons);
	}
}

static void check_key(const char *policy, const char *key, const char *path, struct field_errors *e)
{
	const char *full = arena_fmt(e->arena, "%s/%s", policy, key);
	const char *fault = name_fault(NAME_QUALIFIED, str_of(full));
	if (!*policy) {
		invalid(e, path, key, "requires metadata.name be non-empty");
		return;
	}
	if (fault)
		invalid(e, path, full, fault);
	if (fault && !*key) /* an empty part is told twice */
		invalid(e, path, full, name_fault(NAME_QUALIFIED, STR("-")));
}

static void check_annotations(const struct obj *policy, const struct policy_scope *s,
			      struct field_errors *e)
{
	const struct obj *list = obj_path(policy, "spec.auditAnnotations");
	const char *name = meta_name(policy);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	if (obj_len(list) > POLICY_ANNOTATIONS_MAX)
		too_many(e, "spec.auditAnnotations", obj_len(list), POLICY_ANNOTATIONS_MAX);
	for (size_t i = 0; i < obj_len(list) && i < POLICY_ANNOTATIONS_MAX; i++) {
		const struct obj *o = obj_at(list, i);
		const char *path = at(e, "auditAnnotations", i, "valueExpression");
		const char *key_at = at(e, "auditAnnotations", i, "key");
		check_key(name ? name : "", check_text(o, "key"), key_at, e);
		if (is_blank(check_text(o, "valueExpression")))
			check_required(e, path, "valueExpression is not specified");
		else
			compiled(e, path, check_text(o, "valueExpression"), USE_ANNOTATION, s);
		if (check_again(seen, check_text(o, "key")))
			duplicate(e, key_at, check_text(o, "key"));
	}
}

/* Nothing is left of a deletion that could be changed. */
static void check_operations(const struct obj *match, const char *path, struct field_errors *e)
{
	static const char *const may[] = {"*", "CONNECT", "CREATE", "UPDATE", NULL};
	const struct obj *rules = obj_get(match, "resourceRules");
	const char *operations_at = arena_fmt(e->arena, "%s.resourceRules.operations", path);
	for (size_t i = 0; i < obj_len(rules) && !field_errors_full(e); i++) {
		const struct obj *list = obj_get(obj_at(rules, i), "operations");
		for (size_t k = 0; k < obj_len(list) && !field_errors_full(e); k++)
			field_errors_one_of(e, operations_at, obj_as_string(obj_at(list, k)), may);
	}
}

/* What both kinds of policy have in common. */
static void check_policy(const struct obj *policy, bool mutating, struct policy_scope *s,
			 struct field_errors *e)
{
	static const char *const failures[] = {"Fail", "Ignore", NULL};
	const struct obj *match = obj_path(policy, "spec.matchConstraints");
	policy_scope_init(s, policy, s->a);
	if (obj_path(policy, "spec.failurePolicy"))
		field_errors_one_of(e, "spec.failurePolicy", obj_str(policy, "spec.failurePolicy"),
				    failures);
	check_param_kind(policy, e);
	if (!match)
		check_required(e, "spec.matchConstraints", NULL);
	else
		match_check(match, "spec.matchConstraints", e);
	if (match && !obj_len(obj_get(match, "resourceRules")))
		check_required(e, "spec.matchConstraints.resourceRules", NULL);
	if (mutating)
		check_operations(match, "spec.matchConstraints", e);
	conditions_check(obj_path(policy, "spec.matchConditions"), "spec.matchConditions", s, e);
	check_variables(policy, s, e);
}

void policy_check(const struct obj *policy, struct field_errors *e)
{
	static const char none[] = "validations or auditAnnotations must contain at least one item";
	CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_BYTES_MAX);
	struct policy_scope *s = ARENA_NEW(a, struct policy_scope);
	s->a = a;
	check_policy(policy, false, s, e);
	if (!obj_len(obj_path(policy, "spec.validations")) &&
	    !obj_len(obj_path(policy, "spec.auditAnnotations"))) {
		check_required(e, "spec.validations", none);
		check_required(e, "spec.auditAnnotations", none);
	}
	check_validations(policy, s, e);
	check_annotations(policy, s, e);
}

/* --- mutations --- */

static void check_expression(const struct obj *o, const char *path, enum policy_use use,
			     const struct policy_scope *s, struct field_errors *e)
{
	const char *at_path = arena_fmt(e->arena, "%s.expression", path);
	if (is_blank(check_text(o, "expression")))
		check_required(e, at_path, NULL);
	else
		compiled(e, at_path, check_text(o, "expression"), use, s);
}

/* A mutation has the one of the two that its patchType names. */
static void check_mutation(const struct obj *o, size_t i, const struct policy_scope *s,
			   struct field_errors *e)
{
	static const char *const types[] = {"ApplyConfiguration", "JSONPatch", NULL};
	static const char *const keys[] = {"applyConfiguration", "jsonPatch"};
	const char *type = check_text(o, "patchType");
	bool is_patch = strcmp(type, types[1]) == 0;
	const char *mine = keys[is_patch], *other = keys[!is_patch];
	const char *path = at(e, "mutations", i, mine), *other_at = at(e, "mutations", i, other);
	if (!*type)
		check_required(e, at(e, "mutations", i, "patchType"), NULL);
	else
		field_errors_one_of(e, at(e, "mutations", i, "patchType"), type, types);
	if (!cstr_in(type, types))
		return;
	if (obj_has(o, mine))
		check_expression(obj_get(o, mine), path, is_patch ? USE_PATCH : USE_APPLY, s, e);
	else
		check_required(e, path,
			       arena_fmt(e->arena, "must be specified when patchType is %s", type));
	if (obj_has(o, other))
		invalid(e, other_at, arena_fmt(e->arena, "{%s}", other),
			arena_fmt(e->arena, "must not be specified when patchType is %s", type));
}

void mutating_policy_check(const struct obj *policy, struct field_errors *e)
{
	static const char *const again[] = {"IfNeeded", "Never", NULL};
	CLEANUP(arena_freep) struct arena *a = arena_new(CHECK_BYTES_MAX);
	struct policy_scope *s = ARENA_NEW(a, struct policy_scope);
	const struct obj *list = obj_path(policy, "spec.mutations");
	const char *policy_again = obj_str(policy, "spec.reinvocationPolicy");
	s->a = a;
	check_policy(policy, true, s, e);
	if (!obj_len(list))
		check_required(e, "spec.mutations", "mutations must contain at least one item");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
		check_mutation(obj_at(list, i), i, s, e);
	if (!policy_again || !*policy_again)
		check_required(e, "spec.reinvocationPolicy", NULL);
	else
		field_errors_one_of(e, "spec.reinvocationPolicy", policy_again, again);
}

/* --- bindings --- */

static void check_param_ref(const struct obj *ref, struct field_errors *e)
{
	static const char *const actions[] = {"Deny", "Allow", NULL};
	static const char both[] = "Forbidden: name and selector are mutually exclusive";
	const char *name = check_text(ref, "name"),
		   *action = obj_str(ref, "parameterNotFoundAction");
	if (!ref)
		return;
	if (*name) {
		check_segment(e, "spec.paramRef.name", name);
		if (obj_has(ref, "selector"))
			field_errors_add(e, FIELD_FORBIDDEN, "spec.paramRef.name", "%s", both);
	}
	check_label_selector(e, "spec.paramRef.selector", obj_get(ref, "selector"));
	if (*name && obj_has(ref, "selector"))
		field_errors_add(e, FIELD_FORBIDDEN, "spec.paramRef.selector", "%s", both);
	if (!*name && !obj_has(ref, "selector"))
		check_required(e, "spec.paramRef", "one of name or selector must be specified");
	if (!action || !*action)
		check_required(e, "spec.paramRef.parameterNotFoundAction", NULL);
	else
		field_errors_one_of(e, "spec.paramRef.parameterNotFoundAction", action, actions);
}

static bool has(const struct obj *list, const char *word)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), word))
			return true;
	return false;
}

static void check_actions(const struct obj *list, struct field_errors *e)
{
	static const char *const actions[] = {"Audit", "Deny", "Warn", NULL};
	static const char path[] = "spec.validationActions";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	if (!obj_len(list))
		check_required(e, path, "at least one validation action is required");
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *action = obj_as_string(obj_at(list, i));
		const char *item = arena_fmt(e->arena, "%s[%zu]", path, i);
		bool again = false;
		field_errors_one_of(e, item, action, actions);
		for (size_t k = 0; k < i && k < ARRAY_LEN(actions); k++)
			again |= obj_equal(obj_at(list, k), obj_at(list, i));
		if (again)
			duplicate(e, item, action ? action : "");
	}
	if (!has(list, "Deny") || !has(list, "Warn"))
		return;
	json_print_canonical(list, &b);
	field_errors_add(e, FIELD_INVALID, path,
			 "Invalid value: %s: must not contain both Deny and Warn (repeating the "
			 "same validation failure information in the API response and headers "
			 "serves no purpose)",
			 b.buf);
}

static void check_binding(const struct obj *binding, struct field_errors *e)
{
	const struct obj *spec = obj_get(binding, "spec");
	const char *name = check_text(spec, "policyName");
	const char *fault = name_fault(NAME_DNS_SUBDOMAIN, str_of(name));
	if (!*name)
		check_required(e, "spec.policyName", NULL);
	else if (fault)
		invalid(e, "spec.policyName", name, fault);
	check_param_ref(obj_get(spec, "paramRef"), e);
	if (obj_has(spec, "matchResources"))
		match_check(obj_get(spec, "matchResources"), "spec.matchResources", e);
}

void binding_check(const struct obj *binding, struct field_errors *e)
{
	check_binding(binding, e);
	check_actions(obj_path(binding, "spec.validationActions"), e);
}

void mutating_binding_check(const struct obj *binding, struct field_errors *e)
{
	check_binding(binding, e);
	check_operations(obj_path(binding, "spec.matchResources"), "spec.matchResources", e);
}
