/*
 * rbac_defaults: the roles and bindings every store starts with. admin, edit and view gather
 * further roles by label, as in Kubernetes. Lists are words with blanks between; "-" stands for the
 * core group.
 */
#include "alm/apiserver/auth/rbac.h"

#include "alm/obj/meta.h"

#define AGGREGATE "rbac.authorization.k8s.io/aggregate-to-"

struct default_rule {
	const char *verbs, *groups, *resources, *urls; /* NULL: no such member */
};

struct default_role {
	const char *name;
	const char *aggregates; /* "view": gathers roles labelled aggregate-to-view */
	const char *label;      /* "edit": is labelled aggregate-to-edit */
	struct default_rule rules[18];
};

#define READ  "get list watch"
#define WRITE "create delete deletecollection patch update"

/* clang-format off */
static const struct default_role roles[] = {
	{"cluster-admin", NULL, NULL, {
		{"*", "*", "*", NULL}, {"*", NULL, NULL, "*"}}},
	{"admin", "admin", NULL, {
		{READ " " WRITE, "rbac.authorization.k8s.io", "roles rolebindings", NULL},
		{"create", "authorization.k8s.io", "localsubjectaccessreviews", NULL}}},
	{"edit", "edit", "admin", {
		{READ, "-", "secrets", NULL},
		{"impersonate", "-", "serviceaccounts", NULL},
		{READ " " WRITE, "-", "pods/attach pods/exec pods/portforward pods/proxy services/proxy", NULL},
		{"create", "-", "pods/eviction", NULL},
		{WRITE, "-", "configmaps events persistentvolumeclaims pods replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services", NULL},
		{"create", "-", "serviceaccounts/token", NULL},
		{WRITE, "apps", "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale", NULL},
		{WRITE, "events.k8s.io", "events", NULL},
		{WRITE, "extensions", "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale", NULL},
		{WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates", NULL},
		{WRITE, "autoscaling", "horizontalpodautoscalers", NULL},
		{WRITE, "batch", "cronjobs jobs", NULL},
		{WRITE, "networking.k8s.io", "ingresses networkpolicies", NULL},
		{WRITE, "policy", "poddisruptionbudgets", NULL},
		{READ " " WRITE, "coordination.k8s.io", "leases", NULL}}},
	{"view", "view", "edit", {
		{READ, "-", "bindings pods/log", NULL},
		{READ, "extensions", "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale", NULL},
		{READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates", NULL},
		{READ, "-", "configmaps endpoints events limitranges namespaces namespaces/status persistentvolumeclaims persistentvolumeclaims/status pods pods/status replicationcontrollers replicationcontrollers/scale replicationcontrollers/status resourcequotas resourcequotas/status serviceaccounts services services/status", NULL},
		{READ, "apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status", NULL},
		{READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", NULL},
		{READ, "batch", "cronjobs cronjobs/status jobs jobs/status", NULL},
		{READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies", NULL},
		{READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status", NULL},
		{READ, "discovery.k8s.io", "endpointslices", NULL},
		{READ, "events.k8s.io", "events", NULL}}},
	{"system:basic-user", NULL, NULL, {
		{"create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", NULL},
		{"create", "authentication.k8s.io", "selfsubjectreviews", NULL}}},
	{"system:discovery", NULL, NULL, {
		{"get", NULL, NULL, "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"}}},
	{"system:public-info-viewer", NULL, NULL, {
		{"get", NULL, NULL, "/healthz /livez /readyz /version /version/"}}},
	{"system:service-account-issuer-discovery", NULL, NULL, {
		{"get", NULL, NULL, "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/"}}},
	/* Beyond upstream's defaults: what the server recorded in tests/golden/kube-api lets everybody read. */
	{"alm-well-known-viewer", NULL, NULL, {
		{"get", NULL, NULL, "/.well-known /.well-known/*"}}},
	{"alm-audit-reader", NULL, NULL, {
		{READ, "audit.app.coreos.com", "auditrecords", NULL},
		{"get", NULL, NULL, "/audit /audit/*"},
		{"post", NULL, NULL, "/audit/exported"}}},
};

static const struct { const char *role, *group; } bindings[] = {
	{"cluster-admin", "system:masters"},
	{"system:basic-user", "system:authenticated"},
	{"system:discovery", "system:authenticated"},
	{"system:public-info-viewer", "system:authenticated"},
	{"system:service-account-issuer-discovery", "system:serviceaccounts"},
	{"alm-well-known-viewer", "system:authenticated"},
};
/* clang-format on */

static void set_words(struct obj *rule, const char *key, const char *words)
{
	struct str rest = str_of(words), word;
	if (!words)
		return;
	struct obj *list = obj_list();
	while (str_next(&rest, ' ', &word))
		obj_append(list, str_is(word, "-") ? obj_string("") : obj_stringn(word));
	obj_set(rule, key, list);
}

static struct obj *skeleton(const char *kind, const char *name)
{
	struct obj *o = meta_skeleton(RBAC_GROUP "/v1", kind, NULL, name);
	meta_set_label(o, "kubernetes.io/bootstrapping", "rbac-defaults");
	meta_set_annotation(o, "rbac.authorization.kubernetes.io/autoupdate", "true");
	return o;
}

static struct obj *aggregation(const char *target)
{
	struct obj *labels = obj_map(), *selector = obj_map(), *list = obj_list(),
		   *rule = obj_map();
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&key, AGGREGATE "%s", target);
	obj_set_str(labels, key.buf, "true");
	obj_set(selector, "matchLabels", labels);
	obj_append(list, selector);
	obj_set(rule, "clusterRoleSelectors", list);
	return rule;
}

static struct obj *make_role(const struct default_role *r)
{
	struct obj *o = skeleton("ClusterRole", r->name), *rules = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(r->rules) && r->rules[i].verbs; i++) {
		struct obj *rule = obj_map();
		set_words(rule, "verbs", r->rules[i].verbs);
		set_words(rule, "apiGroups", r->rules[i].groups);
		set_words(rule, "resources", r->rules[i].resources);
		set_words(rule, "nonResourceURLs", r->rules[i].urls);
		obj_append(rules, rule);
	}
	obj_set(o, "rules", rules);
	if (r->aggregates)
		obj_set(o, "aggregationRule", aggregation(r->aggregates));
	if (r->label) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&key, AGGREGATE "%s", r->label);
		meta_set_label(o, key.buf, "true");
	}
	return o;
}

static struct obj *make_binding(const char *role, const char *group)
{
	struct obj *o = skeleton("ClusterRoleBinding", role);
	struct obj *ref = obj_map(), *subject = obj_map(), *subjects = obj_list();
	obj_set_str(ref, "apiGroup", RBAC_GROUP);
	obj_set_str(ref, "kind", "ClusterRole");
	obj_set_str(ref, "name", role);
	obj_set(o, "roleRef", ref);
	obj_set_str(subject, "kind", "Group");
	obj_set_str(subject, "apiGroup", RBAC_GROUP);
	obj_set_str(subject, "name", group);
	obj_append(subjects, subject);
	obj_set(o, "subjects", subjects);
	return o;
}

struct obj *rbac_default(size_t n)
{
	if (n < ARRAY_LEN(roles))
		return make_role(&roles[n]);
	n -= ARRAY_LEN(roles);
	return n < ARRAY_LEN(bindings) ? make_binding(bindings[n].role, bindings[n].group) : NULL;
}
