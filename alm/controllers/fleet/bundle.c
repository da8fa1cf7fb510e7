/*
 * A Bundle: a branch of git, read by its interval, rendered in the sandbox, and run as a unit (fleet.md 2.5, 3.1). The reading and the running are work; here
 * is when, and what the status says: what became of the revision on its one cluster, too.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/app/spec_seen.h"
#include "alm/controllers/fleet/bundle_accept.h"
#include "alm/controllers/fleet/bundle_asks.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_orphans.h"
#include "alm/controllers/fleet/bundle_overdue.h"
#include "alm/controllers/fleet/bundle_pace.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_source.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/controllers/fleet/bundle_state.h"
#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/feedback.h"
#include "crds/marks.h"

struct bundle_pass {
	const struct obj *o;
	struct bundle_spec spec;
	struct error invalid; /* of the spec */
	struct bundle_now now;
	const struct outcome *read;
	struct bundle_facts facts;
	struct bundle_held held;
	struct bundle_overdue overdue;
	enum bundle_state was, is;
	bool goes_again; /* what held up its deletion may have passed: it is tried once more */
	bool resumes; /* another process said that it was not well, and this one did not look yet */
};

/* --- what is known --- */

/* Of a spec, and of what somebody has accepted since: that is read at once. */
static const char *read_id(const struct view *v, const struct obj *o)
{
	const char *accepts = bundle_accepts(o);
	return arena_fmt(v->a, "read:%s:%lld%s%.64s", meta_uid(o), (long long)meta_generation(o),
			 accepts ? ":" : "", accepts ? accepts : "");
}

static int bundle_begin(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct bundle_side *side = v->shared->bundles;
	const struct obj *o = side ? view_get(v, WATCH_BUNDLE, key) : NULL;
	if (!o)
		return STEP_STOP;
	struct bundle_pass *s = ARENA_NEW(v->a, struct bundle_pass);
	*v->pass = s;
	*s = (struct bundle_pass){.o = o};
	(void)bundle_spec_read(o, v->a, &s->spec, &s->invalid);
	(void)side->now(side->arg, key, &s->now);
	if (s->now.job) /* what objects and plugins say has its values, too */
		plan_hide(plan, s->now.job->unit->doc);
	s->read = view_outcome(v, read_id(v, o));
	s->was = bundle_state_find(obj_str(o, "status.state"));
	if (v->settings->foreign &&
	    obj_i64(o, "status.observedGeneration", 0) != meta_generation(o))
		spec_seen_once(v, plan, o);
	bundle_asks_plan(v, o, &s->now, plan);
	if (s->now.rewritten)
		bundle_rewritten_plan(v, o, s->now.read, plan);
	return STEP_CONTINUE;
}

/* What it made is pruned before it goes. */
static int bundle_hold(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)v;
	(void)key;
	(void)err;
	const struct bundle_pass *s = *v->pass;
	if (meta_is_deleting(s->o) || meta_has_finalizer(s->o, BUNDLE_FINALIZER))
		return STEP_CONTINUE;
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(s->o);
	meta_add_finalizer(copy, BUNDLE_FINALIZER);
	struct obj *patch = obj_map();
	obj_set_path(patch, "metadata.finalizers", obj_ref(obj_path(copy, "metadata.finalizers")));
	plan_own_patch(plan, s->o, patch);
	return STEP_STOP; /* the watch brings it */
}

/* --- reading --- */

/* As far as the status knows, all of this spec is there: true of what a restart finds at rest. */
static bool was_there(const struct bundle_pass *s)
{
	return (s->was == BUNDLE_SYNCED || s->was == BUNDLE_DEGRADED) &&
	       obj_i64(s->o, "status.observedGeneration", 0) == meta_generation(s->o);
}

/* One that is paused is read once after a restart: to keep what is there takes what it is. */
static bool rests(const struct bundle_pass *s)
{
	return s->spec.paused && (s->now.read || s->now.job || !was_there(s));
}

static int bundle_read(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct bundle_pass *s = *v->pass;
	if (s->invalid.code || rests(s) || meta_is_deleting(s->o))
		return STEP_CONTINUE;
	int64_t left = s->read ? bundle_source_in(s->read, s->spec.interval_ns, v->now_ns) : 0;
	if (left && !s->now.hooked && !bundle_is_asked(s->o, s->now.asked_read)) {
		plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	struct action *x = plan_work(plan, &read_work, read_id(v, s->o));
	x->key = arena_strdup(v->a, key);
	x->body = s->o;
	x->subject = s->o;
	return STEP_CONTINUE;
}

/* --- judging --- */

static int bundle_judge(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct bundle_pass *s = *v->pass;
	const struct obj *job = s->now.job ? s->now.job->record : NULL;
	enum bundle_run run = s->now.job ? bundle_run_of(job) : RUN_NONE;
	const char *digest = obj_str(s->now.read, "digest");
	bool other = digest && !cstr_eq(digest, obj_str(s->now.source, "digest"));
	const struct bundle_ended ended = {.run = run,
					   .is_other = s->now.generation != meta_generation(s->o),
					   .is_asked = bundle_is_asked(s->o, s->now.asked),
					   .failures = s->now.failures,
					   .since_ns = v->now_ns - s->now.ended_ns};
	int64_t retry = bundle_retry_in(&ended);
	if (retry > 0)
		plan_requeue_after(plan, retry);
	bool again = run == RUN_DONE && obj_flag(job, "restored", false); /* unit_side.h */
	bool newer = !s->spec.paused && (other || retry == 0 || again);
	s->goes_again = meta_is_deleting(s->o) && run != RUN_DONE && retry == 0;
	s->resumes = run == RUN_DONE && !newer && !meta_is_deleting(s->o) &&
		     obj_flag(job, "resumed", false);
	s->facts = (struct bundle_facts){
		.deleting = meta_is_deleting(s->o),
		.source = s->invalid.code ? SOURCE_INVALID
					  : bundle_source_of(&s->now, s->read, s->spec.paused,
							     bundle_source_is_told(s->o)),
		.run = run,
		.unhealthy = obj_has(job, "unhealthy") || s->resumes,
		.drifts = obj_has(job, "drifted"),
		.newer = newer};
	s->is = bundle_state_of(&s->facts);
	const struct obj *record = s->now.job && !s->facts.newer ? s->now.job->record : NULL;
	bundle_held_judge(unit_record_is_open(record) ? record : NULL, v->now_ns, plan, &s->held);
	bundle_overdue_judge(s->o, record, v->now_ns, &s->overdue);
	if (s->overdue.again_ns)
		plan_requeue_after(plan, s->overdue.again_ns);
	return STEP_CONTINUE;
}

/* --- the status --- */

static void set_condition(const struct view *v, const struct bundle_pass *s, struct obj *list,
			  const char *type, const char *status, const char *reason,
			  const char *message)
{
	const struct condition c = {.type = type,
				    .status = status,
				    .reason = reason,
				    .message = message ? message : "",
				    .observed_generation = meta_generation(s->o)};
	condition_set(list, &c, v->now_ns);
}

static const char *text_of(const struct obj *o, const char *field)
{
	const char *text = obj_str(o, field);
	return text ? text : "";
}

static const char *waits_text(const struct view *v, const struct bundle_pass *s)
{
	if (!s->now.job || s->facts.newer)
		return "";
	const char *waits = text_of(s->now.job->record, "waits");
	return *waits || s->is != BUNDLE_ROLLING ? waits : feedback_waits(s->now.job->record, v->a);
}

static const struct obj *ready_before(const struct bundle_pass *s)
{
	return condition_find(obj_path(s->o, "status.conditions"), "Ready");
}

/* What is wrong with what is there. */
static const char *degraded_text(const struct view *v, const struct bundle_pass *s)
{
	const struct obj *record = s->now.job->record;
	if (s->resumes && s->was == BUNDLE_DEGRADED)
		return text_of(ready_before(s), "message");
	if (s->resumes)
		return "it was not well before a restart, and was not looked at since";
	const char *ill = text_of(record, "unhealthy"), *drifted = text_of(record, "drifted");
	return arena_fmt(v->a, "%s%s%s", ill, *ill && *drifted ? "; " : "", drifted);
}

static const char *message_of(const struct view *v, const struct bundle_pass *s)
{
	const struct unit_job *job = s->now.job;
	const char *notes = bundle_source_notes(s->o, &s->now, s->is, s->invalid.code != 0, v->a);
	switch (s->is) {
	case BUNDLE_SOURCE_FAILED:
	case BUNDLE_INVALID:
		return arena_fmt(v->a, "%s%s", s->invalid.code ? s->invalid.msg : s->read->msg,
				 notes);
	case BUNDLE_STOPPED:
	case BUNDLE_BLOCKED:
	case BUNDLE_AWAITING_APPROVAL:
	case BUNDLE_ROLLING_BACK:
	case BUNDLE_ROLLED_BACK:
		return arena_fmt(v->a, "%s: %s%s", text_of(job->record, "reason"),
				 text_of(job->record, "message"), notes);
	case BUNDLE_DEGRADED:
		return degraded_text(v, s);
	case BUNDLE_DELETING:
		if (job && job->deleting && !*waits_text(v, s))
			return text_of(job->record, "message");
		return waits_text(v, s);
	case BUNDLE_NEW:
	case BUNDLE_FETCHING:
		return "";
	case BUNDLE_RENDERING:
	case BUNDLE_PLANNING:
	case BUNDLE_ROLLING:
	case BUNDLE_SOAKING:
	case BUNDLE_SYNCED:
	case BUNDLE_STATES:
		break;
	}
	const char *revision =
		bundle_source_text(s->facts.newer ? s->now.read : s->now.source, v->a);
	const char *waits = waits_text(v, s);
	const char *pin = bundle_source_held(&s->spec, v->a);
	return arena_fmt(v->a, "%s%s%s%s", revision, pin, *waits ? "; " : "", waits);
}

static const char *ready_of(const struct bundle_pass *s)
{
	const char *status = obj_str(ready_before(s), "status");
	switch (bundle_state_ready(s->is)) {
	case READY_TRUE:
		return "True";
	case READY_FALSE:
		return "False";
	case READY_UNKNOWN:
	case READY_AS_BEFORE:
		break;
	}
	return status ? status : "Unknown";
}

static void hold_condition(const struct view *v, const struct bundle_pass *s, struct obj *list,
			   bool holds, const char *type, const char *reason, const char *message)
{
	if (holds)
		set_condition(v, s, list, type, "True", reason, message);
	else
		condition_remove(list, type);
}

/* Deletes that wait for somebody, and what is not known of what nobody declared. */
static void set_held(const struct view *v, const struct bundle_pass *s, struct obj *list)
{
	const struct obj *record = s->now.job ? s->now.job->record : NULL;
	bool is_swept = s->spec.sweeps && !s->facts.deleting;
	bool is_revision = s->facts.run == RUN_HELD && !s->facts.newer;
	const char *held = is_swept ? obj_str(record, "orphansHeld") : NULL;
	const char *unknown = is_swept ? obj_str(record, "orphansUnknown") : NULL;
	hold_condition(v, s, list, is_revision || held, "PruneHeld",
		       is_revision ? "PruneHeld" : "OrphansHeld",
		       is_revision ? obj_str(record, "message") : held);
	hold_condition(v, s, list, unknown != NULL, "OrphansUnknown", "ListFailed", unknown);
	bool is_kept = !s->facts.newer || s->is != BUNDLE_ROLLING; /* the next one cannot begin */
	bool drifts = s->facts.drifts && is_kept && !s->facts.deleting;
	if (drifts || !s->resumes)
		hold_condition(v, s, list, drifts, "Drifted", obj_str(record, "driftedWhy"),
			       obj_str(record, "drifted"));
	hold_condition(v, s, list, s->held.data_ns != 0, "AnalysisHeld", "AnalysisHeld",
		       s->held.data_text);
	hold_condition(v, s, list, s->held.asked_ns != 0, "ApprovalPending", "ApprovalPending",
		       s->held.asked_text);
	hold_condition(v, s, list, s->overdue.deletes != NULL, "StateOverdue", "Pruning",
		       s->overdue.deletes);
	hold_condition(v, s, list, s->overdue.is_blocked, "DeletionBlocked", "DeletionBlocked",
		       message_of(v, s));
}

static void set_conditions(const struct view *v, const struct bundle_pass *s, struct obj *list)
{
	enum bundle_source source = s->facts.source;
	const struct outcome *r = s->read;
	set_condition(v, s, list, "Ready", ready_of(s), bundle_state_name(s->is), message_of(v, s));
	bool is_well = source == SOURCE_READ && r && !r->code;
	if (is_well || (source == SOURCE_INVALID && s->now.fetched && !s->invalid.code))
		set_condition(v, s, list, "SourceReady", "True", "Fetched", "");
	if (source == SOURCE_FAILED && r) {
		set_condition(v, s, list, "SourceReady", "False", bundle_source_reason(r, source),
			      r->msg);
		if (cstr_eq(obj_str(condition_find(list, "Rendered"), "status"), "False"))
			set_condition(v, s, list, "Rendered", "Unknown", "SourceFailed", "");
	}
	if (is_well)
		set_condition(v, s, list, "Rendered", "True", "Rendered", "");
	if (source == SOURCE_INVALID)
		set_condition(v, s, list, "Rendered", "False",
			      s->invalid.code ? "SpecInvalid" : bundle_source_reason(r, source),
			      s->invalid.code ? s->invalid.msg : r->msg);
	set_held(v, s, list);
	hold_condition(v, s, list, s->spec.paused, "Paused", "Paused", "spec.paused");
}

/* All of the revision was rolled out, however it does since. */
static bool is_through(const struct bundle_pass *s)
{
	return s->is == BUNDLE_SYNCED || s->is == BUNDLE_DEGRADED;
}

static void set_run(const struct view *v, const struct bundle_pass *s, struct obj *status)
{
	static const char *const copied[] = {"commit", "author", "subject", "signer"};
	const struct obj *source = s->facts.newer ? s->now.read : s->now.source;
	const struct unit_job *job = s->facts.newer ? NULL : s->now.job;
	const char *commit = obj_str(source, "commit");
	if (s->facts.deleting)
		return;
	bool asks = !s->now.job && v->ops->said;
	CLEANUP(obj_unrefp) struct obj *said =
		asks ? v->ops->said(v->ops_arg, meta_uid(s->o)) : NULL;
	bundle_steer_since(&s->now, said, s->facts.newer, is_through(s), status);
	if (!commit)
		return;
	obj_set(status, "revision", obj_stringf("git:%s", commit));
	obj_set_str(status, "revisionDigest", obj_str(source, "digest"));
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		if (obj_str(source, copied[i]))
			obj_set_str(status, copied[i], obj_str(source, copied[i]));
		else
			obj_del(status, copied[i]);
	}
	obj_del(status, "source");
	if (obj_has(source, "of"))
		obj_set(status, "source", obj_ref(obj_get(source, "of")));
	obj_set_int(status, "objects", obj_i64(source, "objects", 0));
	obj_del(status, "kept");
	obj_del(status, "deleted");
	obj_del(status, "canaries");
	obj_del(status, "instances");
	if (!job)
		return;
	const struct obj *kept = obj_get(job->record, "kept");
	if (obj_len(kept))
		obj_set(status, "kept", obj_ref(kept));
	if (obj_has(job->record, "pruned"))
		obj_set_int(status, "deleted", obj_i64(job->record, "pruned", 0));
	obj_set(status, "groups", feedback_groups(job->unit, job->record));
	struct obj *instances = feedback_instances(job->unit, job->record);
	if (instances)
		obj_set(status, "instances", instances);
	struct obj *canaries = feedback_canaries(job->unit, job->record);
	if (canaries)
		obj_set(status, "canaries", canaries);
	bundle_history_leave(status, s->spec.commit);
	if (is_through(s))
		bundle_history_add(status, source, v->now_ns);
}

static void tell_orphans(const struct view *v, const struct bundle_pass *s, struct obj *status)
{
	const struct obj *record = s->now.job ? s->now.job->record : NULL;
	bool asks = s->spec.sweeps && !bundle_orphans_known(record) && v->ops->said;
	CLEANUP(obj_unrefp) struct obj *said =
		asks ? v->ops->said(v->ops_arg, meta_uid(s->o)) : NULL;
	bundle_orphans_tell(&s->spec, record, said, s->spec.paused || !is_through(s), status);
}

static int bundle_tell(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct bundle_pass *s = *v->pass;
	enum bundle_state way[BUNDLE_STATES];
	struct obj *status = obj_copy_map(obj_get(s->o, "status"));
	struct obj *list = bundle_source_conditions(s->o, s->read, v->now_ns);
	(void)bundle_way(s->was, s->is, way);
	set_conditions(v, s, list);
	set_run(v, s, status);
	tell_orphans(v, s, status);
	obj_set_int(status, "observedGeneration", meta_generation(s->o));
	obj_set_str(status, "state", bundle_state_name(s->is));
	obj_set(status, "conditions", list);
	if (bundle_pace(v, s->o, status, plan) != DONE) {
		obj_unref(status);
		return STEP_CONTINUE;
	}
	struct action *x = status_plan(plan, s->o, status, bundle_state_name(s->was),
				       bundle_state_name(s->is), message_of(v, s));
	if (!x)
		return STEP_CONTINUE;
	x->chain = arena_fmt(v->a, "bundle:%s", key);
	if (strcmp(x->reason, "Refreshed") != 0)
		x->event_type =
			bundle_state_ready(s->is) == READY_FALSE || s->facts.source == SOURCE_FAILED
				? "Warning"
				: "Normal";
	return STEP_CONTINUE;
}

/* --- running --- */

/* The status says that all of it is there: it is kept so, and nothing is run again. */
static bool is_there(const struct bundle_pass *s)
{
	return s->facts.run == RUN_NONE && was_there(s) &&
	       cstr_eq(obj_str(s->o, "status.revisionDigest"), obj_str(s->now.read, "digest"));
}

static void plan_roll(const struct view *v, const struct bundle_pass *s, struct plan *plan)
{
	struct action *x = plan_work(plan, &roll_work, arena_fmt(v->a, "roll:%s", meta_uid(s->o)));
	x->body = s->o;
	x->row_only = !s->facts.deleting && is_there(s);
}

static void release(const struct bundle_pass *s, struct plan *plan)
{
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(s->o);
	meta_remove_finalizer(copy, BUNDLE_FINALIZER);
	const struct obj *left = obj_path(copy, "metadata.finalizers");
	struct obj *patch = obj_map();
	obj_set_path(patch, "metadata.finalizers", left ? obj_ref(left) : obj_null());
	plan_own_patch(plan, s->o, patch);
}

static int bundle_roll(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	const struct bundle_pass *s = *v->pass;
	const struct unit_job *job = s->now.job;
	if (s->facts.deleting && meta_has_finalizer(s->o, BUNDLE_FINALIZER)) {
		if (!job || !job->deleting || s->goes_again)
			plan_roll(v, s, plan);
		else if (s->facts.run == RUN_DONE)
			release(s, plan);
	} else if (!s->facts.deleting && s->is == BUNDLE_ROLLING && s->facts.newer) {
		plan_roll(v, s, plan);
	}
	return STEP_CONTINUE;
}

/* A restart finds it Synced, and reads it again: it is not said to be rolling for that. One that is
 * paused stays as it is told until that was read, and where it is another revision. */
static int bundle_resume(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	(void)key;
	(void)err;
	const struct bundle_pass *s = *v->pass;
	if (s->facts.deleting || s->invalid.code || !was_there(s))
		return STEP_CONTINUE;
	if (s->facts.source == SOURCE_UNREAD)
		return STEP_STOP;
	if ((!s->facts.newer && !s->spec.paused) || !is_there(s))
		return s->spec.paused && s->facts.run == RUN_NONE ? STEP_STOP : STEP_CONTINUE;
	plan_roll(v, s, plan);
	return STEP_STOP;
}

static const struct watch_rule watches[] = {{WATCH_BUNDLE, key_self, MEANS_KEY}, {0}};

static const struct step steps[] = {
	{"begin", bundle_begin},   {"hold", bundle_hold},
	{"read", bundle_read},     {"judge", bundle_judge},
	{"resume", bundle_resume}, {"status", bundle_tell}, /* before what it announces */
	{"roll", bundle_roll},     {0},
};

const struct controller bundle_controller = {
	.name = "bundle", .reads_sources = true, .watches = watches, .steps = steps};
