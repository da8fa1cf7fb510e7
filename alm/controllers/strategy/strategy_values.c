#include "alm/controllers/strategy/strategy_values.h"

#include <string.h>

#include "alm/controllers/app/retry.h"
#include "alm/obj/condition.h"

static bool values_changed(const struct strategy_pass *s)
{
	struct obj *values = obj_keep(s->v->a, strategy_values(s->app, s->ref->o));
	return !cstr_eq(values_digest(values, s->v->a), s->install->values);
}

/* Plans of earlier versions name none. */
static bool account_changed(const struct strategy_pass *s)
{
	const char *of = obj_str(s->install->doc, "account");
	return of && !cstr_eq(of, s->app->account.user);
}

const char *strategy_inputs_changed(const struct strategy_pass *s)
{
	if (values_changed(s))
		return "the values changed";
	return account_changed(s) ? "the account changed" : NULL;
}

enum ensured strategy_start_revision(struct strategy_pass *s, const char *message)
{
	if (s->phase == PHASE_SUCCEEDED) {
		s->former_revision = s->revision;
		s->former_digest = s->digest;
	} else if (s->app->installed != s->ref) {
		s->former_revision = 0;
	}
	if (s->install && strategy_inputs_changed(s))
		s->failures = 0;
	s->failed = NULL;
	s->revision = strategy_next_revision(s->app);
	s->rollback_revision = 0;
	s->install = NULL;
	condition_remove(s->conditions, "OwnershipMoved");
	condition_remove(s->conditions, "Available");
	return strategy_enter(s, PHASE_PENDING, NULL, "Pending", message);
}

enum ensured strategy_values_back(struct strategy_pass *s, struct install_plan *back)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	const char *told = obj_str(strategy_failure(s), "message"), *why = told ? told : "";
	s->failed = obj_keep(s->v->a, obj_map());
	obj_set_int(s->failed, "revision", s->revision);
	obj_set_str(s->failed, "values", obj_str(doc, "values"));
	obj_set_str(s->failed, "account", obj_str(doc, "account"));
	obj_set_str(s->failed, "message", why);
	const char *text = arena_fmt(s->v->a, "revision %lld failed: %s; revision %lld runs again",
				     (long long)s->revision, why, (long long)back->revision);
	s->revision = s->former_revision;
	s->digest = s->former_digest;
	s->permissions = NULL;
	s->install = back; /* status.plan is its plan */
	s->former_revision = 0;
	strategy_condition(s, "Applied", "True", "RolledBack", "");
	strategy_condition(s, "Verified", "True", "RolledBack", "");
	strategy_condition(s, "OwnershipMoved", "True", "OwnershipMoved", "");
	return strategy_enter(s, PHASE_SUCCEEDED, "RolledBack", "RolledBack", text);
}

void strategy_set_values(const struct strategy_pass *s, struct obj *status)
{
	obj_del(status, "former");
	obj_del(status, "failed");
	if (s->failed)
		obj_set(status, "failed", obj_ref(s->failed));
	if (!s->former_revision)
		return;
	struct obj *former = obj_map();
	obj_set_int(former, "revision", s->former_revision);
	obj_set_str(former, "digest", s->former_digest);
	obj_set(status, "former", former);
}
