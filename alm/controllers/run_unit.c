/* run_unit: a unit of a run: its attempts, from what is rendered to how they end, and what the manager
 * is told of it and tells. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"
#include "alm/controllers/run_internal.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define UNIT_BYTES_MAX ((size_t)512 << 20)
#define AGAIN_MIN_NS   NS_PER_MIN /* what was rolled back is tried again */
#define AGAIN_MAX_NS   NS_PER_HOUR

static void digest(void *arg, const struct obj *o, char out[SHA256_HEX])
{
	(void)arg;
	if (!cstr_eq(meta_kind(o), "Secret")) {
		json_digest(o, out);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(o);
	struct obj *names = obj_list();
	const struct obj *data = obj_get(o, "data");
	OBJ_EACH (it, data)
		obj_append(names, obj_string(it.key));
	obj_set(copy, "data", names);
	json_digest(copy, out);
}

const struct unit_digest run_digest = {.fn = digest};

/* --- units --- */

void run_unit_free(struct run_unit *u)
{
	loop_disarm(u->r->c.loop, &u->end);
	loop_disarm(u->r->c.loop, &u->retry);
	obj_unref(u->record);
	obj_unref(u->main);
	obj_unref(u->config);
	if (u->call.a)
		arena_free(u->call.a);
	unit_arenas_free(&u->arenas);
	xfree(u->key);
	xfree(u->instance);
	xfree(u);
}

void run_unit_drop(struct run_unit *u)
{
	loop_disarm(u->r->c.loop, &u->end);
	loop_disarm(u->r->c.loop, &u->retry);
	u->adrift = u->rendering;
	if (u->adrift)
		LIST_INSERT_HEAD(&u->r->adrift, u, link);
	else
		run_unit_free(u);
}

static void attempt_told(void *arg);
static void retry(void *arg);

char *run_unit_key(const struct run *r, const char *instance)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/%s", r->c.bundle, instance);
	return strbuf_detach(&b);
}

struct run_unit *run_unit_of(struct run *r, const char *instance)
{
	CLEANUP(xfreep) char *key = run_unit_key(r, instance);
	struct run_unit *u = map_get(r->units, key);
	if (u)
		return u;
	u = xcalloc(1, sizeof(*u));
	u->r = r;
	u->key = xstrdup(key);
	u->instance = xstrdup(instance);
	u->job = r->c.job;
	u->job.watched = r->c.watch != NULL;
	u->ended = true;
	u->end = (struct timer){.fn = attempt_told, .arg = u};
	u->retry = (struct timer){.fn = retry, .arg = u};
	map_set(r->units, key, u);
	return u;
}

/* --- the end of an attempt --- */

/* 1, 2, 4 .. 60 minutes. */
static int64_t pause_after(unsigned n)
{
	int64_t wait = AGAIN_MIN_NS;
	for (unsigned i = 1; i < n && wait < AGAIN_MAX_NS; i++)
		wait *= 2;
	return wait < AGAIN_MAX_NS ? wait : AGAIN_MAX_NS;
}

static void retry(void *arg)
{
	run_unit_begin(arg);
}

static void forget(struct run_unit *u)
{
	(void)map_del(u->r->units, u->key);
	run_unit_free(u);
}

static void attempt_told(void *arg)
{
	struct run_unit *u = arg;
	struct run *r = u->r;
	const char *state = obj_str(u->record, "state"), *reason = obj_str(u->record, "reason");
	if (!u->err.code && !cstr_eq(state, "Succeeded")) {
		bool back = cstr_eq(state, "RolledBack"), named = !cstr_eq(reason, "StepFailed");
		reason = back ? state : reason;
		named = named || back;
		error_set(&u->err,
			  obj_flag(u->record, "refused", false) ? E_REFUSED : E_UNAVAILABLE,
			  "%s%s%s", named ? reason : "", named ? ": " : "",
			  obj_str(u->record, "message"));
	}
	bool gone = u->job.deleting && !u->err.code && !u->main;
	r->c.ended(r->c.arg, u->instance, u->record, u->err.code ? &u->err : NULL);
	u->failed = u->err.code ? u->failed + 1 : 0;
	if (u->again)
		run_unit_begin(u);
	else if (gone)
		forget(u);
	else if (u->failed && r->c.watch) /* no tick begins it */
		loop_arm(r->c.loop, &u->retry, pause_after(u->failed));
}

/* Told in a turn of its own: nobody is in the middle of something. */
static void attempt_ended(struct run_unit *u, const struct error *err)
{
	if (u->ended)
		return;
	u->ended = true;
	if (err)
		u->err = *err;
	loop_arm(u->r->c.loop, &u->end, 0);
}

/* --- attempts --- */

/* What was rolled back is not tried at every tick: its pods would come and go for ever. After 1, 2,
 * 4 .. 60 minutes, or when something else is rendered. A command that runs once tries. */
static bool is_held(struct run_unit *u, const struct unit *next)
{
	int64_t now = loop_mono(u->r->c.loop);
	bool goes_on = u->r->c.interval_ns || u->r->c.watch || u->r->c.keyed;
	bool same = cstr_eq(obj_str(u->record, "digest"), next->digest);
	if (!same || !goes_on || !cstr_eq(obj_str(u->record, "state"), "RolledBack")) {
		u->tries = same ? u->tries : 0;
		return false;
	}
	return now - u->back_ns < pause_after(u->tries);
}

static void rendered(struct run_render *call, const struct error *err)
{
	struct run_unit *u = CONTAINER_OF(call, struct run_unit, call);
	struct arena *a = STEAL(call->a);
	u->rendering = false;
	if (u->adrift) {
		LIST_REMOVE(u, link);
		arena_free(a);
		run_unit_free(u);
		return;
	}
	if (err) {
		arena_free(a);
		attempt_ended(u, err);
		return;
	}
	bool held = is_held(u, call->unit);
	unit_job_replace(&u->job, &u->arenas, call->unit, a);
	u->job.main = u->main;
	if (held) { /* the unit before is kept meanwhile */
		attempt_ended(u, NULL);
	} else {
		obj_unref(STEAL(u->record));
		u->job.record = NULL;
		u->job.attempt++;
	}
	manager_notice_unit(u->r->manager, u->key);
}

/* What is deleted needs no renderer, which may fail by now: nothing is to be there. */
static void render_nothing(struct run_unit *u)
{
	struct error err = ERROR_INIT;
	struct flat none;
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = u->r->c.bundle,
				       .instance = u->instance,
				       .ns = "default",
				       .digest = run_digest};
	flat_init(&none, u->call.a);
	int rc = unit_make(&none, &o, &u->call.unit, &err);
	rendered(&u->call, rc < 0 ? &err : NULL);
}

void run_unit_begin(struct run_unit *u)
{
	struct run *r = u->r;
	if (!u->ended || u->rendering) {
		u->again = true;
		return;
	}
	loop_disarm(r->c.loop, &u->retry);
	u->again = u->ended = false;
	u->err = ERROR_INIT;
	u->failing = (struct unit_failing){0};
	u->rendering = true;
	u->job.deleting = r->c.watch && (!u->main || meta_is_deleting(u->main));
	u->call = (struct run_render){.a = arena_new(UNIT_BYTES_MAX),
				      .main = u->main,
				      .config = u->config,
				      .bundle = r->c.bundle,
				      .instance = u->instance,
				      .done = rendered};
	if (u->job.deleting)
		render_nothing(u);
	else
		r->c.render(r->c.arg, &u->call);
}

/* --- the side --- */

static const struct unit_job *side_job(void *arg, const char *key)
{
	const struct run *r = arg;
	const struct run_unit *u = map_get(r->units, key);
	return u && u->job.unit ? &u->job : NULL;
}

static void side_each(void *arg, void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
	const struct run *r = arg;
	for (const struct map_entry *e = map_first(r->units); e; e = map_next(e))
		fn(fn_arg, e->key);
}

static void tell_steps(const struct run_unit *u, const char *prefix, const struct obj *steps,
		       const struct obj *old)
{
	const struct run_config *c = &u->r->c;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	OBJ_EACH (it, steps) {
		const char *state = obj_str(it.value, "state"), *name = strchr(it.key, ' ');
		if (cstr_eq(state, obj_str(obj_get(old, it.key), "state")))
			continue;
		const char *why = obj_str(it.value, "message"), *note = obj_str(it.value, "note");
		strbuf_clear(&b);
		strbuf_addf(&b, "%s%s", prefix, name ? name + 1 : it.key);
		c->said(c->arg, u->instance, b.buf, state, why ? why : note);
	}
}

static void side_record(void *arg, const char *key, const struct obj *record)
{
	const struct run *r = arg;
	struct run_unit *u = map_get(r->units, key);
	if (!u || obj_i64(record, "attempt", 0) != u->job.attempt)
		return;
	if (cstr_eq(obj_str(record, "state"), "RolledBack") &&
	    !cstr_eq(obj_str(u->record, "state"), "RolledBack")) {
		u->tries++;
		u->back_ns = loop_mono(r->c.loop);
	}
	tell_steps(u, "", obj_get(record, "steps"), obj_get(u->record, "steps"));
	tell_steps(u, "rollback: ", obj_path(record, "back.steps"),
		   obj_path(u->record, "back.steps"));
	const char *waits = obj_str(record, "waits");
	if (waits && !cstr_eq(waits, obj_str(u->record, "waits")))
		r->c.said(r->c.arg, u->instance, u->job.deleting ? "deletion" : "pruning",
			  "Waiting", waits);
	obj_unref(u->record);
	u->record = obj_copy(record);
	u->job.record = u->record;
	if (!unit_record_is_open(record))
		unit_job_settle(&u->job, &u->arenas);
	/* While the next one is rendered the former one is kept, and says so. */
	if (!u->rendering && !unit_record_is_open(record))
		attempt_ended(u, NULL);
}

/* What the server says to a write is in the record. What it says to a read is seen here alone. */
static void side_passed(void *arg, const char *key, bool half, const struct error *err)
{
	const struct run *r = arg;
	struct run_unit *u = map_get(r->units, key);
	if (u && !u->rendering && unit_failing_pass(&u->failing, loop_mono(r->c.loop), half, err))
		attempt_ended(u, err);
}

struct unit_side run_unit_side(struct run *r)
{
	return (struct unit_side){.job = side_job,
				  .each = side_each,
				  .record = side_record,
				  .passed = side_passed,
				  .arg = r};
}
