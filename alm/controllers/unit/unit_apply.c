/* The rollout of a unit: which step may act is rollout_next()'s to say, how far a step is is read
 * from its objects. What a step was through with stays so for the attempt: the record knows. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/unit/unit_check.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/unit/unit_plugin.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"
#include "alm/unit/rollout_next.h"
#include "crds/marks.h"

#define FAILURES_TOLD_MAX 2000 /* bytes */
#define LOOK_AGAIN_NS     NS_PER_S
#define TAKEN_BACK_MAX    5 /* times in an attempt: whoever deletes it so often means it */

/* One step in this reconcile. */
struct acting {
	struct unit_pass *s;
	const struct unit_step *step;
	const char *id;     /* "GROUP/STEP" */
	struct obj *record; /* its entry of steps; NULL: not begun */
	int stage;          /* of applies: those of one go together */
	struct strbuf why;  /* what is waited for, or has failed: all of it */
	bool failed, waiting, writes;
};

static void tell(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (x->why.len < FAILURES_TOLD_MAX)
		strbuf_addf(&x->why, "%s%s: %s", x->why.len ? "; " : "",
			    unit_entry_text(e, x->s->v->a), why);
}

static void wait_for(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (!x->failed)
		tell(x, e, why);
	x->waiting = true;
}

static void fail(struct acting *x, const struct unit_entry *e, const char *why)
{
	if (!x->failed)
		strbuf_clear(&x->why);
	x->failed = true;
	tell(x, e, why);
}

/* --- what this process was told to run --- */

static struct obj *run_decorate(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	return unit_decorate(s, e->object, e->digest, row);
}

static bool run_owns(const struct unit_pass *s, const struct obj *live)
{
	return unit_owns(s->unit, live);
}

/* A Job does not run again for a unit that was through with all of its steps once, nor on the way
 * back to one. */
static bool run_has_run_jobs(const struct unit_pass *s)
{
	return s->back || (cstr_eq(s->current.digest, s->unit->digest) &&
			   cstr_eq(s->succeeded.digest, s->unit->digest));
}

/* Definitions are never put back: what they have taken since would be lost (lifecycle.md 7.4). */
static bool run_is_left(const struct unit_pass *s, const struct unit_entry *e)
{
	return s->back && e->live && cstr_eq(e->kind, "CustomResourceDefinition");
}

/* unit_judge() has. */
static const char *run_refuses(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	(void)s;
	(void)e;
	(void)row;
	return NULL;
}

static void run_own_jobs(const struct unit_pass *s, struct hook_run *h)
{
	struct obj *owner = obj_keep(s->v->a, obj_map());
	obj_set_path(owner, "metadata.uid", obj_string(s->unit->owner_id));
	h->app = s->unit->bundle;
	h->label = LABEL_BUNDLE;
	h->owner = owner;
	h->unowned = true;
}

const struct unit_host unit_run_host = {.owns = run_owns,
					.decorate = run_decorate,
					.is_left = run_is_left,
					.refuses = run_refuses,
					.has_run_jobs = run_has_run_jobs,
					.own_jobs = run_own_jobs};

/* --- writing --- */

/* An absent object is applied without force, so that somebody who was faster meets a conflict; ours,
 * and what is taken over, with force and as it was read. */
static void write_object(struct unit_pass *s, const struct unit_entry *e, size_t row, int stage)
{
	const struct obj *live = unit_found(s, row);
	struct obj *o = s->host->decorate(s, e, row);
	if (unit_doubt(s, row))
		meta_set_annotation(o, ANNOTATION_FENCE, unit_doubt(s, row));
	struct action *x = plan_apply(s->plan, o, stage, live != NULL);
	if (live)
		plan_over(s->plan, x, live);
}

static const char *refusal(const struct acting *x, const struct unit_entry *e)
{
	return unit_refusal(x->s, e, x->record);
}

/* What was absent when it was looked for met a conflict: it is looked for again. Somebody may have
 * been faster, and then it is his. */
static enum ensured ensure_absent(struct acting *x, const struct unit_entry *e)
{
	const struct outcome *o = view_refusal(x->s->v, e->object, e->ns);
	if (!o || o->code != E_CONFLICT || e->live || o->at_ns < x->s->absent_ns)
		return DONE;
	unit_forget(x->s, UNIT_ABSENT);
	plan_requeue_after(x->s->plan, NS_PER_MS);
	wait_for(x, e, "looked for again");
	return WAITING;
}

static bool is_placed(const struct unit_pass *s, const struct unit_entry *e)
{
	/* The digest of a Secret tells nothing of its values. */
	bool secret = cstr_eq(e->kind, "Secret");
	return unit_is_applied(e) && s->host->owns(s, e->live) &&
	       (unit_holds_object(e->live, e->object) || (!secret && unit_is_as_left(s->v, e)));
}

/* --- checking --- */

static void check(struct acting *x, const struct unit_entry *e, size_t row, const struct obj *live)
{
	struct check_result r;
	/* what the object says of itself counts before it is live, too */
	if (cstr_eq(meta_annotation(e->object, ANNOTATION_WAIT), "disabled"))
		return;
	if (cstr_eq(e->kind, "CustomResourceDefinition") &&
	    !condition_is(live, "Established", "True")) {
		wait_for(x, e, "not established yet");
		return;
	}
	unit_check(x->s, x->step, row, live, x->record, &r);
	if (r.state == CHECK_WAITING)
		wait_for(x, e, r.message);
	/* those of the failure table begin with their reason */
	bool named = cstr_eq(r.reason, "CheckFailed") || cstr_eq(r.reason, "ProgressDeadline");
	if (r.state == CHECK_FAILED)
		fail(x, e,
		     named ? arena_fmt(x->s->v->a, "%s: %s", r.reason, r.message) : r.message);
}

/* --- the actions --- */

static enum ensured fence(struct acting *x, const struct unit_entry *e, size_t row)
{
	const char *why = NULL;
	enum ensured state = unit_fence(x->s, row, x->record, &why);
	if (state == ENDED)
		fail(x, e, why);
	if (state == WAITING) {
		wait_for(x, e, "being written once, as it was to be deleted before");
		x->writes = true;
	}
	return state;
}

static void create_or_update(struct acting *x, const struct unit_entry *e, size_t row)
{
	if (is_placed(x->s, e) && !unit_doubt(x->s, row)) {
		check(x, e, row, e->live);
		return;
	}
	const char *no = refusal(x, e);
	if (no) {
		fail(x, e, no);
		return;
	}
	if (ensure_absent(x, e) == WAITING)
		return;
	const char *whose = x->s->foreign[row] ? x->s->host->refuses(x->s, e, row) : NULL;
	if (whose) {
		fail(x, e, whose);
		return;
	}
	wait_for(x, e, e->live ? "being updated" : "being created");
	if (e->live && meta_is_deleting(e->live))
		return; /* its deletion brings the key back */
	x->writes = true;
	if (!e->unknown)
		write_object(x->s, e, row, x->stage);
}

static void create_if_not_exist(struct acting *x, const struct unit_entry *e, size_t row)
{
	const struct obj *live = unit_found(x->s, row);
	const char *no = live ? NULL : refusal(x, e);
	if (live) {
		bool asked = x->step->rule && x->step->rule->n_success;
		if (x->s->foreign[row])
			obj_set_str(x->record, "note", "exists");
		if (!x->s->foreign[row] || asked)
			check(x, e, row, live);
		return;
	}
	if (no) {
		fail(x, e, no);
		return;
	}
	wait_for(x, e, "being created");
	x->writes = true;
	plan_create(x->s->plan, x->s->host->decorate(x->s, e, row));
	/* somebody may be faster: then it is read again, and exists */
	unit_forget(x->s, UNIT_ABSENT);
}

static void delete_if_exist(struct acting *x, const struct unit_entry *e, size_t row)
{
	struct unit_pass *s = x->s;
	const char *what = arena_fmt(s->v->a, "gone:%zu", row), *id = unit_id(s, what);
	const struct outcome *o = view_outcome(s->v, id);
	struct obj *rows = obj_list();
	unit_survey_row(rows, "o", e);
	if (!e->resource) { /* a kind that is not served has no objects */
		obj_unref(rows);
		return;
	}
	bool old = o && !outcome_is_younger(o, s->v->now_ns, LOOK_AGAIN_NS);
	o = unit_survey(s, id, rows, old ? 1 : 0);
	const struct obj *live = o ? obj_get(o->value, "o") : NULL;
	if (o && !live)
		return;
	const char *no = refusal(x, e);
	if (no) {
		fail(x, e, no);
		return;
	}
	wait_for(x, e, "being deleted");
	x->writes = true;
	if (!o)
		return;
	if (!meta_is_deleting(live)) {
		plan_delete(s->plan, live, "Foreground");
		unit_forget(s, what);
	}
	plan_requeue_after(s->plan, LOOK_AGAIN_NS);
}

/* What the plugin calls finished is, unless the step has checks of its own. */
static void run_plugin(struct acting *x, const struct unit_entry *e, size_t row)
{
	const struct plugin_turn turn = {x->s, x->step, row, x->id, x->record, x->stage};
	const char *why = NULL;
	enum ensured state = unit_plugin(&turn, &why);
	if (state == ENDED) {
		fail(x, e, why);
	} else if (state == WAITING) {
		wait_for(x, e, why);
		x->writes = true;
	} else if (x->step->rule && x->step->rule->n_success) {
		check(x, e, row, e->live);
	}
}

static bool is_of_run(const struct hook_run *h, const struct obj *live)
{
	return cstr_eq(meta_annotation(live, ANNOTATION_HOOK_RUN),
		       arena_fmt(h->v->a, "%s/%s/%s", meta_uid(h->owner), h->run, h->event));
}

/* The one that gave up, else the first that was begun. */
static const struct obj *failed_job(const struct acting *x, const struct hook_run *h)
{
	const struct obj *first = NULL;
	for (size_t i = 0; i < x->step->n; i++) {
		const struct obj *live = x->s->entries[x->step->rows[i]].live;
		if (!live || !is_of_run(h, live))
			continue;
		if (condition_is(live, "Failed", "True"))
			return live;
		first = first ? first : live;
	}
	return first;
}

/* Why it failed its log may say, which is read before the step ends. */
static void add_log(struct acting *x, const struct hook_run *h)
{
	const struct obj *job = failed_job(x, h);
	const char *text = "";
	if (job && unit_read_log(x->s, job, &text) == WAITING) {
		x->failed = false;
		x->waiting = true;
		return;
	}
	struct str end = str_clip(str_of(text), FAILURES_TOLD_MAX);
	strbuf_add(&x->why, end.ptr, end.len);
}

/* A Job of a former attempt goes first; one that ran in this attempt does not run again. */
static void run_job(struct acting *x)
{
	struct unit_pass *s = x->s;
	struct obj *doc = obj_keep(s->v->a, obj_map()), *hooks = obj_list();
	const char *why = NULL;
	for (size_t i = 0; i < x->step->n; i++) {
		const struct unit_entry *e = &s->entries[x->step->rows[i]];
		struct obj *row = obj_map(), *events = obj_list(), *policies = obj_list();
		obj_append(events, obj_string(x->id));
		obj_append(policies, obj_string("before-hook-creation"));
		obj_set(row, "object", s->host->decorate(s, e, x->step->rows[i]));
		obj_set(row, "events", events);
		obj_set(row, "policies", policies);
		obj_append(hooks, row);
	}
	obj_set(doc, "hooks", hooks);
	obj_set_str(doc, "namespace", s->unit->ns);
	struct hook_run h = {.v = s->v,
			     .plan = s->plan,
			     .doc = doc,
			     .event = x->id,
			     .run = obj_str(s->course, "run"),
			     .records = obj_get_mut(s->course, "hooks")};
	s->host->own_jobs(s, &h);
	enum ensured state = hook_run(&h, &why);
	x->waiting = state == WAITING;
	x->failed = state == ENDED;
	x->writes = state == WAITING;
	if (why)
		strbuf_adds(&x->why, why);
	for (size_t i = 0; i < x->step->n && x->waiting; i++) {
		size_t row = x->step->rows[i];
		const struct unit_entry *e = &s->entries[row];
		if (e->live && is_of_run(&h, e->live))
			check(x, e, row, e->live);
	}
	if (x->failed)
		add_log(x, &h);
}

static void act(struct acting *x)
{
	if (x->step->action == ACTION_JOB && x->s->host->has_run_jobs(x->s))
		return;
	if (x->step->action == ACTION_JOB) {
		run_job(x);
		return;
	}
	for (size_t i = 0; i < x->step->n; i++) {
		size_t row = x->step->rows[i];
		const struct unit_entry *e = &x->s->entries[row];
		enum rollout_action action = unit_action(x->step, e);
		if (x->s->host->is_left(x->s, e) ||
		    ((action == ACTION_CREATE_IF_NOT_EXIST || action == ACTION_PLUGIN) &&
		     fence(x, e, row) != DONE))
			continue;
		switch (action) {
		case ACTION_CREATE_OR_UPDATE:
			create_or_update(x, e, row);
			break;
		case ACTION_CREATE_IF_NOT_EXIST:
			create_if_not_exist(x, e, row);
			break;
		case ACTION_DELETE_IF_EXIST:
			delete_if_exist(x, e, row);
			break;
		case ACTION_PLUGIN:
			run_plugin(x, e, row);
			break;
		case ACTION_JOB:
			break;
		}
	}
}

/* --- the record --- */

static void set_state(struct acting *x, const char *state)
{
	obj_set_str(x->record, "state", state);
	if (x->why.len)
		obj_set_str(x->record, "message", x->why.buf);
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

/* What has failed by its time. */
static void keep_deadline(struct acting *x)
{
	int64_t timeout = x->step->rule ? x->step->rule->timeout_ns : ROLLOUT_STEP_TIMEOUT;
	int64_t left = obj_i64(x->record, "sinceNs", 0) + timeout - x->s->v->now_ns;
	if (!x->waiting || x->failed)
		return;
	if (left > 0) {
		plan_requeue_after(x->s->plan, left);
		return;
	}
	CLEANUP(xfreep) char *why = xstrdup(x->why.buf);
	strbuf_clear(&x->why);
	strbuf_addf(&x->why, "ProgressDeadline: %s", why);
	x->failed = true;
}

static enum step_state run_step(struct acting *x)
{
	if (!x->record)
		begin(x);
	act(x);
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
		/* a Job that deletes itself was there */
		if (!not_kept[row] && e->resource && !e->unknown && !unit_found(s, row) &&
		    !s->host->is_left(s, e) && !obj_path(e->object, "spec.ttlSecondsAfterFinished"))
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
	for (bool moved = true; moved;) {
		enum rollout_end end = rollout_next(turns, part->n, part->parallel);
		moved = false;
		for (size_t g = 0; g < part->n; g++)
			for (size_t i = 0; i < turns[g].n; i++) {
				struct turn_step *turn = &turns[g].steps[i];
				if (!turn->go)
					continue;
				const char *id = unit_step_id(s, part, g, i);
				struct obj *steps = obj_get_mut(s->course, "steps");
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

enum ensured unit_roll_out(struct unit_pass *s)
{
	const char *why = NULL;
	enum ensured state = unit_walk(s, &why);
	return state == ENDED ? unit_turn_back(s, "StepFailed", why) : state;
}

/* --- afterwards --- */

/* What is put back, and whose it was: once for each state that somebody left it in. */
static void tell_drift(struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	struct arena *a = s->v->a;
	const struct obj *live = unit_found(s, row);
	const struct obj *want = obj_keep(a, s->host->decorate(s, e, row));
	struct obj *body = obj_map();
	const char *by = drift_tell(want, live, s->plan->manager, a, body);
	obj_set_str(body, "what",
		    arena_fmt(a, "%s %s", unit_entry_text(e, a), live ? "changed" : "is missing"));
	obj_set_str(body, "bundle", s->unit->bundle);
	const char *state = live ? meta_resource_version(live)
				 : arena_fmt(a, "missing:%lld", (long long)s->job->attempt);
	struct action *x =
		plan_row(s->plan, "Observe", live ? live : want, "DriftRepaired",
			 arena_fmt(a, "%s@%s", meta_uid(live) ? meta_uid(live) : "", state), body);
	x->actor = by;
	s->plan->trigger = "Drift";
}

static void put_back(struct unit_pass *s, const struct unit_step *step)
{
	for (size_t k = 0; k < step->n; k++) {
		size_t row = step->rows[k];
		const struct unit_entry *e = &s->entries[row];
		if (unit_action(step, e) != ACTION_CREATE_OR_UPDATE || s->foreign[row] ||
		    s->host->is_left(s, e) || e->unknown ||
		    (e->live && meta_is_deleting(e->live)) || is_placed(s, e))
			continue;
		const struct outcome *no = view_refusal(s->v, e->object, e->ns);
		int64_t left = no && no->code ? outcome_retry_in(no, s->v->now_ns) : 0;
		if (plan_await(s->plan, left) != DONE)
			continue;
		tell_drift(s, e, row);
		write_object(s, e, row, 0);
	}
}

enum ensured unit_keep(struct unit_pass *s)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++)
				put_back(s, &s->unit->parts[p].groups[g].steps[i]);
	return DONE;
}
