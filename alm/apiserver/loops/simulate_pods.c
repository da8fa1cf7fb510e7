/* simulate_pods: Pods and what a kubelet would say of them. See simulate_internal.h. */
#include <string.h>

#include "alm/apiserver/kinds/pod_amount.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/simulate.h"
#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

/* What its containers are at. */
enum stage { RUNNING, WAITING, RESTARTING, ENDED };

struct life {
	struct fault fault;
	enum stage stage;
	bool is_scheduled, failed;
	const char *phase;
};

/* One that is not restarted runs to its end, the others stay up. */
static struct life life_of(const struct obj *pod, const struct fault *f)
{
	const char *policy = obj_str(pod, "spec.restartPolicy");
	bool once = cstr_eq(policy, "Never") || cstr_eq(policy, "OnFailure");
	struct life l = {.fault = *f, .is_scheduled = f->kind != FAULT_UNSCHEDULABLE};
	switch (f->kind) {
	case FAULT_NONE:
	case FAULT_DEADLINE:
	case FAULT_PODLESS:
		l.stage = once ? ENDED : RUNNING;
		break;
	case FAULT_HANGS:
		l.stage = RUNNING;
		break;
	case FAULT_UNREADY:
	case FAULT_EVENT:
		l.stage = once && f->kind == FAULT_UNREADY ? ENDED : WAITING;
		l.failed = once;
		l.fault.reason = "ContainerCreating";
		l.fault.message = "";
		break;
	case FAULT_ENDED:
		l.stage = once ? ENDED : RESTARTING;
		l.failed = true;
		break;
	case FAULT_JOB:
	case FAULT_EVICTED:
		l.stage = ENDED;
		l.failed = true;
		break;
	case FAULT_WAITS:
		l.stage = cstr_eq(f->reason, "CrashLoopBackOff") ? RESTARTING : WAITING;
		break;
	case FAULT_UNSCHEDULABLE:
		l.stage = WAITING;
		break;
	}
	l.phase = l.stage == WAITING ? "Pending"
		  : l.stage != ENDED ? "Running"
		  : l.failed         ? "Failed"
				     : "Succeeded";
	return l;
}

static struct obj *ended(const struct pass *p, const struct life *l)
{
	struct obj *t = obj_map();
	bool oom = cstr_eq(l->fault.reason, "OOMKilled");
	bool named = l->fault.kind == FAULT_ENDED;
	obj_set_int(t, "exitCode", !l->failed && l->stage == ENDED ? 0 : oom ? 137 : 1);
	obj_set_str(t, "reason",
		    named                             ? l->fault.reason
		    : !l->failed && l->stage == ENDED ? "Completed"
						      : "Error");
	obj_set_str(t, "message", named && *l->fault.message ? l->fault.message : NULL);
	obj_set_str(t, "startedAt", p->now);
	obj_set_str(t, "finishedAt", p->now);
	return t;
}

static struct obj *waiting(const char *reason, const char *message)
{
	struct obj *w = obj_map();
	obj_set_str(w, "reason", reason);
	obj_set_str(w, "message", *message ? message : NULL);
	return w;
}

/* What a container is given is what it asks for, at once (KEP-1287). */
static void set_resources(struct obj *status, const struct obj *container)
{
	const struct obj *asked = obj_get(container, "resources");
	const struct obj *requests = obj_get(asked, "requests");
	struct obj *given = obj_copy_map(asked);
	obj_del(given, "claims");
	obj_del(status, "allocatedResources");
	if (obj_len(requests))
		obj_set(status, "allocatedResources", obj_copy(requests));
	obj_set(status, "resources", given);
}

static struct obj *container_status(const struct pass *p, const struct life *l,
				    const struct obj *container)
{
	struct obj *s = obj_map(), *state = obj_map(), *last = obj_map(), *run = obj_map();
	bool back_off = l->fault.kind == FAULT_ENDED || !*l->fault.message;
	obj_set_str(run, "startedAt", p->now);
	if (l->stage == RUNNING)
		obj_set(state, "running", obj_ref(run));
	else if (l->stage == ENDED)
		obj_set(state, "terminated", ended(p, l));
	else if (l->stage == WAITING)
		obj_set(state, "waiting", waiting(l->fault.reason, l->fault.message));
	else
		obj_set(state, "waiting",
			waiting("CrashLoopBackOff", back_off
							    ? "back-off restarting failed container"
							    : l->fault.message));
	if (l->stage == RESTARTING)
		obj_set(last, "terminated", ended(p, l));
	obj_unref(run);
	obj_set_str(s, "name", obj_str(container, "name"));
	obj_set(s, "state", state);
	obj_set(s, "lastState", last);
	obj_set_bool(s, "ready", l->stage == RUNNING);
	obj_set_int(s, "restartCount", l->stage == RESTARTING);
	obj_set_str(s, "image", obj_str(container, "image"));
	obj_set_str(s, "imageID", "");
	obj_set_bool(s, "started", l->stage == RUNNING);
	if (l->stage == RUNNING)
		set_resources(s, container);
	return s;
}

/* As a kubelet prints them: without what is empty. */
static void add_condition(const struct pass *p, struct obj *s, const char *type, bool is_true,
			  const char *reason, const char *message)
{
	struct obj *c = obj_map();
	obj_set_str(c, "type", type);
	obj_set_str(c, "status", is_true ? "True" : "False");
	obj_set(c, "lastProbeTime", obj_null());
	obj_set_str(c, "lastTransitionTime", p->now);
	obj_set_str(c, "reason", reason);
	obj_set_str(c, "message", message && *message ? message : NULL);
	if (!obj_has(s, "conditions"))
		obj_set(s, "conditions", obj_list());
	obj_append(obj_get_mut(s, "conditions"), c);
}

static void set_conditions(const struct pass *p, struct obj *s, const struct life *l)
{
	bool up = l->stage == RUNNING;
	const char *why = up                                ? NULL
			  : l->stage == ENDED && !l->failed ? "PodCompleted"
			  : l->stage == ENDED               ? "PodFailed"
							    : "ContainersNotReady";
	if (!l->is_scheduled) {
		add_condition(p, s, "PodScheduled", false, l->fault.reason, l->fault.message);
		return;
	}
	add_condition(p, s, "Initialized", true, NULL, NULL);
	add_condition(p, s, "Ready", up, why, NULL);
	add_condition(p, s, "ContainersReady", up, why, NULL);
	add_condition(p, s, "PodScheduled", true, NULL, NULL);
}

/* Nothing answers there. */
static void set_address(struct pass *p, struct obj *s)
{
	uint64_t n = loop_random_below(p->server->loop, 65024) + 256;
	struct obj *ips = obj_list(), *ip = obj_map();
	obj_set(s, "podIP", obj_stringf("10.244.%u.%u", (unsigned)(n >> 8), (unsigned)(n & 255)));
	obj_set_str(ip, "ip", obj_str(s, "podIP"));
	obj_append(ips, ip);
	obj_set(s, "podIPs", ips);
}

static void set_containers(struct pass *p, struct obj *pod, struct obj *s, const struct life *l)
{
	const struct obj *list = obj_path(pod, "spec.containers");
	struct obj *statuses = obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		obj_append(statuses, container_status(p, l, obj_at(list, i)));
	obj_set(s, "containerStatuses", statuses);
}

/* Of a Pod under construction that has no status of ours yet. */
static void set_status(struct pass *p, struct obj *pod, const struct fault *f)
{
	struct life l = life_of(pod, f);
	obj_set(pod, "status", obj_map());
	struct obj *s = obj_get_mut(pod, "status");
	obj_set_str(s, "phase", l.phase);
	obj_set_str(s, "qosClass", pod_quality(pod));
	set_conditions(p, s, &l);
	if (!l.is_scheduled)
		return;
	obj_set_str(s, "startTime", p->now);
	if (f->kind == FAULT_EVICTED) {
		obj_set_str(s, "reason", f->reason);
		obj_set_str(s, "message", f->message);
		return;
	}
	set_containers(p, pod, s, &l);
	if (l.stage != WAITING)
		set_address(p, s);
	if (!obj_str(pod, "spec.nodeName"))
		obj_set_path(pod, "spec.nodeName", obj_string(SIM_NODE));
}

static void tell_event(struct pass *p, const char *ns, const char *name, const char *uid,
		       const struct fault *f)
{
	struct error err = ERROR_INIT;
	struct obj *e = meta_skeleton("v1", "Event", ns, arena_fmt(p->a, "%s.%.8s", name, uid));
	struct obj *on = obj_map();
	obj_set_str(on, "kind", "Pod");
	obj_set_str(on, "namespace", ns);
	obj_set_str(on, "name", name);
	obj_set_str(on, "uid", uid);
	obj_set_str(on, "apiVersion", "v1");
	obj_set(e, "involvedObject", on);
	obj_set_str(e, "reason", f->reason);
	obj_set_str(e, "message", f->message);
	obj_set_str(e, "type", "Warning");
	obj_set_path(e, "source.component", obj_string("kubelet"));
	obj_set_str(e, "firstTimestamp", p->now);
	obj_set_str(e, "lastTimestamp", p->now);
	obj_set_int(e, "count", 1);
	engine_ensure(p->server, e, &err);
}

/* Its status has nothing to say, or speaks of other images. What has ended stays so. */
static bool needs_status(const struct obj *pod)
{
	static const char *const over[] = {"Succeeded", "Failed", NULL};
	const struct obj *list = obj_path(pod, "spec.containers");
	const struct obj *have = obj_path(pod, "status.containerStatuses");
	if (cstr_in(obj_str(pod, "status.phase"), over))
		return false;
	if (!obj_len(have))
		return !cstr_eq(
			obj_str(condition_find(obj_path(pod, "status.conditions"), "PodScheduled"),
				"status"),
			"False");
	for (size_t i = 0; i < obj_len(list); i++)
		if (!cstr_eq(obj_str(obj_at(list, i), "image"), obj_str(obj_at(have, i), "image")))
			return true;
	return false;
}

/* status NULL, or of a container that is not up: it is given nothing. */
static bool lags_behind(const struct obj *status, const struct obj *container)
{
	static const char *const amounts[] = {"requests", "limits"};
	const struct obj *asked = obj_get(container, "resources");
	const struct obj *given = obj_get(status, "resources");
	if (!obj_is_set(given) || !cstr_eq(obj_str(status, "name"), obj_str(container, "name")))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
		const struct obj *a = obj_get(asked, amounts[i]), *b = obj_get(given, amounts[i]);
		if (obj_len(a) + obj_len(b) && !obj_equal(a, b))
			return true;
	}
	return false;
}

/* A resize that was taken is done: nothing of the containers is started anew. */
static void follow_resize(struct pass *p)
{
	const struct obj *list = obj_path(p->o, "spec.containers");
	const struct obj *have = obj_path(p->o, "status.containerStatuses");
	struct obj *pod = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		if (!lags_behind(obj_at(have, i), obj_at(list, i)))
			continue;
		if (!pod)
			pod = sim_copy(p, p->o);
		struct obj *statuses = obj_get_mut(obj_get_mut(pod, "status"), "containerStatuses");
		set_resources(obj_at_mut(statuses, i), obj_at(list, i));
	}
	if (pod)
		sim_put(p, p->o, pod);
}

void sim_pod(struct pass *p)
{
	if (!needs_status(p->o)) {
		follow_resize(p);
		return;
	}
	struct obj *pod = sim_copy(p, p->o);
	set_status(p, pod, &p->fault);
	sim_put(p, p->o, pod);
	if (p->fault.kind == FAULT_EVENT)
		tell_event(p, meta_namespace(pod), meta_name(pod), meta_uid(pod), &p->fault);
}

/* --- the Pods of a workload --- */

static void mount_claims(struct pass *p, struct obj *pod, const struct obj *owner)
{
	const struct obj *claims = obj_path(owner, "spec.volumeClaimTemplates");
	struct obj *volumes = obj_copy_list(obj_path(pod, "spec.volumes"));
	for (size_t i = 0; i < obj_len(claims); i++) {
		char uid[STORE_UID_TEXT];
		const struct obj *t = obj_at(claims, i);
		const char *name = arena_fmt(p->a, "%s-%s", meta_name(t) ? meta_name(t) : "data",
					     meta_name(pod));
		struct obj *v = obj_map(), *source = obj_map();
		struct obj *claim =
			meta_skeleton("v1", "PersistentVolumeClaim", meta_namespace(owner), name);
		sim_labels(claim, obj_path(t, "metadata.labels"));
		sim_labels(claim, obj_path(owner, "spec.selector.matchLabels"));
		obj_set(claim, "spec", obj_copy_map(obj_get(t, "spec")));
		sim_create(p, claim, uid);
		obj_set_str(source, "claimName", name);
		obj_set_str(v, "name", meta_name(t));
		obj_set(v, "persistentVolumeClaim", source);
		obj_append(volumes, v);
	}
	obj_set_path(pod, "spec.volumes", volumes);
}

static void create_pod(struct pass *p, const struct pod_set *set, size_t i)
{
	char uid[STORE_UID_TEXT];
	const char *base = meta_name(set->owner);
	const char *name = set->ordinal ? arena_fmt(p->a, "%s-%zu", base, i) : NULL;
	struct obj *pod = sim_child("v1", "Pod", name, set->owner);
	const struct obj *notes = obj_path(set->template, "metadata.annotations");
	if (!name)
		obj_set_path(pod, "metadata.generateName", obj_stringf("%s-", base));
	sim_labels(pod, obj_path(set->template, "metadata.labels"));
	sim_labels(pod, set->labels);
	if (obj_len(notes))
		obj_set_path(pod, "metadata.annotations", obj_copy(notes));
	obj_set(pod, "spec", obj_copy_map(obj_get(set->template, "spec")));
	if (name) {
		meta_set_label(pod, "statefulset.kubernetes.io/pod-name",
			       strlen(name) <= 63 ? name : NULL);
		meta_set_label(pod, "apps.kubernetes.io/pod-index", arena_fmt(p->a, "%zu", i));
		obj_set_path(pod, "spec.hostname", obj_string(name));
		obj_set_str(obj_get_mut(pod, "spec"), "subdomain",
			    obj_str(set->owner, "spec.serviceName"));
		if (obj_len(obj_path(set->owner, "spec.volumeClaimTemplates")))
			mount_claims(p, pod, set->owner);
	}
	set_status(p, pod, &p->fault);
	const char *ns = meta_namespace(set->owner);
	struct obj *made = obj_keep(p->a, obj_ref(pod));
	if (sim_create(p, pod, uid) && p->fault.kind == FAULT_EVENT)
		tell_event(p, ns, meta_name(made), uid, &p->fault);
}

/* The number of a Pod of a StatefulSet; SIM_PODS_MAX: it has none that counts. */
static size_t ordinal_of(const struct obj *pod, const struct obj *owner)
{
	int64_t n;
	const char *name = meta_name(pod), *base = meta_name(owner);
	size_t len = strlen(base);
	if (!cstr_has_prefix(name, base) || name[len] != '-' ||
	    !str_parse_i64(str_of(name + len + 1), &n) || n < 0 || n >= SIM_PODS_MAX)
		return SIM_PODS_MAX;
	return (size_t)n;
}

void sim_pods(struct pass *p, const struct pod_set *set)
{
	struct children c;
	bool there[SIM_PODS_MAX] = {false};
	size_t have = 0, want = set->want < 0 ? 0 : (size_t)set->want;
	if (want > SIM_PODS_MAX)
		want = SIM_PODS_MAX;
	if (p->fault.kind == FAULT_PODLESS)
		want = 0;
	sim_children(p, meta_uid(set->owner), "", "pods", &c);
	for (size_t i = 0; i < c.n; i++) {
		const struct obj *pod = c.items[i];
		size_t at = set->ordinal ? ordinal_of(pod, set->owner) : have;
		bool stale = set->revision &&
			     !cstr_eq(meta_label(pod, "controller-revision-hash"), set->revision);
		if (meta_is_deleting(pod) && !set->ordinal)
			continue;
		if (stale || at >= want) {
			sim_delete(p, pod);
			continue;
		}
		there[at] = true;
		have++;
	}
	for (size_t i = 0; i < want; i++)
		if (!there[i])
			create_pod(p, set, i);
}
