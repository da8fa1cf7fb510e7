/* builtin_check: see builtin_check.h. One function a kind; to add one, a row in the table. */
#include "alm/apiserver/kinds/builtin_check.h"

#include <string.h>

#include "alm/apiserver/kinds/class_check.h"
#include "alm/apiserver/kinds/limit_range.h"
#include "alm/apiserver/kinds/network_check.h"
#include "alm/apiserver/kinds/pod_check.h"
#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/query/selector.h"

#define SHOWN_MAX ((size_t)4 << 10)

static void check_at_least(struct field_errors *e, const char *path, const struct obj *v,
			   int64_t least)
{
	int64_t n;
	if (obj_type(v) == OBJ_INT && obj_as_i64(v, &n) && n < least)
		field_errors_add(e, FIELD_INVALID, path,
				 "Invalid value: %lld: must be greater than or equal to %lld",
				 (long long)n, (long long)least);
}

static void at_least_zero(struct field_errors *e, const struct obj *o, const char *path)
{
	check_at_least(e, path, obj_path(o, path), 0);
}

/* As Go's JSON of it. */
static void invalid(struct field_errors *e, const char *path, const struct obj *v, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SHOWN_MAX);
	if (v)
		json_print_canonical(v, &b);
	field_errors_add(e, FIELD_INVALID, path, "Invalid value: %s: %s", v ? b.buf : "null", why);
}

/* --- workloads --- */

static void check_selector(struct field_errors *e, const struct obj *o, const char *kind)
{
	const struct obj *selector = obj_path(o, "spec.selector");
	const struct obj *labels = obj_path(o, "spec.template.metadata.labels");
	CLEANUP(selector_freep) struct selector *s = NULL;
	struct error ignored;
	bool is_empty = selector && !obj_len(obj_get(selector, "matchLabels")) &&
			!obj_len(obj_get(selector, "matchExpressions"));
	if (!selector && !cstr_eq(kind, "daemonset")) /* sic */
		check_required(e, "spec.selector", NULL);
	if (is_empty) {
		field_errors_add(e, FIELD_INVALID, "spec.selector",
				 "Invalid value: {}: empty selector is invalid for %s", kind);
		return;
	}
	if (selector_from_obj(selector, &s, &ignored) == 0 && !selector_matches(s, labels))
		invalid(e, "spec.template.metadata.labels", labels,
			"`selector` does not match template `labels`");
}

static void check_template(struct field_errors *e, const struct obj *o)
{
	static const char *const always[] = {"Always", NULL};
	const struct obj *spec = obj_path(o, "spec.template.spec");
	const char *policy = obj_str(spec, "restartPolicy");
	check_pod_spec(e, "spec.template.spec", spec, obj_path(o, "spec.volumeClaimTemplates"));
	if (policy)
		field_errors_one_of(e, "spec.template.spec.restartPolicy", policy, always);
}

static void check_strategy(struct field_errors *e, const struct obj *o)
{
	static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
	const struct obj *s = obj_path(o, "spec.strategy");
	const struct obj *rolling = obj_get(s, "rollingUpdate");
	const char *type = obj_str(s, "type");
	if (type)
		field_errors_one_of(e, "spec.strategy.type", type, types);
	if (rolling && cstr_eq(type, "Recreate"))
		field_errors_add(e, FIELD_FORBIDDEN, "spec.strategy.rollingUpdate",
				 "Forbidden: may not be specified when strategy `type` is "
				 "'Recreate'");
	at_least_zero(e, o, "spec.strategy.rollingUpdate.maxUnavailable");
	at_least_zero(e, o, "spec.strategy.rollingUpdate.maxSurge");
}

static void deployment(struct field_errors *e, const struct obj *o)
{
	at_least_zero(e, o, "spec.replicas");
	check_selector(e, o, "deployment");
	check_template(e, o);
	check_strategy(e, o);
}

static void replica_set(struct field_errors *e, const struct obj *o)
{
	at_least_zero(e, o, "spec.replicas");
	check_selector(e, o, "deployment"); /* sic */
	check_template(e, o);
}

static void daemon_set(struct field_errors *e, const struct obj *o)
{
	check_selector(e, o, "daemonset");
	check_template(e, o);
}

static void check_claim(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
					    "ReadWriteOncePod", NULL};
	const struct obj *list = obj_get(spec, "accessModes");
	const char *field = arena_fmt(e->arena, "%s.accessModes", path);
	if (!obj_len(list))
		check_required(e, field, "at least 1 access mode is required");
	for (size_t i = 0; i < obj_len(list); i++)
		field_errors_one_of(e, field, obj_as_string(obj_at(list, i)), modes);
	if (!obj_path(spec, "resources.requests.storage"))
		check_required(e, arena_fmt(e->arena, "%s.resources[storage]", path), NULL);
}

static void stateful_set(struct field_errors *e, const struct obj *o)
{
	const struct obj *claims = obj_path(o, "spec.volumeClaimTemplates");
	at_least_zero(e, o, "spec.replicas");
	check_selector(e, o, "statefulset");
	for (size_t i = 0; i < obj_len(claims); i++)
		check_claim(e, arena_fmt(e->arena, "spec.volumeClaimTemplates[%zu].spec", i),
			    obj_get(obj_at(claims, i), "spec"));
	check_template(e, o);
}

static void claim(struct field_errors *e, const struct obj *o)
{
	check_claim(e, "spec", obj_get(o, "spec"));
}

static void pod(struct field_errors *e, const struct obj *o)
{
	check_pod_spec(e, "spec", obj_get(o, "spec"), NULL);
}

/* --- jobs --- */

static void check_job(struct field_errors *e, const char *path, const struct obj *spec)
{
	static const char *const numbers[] = {"parallelism", "completions", "activeDeadlineSeconds",
					      "backoffLimit", "ttlSecondsAfterFinished"};
	static const char *const policies[] = {"OnFailure", "Never", NULL};
	const struct obj *pod_spec = obj_path(spec, "template.spec");
	const char *policy = obj_str(pod_spec, "restartPolicy");
	const char *field = arena_fmt(e->arena, "%s.template.spec.restartPolicy", path);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		check_at_least(e, arena_fmt(e->arena, "%s.%s", path, numbers[i]),
			       obj_get(spec, numbers[i]), 0);
	check_pod_spec(e, arena_fmt(e->arena, "%s.template.spec", path), pod_spec, NULL);
	if (!policy || !*policy || cstr_eq(policy, "Always"))
		check_required(e, field, "valid values: \"OnFailure\", \"Never\"");
	else
		field_errors_one_of(e, field, policy, policies);
}

static void job(struct field_errors *e, const struct obj *o)
{
	check_job(e, "spec", obj_get(o, "spec"));
}

static void cron_job(struct field_errors *e, const struct obj *o)
{
	if (check_is_empty(obj_get(o, "spec"), "schedule"))
		check_required(e, "spec.schedule", NULL);
	check_job(e, "spec.jobTemplate.spec", obj_path(o, "spec.jobTemplate.spec"));
}

/* --- policy, autoscaling --- */

static void budget(struct field_errors *e, const struct obj *o)
{
	at_least_zero(e, o, "spec.minAvailable");
	at_least_zero(e, o, "spec.maxUnavailable");
	if (obj_path(o, "spec.minAvailable") && obj_path(o, "spec.maxUnavailable"))
		invalid(e, "spec", obj_get(o, "spec"),
			"minAvailable and maxUnavailable cannot be both set");
}

static void check_target(struct field_errors *e, const char *path, const struct obj *t)
{
	static const char *const types[] = {"Utilization", "Value", "AverageValue", NULL};
	const char *type = obj_str(t, "type");
	const char *field = arena_fmt(e->arena, "%s.type", path);
	const char *average = arena_fmt(e->arena, "%s.averageUtilization", path);
	const struct obj *n = obj_get(t, "averageUtilization");
	int64_t v = 1;
	if (check_is_empty(t, "type"))
		check_required(e, field, "must specify a metric target type");
	if (!type || !cstr_in(type, types))
		field_errors_add(e, FIELD_INVALID, field,
				 "Invalid value: \"%s\": must be either Utilization, Value, or "
				 "AverageValue",
				 type ? type : "");
	if (obj_as_i64(n, &v) && v < 1)
		field_errors_add(e, FIELD_INVALID, average,
				 "Invalid value: %lld: must be greater than 0", (long long)v);
	if (!n && !obj_get(t, "averageValue"))
		check_required(e, average,
			       "must set either a target raw value or a target utilization");
}

static void check_metric(struct field_errors *e, const char *path, const struct obj *m)
{
	static const char *const types[] = {"ContainerResource", "External", "Object", "Pods",
					    "Resource",          NULL};
	const char *field = arena_fmt(e->arena, "%s.type", path);
	const char *source = arena_fmt(e->arena, "%s.resource", path);
	const struct obj *r = obj_get(m, "resource");
	if (check_is_empty(m, "type"))
		check_required(e, field, "must specify a metric source type");
	field_errors_one_of(e, field, obj_str(m, "type"), types);
	if (!cstr_eq(obj_str(m, "type"), "Resource"))
		return;
	if (!r) {
		check_required(e, source, "must populate information for the given metric source");
		return;
	}
	if (check_is_empty(r, "name"))
		check_required(e, arena_fmt(e->arena, "%s.name", source),
			       "must specify a resource name");
	check_target(e, arena_fmt(e->arena, "%s.target", source), obj_get(r, "target"));
}

static void check_scale_target(struct field_errors *e, const struct obj *o)
{
	const struct obj *ref = obj_path(o, "spec.scaleTargetRef");
	if (check_is_empty(ref, "kind"))
		check_required(e, "spec.scaleTargetRef.kind", NULL);
	if (check_is_empty(ref, "name"))
		check_required(e, "spec.scaleTargetRef.name", NULL);
	if (check_is_empty(ref, "apiVersion"))
		field_errors_add(e, FIELD_INVALID, "spec.scaleTargetRef.apiVersion",
				 "Invalid value: \"\": apiVersion must specify API group");
}

static void autoscaler(struct field_errors *e, const struct obj *o)
{
	static const char most[] = "spec.maxReplicas";
	const struct obj *metrics = obj_path(o, "spec.metrics");
	int64_t max = obj_i64(o, most, 0), min = obj_i64(o, "spec.minReplicas", 1);
	check_at_least(e, "spec.minReplicas", obj_path(o, "spec.minReplicas"), 1);
	if (max == 0)
		check_required(e, most, "must be set and greater than 0");
	else
		check_at_least(e, most, obj_path(o, most), 1);
	if (max < min)
		field_errors_add(e, FIELD_INVALID, most,
				 "Invalid value: %lld: must be greater than or equal to "
				 "`minReplicas`",
				 (long long)max);
	check_scale_target(e, o);
	for (size_t i = 0; i < obj_len(metrics); i++)
		check_metric(e, arena_fmt(e->arena, "spec.metrics[%zu]", i), obj_at(metrics, i));
}

/* --- rights --- */

static void check_rules(struct field_errors *e, const struct obj *o)
{
	const struct obj *rules = obj_get(o, "rules");
	for (size_t i = 0; i < obj_len(rules); i++) {
		const struct obj *r = obj_at(rules, i);
		const char *at = arena_fmt(e->arena, "rules[%zu]", i);
		if (!obj_len(obj_get(r, "verbs")))
			check_required(e, arena_fmt(e->arena, "%s.verbs", at),
				       "verbs must contain at least one value");
		if (obj_len(obj_get(r, "nonResourceURLs")))
			continue;
		if (!obj_len(obj_get(r, "apiGroups")))
			check_required(e, arena_fmt(e->arena, "%s.apiGroups", at),
				       "resource rules must supply at least one api group");
		if (!obj_len(obj_get(r, "resources")))
			check_required(e, arena_fmt(e->arena, "%s.resources", at),
				       "resource rules must supply at least one resource");
	}
}

static void check_subjects(struct field_errors *e, const struct obj *o, bool across)
{
	static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
	const struct obj *list = obj_get(o, "subjects");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *s = obj_at(list, i);
		const char *at = arena_fmt(e->arena, "subjects[%zu]", i);
		if (check_is_empty(s, "name"))
			check_required(e, arena_fmt(e->arena, "%s.name", at), NULL);
		field_errors_one_of(e, arena_fmt(e->arena, "%s.kind", at), obj_str(s, "kind"),
				    kinds);
		if (across && cstr_eq(obj_str(s, "kind"), "ServiceAccount") &&
		    check_is_empty(s, "namespace"))
			check_required(e, arena_fmt(e->arena, "%s.namespace", at), NULL);
	}
}

static void check_role_ref(struct field_errors *e, const struct obj *o, const char *const *kinds)
{
	const struct obj *ref = obj_get(o, "roleRef");
	field_errors_one_of(e, "roleRef.kind", obj_str(ref, "kind"), kinds);
	if (check_is_empty(ref, "name"))
		check_required(e, "roleRef.name", NULL);
}

static void role_binding(struct field_errors *e, const struct obj *o)
{
	static const char *const kinds[] = {"Role", "ClusterRole", NULL};
	check_role_ref(e, o, kinds);
	check_subjects(e, o, false);
}

static void cluster_role_binding(struct field_errors *e, const struct obj *o)
{
	static const char *const kinds[] = {"ClusterRole", NULL};
	check_role_ref(e, o, kinds);
	check_subjects(e, o, true);
}

/* --- secrets --- */

static void secret(struct field_errors *e, const struct obj *o)
{
	static const struct {
		const char *type, *key;
		bool may_be_empty;
	} needs[] = {
		{"kubernetes.io/tls", "tls.crt", true},
		{"kubernetes.io/tls", "tls.key", true},
		{"kubernetes.io/ssh-auth", "ssh-privatekey", false},
		{"kubernetes.io/dockerconfigjson", ".dockerconfigjson", true},
		{"kubernetes.io/dockercfg", ".dockercfg", true},
	};
	const char *type = obj_str(o, "type");
	const struct obj *data = obj_get(o, "data");
	check_config_keys(e, o);
	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		const struct obj *v = obj_get(data, needs[i].key);
		bool there = v && (needs[i].may_be_empty || obj_as_str(v).len);
		if (cstr_eq(type, needs[i].type) && !there)
			check_required(e, arena_fmt(e->arena, "data[%s]", needs[i].key), NULL);
		else if (there && cstr_eq(type, "kubernetes.io/dockerconfigjson") &&
			 !obj_as_str(v).len)
			field_errors_add(
				e, FIELD_INVALID, "data[.dockerconfigjson]",
				"Invalid value: \"<secret contents redacted>\": unexpected "
				"end of JSON input");
	}
	if (cstr_eq(type, "kubernetes.io/basic-auth") && !obj_has(data, "username") &&
	    !obj_has(data, "password")) {
		check_required(e, "data[username]", NULL);
		check_required(e, "data[password]", NULL);
	}
}

/* --- what stays as it was made --- */

static void check_kept(struct field_errors *e, const struct obj *o, const struct obj *before,
		       const char *path)
{
	const struct obj *was = obj_path(before, path), *is = obj_path(o, path);
	if (was && (!is || !obj_equal(was, is)))
		invalid(e, path, is, "field is immutable");
}

static void selector_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	check_kept(e, o, before, "spec.selector");
}

static void job_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	bool indexed = cstr_eq(obj_str(o, "spec.completionMode"), "Indexed");
	if (!indexed) /* an indexed one is elastic */
		check_kept(e, o, before, "spec.completions");
	check_kept(e, o, before, "spec.selector");
	if (!obj_flag(before, "spec.suspend", false)) /* a suspended one may be placed anew */
		check_kept(e, o, before, "spec.template");
}

static void stateful_kept(struct field_errors *e, const struct obj *o, const struct obj *before)
{
	static const char *const may[] = {"replicas",
					  "ordinals",
					  "template",
					  "updateStrategy",
					  "revisionHistoryLimit",
					  "persistentVolumeClaimRetentionPolicy",
					  "minReadySeconds"};
	CLEANUP(obj_unrefp) struct obj *was = obj_copy_map(obj_get(before, "spec"));
	CLEANUP(obj_unrefp) struct obj *is = obj_copy_map(obj_get(o, "spec"));
	for (size_t i = 0; i < ARRAY_LEN(may); i++) {
		obj_del(was, may[i]);
		obj_del(is, may[i]);
	}
	if (!obj_equal(was, is))
		field_errors_add(
			e, FIELD_FORBIDDEN, "spec",
			"Forbidden: updates to statefulset spec for fields other than "
			"'replicas', 'ordinals', 'template', 'updateStrategy', "
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
			"'minReadySeconds' are forbidden");
}

/* --- all of them --- */

/* clang-format off */
static const struct {
	const char *group, *plural;
	const char *parts[5]; /* what is judged: if none of it changed, nothing is */
	void (*check)(struct field_errors *e, const struct obj *o);
	void (*keep)(struct field_errors *e, const struct obj *o, const struct obj *before);
} kinds[] = {
	{"", "configmaps", {"data", "binaryData"}, check_config_keys, NULL},
	{"", "limitranges", {"spec"}, limit_range_check, NULL},
	{"", "persistentvolumeclaims", {"spec"}, claim, NULL},
	{"", "pods", {"spec"}, pod, NULL},
	{"", "resourcequotas", {"spec"}, quota_check_spec, quota_check_kept},
	{"", "secrets", {"data", "type"}, secret, NULL},
	{"apps", "controllerrevisions", {"data"}, check_revision, revision_kept},
	{"apps", "daemonsets", {"spec"}, daemon_set, selector_kept},
	{"apps", "deployments", {"spec"}, deployment, selector_kept},
	{"apps", "replicasets", {"spec"}, replica_set, selector_kept},
	{"apps", "statefulsets", {"spec"}, stateful_set, stateful_kept},
	{"autoscaling", "horizontalpodautoscalers", {"spec"}, autoscaler, NULL},
	{"batch", "cronjobs", {"spec"}, cron_job, NULL},
	{"batch", "jobs", {"spec"}, job, job_kept},
	{"networking.k8s.io", "ingressclasses", {"spec"}, check_ingress_class, ingress_class_kept},
	{"networking.k8s.io", "ingresses", {"spec"}, check_ingress, NULL},
	{"networking.k8s.io", "networkpolicies", {"spec"}, check_network_policy, NULL},
	{"policy", "poddisruptionbudgets", {"spec"}, budget, NULL},
	{"rbac.authorization.k8s.io", "clusterrolebindings", {"subjects", "roleRef"}, cluster_role_binding, role_ref_kept},
	{"rbac.authorization.k8s.io", "clusterroles", {"rules"}, check_rules, NULL},
	{"rbac.authorization.k8s.io", "rolebindings", {"subjects", "roleRef"}, role_binding, role_ref_kept},
	{"rbac.authorization.k8s.io", "roles", {"rules"}, check_rules, NULL},
	{"scheduling.k8s.io", "priorityclasses", {"value", "preemptionPolicy"}, check_priority_class, priority_class_kept},
	{"storage.k8s.io", "storageclasses", {"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"}, check_storage_class, storage_class_kept},
};
/* clang-format on */

static bool is_changed(const struct obj *a, const struct obj *b, const char *const *parts)
{
	for (; *parts; parts++) {
		const struct obj *x = obj_get(a, *parts), *y = obj_get(b, *parts);
		if (!x != !y || (x && !obj_equal(x, y)))
			return true;
	}
	return false;
}

/* What may not change is told in front of what is wrong. */
static bool keeps_first(const char *plural)
{
	return cstr_eq(plural, "controllerrevisions") || cstr_eq(plural, "ingressclasses");
}

void builtin_check(const char *group, const char *plural, const struct obj *o,
		   const struct obj *before, struct field_errors *e)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].group, group) != 0 || strcmp(kinds[i].plural, plural) != 0 ||
		    (before && !is_changed(before, o, kinds[i].parts)))
			continue;
		bool keeps = before && kinds[i].keep;
		if (keeps && keeps_first(plural))
			kinds[i].keep(e, o, before);
		kinds[i].check(e, o);
		if (keeps && !keeps_first(plural))
			kinds[i].keep(e, o, before);
	}
}
