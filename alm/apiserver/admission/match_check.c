/* match_check: rules and selectors of what a policy is about; see policy_check.h. */
#include <string.h>

#include "alm/apiserver/admission/policy_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"

#define SHOWN_MAX    ((size_t)4 << 10)
#define REPEATED_MAX 64 /* resources of a rule that are looked at for one another */

static const char *text(const struct obj *o)
{
	const char *s = obj_as_string(o);
	return s ? s : "";
}

static void required(struct field_errors *e, const char *path)
{
	field_errors_add(e, FIELD_REQUIRED, path, "Required value");
}

static void invalid(struct field_errors *e, const char *path, const struct obj *v, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	json_print_canonical(v, &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", b.buf, why);
}

static bool has_star(const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (strcmp(text(obj_at(list, i)), "*") == 0)
			return true;
	return false;
}

/* A list that has something, and nothing beside "*". */
static void check_list(const struct obj *list, const char *path, const char *what,
		       struct field_errors *e)
{
	if (obj_len(list) == 0)
		required(e, path);
	else if (obj_len(list) > 1 && has_star(list))
		invalid(e, path, list,
			arena_fmt(e->arena, "if '*' is present, must not specify other %s", what));
}

/* An earlier resource that has all that this one has; told is "%s/" or "/%s" of it. */
static void check_covered(const struct obj *list, size_t i, const char *path,
			  struct field_errors *e)
{
	const char *item = text(obj_at(list, i));
	struct str resource, sub, r, s;
	if (!str_cut(str_of(item), '/', &resource, &sub))
		return;
	for (size_t k = 0; k < i && k < REPEATED_MAX; k++) {
		const char *why = NULL;
		if (!str_cut(obj_as_str(obj_at(list, k)), '/', &r, &s))
			continue;
		if (str_is(s, "*") && str_eq(r, resource))
			why = arena_fmt(e->arena, "if '%.*s/*' is present, must not specify %s",
					STR_ARG(r), item);
		else if (str_is(r, "*") && str_eq(s, sub))
			why = arena_fmt(e->arena, "if '*/%.*s' is present, must not specify %s",
					STR_ARG(s), item);
		if (why)
			invalid(e, arena_fmt(e->arena, "%s[%zu]", path, i), obj_at(list, i), why);
	}
}

static void check_resources(const struct obj *list, const char *path, struct field_errors *e)
{
	bool all = false, plain = false;
	if (obj_len(list) == 0)
		required(e, path);
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *item = text(obj_at(list, i));
		if (!*item)
			required(e, arena_fmt(e->arena, "%s[%zu]", path, i));
		all |= strcmp(item, "*/*") == 0;
		if (*item && !strchr(item, '/')) /* the last one counts there */
			plain = strcmp(item, "*") != 0;
		check_covered(list, i, path, e);
	}
	if (all && obj_len(list) > 1)
		invalid(e, path, list, "if '*/*' is present, must not specify other resources");
	if (has_star(list) && plain)
		invalid(e, path, list,
			"if '*' is present, must not specify other resources without subresources");
}

static void check_names(const struct obj *list, const char *path, struct field_errors *e)
{
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, path, i), *name = text(obj_at(list, i));
		bool again = false;
		check_segment(e, at, name);
		for (size_t k = 0; k < i && k < REPEATED_MAX; k++)
			again |= obj_equal(obj_at(list, i), obj_at(list, k));
		if (again)
			field_errors_add_text(e, FIELD_DUPLICATE, at, name);
	}
}

void match_check_rule(const struct obj *rule, const char *path, struct field_errors *e)
{
	static const char *const operations[] = {"*",      "CONNECT", "CREATE",
						 "DELETE", "UPDATE",  NULL};
	static const char *const scopes[] = {"*", "Cluster", "Namespaced", NULL};
	const struct obj *asked = obj_get(rule, "operations"),
			 *versions = obj_get(rule, "apiVersions");
	const char *scope = obj_str(rule, "scope");
	check_names(obj_get(rule, "resourceNames"), arena_fmt(e->arena, "%s.resourceNames", path),
		    e);
	check_list(asked, arena_fmt(e->arena, "%s.operations", path), "operations", e);
	for (size_t i = 0; i < obj_len(asked); i++)
		field_errors_one_of(e, arena_fmt(e->arena, "%s.operations[%zu]", path, i),
				    text(obj_at(asked, i)), operations);
	check_list(obj_get(rule, "apiGroups"), arena_fmt(e->arena, "%s.apiGroups", path),
		   "API groups", e);
	check_list(versions, arena_fmt(e->arena, "%s.apiVersions", path), "API versions", e);
	for (size_t i = 0; i < obj_len(versions); i++)
		if (!*text(obj_at(versions, i)))
			required(e, arena_fmt(e->arena, "%s.apiVersions[%zu]", path, i));
	check_resources(obj_get(rule, "resources"), arena_fmt(e->arena, "%s.resources", path), e);
	if (scope)
		field_errors_one_of(e, arena_fmt(e->arena, "%s.scope", path), scope, scopes);
}

void match_check(const struct obj *match, const char *path, struct field_errors *e)
{
	static const char *const policies[] = {"Equivalent", "Exact", NULL};
	static const char *const selectors[] = {"namespaceSelector", "objectSelector"};
	static const char *const rules[] = {"resourceRules", "excludeResourceRules"};
	const char *policy = obj_str(match, "matchPolicy");
	if (policy)
		field_errors_one_of(e, arena_fmt(e->arena, "%s.matchPolicy", path), policy,
				    policies);
	for (size_t i = 0; i < ARRAY_LEN(selectors); i++)
		check_label_selector(e, arena_fmt(e->arena, "%s.%s", path, selectors[i]),
				     obj_get(match, selectors[i]));
	for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
		const struct obj *list = obj_get(match, rules[k]);
		for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++)
			match_check_rule(obj_at(list, i),
					 arena_fmt(e->arena, "%s.%s[%zu]", path, rules[k], i), e);
	}
}
