#include "alm/unit/ready.h"

#include <string.h>

#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

struct check {
	const struct obj *o;
	struct arena *a;
	bool is_hook;
	const char **why;
};

static enum readiness no(const struct check *c, enum readiness r, const char *why)
{
	*c->why = why;
	return r;
}

static bool is_current(const struct check *c)
{
	return obj_i64(c->o, "status.observedGeneration", 0) >= meta_generation(c->o);
}

/* An int, or a percentage of total, rounded up or down. */
static int64_t int_or_percent(const struct obj *v, int64_t total, bool up, int64_t fallback)
{
	int64_t n;
	struct str s = obj_as_str(v);
	if (obj_as_i64(v, &n))
		return n;
	if (!str_has_suffix(s, STR("%")) || !str_parse_i64(str_sub(s, 0, s.len - 1), &n) || n < 0 ||
	    n > 100 || total < 0 || total > INT32_MAX)
		return fallback;
	return (total * n + (up ? 99 : 0)) / 100;
}

static const char *missing(const struct check *c, const char *what, int64_t have, int64_t want)
{
	return arena_fmt(c->a, "%lld of %lld replicas %s", (long long)have, (long long)want, what);
}

/* No Pod at all: a PodSecurity level, a quota or a webhook forbids them, which only Events tell. */
static const char *podless(const struct check *c, int64_t want)
{
	return arena_fmt(c->a,
			 "no Pod of %lld was made yet; what forbids them, if it lasts: kubectl"
			 " -n %s describe %s %s",
			 (long long)want, meta_namespace(c->o) ? meta_namespace(c->o) : "default",
			 meta_kind(c->o), meta_name(c->o));
}

/* Most often the level of the namespace, which who may do so can raise for a chart that needs it. */
static const char *refused_pod(const struct check *c, const struct condition *failure)
{
	const char *ns = meta_namespace(c->o);
	if (!cstr_eq(failure->reason, "FailedCreate"))
		return arena_strdup(c->a, failure->message);
	return arena_fmt(c->a,
			 "%s; if it is PodSecurity, and these Pods may have what they ask for: "
			 "kubectl label namespace %s pod-security.kubernetes.io/enforce=privileged "
			 "--overwrite",
			 failure->message, ns ? ns : "default");
}

/* As the Deployment controller resolves the two: surge up, unavailable down, never both zero. */
static int64_t may_be_unavailable(const struct obj *o, int64_t want)
{
	const struct obj *rolling = obj_path(o, "spec.strategy.rollingUpdate");
	if (!rolling || !want)
		return 0;
	int64_t surge = int_or_percent(obj_get(rolling, "maxSurge"), want, true, 0);
	int64_t n = int_or_percent(obj_get(rolling, "maxUnavailable"), want, false, 0);
	if (!surge && !n)
		n = 1;
	return n > want ? want : n;
}

static enum readiness deployment(const struct check *c)
{
	struct condition progress;
	const struct obj *o = c->o;
	int64_t want = obj_i64(o, "spec.replicas", 1);
	if (obj_flag(o, "spec.paused", false))
		return READY;
	if (condition_get(o, "Progressing", &progress) && !strcmp(progress.status, "False") &&
	    cstr_eq(progress.reason, "ProgressDeadlineExceeded"))
		return no(c, READY_FAILED, "ProgressDeadlineExceeded");
	if (!is_current(c))
		return no(c, NOT_READY, "the new generation is not observed yet");
	int64_t updated = obj_i64(o, "status.updatedReplicas", 0);
	int64_t available = obj_i64(o, "status.availableReplicas", 0);
	int64_t needed = want - may_be_unavailable(o, want);
	struct condition failure;
	bool fails = condition_get(o, "ReplicaFailure", &failure) &&
		     !strcmp(failure.status, "True") && *failure.message;
	if (updated < want && fails)
		return no(c, NOT_READY, refused_pod(c, &failure));
	if (updated < want)
		return no(c, NOT_READY, missing(c, "updated", updated, want));
	if (available < needed)
		return no(c, NOT_READY, missing(c, "available", available, needed));
	return READY;
}

static enum readiness stateful_set(const struct check *c)
{
	const struct obj *o = c->o;
	int64_t want = obj_i64(o, "spec.replicas", 1);
	int64_t partition = obj_i64(o, "spec.updateStrategy.rollingUpdate.partition", 0);
	if (!is_current(c))
		return no(c, NOT_READY, "the new generation is not observed yet");
	if (cstr_eq(obj_str(o, "spec.updateStrategy.type"), "OnDelete"))
		return READY;
	int64_t updated = obj_i64(o, "status.updatedReplicas", 0);
	int64_t ready = obj_i64(o, "status.readyReplicas", 0);
	if (want > partition && !obj_i64(o, "status.replicas", 0) && !updated)
		return no(c, NOT_READY, podless(c, want));
	if (updated < want - partition)
		return no(c, NOT_READY, missing(c, "updated", updated, want - partition));
	if (ready < want)
		return no(c, NOT_READY, missing(c, "ready", ready, want));
	if (!partition &&
	    !cstr_eq(obj_str(o, "status.currentRevision"), obj_str(o, "status.updateRevision")))
		return no(c, NOT_READY, "Pods of the former revision are left");
	return READY;
}

static enum readiness replica_set(const struct check *c)
{
	int64_t want = obj_i64(c->o, "spec.replicas", 1);
	int64_t ready = obj_i64(c->o, "status.readyReplicas", 0);
	if (!is_current(c))
		return no(c, NOT_READY, "the new generation is not observed yet");
	return ready >= want ? READY : no(c, NOT_READY, missing(c, "ready", ready, want));
}

static enum readiness daemon_set(const struct check *c)
{
	const struct obj *o = c->o;
	int64_t want = obj_i64(o, "status.desiredNumberScheduled", 0);
	if (!is_current(c))
		return no(c, NOT_READY, "the new generation is not observed yet");
	if (cstr_eq(obj_str(o, "spec.updateStrategy.type"), "OnDelete"))
		return READY;
	int64_t updated = obj_i64(o, "status.updatedNumberScheduled", 0);
	int64_t ready = obj_i64(o, "status.numberReady", 0);
	int64_t slack = int_or_percent(
		obj_path(o, "spec.updateStrategy.rollingUpdate.maxUnavailable"), want, true, 1);
	if (want && !obj_i64(o, "status.currentNumberScheduled", 0) && !updated)
		return no(c, NOT_READY, podless(c, want));
	if (updated < want)
		return no(c, NOT_READY, missing(c, "updated", updated, want));
	if (ready < want - slack)
		return no(c, NOT_READY, missing(c, "ready", ready, want));
	return READY;
}

static enum readiness job(const struct check *c)
{
	if (condition_is(c->o, "Failed", "True"))
		return no(c, READY_FAILED, "the Job failed");
	if (obj_i64(c->o, "status.failed", 0) > obj_i64(c->o, "spec.backoffLimit", 6))
		return no(c, READY_FAILED, "the Job failed more often than its backoffLimit");
	if (!c->is_hook || condition_is(c->o, "Complete", "True"))
		return READY;
	return no(c, NOT_READY, "the Job is not complete");
}

/* What keeps it from running: the scheduler's word, or the first container that waits. */
static const char *pod_trouble(const struct check *c)
{
	struct condition scheduled;
	const struct obj *list = obj_path(c->o, "status.containerStatuses");
	if (condition_get(c->o, "PodScheduled", &scheduled) && !strcmp(scheduled.status, "False"))
		return arena_fmt(c->a, "%s: %s", scheduled.reason, scheduled.message);
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *s = obj_at(list, i);
		const char *why = obj_str(s, "state.waiting.reason");
		if (why && strcmp(why, "ContainerCreating") != 0)
			return arena_fmt(c->a, "container %s: %s", obj_str(s, "name"), why);
	}
	return c->is_hook ? "the Pod has not succeeded" : "the Pod is not Ready";
}

static enum readiness pod(const struct check *c)
{
	const char *phase = obj_str(c->o, "status.phase");
	if (cstr_eq(phase, "Failed"))
		return no(c, READY_FAILED, "the Pod failed");
	if (c->is_hook ? cstr_eq(phase, "Succeeded") : condition_is(c->o, "Ready", "True"))
		return READY;
	return no(c, NOT_READY, pod_trouble(c));
}

/* A claim that waits for its first consumer is ready: without a Pod of the release nobody binds it.
 * One that a provisioner was told about is waited for. */
static enum readiness claim(const struct check *c)
{
	const char *phase = obj_str(c->o, "status.phase");
	if (cstr_eq(phase, "Lost"))
		return no(c, READY_FAILED, "the claim is Lost");
	if (!cstr_eq(phase, "Bound") &&
	    (meta_annotation(c->o, "volume.kubernetes.io/storage-provisioner") ||
	     meta_annotation(c->o, "volume.kubernetes.io/selected-node") ||
	     obj_str(c->o, "spec.volumeName")))
		return no(c, NOT_READY, "the claim is not Bound");
	return READY;
}

static enum readiness service(const struct check *c)
{
	const struct obj *o = c->o;
	const char *type = obj_str(o, "spec.type"), *ip = obj_str(o, "spec.clusterIP");
	if (cstr_eq(type, "ExternalName"))
		return READY;
	if (ip && !*ip)
		return no(c, NOT_READY, "the Service has no cluster IP");
	if (!cstr_eq(type, "LoadBalancer") || obj_len(obj_path(o, "spec.externalIPs")) ||
	    obj_len(obj_path(o, "status.loadBalancer.ingress")))
		return READY;
	return no(c, NOT_READY, "the load balancer has no address");
}

static enum readiness api_service(const struct check *c)
{
	return condition_is(c->o, "Available", "True")
		       ? READY
		       : no(c, NOT_READY, "the APIService is not Available");
}

static enum readiness crd(const struct check *c)
{
	struct condition names;
	if (condition_get(c->o, "NamesAccepted", &names) && !strcmp(names.status, "False"))
		return no(c, READY_FAILED,
			  arena_strdup(c->a, names.message ? names.message : "names conflict"));
	if (condition_is(c->o, "Established", "True"))
		return READY;
	return no(c, NOT_READY, "the CRD is not Established");
}

static enum readiness by_conditions(const struct check *c)
{
	struct condition ready;
	const struct obj *o = c->o;
	if (obj_path(o, "status.observedGeneration") && !is_current(c))
		return no(c, NOT_READY, "the new generation is not observed yet");
	if (condition_is(o, "Stalled", "True"))
		return no(c, READY_FAILED, "Stalled");
	if (condition_is(o, "Reconciling", "True"))
		return no(c, NOT_READY, "Reconciling");
	if (condition_get(o, "Ready", &ready) && strcmp(ready.status, "True") != 0)
		return no(c, NOT_READY, "condition Ready is not True");
	return READY;
}

/* What ALM itself reconciles and has not looked at yet says nothing, and that is not Ready. */
static enum readiness ours(const struct check *c)
{
	const char *version = meta_api_version(c->o);
	bool is = cstr_has_prefix(version, "app.coreos.com/") ||
		  cstr_has_prefix(version, "opinstaller.coreos.com/");
	if (is && !obj_path(c->o, "status.observedGeneration"))
		return no(c, NOT_READY, "ALM has not looked at it yet");
	return by_conditions(c);
}

/* clang-format off */
static const struct { const char *kind; enum readiness (*fn)(const struct check *c); } checks[] = {
	{"Deployment", deployment},
	{"StatefulSet", stateful_set},
	{"DaemonSet", daemon_set},
	{"ReplicaSet", replica_set},
	{"ReplicationController", replica_set},
	{"Job", job},
	{"Pod", pod},
	{"PersistentVolumeClaim", claim},
	{"Service", service},
	{"CustomResourceDefinition", crd},
	{"APIService", api_service},
	{"AppType", ours},
	{"InstallStrategy", ours},
	{"Catalog", ours},
	{"Bundle", ours},
};
/* clang-format on */

enum readiness ready_check(const struct obj *live, bool is_hook, struct arena *a,
			   const char **ret_why)
{
	const char *kind = meta_kind(live);
	struct check c = {live, a, is_hook, ret_why};
	*ret_why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (cstr_eq(kind, checks[i].kind))
			return checks[i].fn(&c);
	return by_conditions(&c);
}
