/*
 * Changes become keys, keys reconciles, reconciles runs of the executor; what ended comes back as a
 * key.
 */
#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/pool.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/pass_text.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define PASS_BYTES_MAX    ((size_t)256 << 20)
#define PASSES_A_TURN_MAX 3 /* of a controller, 1 to 3 ms each; the queue calls again */
#define TRIM_TREES_BYTES  ((size_t)4 << 20)
#define TRIM_AFTER_NS     (2 * NS_PER_S)

static struct worker *worker_of(struct manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_workers; i++)
		if (!strcmp(m->workers[i].c->name, name))
			return &m->workers[i];
	return NULL;
}

/* Before the caches are complete nothing is queued: enqueue_all() has every key then. */
static void enqueue(struct worker *w, const char *key, const char *trigger)
{
	if (!w->m->ready || (w->m->unread && w->c->awaits_sources))
		return;
	queue_add(w->queue, key);
	queue_because(w->queue, key, trigger);
}

/* --- catalogs that were not read yet --- */

#define UNREAD_NS (5 * NS_PER_S) /* a server that does not answer holds nobody up for longer */

/* What they decided by catalogs that nobody has read would be taken back a moment later. */
static void catalogs_read(void *arg)
{
	struct manager *m = arg;
	loop_disarm(m->c.loop, &m->unread_over);
	map_free(STEAL(m->unread));
	manager_enqueue_kind(m, "apptype", WATCH_APPTYPE, "Startup");
	manager_enqueue_kind(m, "strategy", WATCH_STRATEGY, "Startup");
}

void manager_await_catalogs(struct manager *m)
{
	const struct informer_object *io = NULL;
	if (m->c.units || !informer_count(m->fixed[WATCH_CATALOG].informer))
		return;
	m->unread = map_new(NULL);
	while ((io = informer_next(m->fixed[WATCH_CATALOG].informer, io)))
		map_set(m->unread, io->name, NULL);
	m->unread_over = (struct timer){.fn = catalogs_read, .arg = m};
	loop_arm(m->c.loop, &m->unread_over, UNREAD_NS);
}

static void note_catalog_pass(struct manager *m, const char *controller, const char *key)
{
	if (!m->unread || strcmp(controller, "catalog") != 0)
		return;
	map_del(m->unread, key);
	if (!map_count(m->unread))
		catalogs_read(m);
}

void manager_enqueue(struct manager *m, const char *controller, const char *key,
		     const char *trigger)
{
	struct worker *w = worker_of(m, controller);
	if (w)
		enqueue(w, key, trigger);
}

/* Those that one change concerns. */
struct change {
	struct worker *w;
	const char *trigger;
};

static bool enqueue_one(void *arg, const struct informer_object *io)
{
	const struct change *c = arg;
	enqueue(c->w, io->name, c->trigger);
	return true;
}

static void enqueue_strategies(struct manager *m, struct change c, const char *app)
{
	const struct informer_object *io = NULL;
	if (app)
		manager_strategies_each(m, app, enqueue_one, &c);
	while (!app && (io = informer_next(m->fixed[WATCH_STRATEGY].informer, io)))
		enqueue(c.w, io->name, c.trigger);
}

void manager_enqueue_strategies(struct manager *m, const char *app, const char *trigger)
{
	struct worker *w = worker_of(m, "strategy");
	if (w)
		enqueue_strategies(m, (struct change){w, trigger}, app);
}

static void enqueue_owned(struct change c, const struct view *v, const char *self_ref)
{
	size_t n;
	const struct obj *const *crds = view_list(v, WATCH_CRD, self_ref, &n);
	for (size_t i = 0; i < n; i++)
		if (cstr_eq(meta_annotation(crds[i], ANNOTATION_OWNER), self_ref))
			enqueue(c.w, meta_name(crds[i]), c.trigger);
}

static void enqueue_instances(struct change c, const struct view *v, const char *self_ref)
{
	size_t n;
	const struct obj *const *crds = view_list(v, WATCH_CRD, self_ref, &n);
	for (size_t i = 0; i < n; i++) {
		char type[512];
		const struct informer_object *io = NULL;
		manager_type_key(type, obj_str(crds[i], "spec.group"),
				 obj_str(crds[i], "spec.names.plural"));
		const struct source_watch *x = map_get(c.w->m->instances, type);
		while (x && cstr_eq(meta_annotation(crds[i], ANNOTATION_OWNER), self_ref) &&
		       (io = informer_next(x->informer, io))) {
			CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
			strbuf_addf(&key, "%s/%s/%s", meta_name(crds[i]), io->ns, io->name);
			enqueue(c.w, key.buf, c.trigger);
		}
	}
}

void manager_apply_rules(struct manager *m, unsigned kind, const struct obj *o)
{
	if (!m->ready)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(PASS_BYTES_MAX);
	struct view v;
	void *pass = NULL;
	manager_view(m, a, &pass, &v);
	for (size_t i = 0; i < m->n_workers; i++) {
		struct worker *w = &m->workers[i];
		struct change c = {w, manager_trigger_of(kind, o)};
		for (const struct watch_rule *r = w->c->watches; r->key; r++) {
			const char *key = r->kind == kind ? r->key(&v, o, a) : NULL;
			if (key && r->means == MEANS_STRATEGIES)
				enqueue_strategies(m, c, strcmp(key, KEY_ALL) ? key : NULL);
			else if (key && r->means == MEANS_INSTANCES)
				enqueue_instances(c, &v, key);
			else if (key && r->means == MEANS_CRDS)
				enqueue_owned(c, &v, key);
			else if (key)
				enqueue(w, key, c.trigger);
		}
	}
}

void manager_enqueue_kind(struct manager *m, const char *controller, unsigned kind,
			  const char *trigger)
{
	struct worker *w = worker_of(m, controller);
	const struct informer_object *io = NULL;
	while (w && (io = informer_next(m->fixed[kind].informer, io)))
		enqueue(w, io->name, trigger);
}

void manager_enqueue_all(struct manager *m)
{
	manager_enqueue_kind(m, "catalog", WATCH_CATALOG, "Startup");
	manager_enqueue_kind(m, "apptype", WATCH_APPTYPE, "Startup");
	manager_enqueue_kind(m, "strategy", WATCH_STRATEGY, "Startup");
	manager_enqueue_kind(m, "crdowner", WATCH_CRD, "Startup");
	manager_enqueue_kind(m, "instance", WATCH_CRD, "Startup");
	if (m->bundles) {
		manager_enqueue_kind(m, "bundle", WATCH_BUNDLE, "Startup");
		manager_enqueue_kind(m, "install", WATCH_BUNDLE, "Startup");
	}
	manager_enqueue_units(m);
}

static void enqueue_unit(void *arg, const char *key)
{
	manager_notice_unit(arg, key);
}

void manager_enqueue_units(struct manager *m)
{
	if (m->c.units)
		m->c.units->each(m->c.units->arg, enqueue_unit, m);
}

void manager_notice_unit(struct manager *m, const char *key)
{
	manager_enqueue(m, "unit", key, "Resource");
}

/* --- renders that wait for room --- */

static char *id_of(const char *controller, const char *key)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/%s", controller, key);
	return strbuf_detach(&b);
}

/* Its reconcile begins, for whatever reason: it asks again if it still has to wait. */
static void stop_waiting(struct manager *m, const char *controller, const char *key)
{
	CLEANUP(xfreep) char *id = id_of(controller, key);
	if (map_get(m->waiting, id))
		m->n_woken--;
	map_del(m->waiting, id);
}

static void start_waiting(struct manager *m, const char *controller, const char *key)
{
	CLEANUP(xfreep) char *id = id_of(controller, key);
	map_set(m->waiting, id, NULL);
}

/* As many as there is room for. Whenever a reconcile has ended: one that was woken may not render
 * after all, and room comes only with the end of a run. */
static void wake_waiting(struct manager *m)
{
	static char woken;
	for (struct map_entry *e = map_first(m->waiting); e; e = map_next(e)) {
		struct str controller, key;
		if (m->n_woken >= executor_room(m->executor, &render_work))
			return;
		if (e->value)
			continue;
		e->value = &woken;
		m->n_woken++;
		str_cut(str_of(e->key), '/', &controller, &key);
		CLEANUP(xfreep) char *name = str_dup(controller);
		struct worker *w = worker_of(m, name);
		assert(w);
		queue_add_first(w->queue, key.ptr);
	}
}

static void pass_told(struct manager *m, const char *controller, const char *key, bool retry)
{
	struct worker *w = worker_of(m, controller);
	assert(w);
	if (retry) {
		queue_add_rate_limited(w->queue, key);
		queue_because(w->queue, key, "Retry");
	}
	queue_done(w->queue, key);
}

static void pass_done(void *arg, const char *controller, const char *key, enum run_result result,
		      int64_t requeue_after_ns, const struct error *err)
{
	struct manager *m = arg;
	struct worker *w = worker_of(m, controller);
	assert(w);
	note_catalog_pass(m, controller, key);
	if (m->c.units)
		m->c.units->passed(m->c.units->arg, key, result != RUN_UNCHANGED, err);
	if (err && error_retry(err->code) != RETRY_NOW)
		log_warn("pass failed", "controller", controller, "key", key, "error", err->msg);
	if (err) {
		queue_because(w->queue, key, "Retry");
		queue_add_rate_limited(w->queue, key);
	} else {
		if (result != RUN_UNCHANGED) /* it goes on for the same reason */
			queue_because(w->queue, key, queue_why(w->queue, key));
		queue_forget(w->queue, key);
		if (result == RUN_WAITS)
			start_waiting(m, controller, key);
		if (result == RUN_CHANGED) /* what it has read is to be used while it is fresh */
			queue_add_first(w->queue, key);
		if (result == RUN_UNCHANGED) /* it has seen all: former deadlines are void */
			queue_set_after(w->queue, key, requeue_after_ns);
		else if (requeue_after_ns)
			queue_add_after(w->queue, key, requeue_after_ns);
	}
	int64_t again_ns = 0;
	if (manager_failing_pass(m, controller, key, result != RUN_UNCHANGED, err, pass_told,
				 &again_ns) == DONE)
		queue_done(w->queue, key);
	if (again_ns)
		queue_add_after(w->queue, key, again_ns);
	wake_waiting(m);
}

bool manager_is_idle(const struct manager *m)
{
	for (size_t i = 0; i < m->n_workers; i++)
		if (!queue_is_idle(m->workers[i].queue))
			return false;
	return m->ready && !m->unread && !executor_running(m->executor);
}

/* Not while there is work: what one pass has read the next one reads again. */
static void trim(void *arg)
{
	struct manager *m = arg;
	if (!manager_is_idle(m)) {
		loop_arm(m->c.loop, &m->trim, TRIM_AFTER_NS);
		return;
	}
	plan_cache_clear(m->plans);
	trees_clear(m->trees);
	trees_clear(m->live);
	audit_trim(m->c.audit);
	obj_forget_keys();
	pool_trim();
}

/* A reconcile over large definitions makes trees of many small pieces, whose room the allocator
 * would keep for the next one. */
static void trim_soon(struct manager *m)
{
	m->trim = (struct timer){.node = m->trim.node, .fn = trim, .arg = m};
	bool large = obj_bytes() >= TRIM_TREES_BYTES || !plan_cache_is_empty(m->plans) ||
		     !trees_is_empty(m->trees) || !trees_is_empty(m->live);
	if (large && !heap_holds(&m->trim.node))
		loop_arm(m->c.loop, &m->trim, TRIM_AFTER_NS);
}

/* For who follows a key through its reconciles; costs nothing at other levels. */
static void log_pass(const struct worker *w, const char *key, const struct plan *p,
		     const struct error *err)
{
	if (!log_on(LOG_DEBUG))
		return;
	char again[CLOCK_TEXT_MAX] = "";
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PASS_TEXT_MAX);
	pass_text(w->c, p, &text);
	if (p->requeue_after_ns)
		duration_format(p->requeue_after_ns, again);
	log_debug("reconcile", "controller", w->c->name, "key", key, "steps", text.buf, "again",
		  *again ? again : NULL, "error", err->code ? err->msg : NULL);
}

static void run_pass(struct worker *w, const char *key)
{
	struct manager *m = w->m;
	struct arena *a = arena_new(PASS_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct view v;
	struct plan plan;
	void *pass = NULL;
	stop_waiting(m, w->c->name, key);
	manager_view(m, a, &pass, &v);
	plan_init(&plan, a);
	plan.trigger = queue_why(w->queue, key);
	if (!plan.trigger)
		plan.trigger = "Timer";
	int rc = controller_run(w->c, &v, key, &plan, &err);
	trim_soon(m);
	if (rc < 0)
		secrets_hide_error(&plan.secrets, &err);
	log_pass(w, key, &plan, &err);
	if (rc < 0) {
		pass_done(m, w->c->name, key, RUN_UNCHANGED, 0, &err);
		arena_free(a);
		return;
	}
	if (!plan.n) {
		pass_done(m, w->c->name, key, RUN_UNCHANGED, plan.requeue_after_ns, NULL);
		arena_free(a);
		return;
	}
	struct arena *own = arena_new(PASS_BYTES_MAX);
	struct plan moved;
	plan_move(&moved, &plan, own);
	arena_free(a);
	executor_start(m->executor, w->c->name, key, &moved, own, pass_done, m);
}

void manager_queue_ready(void *arg)
{
	struct worker *w = arg;
	for (int i = 0; i < PASSES_A_TURN_MAX; i++) {
		const char *key = queue_get(w->queue);
		if (!key)
			return;
		CLEANUP(xfreep) char *own = xstrdup(key);
		run_pass(w, own);
	}
}
