/*
 * The unit controller: what one process was told to run, up to its end (unit_side.h). The same
 * observe -> plan -> act as every controller; what is done is read from the live objects, and from
 * the record for what they do not show (which steps were through, which Jobs ran).
 */
#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/controller.h"
#include "alm/obj/meta.h"
#include "alm/unit/feedback.h"
#include "crds/marks.h"

/* What the log calls a unit that has no resource. */
#define UNIT_API  "app.coreos.com/v1alpha1"
#define UNIT_KIND "Unit"

typedef enum ensured (*unit_step_fn)(struct unit_pass *s);

/* An attempt, from its first write to its last. */
static const unit_step_fn attempt[] = {
	unit_hold_main,    /* what it is run for does not go before it was pruned */
	unit_look,         /* every object is known, or known to be absent */
	unit_rebuild,      /* it knows what it had */
	unit_heed_abort,   /* before the first group, and before what is pruned */
	unit_judge,        /* nobody else's; kinds that are served, or will be */
	unit_judge_prune,  /* not too much of what was goes */
	unit_note,         /* the inventory has what will be there */
	unit_roll_out,     /* group after group */
	unit_prune,        /* what is there and is wanted no more */
	unit_release_main, /* if all is deleted; what may come back the inventory knows */
	unit_note_end,     /* the inventory has what is there */
	NULL,
};

/* What it changed is put right by the unit that succeeded before, and the same steps. */
static const unit_step_fn way_back[] = {
	unit_find_former,                        /* out of the Secrets beside the inventory */
	unit_look,        unit_judge, unit_note, /* the inventory names that one again */
	unit_roll_out,    unit_prune, unit_note_end, NULL,
};

/* --- the pass --- */

static struct obj *begin_record(const struct unit_pass *s)
{
	const struct obj *old = s->job->record;
	if (old && obj_i64(old, "attempt", 0) == s->job->attempt)
		return obj_keep(s->v->a, obj_copy(old));
	struct obj *r = obj_keep(s->v->a, obj_map());
	obj_set_int(r, "attempt", s->job->attempt);
	obj_set_str(r, "state", "Running");
	obj_set_str(r, "digest", s->unit->digest);
	obj_set(r, "run", obj_stringf("%.8s-%llx", s->unit->digest, (long long)s->v->now_ns));
	obj_set(r, "steps", obj_map());
	obj_set(r, "hooks", obj_list());
	return r;
}

static int unit_begin(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	const struct unit_job *job = v->shared->units->job(v->shared->units->arg, key);
	if (!job)
		return STEP_STOP;
	struct unit_pass *s = ARENA_NEW(v->a, struct unit_pass);
	*v->pass = s;
	*s = (struct unit_pass){.host = &unit_run_host,
				.v = v,
				.plan = plan,
				.key = key,
				.job = job,
				.unit = job->unit};
	int64_t late = v->settings->late_write_ns;
	s->former_ns = v->ops->left(v->ops_arg, "unit:begun", late, late);
	plan->as_caller = true;
	plan->as = job->as;
	plan->manager = unit_manager(s->unit->hub, s->unit->bundle, v->a);
	plan_hide(plan, s->unit->doc);
	s->record = begin_record(s);
	s->back = obj_has(s->record, "back") && !cstr_eq(obj_str(s->record, "state"), "Failed");
	s->course = s->back ? obj_get_mut(s->record, "back") : s->record;
	return STEP_CONTINUE;
}

static bool perform(struct unit_pass *s, const unit_step_fn *steps)
{
	for (; *steps; steps++)
		if ((*steps)(s) != DONE)
			return false;
	return true;
}

/* Nothing waits for it. */
static void keep(struct unit_pass *s)
{
	if (s->job->keeps)
		unit_keep(s);
	if (!s->back)
		unit_health(s);
	if (s->stands) /* pruning and orphans are the next one's */
		return;
	unit_restore(s);
	if (s->late.n && unit_prune(s) == DONE && unit_note_late(s) == DONE)
		(void)unit_await_late(s);
	if (s->job->sweep && !s->back)
		unit_sweep(s);
}

/* Refused before anything of it was written, it waits for somebody: what is there is the unit before. */
static enum ensured take_former(struct unit_pass *s)
{
	if (!s->job->former || s->job->deleting || !unit_record_is_refused(s->record))
		return ENDED;
	s->stands = true;
	s->unit = s->job->former;
	plan_hide(s->plan, s->unit->doc);
	return DONE;
}

static int unit_run(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	struct unit_pass *s = *v->pass;
	const char *state = obj_str(s->record, "state");
	bool runs = cstr_eq(state, "Succeeded") || cstr_eq(state, "RolledBack");
	runs = runs && !s->job->deleting && (!s->back || unit_find_former(s) == DONE);
	if ((runs || take_former(s) == DONE) && unit_look(s) == DONE)
		keep(s);
	if (!unit_record_is_open(s->record))
		return STEP_CONTINUE;
	if (s->back && perform(s, way_back))
		unit_end_back(s);
	else if (!s->back && perform(s, attempt))
		unit_succeed(s);
	return STEP_CONTINUE;
}

/* In the log, before anything of it is done. */
static void tell_log(const struct unit_pass *s)
{
	struct arena *a = s->v->a;
	struct obj *status = feedback_status(s->job->unit, s->record);
	if (!status)
		return;
	if (s->job->source)
		obj_set(status, "source", obj_ref(s->job->source));
	/* a unit of each object that is watched, or one of the files */
	const char *name = s->job->main ? arena_fmt(a, "%s.%s", s->unit->bundle, s->unit->instance)
					: s->unit->bundle;
	struct obj *subject = obj_keep(a, meta_skeleton(UNIT_API, UNIT_KIND, NULL, name));
	obj_set_path(subject, "metadata.uid", obj_string(s->unit->owner_id));
	const char *phase = obj_str(s->record, "state"), *reason = obj_str(s->record, "reason");
	plan_told(s->plan, subject, status, arena_strdup(a, reason ? reason : phase),
		  feedback_changes(s->job->record, s->record, a));
}

static int unit_tell(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)err;
	struct unit_pass *s = *v->pass;
	unit_feedback(s);
	if (s->job->record && obj_equal(s->record, s->job->record))
		return STEP_CONTINUE;
	plan_record(plan, key, s->record);
	tell_log(s);
	return STEP_CONTINUE;
}

static const char *key_unit(const struct view *v, const struct obj *o, struct arena *a)
{
	const struct unit_side *side = v->shared->units;
	const char *bundle = meta_label(o, LABEL_BUNDLE);
	const char *instance = side->whole ? side->whole : meta_label(o, LABEL_INSTANCE);
	return bundle && instance ? arena_fmt(a, "%s/%s", bundle, instance) : NULL;
}

/* Whose it was, when somebody has changed the labels: HUB.BUNDLE.INSTANCE. */
static const char *key_owner(const struct view *v, const struct obj *o, struct arena *a)
{
	struct str hub, bundle, instance, rest = str_of(meta_annotation(o, ANNOTATION_OWNER_ID));
	(void)v;
	if (!str_cut(rest, '.', &hub, &rest) || !str_cut(rest, '.', &bundle, &instance))
		return NULL;
	return arena_fmt(a, "%.*s/%.*s", STR_ARG(bundle), STR_ARG(instance));
}

static const struct watch_rule watches[] = {
	{WATCH_OWNED, key_unit, MEANS_KEY},
	{WATCH_OWNED, key_owner, MEANS_KEY},
	{0},
};
static const struct step steps[] = {
	{"begin", unit_begin},
	{"run", unit_run},
	{"tell", unit_tell},
	{0},
};

const struct controller unit_controller = {.name = "unit", .watches = watches, .steps = steps};
