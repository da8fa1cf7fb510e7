/* What is installed stays as planned (lifecycle.md 7.6): drift is found by looking at the live
 * objects and repaired as the account of the app; and what is over may be chosen again. */
#include <string.h>

#include "alm/client/client.h"
#include "alm/controllers/app/retry.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/strategy/strategy_definition.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_record.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/strategy/strategy_takeover.h"
#include "alm/controllers/strategy/strategy_values.h"
#include "alm/engine/repairs.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/drift.h"

static bool has_drifted(const struct strategy_pass *s, const struct unit_entry *e)
{
	if (e->unknown || (e->live && meta_is_deleting(e->live)) || strategy_has_newer_crd(s, e) ||
	    strategy_crd_is_taken(s, e))
		return false;
	if (!e->live || !unit_is_applied(e) || !strategy_owns(s, e))
		return true;
	return !strategy_holds(s, e) && !unit_is_as_left(s->v, e);
}

static const char *drift_text(const struct strategy_pass *s, const struct unit_entry *e)
{
	return arena_fmt(s->v->a, "%s %s", unit_entry_text(e, s->v->a),
			 e->live ? "changed" : "is missing");
}

/* first: of those that are repaired. A definition is decorated by what else it is about: its paths are in its Write
 * entry. */
static void drift_row(struct strategy_pass *s, const struct unit_entry *first)
{
	struct obj *body = obj_map();
	const struct obj *want =
		first->is_crd ? NULL
			      : obj_keep(s->v->a, install_plan_decorate(s->v, s->app, s->ref,
									s->install, first, true));
	obj_set_str(body, "what", drift_text(s, first));
	obj_set_str(body, "app", s->app->name);
	const char *by =
		want ? drift_tell(want, first->live, CLIENT_FIELD_MANAGER, s->v->a, body) : NULL;
	struct action *x = plan_row(s->plan, "Observe", s->ref->o, "Drifted", NULL, body);
	x->chain = s->app->name;
	x->actor = by;
	s->plan->trigger = "Drift";
}

static void repair_entry(struct strategy_pass *s, const struct unit_entry *e)
{
	if (e->is_crd)
		strategy_write_crd(s, s->install, e, true, false);
	else
		plan_apply(s->plan,
			   install_plan_decorate(s->v, s->app, s->ref, s->install, e, true),
			   e->group, true)
			->repairs = true;
}

/* What is to be written anew: reported in ret_text. A definition's last move comes with it. */
static size_t find_drift(struct strategy_pass *s, const struct unit_entry **list, size_t *ret_moves,
			 const char **ret_text)
{
	size_t n = 0, moves = 0;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (strategy_crd_at(e) == CRD_SWITCHED && !strategy_crd_is_taken(s, e)) {
			moves++;
			continue;
		}
		if (!has_drifted(s, e))
			continue;
		if (!n)
			*ret_text = drift_text(s, e);
		list[n++] = e;
	}
	*ret_moves = moves;
	return n;
}

/* The account may not, says the server: not asked at once again. NULL: it is worth a try. */
static const char *forbidden(struct strategy_pass *s, const struct unit_entry *e)
{
	const struct outcome *x = view_refusal(s->v, e->object, e->ns);
	int64_t left = x && x->code == E_FORBIDDEN ? outcome_retry_in(x, s->v->now_ns) : 0;
	if (left > 0)
		plan_requeue_after(s->plan, left);
	return left > 0 ? x->msg : NULL;
}

/* Somebody else writes it, too, again and again (repairs.h). NULL: nobody does. */
static const char *fought(struct strategy_pass *s, const struct unit_entry *e)
{
	struct drift d;
	if (plan_await(s->plan, repairs_wait(s->v, e->object, e->ns)) == DONE)
		return NULL;
	drift_find(
		obj_keep(s->v->a, install_plan_decorate(s->v, s->app, s->ref, s->install, e, true)),
		e->live, CLIENT_FIELD_MANAGER, s->v->a, &d);
	return d.manager ? arena_fmt(s->v->a, REPAIRS_WHY ": %s", d.manager) : REPAIRS_WHY;
}

static const char *not_repaired(const struct strategy_pass *s, const char *text, const char *why)
{
	return arena_fmt(s->v->a, "%s%snot repaired: %s", text ? text : "", text ? "; " : "", why);
}

/* What becomes of drift, by spec.drift and what else holds; nothing drifted: no decision. */
static void decide_drift(struct strategy_pass *s, size_t n, bool wanted, const char *text)
{
	const char *verdict = wanted && !s->app->paused ? "allow" : "wait";
	const char *rule = s->app->paused ? "Paused" : wanted ? "Repair" : "Report";
	if (n)
		strategy_decide(s, wanted && !s->app->paused ? "DriftRepair" : "DriftLeft", verdict,
				rule, text, text);
}

/* Plans what is worth a try. ENDED: not all is: the text is about the first that is not. */
static enum ensured repair_all(struct strategy_pass *s, const struct unit_entry *const *list,
			       size_t n, const char **text)
{
	const struct unit_entry *written = NULL, *left = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *no = forbidden(s, list[i]);
		if (!no && !list[i]->is_crd)
			no = fought(s, list[i]);
		if (no && !left) {
			left = list[i];
			*text = not_repaired(s, drift_text(s, left), no);
		} else if (!no) {
			repair_entry(s, list[i]);
			written = written ? written : list[i];
		}
	}
	if (written)
		drift_row(s, written);
	return left ? ENDED : DONE;
}

static bool is_missing(const struct unit_entry *e)
{
	return !e->live && !e->unknown;
}

/* reason NULL: that of the first object. */
static void tell_drift(struct strategy_pass *s, const struct unit_entry *const *list, size_t n,
		       const char *reason, const char *text)
{
	if (!n)
		condition_remove(s->conditions, "Drifted");
	else if (reason)
		strategy_condition(s, "Drifted", "True", reason, text);
	else
		strategy_condition(s, "Drifted", "True",
				   is_missing(list[0]) ? "ObjectMissing" : "FieldsChanged", text);
}

/* Does what is installed still work? Not known of objects that no informer has told of. */
static void tell_health(struct strategy_pass *s)
{
	const char *why = NULL;
	bool missing = false;
	for (size_t i = 0; i < s->install->n; i++) {
		if (s->install->entries[i].unknown)
			return;
		missing = missing || is_missing(&s->install->entries[i]);
	}
	if (strategy_readiness(s, s->install, &why) == READY)
		strategy_condition(s, "Available", "True", "Available",
				   arena_fmt(s->v->a, "%zu objects ready", s->install->n));
	else
		strategy_condition(s, "Available", "False",
				   missing ? "ObjectMissing" : "WorkloadUnavailable", why);
}

/* What the status says to have drifted; NULL: nothing. */
static const char *drift_before(const struct strategy_pass *s)
{
	struct condition was;
	if (!condition_get(s->ref->o, "Drifted", &was) || !cstr_eq(was.status, "True"))
		return NULL;
	return arena_strdup(s->v->a, was.message);
}

enum ensured strategy_repair(struct strategy_pass *s)
{
	const char *mode = obj_str(s->app->o, "spec.drift"), *text = NULL;
	struct helm_change by_helm = strategy_helm_change(s);
	if (by_helm.busy)
		return WAITING;
	tell_health(s);
	if (s->app->account.is_default)
		(void)strategy_ensure_account(s); /* its rights are kept, too */
	bool wanted = !cstr_eq(mode, "Report") ||
		      usage_any_instance(s->v, (const char *const *)s->ref->managed);
	const struct unit_entry **list =
		ARENA_ARRAY(s->v->a, const struct unit_entry *, s->install->n + 1);
	bool stuck = false;
	size_t moves, n = find_drift(s, list, &moves, &text);
	bool writes = !s->app->paused && (moves || (wanted && (n || !by_helm.told)));
	enum ensured account = writes ? strategy_ensure_account(s) : DONE;
	if (account == ENDED)
		tell_drift(s, list, n, "DriftNotRepaired",
			   not_repaired(s, text, s->account.message));
	if (account != DONE)
		return account; /* it is looked at first */
	for (size_t i = 0; writes && moves && i < s->install->n; i++)
		if (strategy_crd_at(&s->install->entries[i]) == CRD_SWITCHED)
			strategy_write_crd(s, s->install, &s->install->entries[i], true, false);
	decide_drift(s, n, wanted, text);
	if (writes && wanted && n)
		stuck = repair_all(s, list, n, &text) == ENDED;
	if (!n && wanted && !s->app->paused)
		s->repaired = drift_before(s);
	tell_drift(s, list, n, stuck ? "DriftNotRepaired" : NULL, text);
	if (!n && !by_helm.told && writes && wanted)
		strategy_record_repair(s, &by_helm);
	return DONE;
}

static bool is_chosen_again(const struct strategy_pass *s)
{
	return s->app->next && !strcmp(s->app->next, s->ref->version) && !s->app->busy &&
	       !app_replans(s->app);
}

/* A first install that failed waits (retry.h). What passed before a restart counts: controllers
 * that crash once a minute come to it, too. */
static enum ensured await_turn_to_retry(struct strategy_pass *s)
{
	if (s->phase != PHASE_FAILED || s->app->installed ||
	    retry_is_asked(s->app, s->ref->version) || (s->install && strategy_inputs_changed(s)))
		return DONE;
	const char *id =
		arena_fmt(s->v->a, "%s:r%lld:retry", meta_uid(s->ref->o), (long long)s->revision);
	int64_t wait = retry_wait_ns(s->failures);
	int64_t by_wall = retry_at_ns(s->conditions, s->failures, s->v->now_ns) - s->v->now_ns;
	int64_t left = s->v->ops->left(s->v->ops_arg, id, wait, by_wall);
	char at[CLOCK_TEXT_MAX];
	clock_format(s->v->now_ns + left, CLOCK_SECONDS, at);
	if (left > 0)
		strategy_decide(s, "RetryWaits", "wait", "Backoff",
				arena_fmt(s->v->a, "failed %lld time%s in a row: again at %s",
					  (long long)s->failures, s->failures == 1 ? "" : "s", at),
				arena_fmt(s->v->a, "r%lld", (long long)s->revision));
	return plan_await(s->plan, left);
}

/* Of a version that failed. */
static void decide_retry(struct strategy_pass *s)
{
	bool asked = retry_is_asked(s->app, s->ref->version);
	bool changed = s->install && strategy_inputs_changed(s);
	const char *rule = asked ? "Asked" : changed ? "InputsChanged" : "Backoff";
	if (s->phase == PHASE_FAILED)
		strategy_decide(s, "Retried", "allow", rule,
				asked     ? "alm retry asks for it"
				: changed ? "its values or its account have changed"
					  : "the time to wait is over",
				arena_fmt(s->v->a, "r%lld", (long long)s->revision));
}

/* Changed values were left as they failed, or the way back failed: others are tried at once. */
static bool has_other_values(const struct strategy_pass *s)
{
	return s->app->installed == s->ref && !s->app->paused &&
	       (retry_is_asked(s->app, s->ref->version) ||
		(s->install && strategy_inputs_changed(s)));
}

/* --- the steps --- */

enum ensured strategy_record_failed(struct strategy_pass *s)
{
	if (strategy_load(s) == DONE && strategy_ensure_account(s) == DONE)
		(void)strategy_record(s, s->install, "failed"); /* nothing waits for it */
	return DONE;
}

enum ensured strategy_choose_again(struct strategy_pass *s)
{
	if (!has_other_values(s) && !(is_chosen_again(s) && await_turn_to_retry(s) == DONE))
		return WAITING;
	decide_retry(s);
	return strategy_start_revision(s, "chosen again");
}

/* What is installed is known by its plan alone. */
enum ensured strategy_keep_plan(struct strategy_pass *s)
{
	enum ensured known = strategy_find_plan(s, s->ref->name, s->revision, &s->install);
	if (known == WAITING || s->install)
		return known;
	return s->app->paused ? WAITING : strategy_start_revision(s, STORED_PLAN_GONE);
}

enum ensured strategy_make_way(struct strategy_pass *s)
{
	const struct app *app = s->app;
	if (app->installed && app->installed != s->ref)
		return strategy_enter(
			s, PHASE_SUPERSEDED, NULL, "Superseded",
			arena_fmt(s->v->a, "%s is installed", app->installed->version));
	return app->busy ? WAITING : DONE; /* an upgrade owns the objects now */
}

enum ensured strategy_take_changes(struct strategy_pass *s)
{
	const char *changed = strategy_inputs_changed(s);
	if (!changed || s->app->paused)
		return DONE;
	if (!retry_would_repeat(s->app, s->ref, s->v->a))
		return strategy_start_revision(s, changed);
	strategy_decide(s, "RetryRefused", "wait", "PreviouslyFailed",
			"these values and this account have failed: others, or alm retry",
			arena_fmt(s->v->a, "r%lld", (long long)s->revision));
	return DONE;
}
