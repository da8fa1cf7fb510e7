/* simulate: see simulate.h. To add a kind: a row in the table. */
#include "alm/apiserver/loops/simulate.h"

#include <string.h>
#include <strings.h>

#include "alm/apiserver/loops/engine.h"
#include "alm/base/map.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

static const struct engine simulator = {"system:alm:simulator", "alm-simulator"};

struct fill {
	int64_t now_ns;
	bool fails, hangs;
};

struct simulate {
	struct apiserver *server;
	struct map *pending; /* uids */
	struct timer timer;
};

static const struct obj *pod_spec(const struct obj *o)
{
	return cstr_eq(meta_kind(o), "Pod") ? obj_get(o, "spec")
					    : obj_path(o, "spec.template.spec");
}

/* Does a container's image have the word in its tag? */
static bool has_tag(const struct obj *o, const char *word)
{
	const struct obj *list = obj_get(pod_spec(o), "containers");
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *image = obj_str(obj_at(list, i), "image");
		struct str name, tag = {NULL, 0};
		if (image && str_rcut(str_of(image), ':', &name, &tag) &&
		    str_contains(tag, str_of(word)))
			return true;
	}
	return false;
}

static struct obj *status_of(struct obj *o)
{
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *s = obj_get_mut(o, "status");
	int64_t generation = meta_generation(o);
	if (generation)
		obj_set_int(s, "observedGeneration", generation);
	return s;
}

static struct obj *conditions_of(struct obj *status)
{
	if (obj_type(obj_get(status, "conditions")) != OBJ_LIST)
		obj_set(status, "conditions", obj_list());
	return obj_get_mut(status, "conditions");
}

static void fill_deployment(struct obj *o, const struct fill *f)
{
	struct obj *s = status_of(o);
	int64_t want = obj_i64(o, "spec.replicas", 1), ready = f->fails ? 0 : want;
	struct condition available = {
		.type = "Available",
		.status = f->fails ? "False" : "True",
		.reason = f->fails ? "MinimumReplicasUnavailable" : "MinimumReplicasAvailable",
		.message = f->fails ? "Deployment does not have minimum availability."
				    : "Deployment has minimum availability."};
	struct condition progressing = {
		.type = "Progressing",
		.status = "True",
		.reason = f->fails ? "ReplicaSetUpdated" : "NewReplicaSetAvailable",
		.message = f->fails ? "ReplicaSet is progressing."
				    : "ReplicaSet has successfully progressed."};
	obj_set_int(s, "replicas", want);
	obj_set_int(s, "updatedReplicas", want);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
	if (f->fails)
		obj_set_int(s, "unavailableReplicas", want);
	else
		obj_del(s, "unavailableReplicas");
	condition_set(conditions_of(s), &available, f->now_ns);
	condition_set(conditions_of(s), &progressing, f->now_ns);
}

static void fill_statefulset(struct obj *o, const struct fill *f)
{
	struct obj *s = status_of(o);
	int64_t want = obj_i64(o, "spec.replicas", 1), ready = f->fails ? 0 : want;
	obj_set_int(s, "replicas", want);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
	obj_set_int(s, "currentReplicas", want);
	obj_set_int(s, "updatedReplicas", want);
	obj_set_str(s, "currentRevision", "simulated");
	obj_set_str(s, "updateRevision", "simulated");
}

static void fill_daemonset(struct obj *o, const struct fill *f)
{
	struct obj *s = status_of(o);
	int64_t ready = f->fails ? 0 : 1; /* one node */
	obj_set_int(s, "desiredNumberScheduled", 1);
	obj_set_int(s, "currentNumberScheduled", 1);
	obj_set_int(s, "updatedNumberScheduled", 1);
	obj_set_int(s, "numberMisscheduled", 0);
	obj_set_int(s, "numberReady", ready);
	obj_set_int(s, "numberAvailable", ready);
}

static void fill_job(struct obj *o, const struct fill *f)
{
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *s = obj_get_mut(o, "status");
	char now[CLOCK_TEXT_MAX];
	clock_format(f->now_ns, CLOCK_SECONDS, now);
	struct condition done = {.type = f->fails ? "Failed" : "Complete",
				 .status = "True",
				 .reason = f->fails ? "BackoffLimitExceeded" : "CompletionsReached",
				 .message = f->fails ? "Job has reached the specified backoff limit"
						     : "Reached expected number of succeeded pods"};
	if (!obj_has(s, "startTime"))
		obj_set_str(s, "startTime", now);
	if (f->hangs) {
		obj_set_int(s, "active", 1);
		return;
	}
	if (obj_len(obj_get(s, "conditions")))
		return; /* a job runs once */
	obj_del(s, "active");
	obj_set_int(s, f->fails ? "failed" : "succeeded", obj_i64(o, "spec.completions", 1));
	if (!f->fails)
		obj_set_str(s, "completionTime", now);
	condition_set(conditions_of(s), &done, f->now_ns);
}

static void fill_replicaset(struct obj *o, const struct fill *f)
{
	struct obj *s = status_of(o);
	int64_t want = obj_i64(o, "spec.replicas", 1), ready = f->fails ? 0 : want;
	obj_set_int(s, "replicas", want);
	obj_set_int(s, "fullyLabeledReplicas", want);
	obj_set_int(s, "readyReplicas", ready);
	obj_set_int(s, "availableReplicas", ready);
}

/* One that is not restarted runs to its end, the others stay up. */
static void fill_pod(struct obj *o, const struct fill *f)
{
	const char *policy = obj_str(o, "spec.restartPolicy");
	bool once = cstr_eq(policy, "Never") || cstr_eq(policy, "OnFailure");
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *s = obj_get_mut(o, "status");
	const char *phase = obj_str(s, "phase");
	if (cstr_eq(phase, "Succeeded") || cstr_eq(phase, "Failed"))
		return; /* it has ended */
	bool up = !f->fails && (!once || f->hangs);
	struct condition ready = {.type = "Ready",
				  .status = up ? "True" : "False",
				  .reason = once && !f->hangs ? "PodCompleted"
					    : up              ? "PodReady"
							      : "ContainersNotReady"};
	obj_set_str(s, "phase", !once || f->hangs ? "Running" : f->fails ? "Failed" : "Succeeded");
	condition_set(conditions_of(s), &ready, f->now_ns);
}

static void fill_claim(struct obj *o, const struct fill *f)
{
	(void)f;
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	obj_set_str(obj_get_mut(o, "status"), "phase", "Bound");
}

/* A load balancer gets an address of the documentation range (RFC 5737). */
static void fill_service(struct obj *o, const struct fill *f)
{
	(void)f;
	if (!cstr_eq(obj_str(o, "spec.type"), "LoadBalancer") ||
	    obj_len(obj_path(o, "status.loadBalancer.ingress")))
		return;
	struct obj *list = obj_list(), *ingress = obj_map();
	obj_set_str(ingress, "ip", "192.0.2.1");
	obj_append(list, ingress);
	obj_set_path(o, "status.loadBalancer.ingress", list);
}

/* As the aggregator says it once the Service answers; ALM and others wait for it (ready.c). */
static void fill_api_service(struct obj *o, const struct fill *f)
{
	bool local = !obj_get(obj_get(o, "spec"), "service");
	struct condition available = {.type = "Available",
				      .status = "True",
				      .reason = local ? "Local" : "Passed",
				      .message = local ? "Local APIServices are always available"
						       : "all checks passed (simulated)"};
	condition_set(conditions_of(status_of(o)), &available, f->now_ns);
}

/* Whatever ready.c waits for on the word of a controller that does not run here has a row. */
static const struct {
	const char *group, *plural;
	void (*fill)(struct obj *o, const struct fill *f);
} workloads[] = {
	{"apps", "deployments", fill_deployment},
	{"apps", "statefulsets", fill_statefulset},
	{"apps", "daemonsets", fill_daemonset},
	{"apps", "replicasets", fill_replicaset},
	{"batch", "jobs", fill_job},
	{"", "replicationcontrollers", fill_replicaset},
	{"", "pods", fill_pod},
	{"", "persistentvolumeclaims", fill_claim},
	{"", "services", fill_service},
	{"apiregistration.k8s.io", "apiservices", fill_api_service},
};

static void edit_status(void *arg, struct obj *o)
{
	const int64_t *now = arg;
	const char *kind = meta_kind(o);
	struct fill f = {.now_ns = *now, .fails = has_tag(o, "fail"), .hangs = has_tag(o, "hang")};
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		/* "Deployment" and "deployments" */
		size_t n = kind ? strlen(kind) : 0;
		if (n && strncasecmp(kind, workloads[i].plural, n) == 0 &&
		    workloads[i].plural[n] == 's')
			workloads[i].fill(o, &f);
	}
}

static void due(void *arg)
{
	struct simulate *m = arg;
	int64_t now = loop_now(m->server->loop);
	int left = ENGINE_BATCH;
	for (struct map_entry *e = map_first(m->pending); e && left;
	     e = map_first(m->pending), left--) {
		struct error err = ERROR_INIT;
		struct head *h = store_by_uid(m->server->store, e->key);
		CLEANUP(xfreep) char *uid = xstrdup(e->key);
		map_del(m->pending, uid);
		if (h)
			engine_update(m->server, &simulator, h, "status", edit_status, &now, &err);
	}
	if (map_count(m->pending))
		loop_arm(m->server->loop, &m->timer, 0);
}

static void look_at(struct simulate *m, const struct store_table *res, struct str text)
{
	char uid[STORE_UID_TEXT];
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		if (!cstr_eq(workloads[i].group, res->group) ||
		    !cstr_eq(workloads[i].plural, res->plural) || !text_uid(text, uid))
			continue;
		map_set(m->pending, uid, NULL);
		if (!heap_holds(&m->timer.node))
			loop_arm(m->server->loop, &m->timer, SIMULATE_DELAY_NS);
	}
}

static void changed(void *arg, const struct change *c)
{
	if (!c->deleted)
		look_at(arg, c->resource, text_str(c->after));
}

void simulate_load(struct simulate *m)
{
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		struct store_table *res =
			store_resource(m->server->store, workloads[i].group, workloads[i].plural);
		for (size_t j = 0; j < res->n_heads; j++)
			look_at(m, res, text_str(res->heads[j]->text));
	}
}

struct simulate *simulate_new(struct apiserver *s)
{
	struct simulate *m = xcalloc(1, sizeof(*m));
	m->server = s;
	m->pending = map_new(NULL);
	m->timer.fn = due;
	m->timer.arg = m;
	store_on_change(s->store, changed, m);
	return m;
}

void simulate_free(struct simulate *m)
{
	if (!m)
		return;
	loop_disarm(m->server->loop, &m->timer);
	map_free(m->pending);
	xfree(m);
}
