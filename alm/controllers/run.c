#include "alm/controllers/run.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define UNIT_BYTES_MAX ((size_t)512 << 20)
#define FAILING_PASSES 3                /* of an error that does not pass, in a row */
#define FAILING_NS     (2 * NS_PER_MIN) /* of one that may */

struct run {
	struct run_config c;
	struct manager *manager;
	struct unit_side side;
	struct unit_job job;
	struct arena *a;    /* of the unit */
	struct obj *record; /* of this attempt; owned */
	struct timer tick, end;
	unsigned failures; /* reconciles in a row */
	int64_t failing_since_ns;
	bool ended; /* this attempt */
	struct error err;
	int64_t ticked_ns;
};

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

/* --- the end of an attempt --- */

static void end_attempt(void *arg)
{
	struct run *r = arg;
	const char *state = obj_str(r->record, "state");
	if (!r->err.code && cstr_eq(state, "Failed")) {
		const char *reason = obj_str(r->record, "reason");
		error_set(&r->err,
			  obj_flag(r->record, "refused", false) ? E_REFUSED : E_UNAVAILABLE,
			  "%s%s%s", cstr_eq(reason, "StepFailed") ? "" : reason,
			  cstr_eq(reason, "StepFailed") ? "" : ": ", obj_str(r->record, "message"));
	}
	r->c.ended(r->c.arg, r->record, r->err.code ? &r->err : NULL);
}

/* In a turn of its own: who is told may free the run. */
static void attempt_ended(struct run *r, const struct error *err)
{
	if (r->ended)
		return;
	r->ended = true;
	if (err)
		r->err = *err;
	loop_arm(r->c.loop, &r->end, 0);
}

/* --- the side --- */

static const struct unit_job *side_job(void *arg, const char *key)
{
	const struct run *r = arg;
	return r->job.unit && cstr_eq(key, r->job.unit->bundle) ? &r->job : NULL;
}

static void side_each(void *arg, void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
	const struct run *r = arg;
	if (r->job.unit)
		fn(fn_arg, r->job.unit->bundle);
}

static void tell_steps(const struct run *r, const struct obj *record)
{
	const struct obj *steps = obj_get(record, "steps"), *old = obj_get(r->record, "steps");
	OBJ_EACH (it, steps) {
		const char *state = obj_str(it.value, "state"), *name = strchr(it.key, ' ');
		if (cstr_eq(state, obj_str(obj_get(old, it.key), "state")))
			continue;
		const char *why = obj_str(it.value, "message"), *note = obj_str(it.value, "note");
		r->c.said(r->c.arg, name ? name + 1 : it.key, state, why ? why : note);
	}
}

static void side_record(void *arg, const char *key, const struct obj *record)
{
	struct run *r = arg;
	if (!r->job.unit || !cstr_eq(key, r->job.unit->bundle) ||
	    obj_i64(record, "attempt", 0) != r->job.attempt)
		return;
	tell_steps(r, record);
	obj_unref(r->record);
	r->record = obj_copy(record);
	r->job.record = r->record;
	if (!cstr_eq(obj_str(record, "state"), "Running"))
		attempt_ended(r, NULL);
}

/* What the server says to a write is in the record. What it says to a read is seen here alone. */
static void side_passed(void *arg, const char *key, const struct error *err)
{
	struct run *r = arg;
	(void)key;
	int64_t now = loop_mono(r->c.loop);
	if (!err) {
		r->failures = 0;
		return;
	}
	if (!r->failures++)
		r->failing_since_ns = now;
	bool stays = error_retry(err->code) == RETRY_NEVER || err->code == E_FORBIDDEN ||
		     err->code == E_UNAUTHORIZED;
	if ((stays && r->failures >= FAILING_PASSES) || now - r->failing_since_ns >= FAILING_NS)
		attempt_ended(r, err);
}

/* --- the trigger --- */

static void tick(void *arg)
{
	struct run *r = arg;
	struct error err = ERROR_INIT;
	struct unit *unit = NULL;
	if (r->c.interval_ns)
		loop_arm(r->c.loop, &r->tick, r->c.interval_ns);
	if (r->job.attempt && !r->ended)
		return; /* the former one is at work */
	struct arena *a = arena_new(UNIT_BYTES_MAX);
	r->ended = false;
	r->err = ERROR_INIT;
	r->failures = 0;
	if (r->c.render(r->c.arg, a, &unit, &err) < 0) {
		arena_free(a);
		attempt_ended(r, &err);
		return;
	}
	obj_unref(STEAL(r->record));
	if (r->a)
		arena_free(r->a);
	r->a = a;
	r->job.unit = unit;
	r->job.record = NULL;
	r->job.attempt++;
	manager_notice_unit(r->manager, unit->bundle);
}

struct run *run_new(const struct run_config *c)
{
	struct run *r = xcalloc(1, sizeof(*r));
	r->c = *c;
	r->job = c->job;
	r->side = (struct unit_side){.job = side_job,
				     .each = side_each,
				     .record = side_record,
				     .passed = side_passed,
				     .arg = r};
	r->tick = (struct timer){.fn = tick, .arg = r};
	r->end = (struct timer){.fn = end_attempt, .arg = r};
	struct manager_config mc = {.loop = c->loop,
				    .client = c->client,
				    .audit = c->audit,
				    .db = c->db,
				    .metrics = c->metrics,
				    .units = &r->side};
	r->manager = manager_new(&mc);
	return r;
}

void run_start(struct run *r)
{
	manager_start(r->manager);
	tick(r);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	loop_disarm(r->c.loop, &r->tick);
	loop_disarm(r->c.loop, &r->end);
	manager_free(r->manager);
	obj_unref(r->record);
	if (r->a)
		arena_free(r->a);
	xfree(r);
}
