/* rights_check: see rights_check.h. */
#include "alm/apiserver/kinds/rights_check.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"

#define RBAC_GROUP_NAME "rbac.authorization.k8s.io"

static void check_urls(struct field_errors *e, const char *at, const struct obj *r, bool namespaced)
{
	const struct obj *urls = obj_get(r, "nonResourceURLs");
	const char *path = check_below(e, at, "nonResourceURLs");
	if (namespaced)
		check_invalid(e, path, urls, "namespaced rules cannot apply to non-resource URLs");
	if (obj_len(obj_get(r, "apiGroups")) || obj_len(obj_get(r, "resources")) ||
	    obj_len(obj_get(r, "resourceNames")))
		check_invalid(e, path, urls,
			      "rules cannot apply to both regular resources and non-resource URLs");
}

static void check_rules(struct field_errors *e, const struct obj *o, bool namespaced)
{
	const struct obj *rules = obj_get(o, "rules");
	for (size_t i = 0; i < obj_len(rules); i++) {
		const struct obj *r = obj_at(rules, i);
		const char *at = arena_fmt(e->arena, "rules[%zu]", i);
		if (!obj_len(obj_get(r, "verbs")))
			check_required(e, arena_fmt(e->arena, "%s.verbs", at),
				       "verbs must contain at least one value");
		if (obj_len(obj_get(r, "nonResourceURLs"))) {
			check_urls(e, at, r, namespaced);
			continue;
		}
		if (!obj_len(obj_get(r, "apiGroups")))
			check_required(e, arena_fmt(e->arena, "%s.apiGroups", at),
				       "resource rules must supply at least one api group");
		if (!obj_len(obj_get(r, "resources")))
			check_required(e, arena_fmt(e->arena, "%s.resources", at),
				       "resource rules must supply at least one resource");
	}
}

void check_role(struct field_errors *e, const struct obj *o)
{
	check_rules(e, o, true);
}

static void check_selectors(struct field_errors *e, const struct obj *list)
{
	size_t from = e->n;
	for (size_t i = 0; i < obj_len(list) && !field_errors_full(e); i++) {
		const char *at = check_at(e, "aggregationRule.clusterRoleSelectors", i);
		size_t before = e->n;
		check_label_selector(e, at, obj_at(list, i));
		if (e->n > before)
			check_invalid(e, at, NULL, "invalid label selector.");
	}
	check_said_since(e, from, list);
}

void check_cluster_role(struct field_errors *e, const struct obj *o)
{
	const struct obj *rule = obj_get(o, "aggregationRule");
	check_rules(e, o, false);
	if (rule && !obj_len(obj_get(rule, "clusterRoleSelectors")))
		check_required(e, "aggregationRule.clusterRoleSelectors",
			       "at least one clusterRoleSelector required if aggregationRule is "
			       "non-nil");
	check_selectors(e, obj_get(rule, "clusterRoleSelectors"));
}

static void check_api_group(struct field_errors *e, const char *path, const char *group,
			    const char *want)
{
	const char *const all[] = {want, NULL};
	field_errors_one_of(e, path, group, all);
}

static void check_subjects(struct field_errors *e, const struct obj *o, bool across)
{
	static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
	const struct obj *list = obj_get(o, "subjects");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *s = obj_at(list, i);
		const char *at = arena_fmt(e->arena, "subjects[%zu]", i);
		const char *kind = check_text(s, "kind"), *group = check_text(s, "apiGroup");
		bool is_account = strcmp(kind, "ServiceAccount") == 0;
		if (check_is_empty(s, "name"))
			check_required(e, check_below(e, at, "name"), NULL);
		field_errors_one_of(e, check_below(e, at, "kind"), kind, kinds);
		if (is_account)
			check_name_rule(e, check_below(e, at, "name"), NAME_DNS_SUBDOMAIN,
					check_text(s, "name"));
		if (cstr_in(kind, kinds))
			check_api_group(e, check_below(e, at, "apiGroup"), group,
					is_account ? "" : RBAC_GROUP_NAME);
		if (across && is_account && check_is_empty(s, "namespace"))
			check_required(e, check_below(e, at, "namespace"), NULL);
	}
}

static void check_role_ref(struct field_errors *e, const struct obj *o, const char *const *kinds)
{
	const struct obj *ref = obj_get(o, "roleRef");
	if (ref) /* which has its default */
		check_api_group(e, "roleRef.apiGroup", check_text(ref, "apiGroup"),
				RBAC_GROUP_NAME);
	field_errors_one_of(e, "roleRef.kind", obj_str(ref, "kind"), kinds);
	if (check_is_empty(ref, "name"))
		check_required(e, "roleRef.name", NULL);
	else
		check_segment(e, "roleRef.name", check_text(ref, "name"));
}

void check_role_binding(struct field_errors *e, const struct obj *o)
{
	static const char *const kinds[] = {"Role", "ClusterRole", NULL};
	check_role_ref(e, o, kinds);
	check_subjects(e, o, false);
}

void check_cluster_role_binding(struct field_errors *e, const struct obj *o)
{
	static const char *const kinds[] = {"ClusterRole", NULL};
	check_role_ref(e, o, kinds);
	check_subjects(e, o, true);
}
