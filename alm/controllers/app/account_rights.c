#include "alm/controllers/app/account_rights.h"

#include "alm/controllers/app/instance_app.h"
#include "alm/controllers/app/named_crds.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/kinds.h"

struct right {
	const char *verbs, *group, *resources; /* words */
};

#define CHANGE "get list watch create update patch delete deletecollection"

/* All of the built-in kinds of a namespace but its limits and the Namespace itself. Never * where
 * it would be more than it looks: escalate and bind of Roles, impersonate of accounts. */
/* clang-format off */
static const struct right in_namespace[] = {
	{"*", "", "configmaps endpoints events persistentvolumeclaims persistentvolumeclaims/status "
		  "pods pods/attach pods/binding pods/ephemeralcontainers pods/eviction pods/exec pods/finalizers "
		  "pods/log pods/portforward pods/proxy pods/resize pods/status podtemplates replicationcontrollers "
		  "replicationcontrollers/scale replicationcontrollers/status secrets secrets/finalizers services "
		  "services/finalizers services/proxy services/status configmaps/finalizers"},
	{CHANGE, "", "serviceaccounts"},
	{"*", "apps", "*"},
	{"*", "autoscaling", "*"},
	{"*", "batch", "*"},
	{"*", "coordination.k8s.io", "*"},
	{"*", "discovery.k8s.io", "*"},
	{"*", "events.k8s.io", "*"},
	{"*", "networking.k8s.io", "*"},
	{"*", "policy", "poddisruptionbudgets poddisruptionbudgets/finalizers poddisruptionbudgets/status"},
	{CHANGE, ACCOUNT_RBAC, "roles rolebindings"},
};
static const struct right in_cluster[] = {
	{"get list watch create update patch", "apiextensions.k8s.io", "customresourcedefinitions"},
	{"get list watch create update patch delete", ACCOUNT_RBAC, "clusterroles clusterrolebindings"},
};
/* clang-format on */

static struct obj *words(const char *text)
{
	struct obj *list = obj_list();
	struct str rest = str_of(text), word;
	while (str_next(&rest, ' ', &word))
		obj_append(list, obj_stringn(word));
	return list;
}

static struct obj *new_rule(const char *verbs, const char *group, struct obj *resources)
{
	struct obj *rule = obj_map(), *groups = obj_list();
	obj_append(groups, obj_string(group));
	obj_set(rule, "verbs", words(verbs));
	obj_set(rule, "apiGroups", groups);
	obj_set(rule, "resources", resources);
	return rule;
}

static struct obj *rules_of(const struct right *rights, size_t n)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < n; i++)
		obj_append(list,
			   new_rule(rights[i].verbs, rights[i].group, words(rights[i].resources)));
	return list;
}

struct claimed {
	const struct app *app;
	struct obj *rules;
};

/* Whoever may write a CRD names the app that may use its custom resources. */
static bool add_claimed(void *arg, struct str json)
{
	struct claimed *c = arg;
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *crd = NULL;
	if (!str_contains(json, str_of(c->app->self_ref)) || json_parse(json, &crd, &ignored) < 0)
		return true;
	const char *group = obj_str(crd, "spec.group"), *plural = obj_str(crd, "spec.names.plural");
	if (!group || !plural ||
	    !cstr_eq(meta_annotation(crd, ANNOTATION_OWNER), c->app->self_ref) ||
	    crd_group_is_reserved(group))
		return true;
	struct obj *resources = obj_list();
	obj_append(resources, obj_string(plural));
	obj_append(resources, obj_stringf("%s/status", plural));
	obj_append(resources, obj_stringf("%s/scale", plural));
	obj_append(resources, obj_stringf("%s/finalizers", plural));
	obj_append(c->rules, new_rule("*", group, resources));
	return true;
}

/* Of an app that is deleted: the CRDs that shall go with it, as long as they name it. */
static void add_named(const struct view *v, const struct app *app, struct obj *rules)
{
	struct named_crd *list;
	const char *why;
	int n = app->deleting ? named_crds(app->o, v->a, &list, &why) : 0;
	struct obj *names = obj_list();
	for (int i = 0; i < n; i++) {
		const struct obj *crd = view_crd(v, list[i].name);
		const char *group = crd ? obj_str(crd, "spec.group") : NULL;
		if (group && !crd_group_is_reserved(group) &&
		    cstr_eq(meta_annotation(crd, ANNOTATION_OWNER), app->self_ref))
			obj_append(names, obj_string(list[i].name));
	}
	if (!obj_len(names)) {
		obj_unref(names);
		return;
	}
	struct obj *rule =
		new_rule("delete", "apiextensions.k8s.io", words("customresourcedefinitions"));
	obj_set(rule, "resourceNames", names);
	obj_append(rules, rule);
}

static struct obj *new_role(const char *name, const char *app, struct obj *rules)
{
	struct obj *o = meta_skeleton(ACCOUNT_RBAC "/v1", "ClusterRole", NULL, name);
	meta_set_label(o, LABEL_APP, app);
	obj_set(o, "rules", rules);
	return o;
}

struct obj *account_namespace_role(void)
{
	return new_role(ACCOUNT_IN_NS_ROLE, "", rules_of(in_namespace, ARRAY_LEN(in_namespace)));
}

struct obj *account_app_role(const struct view *v, const struct app *app, const char *name)
{
	struct obj *rules = rules_of(in_cluster, ARRAY_LEN(in_cluster));
	struct claimed c = {app, rules};
	v->ops->each(v->ops_arg, WATCH_CRD, add_claimed, &c);
	add_named(v, app, rules);
	return new_role(name, app->name, rules);
}

struct obj *account_binding(const char *kind, const char *ns, const char *name, const char *role,
			    const struct app *app)
{
	struct obj *o = meta_skeleton(ACCOUNT_RBAC "/v1", kind, ns, name), *ref = obj_map();
	struct obj *subjects = obj_list(), *subject = obj_map();
	meta_set_label(o, LABEL_APP, app->name);
	if (ns && instance_of(app->o)) /* the server's policy holds it against the Namespace */
		meta_set_annotation(o, ANNOTATION_INSTANCE_APP, instance_parent(app->o));
	obj_set_str(ref, "apiGroup", ACCOUNT_RBAC);
	obj_set_str(ref, "kind", "ClusterRole");
	obj_set_str(ref, "name", role);
	obj_set(o, "roleRef", ref);
	obj_set_str(subject, "kind", "ServiceAccount");
	obj_set_str(subject, "namespace", app->account.ns);
	obj_set_str(subject, "name", app->account.name);
	obj_append(subjects, subject);
	obj_set(o, "subjects", subjects);
	return o;
}
