/* simulate: see simulate.h. To add a kind: a row in the table. */
#include "alm/apiserver/loops/simulate.h"

#include <string.h>

#include "alm/apiserver/kinds/services.h"
#include "alm/apiserver/loops/engine.h"
#include "alm/apiserver/loops/simulate_internal.h"
#include "alm/base/map.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* Objects of one turn: each may be a dozen writes. */
#define BATCH        8
#define ARENA_BYTES  (STORE_VALUE_BYTES_MAX * 8)
#define AGAIN_MAX_NS NS_PER_DAY /* no timer of ours sleeps for longer */

/* In order: services are looked at when the Pods behind them stand. */
enum round { WORKLOADS, SERVICES, N_ROUNDS };

struct round_queue {
	struct simulate *m;
	struct map *uids; /* in order */
	struct timer timer;
};

struct simulate {
	struct apiserver *server;
	struct round_queue rounds[N_ROUNDS];
	struct map *later; /* uid -> owned int64_t, when to look again */
	struct timer later_timer;
};

/* Whatever ready.c waits for on the word of a controller that does not run here has a row. */
static const struct workload {
	const char *group, *plural;
	enum round round;
	void (*reconcile)(struct pass *p);
} workloads[] = {
	{"apps", "deployments", WORKLOADS, sim_deployment},
	{"apps", "statefulsets", WORKLOADS, sim_statefulset},
	{"apps", "daemonsets", WORKLOADS, sim_daemonset},
	{"apps", "replicasets", WORKLOADS, sim_replicaset},
	{"batch", "jobs", WORKLOADS, sim_job},
	{"batch", "cronjobs", WORKLOADS, sim_cronjob},
	{"", "replicationcontrollers", WORKLOADS, sim_replicaset},
	{"", "pods", WORKLOADS, sim_pod},
	{"", "persistentvolumeclaims", WORKLOADS, sim_claim},
	{"", "persistentvolumes", WORKLOADS, sim_volume},
	{"", "services", SERVICES, sim_service},
	{"apiregistration.k8s.io", "apiservices", WORKLOADS, sim_api_service},
};

static const struct workload *workload_of(const struct store_table *res)
{
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++)
		if (cstr_eq(workloads[i].group, res->group) &&
		    cstr_eq(workloads[i].plural, res->plural))
			return &workloads[i];
	return NULL;
}

static void look_at(struct simulate *m, enum round round, const char *uid)
{
	struct round_queue *q = &m->rounds[round];
	map_set(q->uids, uid, NULL);
	if (!heap_holds(&q->timer.node))
		loop_arm(m->server->loop, &q->timer, SIMULATE_DELAY_NS * (round + 1));
}

/* --- later --- */

static void arm_later(struct simulate *m)
{
	int64_t now = loop_now(m->server->loop), first = 0;
	for (struct map_entry *e = map_first(m->later); e; e = map_next(e)) {
		const int64_t *at = e->value;
		if (!first || *at < first)
			first = *at;
	}
	if (!first)
		return;
	int64_t left = first - now;
	loop_arm(m->server->loop, &m->later_timer, left > AGAIN_MAX_NS ? AGAIN_MAX_NS : left);
}

static void look_later(struct simulate *m, const char *uid, int64_t at_ns)
{
	if (!at_ns) {
		map_del(m->later, uid);
		return;
	}
	int64_t *at = xmalloc(sizeof(*at));
	*at = at_ns;
	map_set(m->later, uid, at);
	arm_later(m);
}

static void later_due(void *arg)
{
	struct simulate *m = arg;
	int64_t now = loop_now(m->server->loop);
	for (struct map_entry *e = map_first(m->later), *next; e; e = next) {
		const int64_t *at = e->value;
		next = map_next(e);
		if (*at > now)
			continue;
		look_at(m, WORKLOADS, e->key);
		map_del(m->later, e->key);
	}
	arm_later(m);
}

/* --- reconciling --- */

static void reconcile(struct simulate *m, struct head *h)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	CLEANUP(xfreep) char *uid = xstrdup(h->uid);
	const struct workload *w = workload_of(h->resource);
	struct pass p = {.server = m->server, .a = a, .now_ns = loop_now(m->server->loop)};
	p.o = w ? head_obj(h, a) : NULL;
	if (!p.o || meta_is_deleting(p.o))
		return;
	clock_format(p.now_ns, CLOCK_SECONDS, p.now);
	p.fault = sim_fault(p.o, a);
	sim_limits(&p);
	w->reconcile(&p);
	look_later(m, uid, p.again_ns);
}

static void due(void *arg)
{
	struct round_queue *q = arg;
	struct simulate *m = q->m;
	int left = BATCH;
	for (struct map_entry *e = map_first(q->uids); e && left; e = map_first(q->uids), left--) {
		struct head *h = store_by_uid(m->server->store, e->key);
		map_del(q->uids, e->key);
		if (h)
			reconcile(m, h);
	}
	if (map_count(q->uids))
		loop_arm(m->server->loop, &q->timer, 0);
}

/* Who controls the object has to count anew. */
static void look_at_owner(struct simulate *m, const struct obj *o)
{
	for (size_t i = 0; i < meta_owner_count(o); i++) {
		struct owner_ref ref;
		struct head *h = meta_owner(o, i, &ref) && ref.controller && ref.uid
					 ? store_by_uid(m->server->store, ref.uid)
					 : NULL;
		const struct workload *w = h ? workload_of(h->resource) : NULL;
		if (w)
			look_at(m, w->round, ref.uid);
	}
}

/* The Services that may select the Pod. */
static void look_at_services(struct simulate *m, const struct obj *pod)
{
	const struct obj *labels = obj_path(pod, "metadata.labels");
	const struct store_table *services = store_resource(m->server->store, "", "services");
	OBJ_EACH (it, labels) {
		size_t n;
		void *const *heads = services_selecting(services, meta_namespace(pod), it.key,
							obj_as_string(it.value), &n);
		for (size_t i = 0; i < n; i++)
			look_at(m, SERVICES, ((const struct head *)heads[i])->uid);
	}
}

static void changed(void *arg, const struct change *c)
{
	struct simulate *m = arg;
	char uid[STORE_UID_TEXT];
	struct error err = ERROR_INIT;
	const struct workload *w = workload_of(c->resource);
	struct obj *o = NULL;
	if (w && !c->deleted && text_uid(text_str(c->after), uid))
		look_at(m, w->round, uid);
	bool is_pod = w && w->reconcile == sim_pod;
	if (!is_pod && !strstr(c->after->bytes, "\"controller\":true"))
		return;
	if (json_parse(text_str(c->after), &o, &err) < 0)
		return;
	look_at_owner(m, o);
	if (is_pod)
		look_at_services(m, o);
	obj_unref(o);
}

void simulate_load(struct simulate *m)
{
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		struct store_table *res =
			store_resource(m->server->store, workloads[i].group, workloads[i].plural);
		for (size_t j = 0; j < res->n_heads; j++)
			look_at(m, workloads[i].round, res->heads[j]->uid);
	}
}

struct simulate *simulate_new(struct apiserver *s)
{
	struct simulate *m = xcalloc(1, sizeof(*m));
	m->server = s;
	m->later = map_new(xfree);
	m->later_timer = (struct timer){.fn = later_due, .arg = m};
	for (size_t i = 0; i < N_ROUNDS; i++) {
		m->rounds[i].m = m;
		m->rounds[i].uids = map_new(NULL);
		m->rounds[i].timer = (struct timer){.fn = due, .arg = &m->rounds[i]};
	}
	store_on_change(s->store, changed, m);
	return m;
}

void simulate_free(struct simulate *m)
{
	if (!m)
		return;
	loop_disarm(m->server->loop, &m->later_timer);
	map_free(m->later);
	for (size_t i = 0; i < N_ROUNDS; i++) {
		loop_disarm(m->server->loop, &m->rounds[i].timer);
		map_free(m->rounds[i].uids);
	}
	xfree(m);
}
