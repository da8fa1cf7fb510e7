/* unit_apply: the rollout of a unit: which step may act is rollout_next()'s to say. What a step was
 * through with stays so for the attempt: the record knows. */
#include <string.h>

#include "alm/controllers/unit/unit_act.h"
#include "alm/controllers/unit/unit_canary.h"
#include "alm/controllers/unit/unit_metric.h"
#include "alm/unit/rollout_next.h"

#define TAKEN_BACK_MAX 5 /* times in an attempt: whoever deletes it so often means it */

/* --- the record --- */

static void set_state(struct acting *x, const char *state)
{
	obj_set_str(x->record, "state", state);
	const char *why = x->why.len ? x->why.buf : unit_measured(x->s, x->record);
	if (why)
		obj_set_str(x->record, "message", why);
	else
		obj_del(x->record, "message");
}

static void begin(struct acting *x)
{
	x->record = obj_map();
	obj_set_str(x->record, "state", "InProgress");
	obj_set_int(x->record, "sinceNs", x->s->v->now_ns);
	obj_set(obj_get_mut(x->s->course, "steps"), x->id, x->record);
}

/* What has failed by its time. A canary goes first, and says why: it has as much time again for that. */
static void keep_deadline(struct acting *x)
{
	int64_t timeout = x->step->rule ? x->step->rule->timeout_ns : ROLLOUT_STEP_TIMEOUT;
	int64_t held = unit_held_ns(x->s, x->record);
	int64_t left = obj_i64(x->record, "sinceNs", 0) + timeout + held - x->s->v->now_ns;
	obj_del(x->record, "untilNs");
	if (!x->waiting || x->failed)
		return;
	if (left > 0) {
		if (!held) /* while its time stands still nobody knows */
			obj_set_int(x->record, "untilNs", x->s->v->now_ns + left);
		plan_requeue_after(x->s->plan, left);
		return;
	}
	if (left > -timeout &&
	    unit_canary_stop(x->s, x->record, "ProgressDeadline", x->why.buf) == WAITING) {
		plan_requeue_after(x->s->plan, left + timeout);
		return;
	}
	CLEANUP(xfreep) char *why = xstrdup(x->why.buf);
	strbuf_clear(&x->why);
	strbuf_addf(&x->why, "ProgressDeadline: %s", why);
	x->failed = true;
}

/* A person has had enough of it: what has begun ends, and nothing begins. DONE: nobody said so, or a canary
 * goes first. */
static enum ensured end_aborted(struct acting *x)
{
	const char *told = unit_told(x->s, "abort");
	if (!told || unit_canary_stop(x->s, x->record, "Aborted", told) == WAITING)
		return DONE;
	strbuf_addf(&x->why, "Aborted: %s", told);
	x->failed = true;
	return ENDED;
}

static enum step_state run_step(struct acting *x)
{
	if (!x->record)
		begin(x);
	if (end_aborted(x) == DONE)
		unit_act(x);
	keep_deadline(x);
	if (x->failed) {
		set_state(x, "Failed");
		return STEP_FAILED;
	}
	if (x->waiting) {
		set_state(x, "InProgress");
		return STEP_WAITING;
	}
	set_state(x, "Finished");
	return STEP_DONE;
}

/* --- the walk --- */

static enum step_state recorded(const struct obj *record)
{
	const char *state = obj_str(record, "state");
	return !state                       ? STEP_NOT_BEGUN
	       : cstr_eq(state, "Failed")   ? STEP_FAILED
	       : cstr_eq(state, "Finished") ? STEP_DONE
					    : STEP_ACTING;
}

static bool *rows_not_kept(const struct unit_pass *s)
{
	bool *list = ARENA_ARRAY(s->v->a, bool, s->n + 1);
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++) {
				const struct unit_step *step =
					&s->unit->parts[p].groups[g].steps[i];
				for (size_t k = 0; k < step->n; k++)
					list[step->rows[k]] |=
						step->action != ACTION_CREATE_OR_UPDATE &&
						step->action != ACTION_CREATE_IF_NOT_EXIST;
			}
	return list;
}

/* What a step was through with is not there, and nothing of this unit deletes it: what it saw was a
 * list of former times, or somebody has been here since. */
static bool has_vanished(const struct unit_pass *s, const struct unit_step *step,
			 const struct obj *record, const bool *not_kept)
{
	if (obj_has(record, "note")) /* of another one, who may delete it */
		return false;
	for (size_t k = 0; k < step->n; k++) {
		size_t row = step->rows[k];
		const struct unit_entry *e = &s->entries[row];
		if (!not_kept[row] && e->resource && !e->unknown && !unit_found(s, row) &&
		    !s->host->is_left(s, e) && !unit_has_run_out(s, row))
			return true;
	}
	return false;
}

static void take_back(struct unit_pass *s, const char *id)
{
	struct obj *record = obj_get_mut(obj_get_mut(s->course, "steps"), id);
	obj_set_str(record, "state", "InProgress");
	obj_set_int(record, "sinceNs", s->v->now_ns);
	obj_set_int(record, "again", obj_i64(record, "again", 0) + 1);
}

static enum step_state state_of(struct unit_pass *s, const struct unit_step *step, const char *id,
				const bool *not_kept)
{
	const struct obj *record = obj_get(obj_get(s->course, "steps"), id);
	enum step_state state = recorded(record);
	if (state != STEP_DONE || obj_i64(record, "again", 0) >= TAKEN_BACK_MAX ||
	    !has_vanished(s, step, record, not_kept))
		return state;
	take_back(s, id);
	return STEP_ACTING;
}

static struct turn_group *turns_of(struct unit_pass *s, const struct unit_part *part)
{
	struct turn_group *list = ARENA_ARRAY(s->v->a, struct turn_group, part->n + 1);
	const bool *not_kept = rows_not_kept(s);
	for (size_t g = 0; g < part->n; g++) {
		const struct unit_group *group = &part->groups[g];
		list[g] = (struct turn_group){.parallel = group->parallel, .n = group->n};
		list[g].steps = ARENA_ARRAY(s->v->a, struct turn_step, group->n + 1);
		for (size_t i = 0; i < group->n; i++) {
			const struct unit_step *step = &group->steps[i];
			const char *id = unit_step_id(s, part, g, i);
			list[g].steps[i] = (struct turn_step){
				.state = state_of(s, step, id, not_kept),
				.continue_on_error = step->rule && step->rule->continue_on_error};
		}
	}
	return list;
}

/* Lets every step act that may, as long as some are through at once: what is there already takes
 * no reconcile of its own. */
static enum rollout_end walk(struct unit_pass *s, const struct unit_part *part)
{
	struct turn_group *turns = turns_of(s, part);
	bool none_begins = unit_told(s, "abort");
	for (bool moved = true; moved;) {
		enum rollout_end end = rollout_next(turns, part->n, part->parallel);
		moved = false;
		for (size_t g = 0; g < part->n; g++)
			for (size_t i = 0; i < turns[g].n; i++) {
				struct turn_step *turn = &turns[g].steps[i];
				const char *id = unit_step_id(s, part, g, i);
				struct obj *steps = obj_get_mut(s->course, "steps");
				if (!turn->go || (none_begins && !obj_has(steps, id)))
					continue;
				struct acting x = {.s = s,
						   .step = &part->groups[g].steps[i],
						   .id = id,
						   .stage = (int)g,
						   .why = STRBUF_INIT(4 * FAILURES_TOLD_MAX)};
				x.record = obj_has(steps, id) ? obj_get_mut(steps, id) : NULL;
				turn->state = run_step(&x);
				strbuf_release(&x.why);
				moved = true;
			}
		if (!moved)
			return end;
	}
	return ROLLOUT_GOES_ON;
}

/* All that failed, not the first alone; or all that is waited for. */
static const char *tell_steps(const struct unit_pass *s, const char *state)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(8 * FAILURES_TOLD_MAX);
	const struct obj *steps = obj_get(s->course, "steps");
	OBJ_EACH (it, steps) {
		const char *name = strchr(it.key, ' '), *message = obj_str(it.value, "message");
		if (cstr_eq(obj_str(it.value, "state"), state) &&
		    b.len < 4 * (size_t)FAILURES_TOLD_MAX)
			strbuf_addf(&b, "%sstep %s: %s", b.len ? "\n" : "",
				    name ? name + 1 : it.key, message ? message : "");
	}
	return arena_strdup(s->v->a, b.buf ? b.buf : "");
}

enum ensured unit_walk(struct unit_pass *s, const char **ret_why)
{
	for (size_t p = 0; p < UNIT_PARTS; p++) {
		enum rollout_end end = walk(s, &s->unit->parts[p]);
		if (end == ROLLOUT_DONE)
			continue;
		bool failed = end == ROLLOUT_FAILED;
		*ret_why = tell_steps(s, failed ? "Failed" : "InProgress");
		return failed ? ENDED : WAITING;
	}
	return DONE;
}

static bool is_under_way(const struct unit_pass *s)
{
	OBJ_EACH (it, obj_get(s->course, "steps"))
		if (cstr_eq(obj_str(it.value, "state"), "InProgress"))
			return true;
	return false;
}

static enum ensured turn_back_aborted(struct unit_pass *s, const char *told)
{
	struct arena *a = s->v->a;
	const char *failed = tell_steps(s, "Failed");
	bool has_it = strstr(failed, told);
	return unit_turn_back(s, "Aborted",
			      has_it ? failed
				     : arena_fmt(a, "%s%s%s", told, *failed ? "\n" : "", failed));
}

enum ensured unit_heed_abort(struct unit_pass *s)
{
	const char *told = unit_told(s, "abort");
	return !told || is_under_way(s) ? DONE : turn_back_aborted(s, told);
}

enum ensured unit_roll_out(struct unit_pass *s)
{
	const char *why = NULL, *told = unit_told(s, "abort");
	if (!s->back)
		obj_set_bool(s->record, "begun", true);
	enum ensured state = unit_walk(s, &why);
	if (told && (state == ENDED || !is_under_way(s)))
		return turn_back_aborted(s, told);
	if (told)
		return WAITING;
	return state == ENDED ? unit_turn_back(s, "StepFailed", why) : state;
}
