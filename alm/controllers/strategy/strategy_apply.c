/* From the first write on: apply stage by stage, verify, hand off, keep, roll back (lifecycle.md
 * 7). What is done is read from the live objects in every pass; no position is remembered. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/phases.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/strategy/strategy.h"
#include "alm/live/ready.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define FORMER_MAX 32 /* revisions of one version whose leftovers are looked for */

/* Of a deadline that runs since that time (NULL: now). Monotonic: a clock that jumps ends nothing. */
static int64_t left_since(const struct strategy_pass *s, const char *what, const char *since,
			  int64_t deadline)
{
	int64_t at;
	if (!since || !clock_parse(str_of(since), &at))
		return deadline;
	const char *id = arena_fmt(s->v->a, "%s:r%lld:%s:%s:%lld", meta_uid(s->ref->o),
				   (long long)s->revision, what, since, (long long)deadline);
	return s->v->ops->left(s->v->ops_arg, id, deadline, at + deadline - s->v->now_ns);
}

static const char *turned_at(const struct strategy_pass *s, const char *condition)
{
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		if (cstr_eq(obj_str(obj_at(s->conditions, i), "type"), condition))
			return obj_str(obj_at(s->conditions, i), "lastTransitionTime");
	return NULL;
}

int64_t strategy_time_left(const struct strategy_pass *s, const char *condition)
{
	struct error ignored;
	const struct phase_deadline *d = phase_deadline(s->phase);
	assert(d);
	const char *own = d->field ? obj_str(s->app->o, d->field) : NULL;
	int64_t ns = d->ns;
	if (own)
		(void)duration_parse(str_of(own), &ns, &ignored);
	return left_since(s, condition,
			  s->phase == PHASE_PENDING ? obj_str(s->ref->o, "status.phaseSince")
						    : turned_at(s, condition),
			  ns);
}

static bool load_plan(struct strategy_pass *s)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	if (!doc && !install_plan_is_gone(s->v, s->ref->name, s->revision, NULL, s->plan))
		return false;
	if (!doc) { /* somebody deleted it: plan anew */
		s->phase = PHASE_PENDING;
		s->message = "the stored plan is gone";
		s->stop = true;
		return false;
	}
	s->install = install_plan_load(s->v, doc, s->plan);
	return true;
}

/* Failed at once, or the way back to what runs (lifecycle.md 7.4). */
void strategy_give_up(struct strategy_pass *s, const char *condition, const char *reason,
		      const char *message)
{
	const char *on_failure = obj_str(s->app->o, "spec.upgrade.onFailure");
	bool runs = s->app->installed && (s->app->installed != s->ref || strategy_tries_values(s));
	bool back = runs && !cstr_eq(on_failure, "Stay");
	strategy_enter(s, back ? PHASE_ROLLING_BACK : PHASE_FAILED, condition, reason, message);
	condition_remove(s->conditions, "RolledBack"); /* its deadline runs from now */
	if (back)
		strategy_condition(s, "RolledBack", "False", "RollingBack", message);
}

bool strategy_has_newer_crd(const struct strategy_pass *s, const struct plan_entry *e)
{
	return install_plan_keeps_newer(e, s->ref->version);
}

static bool is_stage_done(const struct install_plan *p, int stage, struct strategy_pass *s,
			  bool handoff)
{
	bool done = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry *e = &p->entries[i];
		if (e->stage != stage || strategy_crd_is_placed(s, e) ||
		    strategy_has_newer_crd(s, e) || strategy_crd_is_taken(s, e))
			continue;
		if (e->is_crd)
			strategy_write_crd(s, p, e, handoff, s->phase == PHASE_INSTALLING);
		else if (!e->unknown)
			plan_apply(s->plan,
				   install_plan_decorate(s->v, s->app, s->ref, p, e, handoff),
				   e->stage, true);
		done = false;
	}
	return done;
}

static const char *unestablished_crd(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		if (e->is_crd && !condition_is(e->live, "Established", "True"))
			return e->name;
	}
	return NULL;
}

/* What the server last refused, for the condition. */
static const char *refusal(const struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		const struct outcome *x = view_outcome(s->v, plan_entry_refusal(e, s->v->a));
		if (x && x->code && !install_plan_is_applied(e))
			return arena_strdup(s->v->a, x->msg);
	}
	return NULL;
}

/* Stage by stage from first to last; true once all are done. */
static bool stages_done(struct strategy_pass *s, int first, int last)
{
	const struct install_plan *p = s->install;
	int stage = first, next;
	while (stage <= last) {
		if (!is_stage_done(p, stage, s, false))
			return false;
		if (stage == PLAN_STAGE_CRD && unestablished_crd(s))
			return false; /* its condition brings the key back */
		next = INT_MAX;
		for (size_t i = 0; i < p->n; i++)
			if (p->entries[i].stage > stage && p->entries[i].stage < next)
				next = p->entries[i].stage;
		if (next == INT_MAX)
			return true;
		stage = next;
	}
	return true;
}

static bool all_applied(struct strategy_pass *s)
{
	const struct obj *doc = s->install->doc;
	bool upgrade = obj_flag(doc, "isUpgrade", false);
	return strategy_has_number(s) && stages_done(s, PLAN_STAGE_CRD, PLAN_STAGE_NAMESPACE) &&
	       strategy_is_adopted(s) &&
	       strategy_recorded(s, upgrade ? "pending-upgrade" : "pending-install") &&
	       strategy_hooks_done(s, doc, upgrade ? "pre-upgrade" : "pre-install", "Applied") &&
	       stages_done(s, PLAN_STAGE_FIRST, INT_MAX);
}

/* Consent that is taken back ends what needs it. */
static bool may_go_on(struct strategy_pass *s, const char *condition)
{
	bool may = strategy_may_write(s);
	if (s->refused)
		strategy_give_up(s, condition, "Forbidden", s->refused);
	return may;
}

int strategy_apply(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop || s->phase != PHASE_INSTALLING || !load_plan(s))
		return STEP_CONTINUE;
	int64_t left = strategy_time_left(s, "Applied");
	if (left <= 0) {
		struct condition c;
		const char *why = condition_get(s->ref->o, "Applied", &c) && *c.message
					  ? c.message
					  : "objects could not be applied in time";
		strategy_give_up(s, "Applied", "ProgressDeadline", why);
		return STEP_CONTINUE;
	}
	plan_requeue_after(plan, left);
	if (strategy_gate_voids(s) || !may_go_on(s, "Applied"))
		return STEP_CONTINUE;
	if (!all_applied(s)) {
		const char *why = s->stop ? NULL : refusal(s);
		if (why)
			strategy_condition(s, "Applied", "False", "Installing", why);
		return STEP_CONTINUE;
	}
	strategy_condition(s, "Applied", "True", "Applied",
			   arena_fmt(v->a, "%zu objects", s->install->n));
	strategy_condition(s, "Verified", "False", "Progressing", "");
	strategy_enter(s, PHASE_VERIFYING, NULL, "Verifying",
		       arena_fmt(v->a, "%zu objects", s->install->n));
	return STEP_CONTINUE;
}

enum readiness strategy_all_ready(struct strategy_pass *s, const char **ret_why)
{
	enum readiness worst = READY;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		const char *why = "it is gone";
		enum readiness r = e->live ? ready_check(e->live, false, s->v->a, &why) : NOT_READY;
		if (r > worst) {
			worst = r;
			*ret_why = arena_fmt(s->v->a, "%s: %s", plan_entry_text(e, s->v->a), why);
		}
	}
	return worst;
}

static bool is_reapplied(struct strategy_pass *s)
{
	bool done = true;
	for (size_t i = 0; i < s->install->n; i++)
		done = is_stage_done(s->install, s->install->entries[i].stage, s, false) && done;
	return done;
}

static bool is_handed_over(const struct strategy_pass *s);

int strategy_verify(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	const char *why = NULL;
	if (s->stop || s->phase != PHASE_VERIFYING || !load_plan(s))
		return STEP_CONTINUE;
	const struct obj *list = s->conditions;
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "type"), "OwnershipMoved"))
			return STEP_CONTINUE; /* from the handoff on there is no way back */
	if (!may_go_on(s, "Verified") || !is_reapplied(s))
		return STEP_CONTINUE;
	enum readiness r = strategy_all_ready(s, &why);
	int64_t left = strategy_time_left(s, "Verified");
	if (r == READY_FAILED || (r == NOT_READY && left <= 0)) {
		strategy_give_up(s, "Verified",
				 r == READY_FAILED ? "CheckFailed" : "ProgressDeadline", why);
		return STEP_CONTINUE;
	}
	if (r == NOT_READY) {
		strategy_condition(s, "Verified", "False", "Progressing", why);
		plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	if (!strategy_converted(s)) {
		if (left <= 0)
			strategy_give_up(s, "Verified", "ConversionNotReady",
					 "the converter did not answer in time");
		else
			plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	bool upgrade = obj_flag(s->install->doc, "isUpgrade", false);
	if (!strategy_hooks_done(s, s->install->doc, upgrade ? "post-upgrade" : "post-install",
				 "Verified")) {
		if (!s->stop && left <= 0)
			strategy_give_up(s, "Verified", "ProgressDeadline",
					 "the hooks did not end in time");
		else if (!s->stop)
			plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	strategy_condition(s, "Available", "True", "Available",
			   arena_fmt(v->a, "%zu objects ready", s->install->n));
	int64_t soak =
		left_since(s, "Available", turned_at(s, "Available"), v->settings->verify_soak_ns);
	if (soak > 0) {
		plan_requeue_after(plan, soak);
		return STEP_CONTINUE;
	}
	strategy_condition(s, "Verified", "True", "Verified",
			   arena_fmt(v->a, "%zu objects ready", s->install->n));
	strategy_condition(s, "OwnershipMoved", is_handed_over(s) ? "True" : "False", "HandingOver",
			   "");
	s->stop = true;
	return STEP_CONTINUE;
}

/* --- handoff --- */

bool strategy_owns(const struct strategy_pass *s, const struct plan_entry *e)
{
	if (!e->live || strategy_has_newer_crd(s, e) || strategy_crd_is_taken(s, e))
		return true;
	bool label = cstr_eq(meta_label(e->live, LABEL_STRATEGY),
			     app_label_value(s->ref->name, s->v->a));
	return label && (e->keep || meta_is_owned_by(e->live, meta_uid(s->ref->o)));
}

static bool is_handed_over(const struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++)
		if (!strategy_owns(s, &s->install->entries[i]))
			return false;
	return true;
}

static bool has_entry(const struct install_plan *p, const struct plan_entry *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->entries[i].kind, e->kind) && !strcmp(p->entries[i].name, e->name) &&
		    cstr_eq(p->entries[i].ns, e->ns))
			return true;
	return false;
}

/* Objects of an earlier plan that this one does not have; false while one is left. */
bool strategy_leftovers_gone(struct strategy_pass *s, const struct install_plan *keep,
			     const struct strategy_ref *other)
{
	bool none = true;
	const struct obj *doc = install_plan_stored(s->v, other->name, other->revision, NULL);
	if (!doc && !install_plan_is_gone(s->v, other->name, other->revision, NULL, s->plan))
		return false;
	struct install_plan *p = doc ? install_plan_load(s->v, doc, s->plan) : NULL;
	for (size_t i = p ? p->n : 0; i-- > 0;) {
		const struct plan_entry *e = &p->entries[i];
		if (e->unknown)
			none = false;
		if (!e->live || e->keep || has_entry(keep, e) ||
		    !cstr_eq(meta_label(e->live, LABEL_APP), s->app->name))
			continue;
		none = false;
		if (!meta_is_deleting(e->live))
			plan_delete(s->plan, e->live, "Background");
	}
	return none;
}

/* Of the revision that ran and of those tried since, when the values changed. */
static bool former_leftovers_gone(struct strategy_pass *s)
{
	bool none = true;
	struct strategy_ref former = *s->ref;
	int64_t tried = s->revision - s->former_revision;
	if (!strategy_tries_values(s))
		return true;
	for (int64_t i = 0; i < tried && i < FORMER_MAX; i++) {
		former.revision = s->former_revision + i;
		none = strategy_leftovers_gone(s, s->install, &former) && none;
	}
	return none;
}

bool strategy_delete_leftovers(struct strategy_pass *s)
{
	bool none = former_leftovers_gone(s);
	for (size_t i = 0; i < s->app->n; i++) {
		const struct strategy_ref *other = &s->app->strategies[i];
		if (other != s->ref && other->revision)
			none = strategy_leftovers_gone(s, s->install, other) && none;
	}
	return none;
}

/* Of a definition that is as planned only the label changes: it need not be judged, sent and
 * compared once more, which for 500 KB takes as long as its apply did. */
static void hand_over(struct strategy_pass *s, const struct plan_entry *e)
{
	if (!e->is_crd) {
		plan_apply(s->plan,
			   install_plan_decorate(s->v, s->app, s->ref, s->install, e, true), 0,
			   true);
		return;
	}
	if (!install_plan_is_applied(e) || !strategy_holds(e)) {
		strategy_write_crd(s, s->install, e, true, false);
		return;
	}
	struct obj *patch = obj_map();
	meta_set_label(patch, LABEL_STRATEGY, app_label_value(s->ref->name, s->v->a));
	plan_patch(s->plan, e->live, patch);
}

int strategy_handoff(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop || s->phase != PHASE_VERIFYING || !s->install)
		return STEP_CONTINUE;
	bool ready = false;
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		ready = ready ||
			cstr_eq(obj_str(obj_at(s->conditions, i), "type"), "OwnershipMoved");
	if (!ready || !strategy_may_write(s)) {
		if (s->refused)
			strategy_condition(s, "OwnershipMoved", "False", "Forbidden", s->refused);
		return STEP_CONTINUE;
	}
	bool done = true;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		if (e->unknown)
			done = false;
		if (e->unknown || strategy_owns(s, e))
			continue;
		hand_over(s, e);
		done = false;
	}
	if (!done || !strategy_delete_leftovers(s) || !strategy_former_gone(s) ||
	    !strategy_recorded(s, "deployed"))
		return STEP_CONTINUE;
	strategy_condition(s, "OwnershipMoved", "True", "OwnershipMoved", "");
	condition_remove(s->conditions, "RolledBack");
	s->former_revision = 0;
	s->failed = NULL;
	strategy_enter(s, PHASE_SUCCEEDED, NULL, "Succeeded",
		       arena_fmt(v->a, "plan %s", s->digest));
	return STEP_CONTINUE;
}
