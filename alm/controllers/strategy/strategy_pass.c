#include "alm/controllers/strategy/strategy_pass.h"

#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/decision.h"
#include "alm/controllers/app/phases.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

struct strategy_pass *strategy_pass(const struct view *v)
{
	return *v->pass;
}

/* --- conditions --- */

bool strategy_has_condition(const struct strategy_pass *s, const char *type)
{
	return condition_find(s->conditions, type);
}

/* Planning takes conditions away and sets them anew: only a turn is a transition. */
static void keep_transition_time(struct strategy_pass *s, const char *type, const char *status)
{
	const char *since = condition_since(s->ref->o, type);
	if (!since || !condition_is(s->ref->o, type, status))
		return;
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		if (cstr_eq(obj_str(obj_at(s->conditions, i), "type"), type))
			obj_set_str(obj_at_mut(s->conditions, i), "lastTransitionTime", since);
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

const struct obj *strategy_failure(const struct strategy_pass *s)
{
	static const char *const types[] = {"Applied", "Verified"};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const struct obj *c = condition_find(s->conditions, types[i]);
		if (cstr_eq(obj_str(c, "status"), "False"))
			return c;
	}
	return NULL;
}

int64_t strategy_left_since(const struct strategy_pass *s, const char *what, const char *since,
			    int64_t deadline)
{
	int64_t at;
	if (!since || !clock_parse(str_of(since), &at))
		return deadline;
	const char *id = arena_fmt(s->v->a, "%s:r%lld:%s:%s:%lld", meta_uid(s->ref->o),
				   (long long)s->revision, what, since, (long long)deadline);
	return s->v->ops->left(s->v->ops_arg, id, deadline, at + deadline - s->v->now_ns);
}

const char *strategy_turned_at(const struct strategy_pass *s, const char *condition)
{
	return obj_str(condition_find(s->conditions, condition), "lastTransitionTime");
}

int64_t strategy_deadline(const struct strategy_pass *s)
{
	struct error ignored;
	const struct phase_deadline *d = phase_deadline(s->phase);
	assert(d);
	const char *own = d->field ? obj_str(s->app->o, d->field) : NULL;
	int64_t ns = d->ns;
	if (own)
		(void)duration_parse(str_of(own), &ns, &ignored);
	return ns;
}

int64_t strategy_time_left(const struct strategy_pass *s, const char *condition)
{
	int64_t ns = strategy_deadline(s);
	return strategy_left_since(s, condition,
				   s->phase == PHASE_PENDING
					   ? obj_str(s->ref->o, "status.phaseSince")
					   : strategy_turned_at(s, condition),
				   ns);
}

/* --- the ways to end a reconcile --- */

enum ensured strategy_enter(struct strategy_pass *s, enum phase phase, const char *condition,
			    const char *reason, const char *message)
{
	s->phase = phase;
	s->reason = reason;
	s->message = message;
	if (condition) {
		bool good = phase != PHASE_BLOCKED && phase != PHASE_FAILED &&
			    phase != PHASE_AWAITING && phase != PHASE_ROLLING_BACK &&
			    phase != PHASE_ROLLED_BACK;
		strategy_condition(s, condition, good ? "True" : "False", reason, message);
	}
	return ENDED;
}

/* Keys of decisions are lines: what one reconcile has decided before is said with each, so that the next one,
 * which decides the same, reports neither again (chain.h). */
static const char *decision_key(struct strategy_pass *s, const char *decision, const char *key)
{
	char *line = arena_fmt(s->v->a, "%s %s", decision, key);
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = ' ';
	s->decided = s->decided ? arena_fmt(s->v->a, "%s\n%s", s->decided, line) : line;
	return s->decided;
}

void strategy_decision(struct strategy_pass *s, const char *decision, const char *key,
		       struct obj *body)
{
	struct action *x = plan_row(s->plan, "Decision", s->ref->o, decision,
				    decision_key(s, decision, key), body);
	x->chain = s->app ? s->app->name : NULL;
}

void strategy_decide(struct strategy_pass *s, const char *decision, const char *verdict,
		     const char *rule, const char *detail, const char *key)
{
	strategy_decision(s, decision, key, decision_body(rule, verdict, detail));
}

void strategy_deny(struct strategy_pass *s, const char *decision, const char *rule,
		   const char *detail, const char *key, struct obj *more)
{
	struct obj *body = decision_body(rule, "deny", detail);
	OBJ_EACH (it, more)
		obj_set(body, it.key, obj_ref(it.value));
	obj_unref(more);
	if (s->app && s->app->installed)
		obj_set_path(body, "version.from", obj_string(s->app->installed->version));
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	strategy_decision(s, decision, key, body);
}

/* What no failure but a judgement says no to: by reason of the condition. */
static const char *decision_of(const char *reason)
{
	static const char *const table[][2] = {
		{"RollbackRefused", "RollbackRefused"},  {"RequirementUnmet", "RequirementRefused"},
		{"ObjectNotOwned", "OwnershipRefused"},  {"DigestMismatch", "DigestRefused"},
		{"DescriptorMismatch", "DigestRefused"}, {"SignatureInvalid", "SignatureRefused"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (cstr_eq(reason, table[i][0]))
			return table[i][1];
	return NULL;
}

/* Planning took the condition away: one that still holds keeps its time, or each reconcile would write.
 */
enum ensured strategy_block(struct strategy_pass *s, const char *condition, const char *reason,
			    const char *message)
{
	const struct obj *old = condition_find(obj_path(s->ref->o, "status.conditions"), condition);
	if (cstr_eq(obj_str(old, "status"), "False")) {
		condition_remove(s->conditions, condition);
		obj_append(s->conditions, obj_copy(old));
	}
	if (decision_of(reason))
		strategy_deny(s, decision_of(reason), reason, message,
			      arena_fmt(s->v->a, "r%lld %s", (long long)s->revision, message),
			      NULL);
	return strategy_enter(s, PHASE_BLOCKED, condition, reason, message);
}

enum ensured strategy_give_up(struct strategy_pass *s, const char *condition, const char *reason,
			      const char *message)
{
	const char *on_failure = obj_str(s->app->o, "spec.upgrade.onFailure");
	bool runs = s->app->installed && (s->app->installed != s->ref || strategy_tries_values(s));
	const char *rollout =
		s->install ? obj_str(s->install->doc, "rollout.spec.rollback.onFailure") : NULL;
	bool back = runs && !cstr_eq(on_failure, "Stay") && !cstr_eq(rollout, "None");
	strategy_enter(s, back ? PHASE_ROLLING_BACK : PHASE_FAILED, condition, reason, message);
	condition_remove(s->conditions, "RolledBack"); /* its deadline runs from now */
	if (back)
		strategy_condition(s, "RolledBack", "False", "RollingBack", message);
	return ENDED;
}

enum ensured strategy_wait(struct strategy_pass *s)
{
	s->keep_status = s->was == PHASE_BLOCKED || s->was == PHASE_AWAITING;
	if (!s->keep_status)
		s->phase = PHASE_PENDING;
	return WAITING;
}

enum ensured strategy_wait_for_work(struct strategy_pass *s, bool again)
{
	s->keep_status = again;
	if (!again)
		s->phase = PHASE_PENDING;
	return WAITING;
}

enum ensured strategy_fail_pass(struct strategy_pass *s, const struct error *err)
{
	s->error = *err;
	return ENDED;
}

/* --- what several steps ask --- */

const char *strategy_namespace(const struct strategy_pass *s)
{
	const char *ns = obj_str(s->ref->o, "spec.strategy.namespace");
	return ns ? ns : s->app->install_namespace;
}

int64_t strategy_next_revision(const struct app *app)
{
	return app_highest_revision(app) + 1;
}

bool strategy_tries_values(const struct strategy_pass *s)
{
	return s->former_revision && s->app->installed == s->ref;
}

enum ensured strategy_find_plan(struct strategy_pass *s, const char *strategy, int64_t revision,
				struct install_plan **ret)
{
	const struct obj *doc = install_plan_stored(s->v, strategy, revision, NULL);
	*ret = doc ? install_plan_load(s->v, doc, s->plan) : NULL;
	return doc ? DONE : install_plan_confirm_gone(s->v, strategy, revision, NULL, s->plan);
}

enum ensured strategy_load(struct strategy_pass *s)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	s->install = doc ? install_plan_load(s->v, doc, s->plan) : NULL;
	return doc ? DONE : WAITING;
}

enum ensured strategy_ensure_account(struct strategy_pass *s)
{
	return s->plan->as ? DONE
			   : account_ensure(s->v, s->plan, s->app, strategy_namespace(s), false,
					    &s->account);
}

enum ensured strategy_await_retry(struct strategy_pass *s, const struct outcome *failed)
{
	if (failed->code == E_INVALID)
		return ENDED;
	return plan_await(s->plan, outcome_retry_in(failed, s->v->now_ns));
}

const struct outcome *strategy_ask(struct strategy_pass *s, const char *id, struct obj *needs,
				   int64_t age_ns)
{
	const struct outcome *o = view_outcome(s->v, id);
	const struct obj *kept = obj_keep(s->v->a, needs);
	if (o && !o->code && (!age_ns || outcome_is_younger(o, s->v->now_ns, age_ns)))
		return o;
	struct action *x = plan_work(s->plan, &ask_work, id);
	x->body = kept;
	return NULL;
}
