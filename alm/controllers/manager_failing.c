/*
 * Reconciles that fail again and again: counted, shown on the object (stalled.h), in the metrics
 * and as an Event, and taken back in the first reconcile that works.
 *
 * A reconcile that works is one that has nothing left to do; of those that did something three in a
 * row count, as a reconcile may well get half way, fail, and get half way again for ever.
 */
#include <stdio.h>
#include <string.h>

#include "alm/base/log.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/manager_internal.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/stalled.h"
#include "alm/obj/meta.h"

#define WORKED_IN_A_ROW 3
#define PASS_BYTES_MAX  ((size_t)16 << 20)

/* Lives from the first failure to the reconcile that works. */
struct failing {
	unsigned failures, worked;
	unsigned tried;   /* failures when it was last tried to tell the object */
	int64_t since_ns; /* monotonic, of the first failure */
	bool is_stalled;
	const char *noted; /* reason of the last stalled_note(); NULL: none */
};

/* One run that tells the object; in its arena. */
struct telling {
	struct manager *m;
	struct error err; /* code 0: it works again */
	bool is_note;
	manager_told done;
};

static const char *labels_of(const char *controller, struct strbuf *b)
{
	metrics_label(b, "controller", controller);
	return b->buf;
}

static struct metric *errors_total(struct metrics *m, const char *controller)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	return metrics_counter(m, "alm_reconcile_errors_total", "Reconciles that failed.",
			       labels_of(controller, &b));
}

static struct metric *keys_failing(struct metrics *m, const char *controller)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	return metrics_gauge(m, "alm_reconcile_keys_failing",
			     "Objects whose reconcile fails again and again.",
			     labels_of(controller, &b));
}

/* The series are there before anything fails: a rate needs its zero. */
static void reset(struct metrics *m)
{
	for (const struct controller *const *c = all_controllers; m && *c; c++) {
		metric_add(errors_total(m, (*c)->name), 0);
		metric_set(keys_failing(m, (*c)->name), 0);
	}
}

struct map *manager_failing_new(struct metrics *m)
{
	reset(m);
	return map_new(xfree);
}

void manager_failing_free(struct manager *m)
{
	map_free(m->failing);
	reset(m->c.metrics);
}

static void count(struct manager *m, const char *controller)
{
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	int64_t n = 0;
	if (!m->c.metrics)
		return;
	strbuf_addf(&prefix, "%s/", controller);
	for (struct map_entry *e = map_first(m->failing); e; e = map_next(e)) {
		const struct failing *f = e->value;
		n += f->is_stalled && cstr_has_prefix(e->key, prefix.buf);
	}
	metric_set(keys_failing(m->c.metrics, controller), n);
}

/* --- the object --- */

static const struct informer_object *object_of(struct manager *m, const char *controller,
					       const char *key)
{
	static const struct {
		const char *controller;
		unsigned kind;
	} rows[] = {{"catalog", WATCH_CATALOG},   {"apptype", WATCH_APPTYPE},
		    {"strategy", WATCH_STRATEGY}, {"crdowner", WATCH_CRD},
		    {"instance", WATCH_CRD},      {"bundle", WATCH_BUNDLE}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].controller, controller))
			return informer_get(m->fixed[rows[i].kind].informer, "", key);
	return NULL;
}

static enum ensured tell(const char *controller, const char *key, const struct telling *what);

static void told(void *arg, const char *controller, const char *key, enum run_result result,
		 int64_t requeue_after_ns, const struct error *err)
{
	const struct telling *t = arg;
	struct telling note = *t;
	(void)result;
	(void)requeue_after_ns;
	if (err)
		log_warn("object not told", "controller", controller, "key", key, "error",
			 err->msg);
	note.is_note = true;
	if (err && t->err.code && !t->is_note && tell(controller, key, &note) == WAITING)
		return;
	/* That it works again is told when the next pass has worked, too. */
	t->done(t->m, controller, key, err && !t->err.code);
}

/* One Event for a reason: what cannot be kept on the object is not said at every attempt. */
static bool is_noted(struct manager *m, const char *controller, const char *key, const char *reason)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&id, "%s/%s", controller, key);
	struct failing *f = map_get(m->failing, id.buf);
	bool noted = !f || (f->noted && !strcmp(f->noted, reason));
	if (f)
		f->noted = reason;
	return noted;
}

/* What the object's other entries join, too: of its app, or of its catalog. */
static const char *chain_of(const struct obj *o, struct arena *a)
{
	const char *kind = meta_kind(o);
	if (cstr_eq(kind, "Catalog"))
		return arena_fmt(a, "catalog:%s", meta_name(o));
	if (cstr_eq(kind, "InstallStrategy"))
		return obj_str(o, "spec.appTypeRef.name");
	return cstr_eq(kind, "AppType") ? meta_name(o) : NULL;
}

static enum ensured joined(enum ensured state, struct plan *p, const struct obj *o)
{
	for (struct action *x = p->head; x; x = x->next)
		if (x->type == ACT_STATUS)
			x->chain = chain_of(o, p->a);
	return state;
}

static enum ensured plan_telling(const char *controller, const char *key,
				 const struct telling *what, struct plan *p)
{
	struct manager *m = what->m;
	struct obj *o = manager_read(object_of(m, controller, key));
	if (!o)
		return DONE;
	obj_keep(p->a, o);
	if (!what->err.code)
		return joined(stalled_end(p, o), p, o);
	if (!what->is_note)
		return joined(stalled_begin(p, o, &what->err, loop_now(m->c.loop)), p, o);
	if (is_noted(m, controller, key, stalled_reason(what->err.code)))
		return DONE;
	stalled_note(p, o, &what->err);
	return WAITING;
}

static enum ensured tell(const char *controller, const char *key, const struct telling *what)
{
	struct arena *a = arena_new(PASS_BYTES_MAX);
	struct plan p;
	plan_init(&p, a);
	p.trigger = "Retry";
	if (plan_telling(controller, key, what, &p) == DONE) {
		arena_free(a);
		return DONE;
	}
	struct telling *t = ARENA_NEW(a, struct telling);
	*t = *what;
	executor_start(what->m->executor, controller, key, &p, a, told, t);
	return WAITING;
}

/* --- counting --- */

static enum ensured failed(const char *controller, const char *key, const char *id,
			   const struct telling *what)
{
	struct manager *m = what->m;
	struct failing *f = map_get(m->failing, id);
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->since_ns = loop_mono(m->c.loop);
		map_set(m->failing, id, f);
	}
	f->failures++;
	f->worked = 0;
	if (m->c.metrics)
		metric_add(errors_total(m->c.metrics, controller), 1);
	/* Not at every failure: telling may fail as well. */
	if (f->failures - f->tried < STALLED_FAILURES ||
	    loop_mono(m->c.loop) - f->since_ns < STALLED_NS)
		return DONE;
	f->tried = f->failures;
	f->is_stalled = true;
	count(m, controller);
	return tell(controller, key, what);
}

static bool says_stalled(struct manager *m, const char *controller, const char *key)
{
	const struct informer_object *io = object_of(m, controller, key);
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	return io && str_find(informer_text(io, &room), STR("Stalled\"")) >= 0;
}

/* Told by a controller that ran before this one. The first reconciles after a start may have nothing
 * to do for want of what they have not read yet: that is no proof that it works. */
static struct failing *taken_over(struct manager *m, const char *controller, const char *id)
{
	struct failing *f = xcalloc(1, sizeof(*f));
	f->since_ns = loop_mono(m->c.loop);
	f->is_stalled = true;
	map_set(m->failing, id, f);
	count(m, controller);
	return f;
}

enum ensured manager_failing_pass(struct manager *m, const char *controller, const char *key,
				  bool changed, const struct error *err, manager_told done,
				  int64_t *ret_again_ns)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(STRBUF_SMALL);
	const struct telling what = {.m = m, .err = err ? *err : ERROR_INIT, .done = done};
	strbuf_addf(&id, "%s/%s", controller, key);
	if (err)
		return failed(controller, key, id.buf, &what);
	struct failing *f = map_get(m->failing, id.buf);
	if (changed && (!f || ++f->worked < WORKED_IN_A_ROW))
		return DONE;
	bool is_stalled = says_stalled(m, controller, key);
	if (!f && is_stalled)
		f = taken_over(m, controller, id.buf);
	int64_t settled = f && !f->failures ? f->since_ns + STALLED_NS - loop_mono(m->c.loop) : 0;
	if (settled > 0) {
		*ret_again_ns = settled;
		return DONE;
	}
	if (f) {
		map_del(m->failing, id.buf);
		count(m, controller);
	}
	return is_stalled ? tell(controller, key, &what) : DONE;
}
