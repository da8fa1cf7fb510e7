/* From the first write on: apply stage by stage, verify, hand off, keep, roll back (lifecycle.md
 * 7). What is done is read from the live objects in every pass; no position is remembered. */
#include <limits.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/ready.h"
#include "alm/controllers/strategy.h"
#include "alm/controllers/usage.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define INSTALLING_NS (10 * NS_PER_MIN)
#define VERIFYING_NS  (10 * NS_PER_MIN)

static const char *entry_text(const struct plan_entry *e, struct arena *a)
{
	return arena_fmt(a, "%s %s%s%s", e->kind, e->ns ? e->ns : "", e->ns ? "/" : "", e->name);
}

/* Time left of a deadline that runs since the condition last turned; <= 0: over. Monotonic: a clock
 * that jumps ends nothing. */
int64_t strategy_time_left(const struct strategy_pass *s, const char *condition, const char *field,
			   int64_t deadline)
{
	int64_t at;
	struct error ignored;
	const char *own = obj_str(s->app->o, field), *since = NULL;
	if (own)
		(void)duration_parse(str_of(own), &deadline, &ignored);
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		if (cstr_eq(obj_str(obj_at(s->conditions, i), "type"), condition))
			since = obj_str(obj_at(s->conditions, i), "lastTransitionTime");
	if (!since || !clock_parse(str_of(since), &at))
		return deadline;
	const char *id = arena_fmt(s->v->a, "%s:r%lld:%s:%s:%lld", meta_uid(s->ref->o),
				   (long long)s->revision, condition, since, (long long)deadline);
	return s->v->ops->left(s->v->ops_arg, id, deadline, at + deadline - s->v->now_ns);
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
	bool back =
		s->app->installed && s->app->installed != s->ref && !cstr_eq(on_failure, "Stay");
	strategy_enter(s, back ? PHASE_ROLLING_BACK : PHASE_FAILED, condition, reason, message);
	condition_remove(s->conditions, "RolledBack"); /* its deadline runs from now */
	if (back)
		strategy_condition(s, "RolledBack", "False", "RollingBack", message);
}

bool strategy_has_newer_crd(const struct strategy_pass *s, const struct plan_entry *e)
{
	struct version live, own;
	struct error err;
	const char *text =
		e->is_crd && e->live ? meta_annotation(e->live, ANNOTATION_CRD_VERSION) : NULL;
	return text && version_parse(str_of(text), VERSION_STRICT, &live, &err) == 0 &&
	       version_parse(str_of(s->ref->version), VERSION_STRICT, &own, &err) == 0 &&
	       version_cmp(&live, &own) > 0;
}

static bool is_stage_done(const struct install_plan *p, int stage, struct strategy_pass *s,
			  bool handoff)
{
	bool done = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry *e = &p->entries[i];
		if (e->stage != stage || strategy_crd_is_placed(s, e) ||
		    strategy_has_newer_crd(s, e))
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

#ifdef PLANT_1
int plant_position;
#endif

/* What the server last refused, for the condition. */
static const char *refusal(const struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		const struct outcome *x =
			view_outcome(s->v, arena_fmt(s->v->a, "refused:%s/%s/%s", e->kind,
						     e->ns ? e->ns : "", e->name));
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

int strategy_apply(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop || s->phase != PHASE_INSTALLING || !load_plan(s))
		return STEP_CONTINUE;
#ifdef PLANT_1 /* whoever planned it goes on, and nobody else */
	if (!plant_position)
		return STEP_CONTINUE;
#endif
	int64_t left = strategy_time_left(s, "Applied", "spec.upgrade.deadlines.installing",
					  INSTALLING_NS);
	if (left <= 0) {
		struct condition c;
		const char *why = condition_get(s->ref->o, "Applied", &c) && *c.message
					  ? c.message
					  : "objects could not be applied in time";
		strategy_give_up(s, "Applied", "ProgressDeadline", why);
		return STEP_CONTINUE;
	}
	plan_requeue_after(plan, left);
	if (strategy_gate_voids(s))
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
			*ret_why = arena_fmt(s->v->a, "%s: %s", entry_text(e, s->v->a), why);
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
	if (!is_reapplied(s))
		return STEP_CONTINUE;
	enum readiness r = strategy_all_ready(s, &why);
	int64_t left =
		strategy_time_left(s, "Verified", "spec.upgrade.deadlines.verifying", VERIFYING_NS);
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
	int64_t soak = strategy_time_left(s, "Available", "spec.none", v->settings->verify_soak_ns);
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

static bool belongs_to(const struct strategy_pass *s, const struct plan_entry *e)
{
	if (!e->live || e->shared || strategy_has_newer_crd(s, e))
		return true;
	bool label =
		cstr_eq(meta_label(e->live, LABEL_STRATEGY), label_value(s->ref->name, s->v->a));
	return label && (e->keep || meta_is_owned_by(e->live, meta_uid(s->ref->o)));
}

static bool is_handed_over(const struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++)
		if (!belongs_to(s, &s->install->entries[i]))
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

bool strategy_delete_leftovers(struct strategy_pass *s)
{
	bool none = true;
	for (size_t i = 0; i < s->app->n; i++) {
		const struct strategy_ref *other = &s->app->strategies[i];
		if (other != s->ref && other->revision)
			none = strategy_leftovers_gone(s, s->install, other) && none;
	}
	return none;
}

int strategy_handoff(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop || s->phase != PHASE_VERIFYING || !s->install)
		return STEP_CONTINUE;
	bool ready = false;
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		ready = ready ||
			cstr_eq(obj_str(obj_at(s->conditions, i), "type"), "OwnershipMoved");
	if (!ready)
		return STEP_CONTINUE;
	bool done = true;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		if (e->unknown)
			done = false;
		if (e->unknown || belongs_to(s, e))
			continue;
		if (e->is_crd)
			strategy_write_crd(s, s->install, e, true, false);
		else
			plan_apply(plan,
				   install_plan_decorate(v, s->app, s->ref, s->install, e, true), 0,
				   true);
		done = false;
	}
	if (!done || !strategy_delete_leftovers(s) || !strategy_former_gone(s) ||
	    !strategy_recorded(s, "deployed"))
		return STEP_CONTINUE;
	strategy_condition(s, "OwnershipMoved", "True", "OwnershipMoved", "");
	strategy_enter(s, PHASE_SUCCEEDED, NULL, "Succeeded",
		       arena_fmt(v->a, "plan %s", s->digest));
	return STEP_CONTINUE;
}

/* --- what is installed stays as planned --- */

/* Does live hold all that want says? Lists of named items match by name. */
static bool holds(const struct obj *live, const struct obj *want);

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool holds_item(const struct obj *live, const struct obj *item, size_t i)
{
	const char *name = obj_str(item, "name");
	for (size_t k = 0; name && k < obj_len(live); k++)
		if (cstr_eq(obj_str(obj_at(live, k), "name"), name))
			return holds(obj_at(live, k), item);
	return holds(obj_at(live, i), item);
}

static bool holds(const struct obj *live, const struct obj *want)
{
	switch (obj_type(want)) {
	case OBJ_MAP:
		OBJ_EACH (it, want)
			if (!holds(obj_get(live, it.key), it.value))
				return false;
		return true;
	case OBJ_LIST:
		if (obj_len(live) < obj_len(want))
			return false;
		for (size_t i = 0; i < obj_len(want); i++)
			if (!holds_item(live, obj_at(want, i), i))
				return false;
		return true;
	case OBJ_NULL:
		return true;
	case OBJ_ABSENT:
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_STRING:
		break;
	}
	return obj_equal(live, want);
}
/* NOLINTEND(misc-no-recursion) */

/* A server may write a value in another way (0.5 and 500m): what an apply has left is no drift. */
static bool is_as_left(const struct strategy_pass *s, const struct plan_entry *e)
{
	char digest[65];
	const struct outcome *o =
		view_outcome(s->v, arena_fmt(s->v->a, "applied:%s", meta_uid(e->live)));
	if (!o || !o->msg)
		return false;
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy(e->live);
	obj_del(bare, "status");
	s->v->ops->digest(s->v->ops_arg, bare, digest);
	return !strcmp(o->msg, digest);
}

static bool has_drifted(const struct strategy_pass *s, const struct plan_entry *e)
{
	if (e->unknown || (e->live && meta_is_deleting(e->live)) || strategy_has_newer_crd(s, e))
		return false;
	if (!e->live || !install_plan_is_applied(e) || !belongs_to(s, e))
		return true;
	return !holds(e->live, e->object) && !is_as_left(s, e);
}

static void drift_row(struct strategy_pass *s, const char *text)
{
	struct obj *body = obj_map();
	obj_set_str(body, "what", text);
	struct action *x = plan_row(s->plan, "Observe", s->ref->o, "Drifted", NULL, body);
	x->chain = s->app->name;
}

static bool values_changed(const struct strategy_pass *s)
{
	struct obj *values = obj_keep(s->v->a, strategy_values(s->app, s->ref->o));
	return !cstr_eq(values_digest(values, s->v->a), s->install->values);
}

static bool is_superseded(const struct strategy_pass *s)
{
	return s->app->installed && s->app->installed != s->ref;
}

static void start_revision(struct strategy_pass *s, const char *message)
{
	s->revision = strategy_next_revision(s->app);
	s->rollback_revision = 0;
	s->install = NULL;
	condition_remove(s->conditions, "OwnershipMoved");
	condition_remove(s->conditions, "Available");
	strategy_enter(s, PHASE_PENDING, NULL, "Pending", message);
}

static void repair_entry(struct strategy_pass *s, const struct plan_entry *e)
{
	if (e->is_crd)
		strategy_write_crd(s, s->install, e, true, false);
	else
		plan_apply(s->plan,
			   install_plan_decorate(s->v, s->app, s->ref, s->install, e, true),
			   e->stage, true);
}

static void repair(struct strategy_pass *s)
{
	const char *mode = obj_str(s->app->o, "spec.drift"), *text = NULL;
	size_t n = 0;
#ifndef PLANT_30
	if (s->app->busy)
		return; /* an upgrade owns the objects now */
#endif
	struct helm_change by_helm = strategy_helm_change(s);
	if (by_helm.busy)
		return;
	bool wanted = !cstr_eq(mode, "Report") ||
		      usage_any_instance(s->v, (const char *const *)s->ref->managed);
	bool writes = wanted && !s->app->paused;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
		if (strategy_crd_at(e) == CRD_SWITCHED) { /* the last of its moves */
			if (!s->app->paused)
				strategy_write_crd(s, s->install, e, true, false);
			continue;
		}
		if (!has_drifted(s, e))
			continue;
		if (!text)
			text = arena_fmt(s->v->a, "%s %s", entry_text(e, s->v->a),
					 e->live ? "changed" : "missing");
		n++;
		if (writes)
			repair_entry(s, e);
	}
	if (n && writes)
		drift_row(s, text);
	if (n)
		strategy_condition(s, "Drifted", "True", "FieldsChanged", text);
	else
		condition_remove(s->conditions, "Drifted");
	if (!n && !by_helm.told && writes)
		strategy_record_repair(s, &by_helm);
}

static bool is_chosen_again(const struct strategy_pass *s)
{
	return s->app->next && !strcmp(s->app->next, s->ref->version) && !s->app->busy;
}

/* A first install that failed is tried again after 1, 2, 4 ... 60 minutes. */
static bool may_retry(struct strategy_pass *s)
{
	int64_t tries = s->revision > 7 ? 7 : s->revision;
	int64_t wait = tries < 7 ? NS_PER_MIN << (tries > 0 ? tries - 1 : 0) : NS_PER_HOUR;
	if (s->phase != PHASE_FAILED || s->app->installed)
		return true;
	const char *id =
		arena_fmt(s->v->a, "%s:r%lld:retry", meta_uid(s->ref->o), (long long)s->revision);
	int64_t left = s->v->ops->left(s->v->ops_arg, id, wait, wait);
	if (left > 0)
		plan_requeue_after(s->plan, left);
	return left <= 0;
}

/* What is over: its record says so, and it may be chosen again. */
static void keep_ended(struct strategy_pass *s)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	if (doc && s->phase != PHASE_SUPERSEDED) {
		s->install = install_plan_load(s->v, doc, s->plan);
		strategy_recorded(s, "failed");
	}
	if (is_chosen_again(s) && may_retry(s))
		start_revision(s, "chosen again");
}

int strategy_keep(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop)
		return STEP_CONTINUE;
	if (s->phase == PHASE_SUPERSEDED || s->phase == PHASE_ROLLED_BACK ||
	    s->phase == PHASE_FAILED) {
		keep_ended(s);
		return STEP_CONTINUE;
	}
	if (s->phase != PHASE_SUCCEEDED)
		return STEP_CONTINUE;
	if (is_superseded(s)) {
		strategy_enter(s, PHASE_SUPERSEDED, NULL, "Superseded",
			       arena_fmt(v->a, "%s is installed", s->app->installed->version));
		return STEP_CONTINUE;
	}
	const struct obj *doc = install_plan_stored(v, s->ref->name, s->revision, NULL);
	if (!doc)
		return STEP_CONTINUE;
	s->install = install_plan_load(v, doc, plan);
	if (values_changed(s) && !s->app->busy && !s->app->paused)
		start_revision(s, "the values changed");
	else
		repair(s);
	return STEP_CONTINUE;
}
