/*
 * The InstallStrategy controller: fetch, render, plan, gate, approve, apply, verify, hand off
 * (lifecycle.md 4.2, 7.1). This file has the frame of a pass; strategy_plan.c what happens before
 * the first write, strategy_apply.c what happens after.
 */
#include "alm/controllers/strategy/strategy.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/phases.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

struct strategy_pass *strategy_pass(const struct view *v)
{
	return *v->pass;
}

bool strategy_is_planning(const struct strategy_pass *s)
{
	return !s->stop && (s->phase == PHASE_PENDING || s->phase == PHASE_BLOCKED ||
			    s->phase == PHASE_AWAITING);
}

/* Planning takes conditions away and sets them anew: only a turn is a transition. */
static void keep_transition_time(struct strategy_pass *s, const char *type, const char *status)
{
	const struct obj *old = obj_path(s->ref->o, "status.conditions");
	for (size_t i = 0; i < obj_len(old); i++) {
		const struct obj *was = obj_at(old, i);
		const char *since = obj_str(was, "lastTransitionTime");
		if (!cstr_eq(obj_str(was, "type"), type) ||
		    !cstr_eq(obj_str(was, "status"), status) || !since)
			continue;
		for (size_t k = 0; k < obj_len(s->conditions); k++)
			if (cstr_eq(obj_str(obj_at(s->conditions, k), "type"), type))
				obj_set_str(obj_at_mut(s->conditions, k), "lastTransitionTime",
					    since);
	}
}

void strategy_condition(struct strategy_pass *s, const char *type, const char *status,
			const char *reason, const char *message)
{
	struct condition c = {.type = type,
			      .status = status,
			      .reason = reason,
			      .message = message ? message : "",
			      .observed_generation = meta_generation(s->ref->o)};
	condition_set(s->conditions, &c, s->v->now_ns);
	keep_transition_time(s, type, status);
}

void strategy_enter(struct strategy_pass *s, enum phase phase, const char *condition,
		    const char *reason, const char *message)
{
	s->phase = phase;
	s->reason = reason;
	s->message = message;
	s->stop = true;
	if (condition) {
		bool good = phase != PHASE_BLOCKED && phase != PHASE_FAILED &&
			    phase != PHASE_AWAITING && phase != PHASE_ROLLING_BACK &&
			    phase != PHASE_ROLLED_BACK;
		strategy_condition(s, condition, good ? "True" : "False", reason, message);
	}
}

static const struct strategy_ref *own_ref(struct strategy_pass *s, const struct obj *o)
{
	for (size_t i = 0; s->app && i < s->app->n; i++)
		if (!strcmp(s->app->strategies[i].name, meta_name(o)))
			return &s->app->strategies[i];
	s->own = (struct strategy_ref){
		.o = o, .name = meta_name(o), .version = "", .phase = phase_of(o)};
	return &s->own;
}

int64_t strategy_next_revision(const struct app *app)
{
	int64_t highest = app_highest_revision(app);
	return highest + 1;
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
	if (obj_has(o, "status")) { /* its last transition, before the finalizer goes */
		struct action *x =
			plan_status(s->plan, o, obj_copy_map(obj_get(o, "status")), "Deleted", "");
		x->chain = obj_str(o, "spec.appTypeRef.name");
		x->row_only = true;
	}
	plan_own_patch(s->plan, o, patch);
	return STEP_STOP;
}

static bool is_to_move(const struct strategy_pass *s, const struct plan_entry *e)
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
static bool objects_moved_to_app(struct strategy_pass *s)
{
	struct install_plan *p = s->install;
	if (!has_to_move(s))
		return true;
	if (!strategy_may_write(s))
		return false;
	struct owner_ref owner = {.api_version = meta_api_version(s->app->o),
				  .kind = meta_kind(s->app->o),
				  .name = s->app->name,
				  .uid = meta_uid(s->app->o)};
	for (size_t i = 0; p && i < p->n; i++) {
		struct plan_entry *e = &p->entries[i];
		if (!e->live || !is_to_move(s, e))
			continue;
		struct obj *o = install_plan_decorate(s->v, s->app, s->ref, p, e, true);
		meta_remove_owner(o, meta_uid(s->ref->o));
		meta_add_owner(o, &owner);
		plan_apply(s->plan, o, e->stage, true);
	}
	return false;
}

/* False: whether there is a plan is not known yet. */
static bool load_install(struct strategy_pass *s)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	if (doc)
		s->install = install_plan_load(s->v, doc, s->plan);
	return doc || !s->revision ||
	       install_plan_is_gone(s->v, s->ref->name, s->revision, NULL, s->plan);
}

/* Without its finalizer what it owns is collected as garbage. */
static int adopt_deleting(struct strategy_pass *s)
{
	if (s->app && !s->app->deleting && s->ref->phase != PHASE_SUPERSEDED &&
	    (!load_install(s) || !objects_moved_to_app(s)))
		return STEP_STOP;
	return let_go(s);
}

/* A strategy made by hand gets what one made by ALM is born with: finalizer and owner. */
static bool mark_as_ours(struct strategy_pass *s)
{
	const struct obj *o = s->ref->o;
	const struct obj *app = s->app && !s->app->deleting ? s->app->o : NULL;
	bool owned = !app || meta_is_owned_by(o, meta_uid(app));
	if (meta_has_finalizer(o, STRATEGY_FINALIZER) && owned)
		return false;
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
	return true;
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
	if (mark_as_ours(s))
		return STEP_STOP;
	const struct obj *conditions = obj_path(o, "status.conditions");
	s->conditions = obj_keep(v->a, obj_copy_list(conditions));
	s->hooks = obj_keep(v->a, obj_copy_list(obj_path(o, "status.hooks")));
	s->rollback_revision = obj_i64(o, "status.rollbackRevision", 0);
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
	set_plan_status(s, status);
	obj_del(status, "approval");
	if (s->approval)
		obj_set(status, "approval", obj_ref(s->approval));
	obj_del(status, "steps");
	if (obj_len(s->steps))
		obj_set(status, "steps", obj_ref(s->steps));
	set_progress(s, status);
	strategy_set_values(s, status);
	obj_set(status, "conditions", obj_ref(s->conditions));
	struct action *x =
		status_plan(plan, s->ref->o, status, was, phase_name(s->phase), s->message);
	if (!x)
		return STEP_CONTINUE;
	x->chain = s->app ? s->app->name : NULL;
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
	{WATCH_PLAN_SECRET, key_of_plan,   MEANS_KEY},
	{0},
};
/* clang-format on */

static const struct step steps[] = {
	{"adopt", strategy_adopt},       /* finalizer; deletion undoes */
	{"fetch", strategy_fetch},       /* the archive's bytes, by digest */
	{"require", strategy_require},   /* what must be there before */
	{"takeover", strategy_takeover}, /* does helm have the release? */
	{"render", strategy_render},     /* in the sandbox; stores the install plan */
	{"review", strategy_review},     /* what the account of the app may */
	{"survey", strategy_survey},     /* nobody else's objects */
	{"try", strategy_try},           /* is there a way back, if it is one? */
	{"gate", strategy_gate},         /* no CRD that would lose what users stored */
	{"approve", strategy_approve},   /* may it begin? */
	{"deadline", strategy_deadline}, /* planning ends */
	{"apply", strategy_apply},       /* CRDs, then stage by stage */
	{"verify", strategy_verify},     /* all ready, for a while */
	{"handoff", strategy_handoff},   /* objects change owner, leftovers go */
	{"keep", strategy_keep},         /* drift of what is installed */
	{"rollback", strategy_rollback}, {"status", strategy_status}, {0},
};

const struct controller strategy_controller = {
	.name = "strategy", .reads_catalogs = true, .watches = watches, .steps = steps};
