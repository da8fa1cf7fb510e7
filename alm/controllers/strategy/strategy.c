/*
 * The InstallStrategy controller (lifecycle.md 4.2, 7.1): the table of what each phase does, and
 * the frame of a reconcile around it. strategy_steps.h has the map.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/app/phases.h"
#include "alm/controllers/strategy/strategy_approve.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_rollout.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/strategy/strategy_values.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/controller.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

/* --- the table --- */

/* From there on there is no way back. */
static bool is_handing_over(const struct strategy_pass *s)
{
	return strategy_has_condition(s, "OwnershipMoved");
}

/* The steps of a phase, in order; the first row that fits. A reconcile does them from the first on until
 * one is not DONE. Deadlines: a phase that has one gives it up in one of its first steps, or where
 * it waits. */
/* clang-format off */
static const struct phase_row {
	enum phase phases[4];
	bool (*when)(const struct strategy_pass *s);
	strategy_step steps[21];
	void (*waits)(struct strategy_pass *s); /* after a step that is WAITING */
} rows[] = {
	{.phases = {PHASE_PENDING, PHASE_BLOCKED, PHASE_AWAITING},
	 .steps = {
		strategy_look_anew,          /* whatever blocked it is forgotten */
		strategy_ensure_turn,        /* chosen, nobody else at work, dependencies there */
		strategy_find_archive,       /* by its digest */
		strategy_plan_account,       /* the account of the app may be used */
		strategy_verify_archive,     /* signed by a key of the policy */
		strategy_find_rollout,       /* by whose groups it goes */
		strategy_load_planned,       /* the plan that is stored, while its inputs are the same */
		strategy_fetch,              /* else the archive's bytes */
		strategy_require,            /* what must be there before */
		strategy_take_over,          /* does helm have the release? */
		strategy_render,             /* in the sandbox; stores the plan */
		strategy_review,             /* every right that the plan takes or hands on */
		strategy_await_informers,    /* each object of it is known, or known to be absent */
		strategy_ensure_kinds,       /* the server serves all */
		strategy_survey,             /* nobody else's objects */
		strategy_try,                /* of a way back: the server takes its objects */
		strategy_judge_crds,         /* no CRD that would lose what users stored */
		strategy_seal_plan,          /* its digest */
		strategy_ensure_approved,    /* that very digest, by somebody who may */
		strategy_begin},             /* -> Installing */
	 .waits = strategy_end_planning},
	{.phases = {PHASE_INSTALLING},
	 .steps = {
		strategy_load_plan,
		strategy_keep_install_deadline,
		strategy_keep_judgement,     /* or the plan is void: -> Pending */
		strategy_keep_account,
		strategy_ensure_number,      /* the revision of the release is still free */
		strategy_apply_crds,         /* 7.1 step 1, and Namespaces */
		strategy_adopt_release,      /* records and objects that helm made */
		strategy_record_begun,
		strategy_run_pre_hooks,      /* 2 */
		strategy_apply_objects,      /* 3 */
		strategy_end_install},       /* -> Verifying */
	 .waits = strategy_tell_refusal},
	{.phases = {PHASE_VERIFYING}, .when = is_handing_over,
	 .steps = {
		strategy_load_plan,
		strategy_handoff_account,
		strategy_hand_over,          /* 8: owner and label */
		strategy_delete_leftovers,   /* 9: what only earlier plans had */
		strategy_delete_former,      /* what only helm's release had */
		strategy_record_deployed,
		strategy_succeed}},          /* -> Succeeded */
	{.phases = {PHASE_VERIFYING},
	 .steps = {
		strategy_load_plan,
		strategy_keep_account,
		strategy_reapply,
		strategy_await_ready,        /* 4 */
		strategy_ensure_converted,   /* 5 */
		strategy_run_post_hooks,     /* 6 */
		strategy_soak,               /* 7 */
		strategy_end_verify}},       /* the next reconcile hands over */
	{.phases = {PHASE_SUCCEEDED},
	 .steps = {
		strategy_make_way,           /* a later one succeeded: -> Superseded */
		strategy_tell_migrated,      /* what is stored in another version by now */
		strategy_keep_plan,          /* or one is made anew: -> Pending */
		strategy_take_changes,       /* of values or account: -> Pending */
		strategy_repair}},           /* what has drifted */
	{.phases = {PHASE_ROLLING_BACK},
	 .steps = {
		strategy_load_back,          /* the plan of what ran before; the deadline */
		strategy_ensure_back_allowed, /* by its account, and by the server */
		strategy_settle_failed,      /* its record, its converters */
		strategy_record_rolling_back,
		strategy_run_pre_rollback,
		strategy_apply_back,
		strategy_await_back_ready,
		strategy_run_post_rollback,
		strategy_delete_failed,      /* what only the failed plan has */
		strategy_record_rolled_back,
		strategy_end_rollback},      /* -> RolledBack, or Succeeded with the former values */
	 .waits = strategy_await_back},
	{.phases = {PHASE_ROLLED_BACK, PHASE_FAILED},
	 .steps = {
		strategy_record_failed,
		strategy_choose_again}},     /* -> Pending */
	{.phases = {PHASE_SUPERSEDED},
	 .steps = {
		strategy_choose_again}},     /* -> Pending */
};
/* clang-format on */

static const struct phase_row *row_of(const struct strategy_pass *s)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (const enum phase *p = rows[i].phases; *p; p++)
			if (*p == s->phase && (!rows[i].when || rows[i].when(s)))
				return &rows[i];
	return NULL;
}

static int strategy_do_phase(const struct view *v, const char *key, struct plan *plan,
			     struct error *err)
{
	(void)key;
	(void)plan;
	struct strategy_pass *s = strategy_pass(v);
	const struct phase_row *row = s->app ? row_of(s) : NULL; /* without app it is Blocked */
	enum ensured state = DONE;
	for (const strategy_step *step = row ? row->steps : NULL; step && *step; step++) {
		state = (*step)(s);
		if (state != DONE)
			break;
	}
	if (state == WAITING && row->waits)
		row->waits(s);
	return s->error.code ? error_copy(err, &s->error) : STEP_CONTINUE;
}

/* --- the first step --- */

static const struct strategy_ref *own_ref(struct strategy_pass *s, const struct obj *o)
{
	for (size_t i = 0; s->app && i < s->app->n; i++)
		if (!strcmp(s->app->strategies[i].name, meta_name(o)))
			return &s->app->strategies[i];
	s->own = (struct strategy_ref){.o = o, .phase = phase_of(o)}; /* without an app, no more */
	return &s->own;
}

/* Removes our finalizer once no object of the app needs the strategy any more. */
static int let_go(struct strategy_pass *s)
{
	const struct obj *o = s->ref->o;
	if (!meta_has_finalizer(o, STRATEGY_FINALIZER))
		return STEP_STOP;
	struct obj *copy = obj_keep(s->v->a, obj_copy(o)), *patch = obj_map();
	meta_remove_finalizer(copy, STRATEGY_FINALIZER);
	const struct obj *left = obj_path(copy, "metadata.finalizers");
	obj_set_path(patch, "metadata.finalizers", left ? obj_ref(left) : obj_null());
	if (obj_has(o, "status")) { /* its last transition, before the finalizer is removed */
		struct action *x =
			plan_status(s->plan, o, obj_copy_map(obj_get(o, "status")), "Deleted", "");
		x->chain = obj_str(o, "spec.appTypeRef.name");
		x->row_only = true;
	}
	plan_own_patch(s->plan, o, patch);
	return STEP_STOP;
}

static bool is_to_move(const struct strategy_pass *s, const struct unit_entry *e)
{
	return e->unknown || (e->live && meta_is_owned_by(e->live, meta_uid(s->ref->o)));
}

static bool has_to_move(const struct strategy_pass *s)
{
	for (size_t i = 0; s->install && i < s->install->n; i++)
		if (is_to_move(s, &s->install->entries[i]))
			return true;
	return false;
}

/* A strategy that is deleted while its app lives: its objects move to the AppType first. */
static enum ensured move_to_app(struct strategy_pass *s)
{
	struct install_plan *p = s->install;
	if (!has_to_move(s))
		return DONE;
	if (strategy_ensure_account(s) != DONE)
		return WAITING;
	struct owner_ref owner = {.api_version = meta_api_version(s->app->o),
				  .kind = meta_kind(s->app->o),
				  .name = s->app->name,
				  .uid = meta_uid(s->app->o)};
	for (size_t i = 0; p && i < p->n; i++) {
		struct unit_entry *e = &p->entries[i];
		if (!e->live || !is_to_move(s, e))
			continue;
		struct obj *o = install_plan_decorate(s->v, s->app, s->ref, p, e, true);
		meta_remove_owner(o, meta_uid(s->ref->o));
		meta_add_owner(o, &owner);
		plan_apply(s->plan, o, e->group, true);
	}
	return WAITING;
}

/* Of two times in RFC 3339, UTC, whole seconds; NULL is before all. */
static const char *later(const char *a, const char *b)
{
	return !a || (b && strcmp(a, b) < 0) ? b : a;
}

/* The newest time at which the strategy did something or an object of its plan began; NULL: it never
 * wrote any. */
static const char *last_activity(const struct strategy_pass *s)
{
	const struct obj *conditions = obj_path(s->ref->o, "status.conditions");
	const char *newest = obj_str(s->ref->o, "status.phaseSince");
	if (!condition_find(conditions, "Applied"))
		return NULL;
	for (size_t i = 0; i < obj_len(conditions); i++)
		newest = later(newest, obj_str(obj_at(conditions, i), "lastTransitionTime"));
	for (size_t i = 0; s->install && i < s->install->n; i++)
		newest = later(newest,
			       obj_str(s->install->entries[i].live, "metadata.creationTimestamp"));
	return newest;
}

/* A write of an object whose answer came may be carried out once more (a proxy that repeats it, a
 * server that is slow), and makes this strategy its owner again. While the strategy stands nothing
 * is collected, and the object moves again: so it stands until none can come any more. */
static enum ensured ensure_quiet(struct strategy_pass *s)
{
	const char *last = last_activity(s);
	int64_t left =
		last ? strategy_left_since(s, "Quiet", last, s->v->settings->late_write_ns) : 0;
	if (left <= 0)
		return DONE;
	plan_requeue_after(s->plan, left);
	return WAITING;
}

/* Without its finalizer what it owns is collected as garbage. */
static int adopt_deleting(struct strategy_pass *s)
{
	enum ensured state = DONE;
	bool moves = s->app && !s->app->deleting && s->ref->phase != PHASE_SUPERSEDED;
	if (moves && s->revision)
		state = strategy_find_plan(s, s->ref->name, s->revision, &s->install);
	if (moves && state == DONE)
		state = move_to_app(s);
	if (state == DONE && s->app && !s->app->deleting)
		state = ensure_quiet(s);
	return state == DONE ? let_go(s) : STEP_STOP;
}

/* A strategy made by hand gets what one made by ALM is born with: finalizer and owner. */
static enum ensured ensure_marks(struct strategy_pass *s)
{
	const struct obj *o = s->ref->o;
	const struct obj *app = s->app && !s->app->deleting ? s->app->o : NULL;
	bool owned = !app || meta_is_owned_by(o, meta_uid(app));
	if (meta_has_finalizer(o, STRATEGY_FINALIZER) && owned)
		return DONE;
	struct obj *copy = obj_keep(s->v->a, obj_copy(o)), *patch = obj_map();
	meta_add_finalizer(copy, STRATEGY_FINALIZER);
	obj_set_path(patch, "metadata.finalizers", obj_ref(obj_path(copy, "metadata.finalizers")));
	if (!owned) {
		struct owner_ref owner = {.api_version = meta_api_version(app),
					  .kind = meta_kind(app),
					  .name = s->app->name,
					  .uid = meta_uid(app),
					  .controller = true};
		meta_add_owner(copy, &owner);
		obj_set_path(patch, "metadata.ownerReferences",
			     obj_ref(obj_path(copy, "metadata.ownerReferences")));
	}
	plan_own_patch(s->plan, o, patch);
	return WAITING;
}

static int strategy_adopt(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	const struct obj *o = view_get(v, WATCH_STRATEGY, key);
	if (!o)
		return STEP_STOP;
	struct strategy_pass *s = ARENA_NEW(v->a, struct strategy_pass);
	*v->pass = s;
	s->v = v;
	s->plan = plan;
	s->app = app_load(v, obj_str(o, "spec.appTypeRef.name"));
	s->ref = own_ref(s, o);
	s->was = s->phase = s->ref->phase;
	s->revision = s->ref->revision;
	if (meta_is_deleting(o))
		return adopt_deleting(s);
	const struct obj *approval = obj_path(o, "status.approval");
	s->approval = approval ? obj_keep(v->a, obj_copy(approval)) : NULL;
	if (is_older_than_log(v, o)) {
		strategy_note_approval(s);
		plan_redo(plan, o);
		return STEP_STOP;
	}
	if (s->app && app_check_age(v, s->app, s->ref->name, err) < 0)
		return -err->code;
	if (ensure_marks(s) == WAITING)
		return STEP_STOP;
	const struct obj *conditions = obj_path(o, "status.conditions");
	s->conditions = obj_keep(v->a, obj_copy_list(conditions));
	s->hooks = obj_keep(v->a, obj_copy_list(obj_path(o, "status.hooks")));
	s->rollback_revision = obj_i64(o, "status.rollbackRevision", 0);
	s->failures = obj_i64(o, "status.failures", 0);
	s->former_revision = obj_i64(o, "status.former.revision", 0);
	s->former_digest = obj_str(o, "status.former.digest");
	const struct obj *failed = obj_path(o, "status.failed");
	s->failed = failed ? obj_keep(v->a, obj_copy(failed)) : NULL;
	s->steps = obj_keep(v->a, obj_list());
	s->digest = obj_str(o, "status.plan.digest");
	s->findings = obj_path(o, "status.plan.findings");
	s->n_unlisted = obj_i64(o, "status.plan.findingsOmitted", 0);
	s->judged = obj_path(o, "status.plan.judged");
	s->permissions = obj_path(o, "status.plan.permissions");
	if (s->phase == PHASE_NEW)
		s->phase = PHASE_PENDING;
	s->plan->chain = s->app ? s->app->name : NULL;
	if (!s->app)
		strategy_enter(s, PHASE_BLOCKED, "PlanReady", "NoAppType",
			       "spec.appTypeRef names no AppType");
	else if (s->app->deleting)
		return STEP_STOP;
	else if (!s->revision)
		s->revision = strategy_next_revision(s->app);
	return STEP_CONTINUE;
}

/* --- the last step --- */

static void set_plan_status(struct strategy_pass *s, struct obj *status)
{
	if (!s->install || (!s->digest && !obj_len(s->findings)))
		return;
	struct obj *plan = obj_map();
	obj_set_str(plan, "digest", s->digest);
	obj_set_int(plan, "objects", (int64_t)s->install->n);
	strategy_set_findings(s, plan);
	if (obj_len(s->permissions))
		obj_set(plan, "permissions", obj_ref(s->permissions));
	obj_set(status, "plan", plan);
}

/* When it came into its phase; of a strategy that an earlier version left: when that is next seen. */
static void set_phase_since(const struct strategy_pass *s, struct obj *status)
{
	char now[CLOCK_TEXT_MAX];
	if (s->phase == s->was && obj_has(status, "phaseSince"))
		return;
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	obj_set_str(status, "phaseSince", now);
}

static void set_progress(struct strategy_pass *s, struct obj *status)
{
	obj_del(status, "hooks");
	obj_del(status, "rollbackRevision");
	if (obj_len(s->hooks))
		obj_set(status, "hooks", obj_ref(s->hooks));
	if (s->rollback_revision)
		obj_set_int(status, "rollbackRevision", s->rollback_revision);
}

/* A success ends the failures in a row, and so do other values (strategy_start_revision). */
static void set_failures(struct strategy_pass *s, struct obj *status)
{
	if (s->phase == PHASE_FAILED && s->was != PHASE_FAILED)
		s->failures++;
	else if (s->phase == PHASE_SUCCEEDED)
		s->failures = 0;
	obj_del(status, "failures");
	if (s->failures)
		obj_set_int(status, "failures", s->failures);
}

static bool is_warning(enum phase p)
{
	return p == PHASE_BLOCKED || p == PHASE_FAILED || p == PHASE_ROLLING_BACK ||
	       p == PHASE_ROLLED_BACK;
}

static int strategy_status(const struct view *v, const char *key, struct plan *plan,
			   struct error *err)
{
	(void)key;
	struct strategy_pass *s = strategy_pass(v);
	bool waits = s->judged_anew && s->phase == PHASE_PENDING && !s->reason;
	if (s->keep_status || waits) /* Blocked until the look is over */
		return STEP_CONTINUE;
	if (phase_check(s->was, s->phase, err) < 0)
		return -err->code;
	const struct obj *old = obj_get(s->ref->o, "status");
	struct obj *status = obj_copy_map(old);
	const char *was = s->was == PHASE_NEW ? "" : phase_name(s->was);
	obj_set_int(status, "observedGeneration", meta_generation(s->ref->o));
	if (s->app)
		obj_set_str(status, "selfRef",
			    arena_fmt(v->a, "install.%s.%s", s->ref->version, s->app->self_ref));
	obj_set_str(status, "phase", phase_name(s->phase));
	set_phase_since(s, status);
	if (s->revision)
		obj_set_int(status, "revision", s->revision);
	if (s->revision && s->phase == PHASE_SUCCEEDED)
		obj_set_int(status, "succeededRevision", s->revision);
	set_plan_status(s, status);
	obj_del(status, "approval");
	if (s->approval)
		obj_set(status, "approval", obj_ref(s->approval));
	obj_del(status, "steps");
	if (obj_len(s->steps))
		obj_set(status, "steps", obj_ref(s->steps));
	obj_del(status, "unmet");
	if (obj_len(s->unmet))
		obj_set(status, "unmet", obj_ref(s->unmet));
	set_progress(s, status);
	set_failures(s, status);
	strategy_set_rollout(s, status);
	strategy_set_values(s, status);
	obj_set(status, "conditions", obj_ref(s->conditions));
	struct action *x =
		status_plan(plan, s->ref->o, status, was, phase_name(s->phase), s->message);
	if (!x)
		return STEP_CONTINUE;
	x->chain = s->app ? s->app->name : NULL;
	if (s->repaired && s->phase == s->was) { /* whatever condition turned with it */
		x->reason = "DriftRepaired";
		x->message = arena_fmt(v->a, "%s: repaired", s->repaired);
	}
	bool begins_with_more = s->phase == PHASE_INSTALLING && obj_len(s->permissions);
	if (strcmp(x->reason, "Refreshed") != 0)
		x->event_type = is_warning(s->phase) || begins_with_more ? "Warning" : "Normal";
	return STEP_CONTINUE;
}

static const char *key_of_plan(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	struct owner_ref owner;
	return meta_owner(o, 0, &owner) ? arena_strdup(a, owner.name) : NULL;
}

/* clang-format off */
static const struct watch_rule watches[] = {
	{WATCH_STRATEGY,    key_app_ref,   MEANS_STRATEGIES},
	{WATCH_STRATEGY,    key_self,      MEANS_KEY},
	{WATCH_APPTYPE,     key_self,      MEANS_STRATEGIES},
	{WATCH_OWNED,       key_app_label, MEANS_STRATEGIES},
	{WATCH_CRD,         key_crd_owner, MEANS_STRATEGIES},
	{WATCH_INSTANCE,    key_crd_owner, MEANS_STRATEGIES}, /* the manager passes the CRD of the instance */
	{WATCH_NAMESPACE,   key_marked,    MEANS_STRATEGIES},
	{WATCH_ROLLOUT,     key_all,       MEANS_STRATEGIES},
	{WATCH_PLAN_SECRET, key_of_plan,   MEANS_KEY},
	{0},
};
/* clang-format on */

static const struct step steps[] = {
	{"adopt", strategy_adopt}, /* finalizer; deletion undoes */
	{"phase", strategy_do_phase},
	{"status", strategy_status},
	{0},
};

const struct controller strategy_controller = {
	.name = "strategy", .awaits_sources = true, .watches = watches, .steps = steps};
