/* defaults: see defaults.h. The rules are Kubernetes' pkg/apis/.../v1/defaults.go as the recordings
 * in tests/golden/kube-api/defaults.jsonl show them. To add a field: a row. */
#include "alm/apiserver/kinds/defaults_internal.h"
#include "alm/apiserver/kinds/image_name.h"

#include <string.h>

#include "alm/base/str.h"
#include "alm/obj/json.h"

static const struct default_rule pod_rules[] = {
	{"restartPolicy", "\"Always\"", NULL, NULL},
	{"dnsPolicy", "\"ClusterFirst\"", NULL, NULL},
	{"terminationGracePeriodSeconds", "30", NULL, NULL},
	{"securityContext", "{}", NULL, NULL},
	{"schedulerName", "\"default-scheduler\"", NULL, NULL},
	{0},
};
static const struct default_rule container_rules[] = {
	{"terminationMessagePath", "\"/dev/termination-log\"", NULL, NULL},
	{"terminationMessagePolicy", "\"File\"", NULL, NULL},
	{0},
};
static const struct default_rule probe_rules[] = {
	{"timeoutSeconds", "1", NULL, NULL},
	{"periodSeconds", "10", NULL, NULL},
	{"successThreshold", "1", NULL, NULL},
	{"failureThreshold", "3", NULL, NULL},
	{0},
};
static const struct default_rule http_rules[] = {
	{"path", "\"/\"", NULL, NULL},
	{"scheme", "\"HTTP\"", NULL, NULL},
	{0},
};
static const struct default_rule deployment_rules[] = {
	{"spec.replicas", "1", NULL, NULL},
	{"spec.strategy.type", "\"RollingUpdate\"", NULL, NULL},
	{"spec.strategy.rollingUpdate.maxSurge", "\"25%\"", "spec.strategy.type", "RollingUpdate"},
	{"spec.strategy.rollingUpdate.maxUnavailable", "\"25%\"", "spec.strategy.type",
	 "RollingUpdate"},
	{"spec.revisionHistoryLimit", "10", NULL, NULL},
	{"spec.progressDeadlineSeconds", "600", NULL, NULL},
	{0},
};
static const struct default_rule stateful_rules[] = {
	{"spec.replicas", "1", NULL, NULL},
	{"spec.podManagementPolicy", "\"OrderedReady\"", NULL, NULL},
	{"spec.updateStrategy.rollingUpdate", "{}", "spec.updateStrategy.type", ""},
	{"spec.updateStrategy.type", "\"RollingUpdate\"", NULL, NULL},
	{"spec.revisionHistoryLimit", "10", NULL, NULL},
	{"spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "\"Retain\"", NULL, NULL},
	{"spec.persistentVolumeClaimRetentionPolicy.whenScaled", "\"Retain\"", NULL, NULL},
	{0},
};
static const struct default_rule daemon_rules[] = {
	{"spec.updateStrategy.type", "\"RollingUpdate\"", NULL, NULL},
	{"spec.updateStrategy.rollingUpdate.maxUnavailable", "1", "spec.updateStrategy.type",
	 "RollingUpdate"},
	{"spec.updateStrategy.rollingUpdate.maxSurge", "0", "spec.updateStrategy.type",
	 "RollingUpdate"},
	{"spec.revisionHistoryLimit", "10", NULL, NULL},
	{0},
};
static const struct default_rule replica_rules[] = {{"spec.replicas", "1", NULL, NULL}, {0}};
static const struct default_rule job_rules[] = {
	{"spec.completions", "1", "spec.parallelism", ""}, /* parallelism alone is a work queue */
	{"spec.parallelism", "1", NULL, NULL},
	{"spec.backoffLimit", "6", "spec.backoffLimitPerIndex", ""},
	{"spec.backoffLimit", "2147483647", NULL, NULL}, /* each index has its own */
	{"spec.completionMode", "\"NonIndexed\"", NULL, NULL},
	{"spec.suspend", "false", NULL, NULL},
	{"spec.manualSelector", "false", NULL, NULL},
	{"spec.podReplacementPolicy", "\"TerminatingOrFailed\"", "spec.podFailurePolicy", ""},
	{"spec.podReplacementPolicy", "\"Failed\"", NULL, NULL},
	{0},
};
static const struct default_rule cron_rules[] = {
	{"spec.concurrencyPolicy", "\"Allow\"", NULL, NULL},
	{"spec.suspend", "false", NULL, NULL},
	{"spec.successfulJobsHistoryLimit", "3", NULL, NULL},
	{"spec.failedJobsHistoryLimit", "1", NULL, NULL},
	{0},
};
static const struct default_rule own_pod_rules[] = {{"spec.enableServiceLinks", "true", NULL, NULL},
						    {0}};
static const struct default_rule service_rules[] = {
	{"spec.type", "\"ClusterIP\"", NULL, NULL},
	{"spec.sessionAffinity", "\"None\"", NULL, NULL},
	{"spec.sessionAffinityConfig.clientIP.timeoutSeconds", "10800", "spec.sessionAffinity",
	 "ClientIP"},
	{"spec.internalTrafficPolicy", "\"Cluster\"", "spec.type", "ClusterIP"},
	{"spec.internalTrafficPolicy", "\"Cluster\"", "spec.type", "NodePort"},
	{"spec.internalTrafficPolicy", "\"Cluster\"", "spec.type", "LoadBalancer"},
	{"spec.externalTrafficPolicy", "\"Cluster\"", "spec.type", "NodePort"},
	{"spec.externalTrafficPolicy", "\"Cluster\"", "spec.type", "LoadBalancer"},
	{"spec.allocateLoadBalancerNodePorts", "true", "spec.type", "LoadBalancer"},
	{0},
};
static const struct default_rule claim_rules[] = {{"spec.volumeMode", "\"Filesystem\"", NULL, NULL},
						  {0}};

/* --- pods --- */

static void set_probe(struct obj *container, const char *key)
{
	struct obj *probe = default_map(container, key), *http = default_map(probe, "httpGet");
	defaults_apply(probe, probe_rules);
	defaults_apply(http, http_rules);
	struct obj *grpc = default_map(probe, "grpc");
	if (grpc && default_is_absent(obj_get(grpc, "service")))
		obj_set_str(grpc, "service", "");
}

/* What is told of the Pod or of a container. */
static void set_told(struct obj *of)
{
	static const struct default_rule rules[] = {{"apiVersion", "\"v1\"", NULL, NULL}, {0}};
	static const struct default_rule parts[] = {{"divisor", "\"0\"", NULL, NULL}, {0}};
	defaults_apply(default_map(of, "fieldRef"), rules);
	defaults_apply(default_map(of, "resourceFieldRef"), parts);
}

/* Of a pod itself, not of a template: a limit without a request is one. */
static void set_requests(struct obj *container)
{
	const struct obj *limits = obj_path(container, "resources.limits");
	OBJ_EACH (it, limits) {
		struct obj *resources = default_map(container, "resources");
		if (!default_map(resources, "requests"))
			obj_set(resources, "requests", obj_map());
		struct obj *requests = default_map(resources, "requests");
		if (default_is_absent(obj_get(requests, it.key)))
			obj_set(requests, it.key, obj_copy(it.value));
	}
}

static void set_pull(struct obj *o, const char *field, const char *image)
{
	if (default_is_absent(obj_get(o, field)))
		obj_set_str(o, field, image_is_latest(image) ? "Always" : "IfNotPresent");
}

static void set_container(struct obj *c, bool own)
{
	static const char *const hooks[] = {"postStart", "preStop"};
	const char *image = obj_str(c, "image");
	if (obj_type(c) != OBJ_MAP)
		return;
	defaults_apply(c, container_rules);
	set_pull(c, "imagePullPolicy", image ? image : "");
	struct obj *ports = default_list(c, "ports"), *env = default_list(c, "env");
	for (size_t i = 0; i < obj_len(ports); i++) {
		struct obj *port = obj_at_mut(ports, i);
		if (obj_type(port) == OBJ_MAP && default_is_absent(obj_get(port, "protocol")))
			obj_set_str(port, "protocol", "TCP");
	}
	for (size_t i = 0; i < obj_len(env); i++)
		set_told(default_map(obj_at_mut(env, i), "valueFrom"));
	set_probe(c, "livenessProbe");
	set_probe(c, "readinessProbe");
	set_probe(c, "startupProbe");
	for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
		defaults_apply(
			default_map(default_map(default_map(c, "lifecycle"), hooks[i]), "httpGet"),
			http_rules);
	if (own)
		set_requests(c);
}

static void set_items(struct obj *source)
{
	struct obj *items = source ? default_list(source, "items") : NULL;
	for (size_t i = 0; i < obj_len(items); i++)
		set_told(obj_at_mut(items, i));
}

static const struct default_rule token_rules[] = {{"expirationSeconds", "3600", NULL, NULL}, {0}};

static void set_volume(struct obj *v)
{
	static const char *const moded[] = {"secret", "configMap", "downwardAPI", "projected"};
	if (obj_type(v) != OBJ_MAP)
		return;
	if (obj_len(v) == (obj_has(v, "name") ? 1 : 0)) /* no source is an empty folder */
		obj_set(v, "emptyDir", obj_map());
	for (size_t i = 0; i < ARRAY_LEN(moded); i++) {
		struct obj *source = default_map(v, moded[i]);
		if (source && default_is_absent(obj_get(source, "defaultMode")))
			obj_set_int(source, "defaultMode", 0644);
	}
	struct obj *host = default_map(v, "hostPath"), *projected = default_map(v, "projected");
	if (host && default_is_absent(obj_get(host, "type")))
		obj_set_str(host, "type", "");
	struct obj *made = default_map(default_map(v, "ephemeral"), "volumeClaimTemplate");
	if (made)
		defaults_apply(made, claim_rules);
	struct obj *image = default_map(v, "image");
	const char *reference = obj_str(image, "reference");
	if (image)
		set_pull(image, "pullPolicy", reference ? reference : "");
	set_items(default_map(v, "downwardAPI"));
	struct obj *sources = projected ? default_list(projected, "sources") : NULL;
	for (size_t i = 0; i < obj_len(sources); i++) {
		set_items(default_map(obj_at_mut(sources, i), "downwardAPI"));
		defaults_apply(default_map(obj_at_mut(sources, i), "serviceAccountToken"),
			       token_rules);
	}
}

/* One field under two names; the old one has no say while the new one is there. */
static void set_account(struct obj *spec)
{
	const char *name = obj_str(spec, "serviceAccountName"),
		   *old = obj_str(spec, "serviceAccount");
	if (name && *name && !cstr_eq(name, old))
		obj_set(spec, "serviceAccount", obj_copy(obj_get(spec, "serviceAccountName")));
	else if (old && *old && !(name && *name))
		obj_set(spec, "serviceAccountName", obj_copy(obj_get(spec, "serviceAccount")));
}

/* own: the spec of a pod itself. */
static void set_pod(struct obj *spec, bool own)
{
	static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
	if (obj_type(spec) != OBJ_MAP)
		return;
	defaults_apply(spec, pod_rules);
	set_account(spec);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		struct obj *list = default_list(spec, lists[k]);
		for (size_t i = 0; i < obj_len(list); i++)
			set_container(obj_at_mut(list, i), own);
	}
	struct obj *volumes = default_list(spec, "volumes");
	for (size_t i = 0; i < obj_len(volumes); i++)
		set_volume(obj_at_mut(volumes, i));
}

static void set_template(struct obj *spec)
{
	set_pod(default_map(default_map(spec, "template"), "spec"), false);
}

/* --- jobs --- */

static void set_job_spec(struct obj *spec)
{
	struct obj *rules = default_list(default_map(spec, "podFailurePolicy"), "rules");
	for (size_t i = 0; i < obj_len(rules); i++) {
		struct obj *conditions = default_list(obj_at_mut(rules, i), "onPodConditions");
		for (size_t k = 0; k < obj_len(conditions); k++) {
			struct obj *c = obj_at_mut(conditions, k);
			const struct obj *status = obj_get(c, "status");
			if (obj_type(c) == OBJ_MAP &&
			    (default_is_absent(status) || cstr_eq(obj_as_string(status), "")))
				obj_set_str(c, "status", "True");
		}
	}
	set_template(spec);
}

/* --- what rows cannot say --- */

/* What listens in the network of the node has its port there. */
static void set_host_ports(struct obj *spec, const char *of)
{
	struct obj *list = default_list(spec, of);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *c = obj_at_mut(list, i);
		struct obj *ports = obj_type(c) == OBJ_MAP ? default_list(c, "ports") : NULL;
		for (size_t k = 0; k < obj_len(ports); k++) {
			struct obj *port = obj_at_mut(ports, k);
			const struct obj *is = obj_get(port, "containerPort");
			if (is && obj_i64(port, "hostPort", 0) == 0)
				obj_set(port, "hostPort", obj_ref(is));
		}
	}
}

static void set_own_pod(struct obj *o)
{
	struct obj *spec = default_map(o, "spec");
	set_pod(spec, true);
	defaults_of_whole_pod(spec);
	if (obj_i64(spec, "terminationGracePeriodSeconds", 0) < 0)
		obj_set_int(spec, "terminationGracePeriodSeconds", 1);
	if (!obj_flag(spec, "hostNetwork", false))
		return;
	set_host_ports(spec, "containers");
	set_host_ports(spec, "initContainers");
}

static void set_workload(struct obj *o)
{
	set_template(default_map(o, "spec"));
}

static void set_network(struct obj *o)
{
	static const char *const ways[] = {"ingress", "egress"};
	struct obj *spec = default_map(o, "spec");
	for (size_t w = 0; spec && w < ARRAY_LEN(ways); w++) {
		struct obj *rules = default_list(spec, ways[w]);
		for (size_t i = 0; i < obj_len(rules); i++) {
			struct obj *rule = obj_at_mut(rules, i);
			struct obj *ports =
				obj_type(rule) == OBJ_MAP ? default_list(rule, "ports") : NULL;
			for (size_t k = 0; k < obj_len(ports); k++) {
				struct obj *port = obj_at_mut(ports, k);
				if (obj_type(port) == OBJ_MAP &&
				    default_is_absent(obj_get(port, "protocol")))
					obj_set_str(port, "protocol", "TCP");
			}
		}
	}
	if (!spec || obj_len(obj_get(spec, "policyTypes")))
		return;
	struct obj *types = obj_list();
	obj_append(types, obj_string("Ingress"));
	if (obj_len(obj_get(spec, "egress")))
		obj_append(types, obj_string("Egress"));
	obj_set(spec, "policyTypes", types);
}

static void set_job(struct obj *o)
{
	set_job_spec(default_map(o, "spec"));
}

static void set_replication(struct obj *o)
{
	const struct obj *labels = obj_path(o, "spec.template.metadata.labels");
	if (!obj_len(obj_path(o, "spec.selector")) && obj_len(labels))
		obj_set_path(o, "spec.selector", obj_copy(labels));
	if (!obj_len(obj_path(o, "metadata.labels")) && obj_len(labels))
		obj_set_path(o, "metadata.labels", obj_copy(labels));
	set_workload(o);
}

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void set_binding(struct obj *o)
{
	struct obj *ref = default_map(o, "roleRef"), *list = default_list(o, "subjects");
	if (ref && default_is_absent(obj_get(ref, "apiGroup")))
		obj_set_str(ref, "apiGroup", RBAC_GROUP);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *s = obj_at_mut(list, i);
		const char *kind = obj_str(s, "kind");
		if (obj_type(s) == OBJ_MAP && default_is_absent(obj_get(s, "apiGroup")) &&
		    (cstr_eq(kind, "User") || cstr_eq(kind, "Group")))
			obj_set_str(s, "apiGroup", RBAC_GROUP);
	}
}

static void set_stateful(struct obj *o)
{
	struct obj *spec = default_map(o, "spec");
	struct obj *claims = spec ? default_list(spec, "volumeClaimTemplates") : NULL;
	struct obj *strategy = default_map(spec, "updateStrategy");
	struct obj *rolling = default_map(strategy, "rollingUpdate");
	if (rolling && cstr_eq(obj_str(strategy, "type"), "RollingUpdate") &&
	    default_is_absent(obj_get(rolling, "partition")))
		obj_set_int(rolling, "partition", 0);
	set_template(spec);
	for (size_t i = 0; i < obj_len(claims); i++) {
		struct obj *claim = obj_at_mut(claims, i);
		if (obj_type(claim) != OBJ_MAP)
			continue;
		defaults_apply(claim, claim_rules);
		obj_set_str(claim, "apiVersion", "v1");
		obj_set_str(claim, "kind", "PersistentVolumeClaim");
		if (!obj_as_str(obj_path(claim, "status.phase")).len)
			obj_set_path(claim, "status.phase", obj_string("Pending"));
	}
}

static void set_cron(struct obj *o)
{
	set_job_spec(default_map(default_map(default_map(o, "spec"), "jobTemplate"), "spec"));
}

static void set_service(struct obj *o)
{
	if (cstr_eq(obj_str(o, "spec.sessionAffinity"), "None")) /* that of another one */
		obj_del_path(o, "spec.sessionAffinityConfig");
	if (cstr_eq(obj_str(o, "spec.type"), "ClusterIP") &&
	    obj_len(obj_path(o, "spec.externalIPs")) &&
	    default_is_absent(obj_path(o, "spec.externalTrafficPolicy")))
		obj_set_path(o, "spec.externalTrafficPolicy", obj_string("Cluster"));
	struct obj *spec = default_map(o, "spec"),
		   *ports = spec ? default_list(spec, "ports") : NULL;
	struct obj *balancer = default_map(default_map(o, "status"), "loadBalancer");
	struct obj *given = balancer ? default_list(balancer, "ingress") : NULL;
	for (size_t i = 0; i < obj_len(given) && cstr_eq(obj_str(spec, "type"), "LoadBalancer");
	     i++) {
		const char *ip = obj_str(obj_at(given, i), "ip");
		if (ip && *ip && default_is_absent(obj_get(obj_at(given, i), "ipMode")))
			obj_set_str(obj_at_mut(given, i), "ipMode", "VIP");
	}
	for (size_t i = 0; i < obj_len(ports); i++) {
		struct obj *port = obj_at_mut(ports, i);
		if (obj_type(port) != OBJ_MAP)
			continue;
		if (default_is_absent(obj_get(port, "protocol")))
			obj_set_str(port, "protocol", "TCP");
		int64_t target = 1;
		struct str name = obj_as_str(obj_get(port, "targetPort"));
		if (name.ptr && !name.len)
			target = 0;
		obj_as_i64(obj_get(port, "targetPort"), &target);
		if ((default_is_absent(obj_get(port, "targetPort")) || target == 0) &&
		    obj_get(port, "port"))
			obj_set(port, "targetPort", obj_copy(obj_get(port, "port")));
	}
}

/* clang-format off */
static const struct default_kind kinds[] = {
	{"",      "persistentvolumeclaims", claim_rules,      NULL},
	{"",      "pods",                   own_pod_rules,    set_own_pod},
	{"",      "podtemplates",           NULL,             set_template},
	{"",      "replicationcontrollers", replica_rules,    set_replication},
	{"",      "services",               service_rules,    set_service},
	{"apps",  "daemonsets",             daemon_rules,     set_workload},
	{"apps",  "deployments",            deployment_rules, set_workload},
	{"apps",  "replicasets",            replica_rules,    set_workload},
	{"apps",  "statefulsets",           stateful_rules,   set_stateful},
	{"networking.k8s.io", "networkpolicies", NULL,      set_network},
	{"batch", "cronjobs",               cron_rules,       set_cron},
	{"batch", "jobs",                   job_rules,        set_job},
	{RBAC_GROUP, "clusterrolebindings", NULL,             set_binding},
	{RBAC_GROUP, "rolebindings",        NULL,             set_binding},
};
/* clang-format on */

static bool set_of(struct obj *o, const struct default_kind *list, size_t n, const char *group,
		   const char *plural)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].group, group) != 0 || strcmp(list[i].plural, plural) != 0)
			continue;
		if (list[i].rules)
			defaults_apply(o, list[i].rules);
		if (list[i].set)
			list[i].set(o);
		return true;
	}
	return false;
}

void defaults_set(struct obj *o, const char *group, const char *plural)
{
	size_t n;
	const struct default_kind *more = defaults_of_platform(&n);
	if (!set_of(o, kinds, ARRAY_LEN(kinds), group, plural))
		set_of(o, more, n, group, plural);
}
