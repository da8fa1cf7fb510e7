/*
 * A Bundle: a branch of git, read by its interval, rendered in the sandbox, and run as a unit (fleet.md 2.5, 3.1). The reading and the running are work; here
 * is when, and what the status says.
 *
 * What became of the revision on its one cluster is in this status.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/app/spec_seen.h"
#include "alm/controllers/fleet/bundle_asks.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_orphans.h"
#include "alm/controllers/fleet/bundle_side.h"
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

#define FINALIZER    "app.coreos.com/bundle"
#define POLLS_MAX    3 /* that fail before it is said */
#define COMMIT_SHOWN 12

struct bundle_pass {
	const struct obj *o;
	struct bundle_spec spec;
	struct error invalid; /* of the spec */
	struct bundle_now now;
	const struct outcome *read;
	struct bundle_facts facts;
	struct bundle_held held;
	enum bundle_state was, is;
};

/* --- what is known --- */

static const char *read_id(const struct view *v, const struct obj *o)
{
	return arena_fmt(v->a, "read:%s:%lld", meta_uid(o), (long long)meta_generation(o));
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
	if (meta_is_deleting(s->o) || meta_has_finalizer(s->o, FINALIZER))
		return STEP_CONTINUE;
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(s->o);
	meta_add_finalizer(copy, FINALIZER);
	struct obj *patch = obj_map();
	obj_set_path(patch, "metadata.finalizers", obj_ref(obj_path(copy, "metadata.finalizers")));
	plan_own_patch(plan, s->o, patch);
	return STEP_STOP; /* the watch brings it */
}

/* --- reading --- */

static int bundle_read(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct bundle_pass *s = *v->pass;
	if (s->invalid.code || s->spec.paused || meta_is_deleting(s->o))
		return STEP_CONTINUE;
	int64_t age = s->read ? v->now_ns - s->read->at_ns : 0;
	if (s->read && age >= 0 && age < s->spec.interval_ns && !s->now.hooked) {
		plan_requeue_after(plan, s->spec.interval_ns - age);
		return STEP_CONTINUE;
	}
	struct action *x = plan_work(plan, &read_work, read_id(v, s->o));
	x->key = arena_strdup(v->a, key);
	x->body = s->o;
	x->subject = s->o;
	return STEP_CONTINUE;
}

/* --- judging --- */

/* Not about what was read, as there is none. */
static bool is_about_source(const struct outcome *r)
{
	return r->reason == REASON_GIT_MISSING || r->reason == REASON_CREDENTIALS_REJECTED ||
	       r->reason == REASON_HOST_KEY_UNKNOWN || r->reason == REASON_HOST_KEY_CHANGED ||
	       r->reason == REASON_LIMIT_EXCEEDED || r->reason == REASON_BRANCH_NOT_FOUND ||
	       r->reason == REASON_SOURCE_EMPTY || r->reason == REASON_SIGNATURE_INVALID ||
	       (!r->reason && r->code == E_NOTALLOWED);
}

static enum bundle_source source_of(const struct bundle_pass *s)
{
	const struct outcome *r = s->read;
	if (s->invalid.code)
		return SOURCE_INVALID;
	if (!r || (!r->code && !s->now.read))
		return s->spec.paused && s->now.read ? SOURCE_READ : SOURCE_UNREAD;
	if (!r->code)
		return SOURCE_READ;
	bool may_pass = r->reason == REASON_SOURCE_UNREACHABLE ||
			(!r->reason && error_retry(r->code) != RETRY_NEVER);
	if (may_pass) /* a poll or two may fail */
		return r->failures >= POLLS_MAX || !s->now.read ? SOURCE_FAILED : SOURCE_READ;
	return is_about_source(r) ? SOURCE_FAILED : SOURCE_INVALID;
}

static enum bundle_run run_of(const struct bundle_pass *s)
{
	const struct unit_job *job = s->now.job;
	const char *state = job ? obj_str(job->record, "state") : NULL;
	if (!job)
		return RUN_NONE;
	if (cstr_eq(state, "Succeeded"))
		return RUN_DONE;
	if (cstr_eq(state, "RollingBack"))
		return RUN_GOES_BACK;
	if (cstr_eq(state, "RolledBack"))
		return RUN_WENT_BACK;
	if (!cstr_eq(state, "Failed"))
		return RUN_GOES;
	if (cstr_eq(obj_str(job->record, "reason"), "PruneHeld"))
		return RUN_HELD;
	return obj_flag(job->record, "refused", false) ? RUN_REFUSED : RUN_FAILED;
}

/* Its spec says something else than when it ended: the same revision is run again, by what it says
 * now of drift and deletes. What was refused may be let in by somebody else's change: after 1, 2, 4 .. 60 minutes. -1: never. */
static int64_t retry_in(const struct view *v, const struct bundle_pass *s, enum bundle_run run)
{
	int64_t wait = NS_PER_MIN;
	if (run != RUN_FAILED && run != RUN_REFUSED && run != RUN_HELD && run != RUN_WENT_BACK &&
	    run != RUN_DONE)
		return -1;
	if (s->now.generation != meta_generation(s->o))
		return 0;
	if (run != RUN_REFUSED)
		return -1;
	for (unsigned i = 1; i < s->now.failures && wait < NS_PER_HOUR; i++)
		wait *= 2;
	int64_t left = s->now.ended_ns + (wait < NS_PER_HOUR ? wait : NS_PER_HOUR) - v->now_ns;
	return left > 0 ? left : 0;
}

static int bundle_judge(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct bundle_pass *s = *v->pass;
	enum bundle_run run = run_of(s);
	const char *digest = obj_str(s->now.read, "digest");
	bool other = digest && !cstr_eq(digest, obj_str(s->now.source, "digest"));
	int64_t retry = retry_in(v, s, run);
	if (retry > 0)
		plan_requeue_after(plan, retry);
	s->facts = (struct bundle_facts){.deleting = meta_is_deleting(s->o),
					 .source = source_of(s),
					 .run = run,
					 .newer = !s->spec.paused && (other || retry == 0)};
	s->is = bundle_state_of(&s->facts);
	const struct obj *record = s->now.job && !s->facts.newer ? s->now.job->record : NULL;
	bundle_held_judge(unit_record_is_open(record) ? record : NULL, v->now_ns, plan, &s->held);
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

/* What an error is called in a condition, where it has no reason of its own. */
static const char *reason_of(const struct outcome *r, enum bundle_source source)
{
	if (r->reason)
		return error_reason_text(r->reason);
	if (r->code == E_LIMIT)
		return "LimitExceeded";
	if (source == SOURCE_INVALID)
		return "ParseError";
	return r->code == E_NOTALLOWED ? "SourceNotAllowed" : "SourceUnreachable";
}

static const char *text_of(const struct obj *o, const char *field)
{
	const char *text = obj_str(o, field);
	return text ? text : "";
}

static const char *revision_text(const struct obj *source, struct arena *a)
{
	const char *commit = obj_str(source, "commit");
	if (!commit)
		return "";
	return arena_fmt(a, "%.*s %s: %s", COMMIT_SHOWN, commit, text_of(source, "author"),
			 text_of(source, "subject"));
}

static const char *waits_text(const struct bundle_pass *s)
{
	return s->now.job && !s->facts.newer ? text_of(s->now.job->record, "waits") : "";
}

static const char *message_of(const struct view *v, const struct bundle_pass *s)
{
	const struct unit_job *job = s->now.job;
	switch (s->is) {
	case BUNDLE_SOURCE_FAILED:
	case BUNDLE_INVALID:
		return s->invalid.code ? s->invalid.msg : s->read->msg;
	case BUNDLE_STOPPED:
	case BUNDLE_BLOCKED:
	case BUNDLE_AWAITING_APPROVAL:
	case BUNDLE_ROLLING_BACK:
	case BUNDLE_ROLLED_BACK:
		return arena_fmt(v->a, "%s: %s", text_of(job->record, "reason"),
				 text_of(job->record, "message"));
	case BUNDLE_DELETING:
		if (job && job->deleting && !*waits_text(s))
			return text_of(job->record, "message");
		return waits_text(s);
	case BUNDLE_NEW:
	case BUNDLE_FETCHING:
		return "";
	case BUNDLE_RENDERING:
	case BUNDLE_PLANNING:
	case BUNDLE_ROLLING:
	case BUNDLE_SOAKING:
	case BUNDLE_SYNCED:
	case BUNDLE_DEGRADED:
	case BUNDLE_STATES:
		break;
	}
	const char *revision = revision_text(s->facts.newer ? s->now.read : s->now.source, v->a);
	const char *waits = waits_text(s);
	const char *pin = s->spec.commit ? arena_fmt(v->a,
						     "; spec.source.git.commit holds it there: alm "
						     "rollback bundle/%s --to head ends that",
						     s->spec.name)
					 : "";
	return arena_fmt(v->a, "%s%s%s%s", revision, pin, *waits ? "; " : "", waits);
}

static const char *ready_of(const struct bundle_pass *s)
{
	const struct obj *before = condition_find(obj_path(s->o, "status.conditions"), "Ready");
	const char *status = obj_str(before, "status");
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

/* One that is there while it is so. */
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
	hold_condition(v, s, list, s->held.data_ns != 0, "AnalysisHeld", "AnalysisHeld",
		       s->held.data_text);
	hold_condition(v, s, list, s->held.asked_ns != 0, "ApprovalPending", "ApprovalPending",
		       s->held.asked_text);
}

static void set_conditions(const struct view *v, const struct bundle_pass *s, struct obj *list)
{
	enum bundle_source source = s->facts.source;
	const struct outcome *r = s->read;
	set_condition(v, s, list, "Ready", ready_of(s), bundle_state_name(s->is), message_of(v, s));
	if (source == SOURCE_READ && r && !r->code)
		set_condition(v, s, list, "SourceReady", "True", "Fetched", "");
	if (source == SOURCE_FAILED && r)
		set_condition(v, s, list, "SourceReady", "False", reason_of(r, source), r->msg);
	if (source == SOURCE_READ && r && !r->code)
		set_condition(v, s, list, "Rendered", "True", "Rendered", "");
	if (source == SOURCE_INVALID)
		set_condition(v, s, list, "Rendered", "False",
			      s->invalid.code ? "SpecInvalid" : reason_of(r, source),
			      s->invalid.code ? s->invalid.msg : r->msg);
	set_held(v, s, list);
	hold_condition(v, s, list, s->spec.paused, "Paused", "Paused", "spec.paused");
}

static void set_run(const struct view *v, const struct bundle_pass *s, struct obj *status)
{
	static const char *const copied[] = {"commit", "author", "subject", "signer"};
	const struct obj *source = s->facts.newer ? s->now.read : s->now.source;
	const struct unit_job *job = s->facts.newer ? NULL : s->now.job;
	const char *commit = obj_str(source, "commit");
	if (!commit || s->facts.deleting)
		return;
	bundle_steer_since(&s->now, s->facts.newer,
			   s->is == BUNDLE_SYNCED || s->is == BUNDLE_DEGRADED, status);
	obj_set(status, "revision", obj_stringf("git:%s", commit));
	obj_set_str(status, "revisionDigest", obj_str(source, "digest"));
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		if (obj_str(source, copied[i]))
			obj_set_str(status, copied[i], obj_str(source, copied[i]));
		else
			obj_del(status, copied[i]);
	}
	obj_set_int(status, "objects", obj_i64(source, "objects", 0));
	obj_del(status, "kept");
	obj_del(status, "deleted");
	obj_del(status, "canaries");
	if (!job)
		return;
	const struct obj *kept = obj_get(job->record, "kept");
	if (obj_len(kept))
		obj_set(status, "kept", obj_ref(kept));
	if (obj_has(job->record, "pruned"))
		obj_set_int(status, "deleted", obj_i64(job->record, "pruned", 0));
	obj_set(status, "groups", feedback_groups(job->unit, job->record));
	struct obj *canaries = feedback_canaries(job->unit, job->record);
	if (canaries)
		obj_set(status, "canaries", canaries);
	if (s->is == BUNDLE_SYNCED)
		bundle_history_add(status, source, v->now_ns);
}

static void tell_orphans(const struct view *v, const struct bundle_pass *s, struct obj *status)
{
	const struct obj *record = s->now.job ? s->now.job->record : NULL;
	bool asks = s->spec.sweeps && !bundle_orphans_known(record) && v->ops->said;
	CLEANUP(obj_unrefp) struct obj *said =
		asks ? v->ops->said(v->ops_arg, meta_uid(s->o)) : NULL;
	bundle_orphans_tell(&s->spec, record, said, s->spec.paused || s->is != BUNDLE_SYNCED,
			    status);
}

static int bundle_tell(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct bundle_pass *s = *v->pass;
	enum bundle_state way[BUNDLE_STATES];
	struct obj *status = obj_copy_map(obj_get(s->o, "status"));
	struct obj *list = obj_copy_list(obj_path(s->o, "status.conditions"));
	(void)bundle_way(s->was, s->is, way);
	set_conditions(v, s, list);
	set_run(v, s, status);
	tell_orphans(v, s, status);
	obj_set_int(status, "observedGeneration", meta_generation(s->o));
	obj_set_str(status, "state", bundle_state_name(s->is));
	obj_set(status, "conditions", list);
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
	return s->facts.run == RUN_NONE && (s->was == BUNDLE_SYNCED || s->was == BUNDLE_DEGRADED) &&
	       obj_i64(s->o, "status.observedGeneration", 0) == meta_generation(s->o) &&
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
	meta_remove_finalizer(copy, FINALIZER);
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
	if (s->facts.deleting && meta_has_finalizer(s->o, FINALIZER)) {
		if (!job || !job->deleting)
			plan_roll(v, s, plan);
		else if (s->facts.run == RUN_DONE)
			release(s, plan);
	} else if (!s->facts.deleting && s->is == BUNDLE_ROLLING && s->facts.newer) {
		plan_roll(v, s, plan);
	}
	return STEP_CONTINUE;
}

/* A restart finds it Synced, and reads it again: it is not said to be rolling for that. */
static int bundle_resume(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	(void)key;
	(void)err;
	const struct bundle_pass *s = *v->pass;
	bool waits = s->facts.source == SOURCE_UNREAD && !s->facts.deleting &&
		     (s->was == BUNDLE_SYNCED || s->was == BUNDLE_DEGRADED) &&
		     obj_i64(s->o, "status.observedGeneration", 0) == meta_generation(s->o);
	if (waits)
		return STEP_STOP;
	if (s->facts.deleting || !s->facts.newer || !is_there(s))
		return STEP_CONTINUE;
	plan_roll(v, s, plan);
	return STEP_STOP;
}

static const struct watch_rule watches[] = {
	{WATCH_BUNDLE, key_self, MEANS_KEY},
	{0},
};

static const struct step steps[] = {
	{"begin", bundle_begin},   {"hold", bundle_hold},
	{"read", bundle_read},     {"judge", bundle_judge},
	{"resume", bundle_resume}, {"status", bundle_tell}, /* before what it announces */
	{"roll", bundle_roll},     {0},
};

const struct controller bundle_controller = {.name = "bundle", .watches = watches, .steps = steps};
