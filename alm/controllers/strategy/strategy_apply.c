/* Installing and Verifying, up to where objects change hands (lifecycle.md 7.1, steps 1 to 7). What
 * is done is read from the live objects in every reconcile; no position is remembered. */
#include <limits.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_convert.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_record.h"
#include "alm/controllers/strategy/strategy_rollout.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define INSTALLING_NS NS_PER_HOUR /* in all, whatever is finished meanwhile */

static bool is_upgrade(const struct strategy_pass *s)
{
	return obj_flag(s->install->doc, "isUpgrade", false);
}

/* --- both --- */

enum ensured strategy_load_plan(struct strategy_pass *s)
{
	enum ensured known = strategy_find_plan(s, s->ref->name, s->revision, &s->install);
	if (known == WAITING || s->install)
		return known;
	s->phase = PHASE_PENDING; /* somebody deleted it: plan anew */
	s->message = STORED_PLAN_GONE;
	return ENDED;
}

/* Consent that is taken back ends what needs it. */
enum ensured strategy_keep_account(struct strategy_pass *s)
{
	const char *condition = s->phase == PHASE_INSTALLING ? "Applied" : "Verified";
	enum ensured state = strategy_ensure_account(s);
	return state == ENDED ? strategy_give_up(s, condition, "Forbidden", s->account.message)
			      : state;
}

static enum ensured apply_groups(struct strategy_pass *s, int first, int last, bool at_once)
{
	const struct strategy_groups g = {.plan = s->install,
					  .owner = s->ref,
					  .first = first,
					  .last = last,
					  .at_once = at_once};
	return strategy_apply_groups(s, &g);
}

/* --- Installing --- */

/* Each object that is finished gives the next one the whole time again, for an hour in all. */
static int64_t installing_left(struct strategy_pass *s)
{
	int64_t deadline = strategy_deadline(s);
	int64_t all = strategy_left_since(s, "Installing", obj_str(s->ref->o, "status.phaseSince"),
					  deadline > INSTALLING_NS ? deadline : INSTALLING_NS);
	if (obj_has(s->install->doc, "rollout"))
		return all; /* its steps have times of their own */
	size_t done = obj_len(s->hooks);
	for (size_t i = 0; i < s->install->n; i++)
		done += unit_is_applied(&s->install->entries[i]);
	int64_t left = strategy_time_left(s, "Applied");
	if (done)
		left = s->v->ops->left(s->v->ops_arg,
				       arena_fmt(s->v->a, "%s:r%lld:applied:%zu",
						 meta_uid(s->ref->o), (long long)s->revision, done),
				       deadline, deadline);
	return left < all ? left : all;
}

enum ensured strategy_keep_install_deadline(struct strategy_pass *s)
{
	struct condition c;
	int64_t left = installing_left(s);
	if (plan_await(s->plan, left) == WAITING)
		return DONE;
	return strategy_give_up(s, "Applied", "ProgressDeadline",
				condition_get(s->ref->o, "Applied", &c) && *c.message
					? c.message
					: "objects could not be applied in time");
}

enum ensured strategy_apply_crds(struct strategy_pass *s)
{
	return apply_groups(s, UNIT_GROUP_CRD, UNIT_GROUP_NAMESPACE, false);
}

enum ensured strategy_record_begun(struct strategy_pass *s)
{
	return strategy_record(s, s->install,
			       is_upgrade(s) ? "pending-upgrade" : "pending-install");
}

enum ensured strategy_run_pre_hooks(struct strategy_pass *s)
{
	return strategy_run_hooks(s, s->install->doc, is_upgrade(s) ? "pre-upgrade" : "pre-install",
				  "Applied");
}

enum ensured strategy_apply_objects(struct strategy_pass *s)
{
	if (obj_has(s->install->doc, "rollout"))
		return strategy_roll_out(s);
	return apply_groups(s, UNIT_GROUP_FIRST, INT_MAX, false);
}

enum ensured strategy_end_install(struct strategy_pass *s)
{
	const char *text = arena_fmt(s->v->a, "%zu objects", s->install->n);
	strategy_condition(s, "Applied", "True", "Applied", text);
	strategy_condition(s, "Verified", "False", "Progressing", "");
	return strategy_enter(s, PHASE_VERIFYING, NULL, "Verifying", text);
}

/* What the server last refused, for the condition. */
void strategy_tell_refusal(struct strategy_pass *s)
{
	for (size_t i = 0; s->install && i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		const struct outcome *x = view_refusal(s->v, e->object, e->ns);
		if (!x || !x->code || unit_is_applied(e))
			continue;
		strategy_condition(s, "Applied", "False", "Installing",
				   arena_strdup(s->v->a, x->msg));
		return;
	}
}

/* --- Verifying --- */

static int64_t verifying_left(const struct strategy_pass *s)
{
	return strategy_time_left(s, "Verified");
}

/* What is waited for has until the deadline. */
static enum ensured wait_or_give_up(struct strategy_pass *s, int64_t left, const char *reason,
				    const char *message)
{
	if (plan_await(s->plan, left) == WAITING)
		return WAITING;
	return strategy_give_up(s, "Verified", reason, message);
}

enum ensured strategy_reapply(struct strategy_pass *s)
{
	return apply_groups(s, UNIT_GROUP_CRD, INT_MAX, true);
}

enum ensured strategy_await_ready(struct strategy_pass *s)
{
	const char *why = NULL;
	int64_t left = verifying_left(s); /* runs from the first look on */
	enum readiness r = strategy_readiness(s, s->install, &why);
	if (r == READY)
		return DONE;
	if (r == READY_FAILED)
		return strategy_give_up(s, "Verified", "CheckFailed", why);
	strategy_condition(s, "Verified", "False", "Progressing", why);
	return wait_or_give_up(s, left, "ProgressDeadline", why);
}

enum ensured strategy_ensure_converted(struct strategy_pass *s)
{
	return strategy_convert(s) == DONE
		       ? DONE
		       : wait_or_give_up(s, verifying_left(s), "ConversionNotReady",
					 "the converter did not answer in time");
}

enum ensured strategy_run_post_hooks(struct strategy_pass *s)
{
	enum ensured state = strategy_run_hooks(
		s, s->install->doc, is_upgrade(s) ? "post-upgrade" : "post-install", "Verified");
	return state == WAITING ? wait_or_give_up(s, verifying_left(s), "ProgressDeadline",
						  "the hooks did not end in time")
				: state;
}

enum ensured strategy_soak(struct strategy_pass *s)
{
	strategy_condition(s, "Available", "True", "Available",
			   arena_fmt(s->v->a, "%zu objects ready", s->install->n));
	return plan_await(s->plan,
			  strategy_left_since(s, "Available", strategy_turned_at(s, "Available"),
					      s->v->settings->verify_soak_ns));
}

/* From here on there is no way back: the condition says so to the reconciles that follow. */
enum ensured strategy_end_verify(struct strategy_pass *s)
{
	bool all = true;
	for (size_t i = 0; i < s->install->n; i++)
		all = all && strategy_owns(s, &s->install->entries[i]);
	strategy_condition(s, "Verified", "True", "Verified",
			   arena_fmt(s->v->a, "%zu objects ready", s->install->n));
	strategy_condition(s, "OwnershipMoved", all ? "True" : "False", "HandingOver", "");
	return ENDED;
}
