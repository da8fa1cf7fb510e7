/* RollingBack: the stored plan of what was installed is applied again, with its rollback hooks; a
 * CRD is never downgraded (lifecycle.md 7.4). */
#include <limits.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_convert.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_record.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/strategy/strategy_try.h"
#include "alm/controllers/strategy/strategy_values.h"

static enum ensured fail(struct strategy_pass *s, const char *reason, const char *message)
{
	if (cstr_eq(reason, "RollbackRefused"))
		strategy_deny(s, reason, reason, message,
			      arena_fmt(s->v->a, "r%lld %s", (long long)s->revision, message),
			      NULL);
	return strategy_enter(s, PHASE_FAILED, "RolledBack", reason, message);
}

enum ensured strategy_load_back(struct strategy_pass *s)
{
	const struct strategy_ref *old = s->app->installed;
	int64_t revision = strategy_tries_values(s) ? s->former_revision
			   : old                    ? strategy_running_revision(old)
						    : 0;
	enum ensured known = old ? strategy_find_plan(s, old->name, revision, &s->back) : DONE;
	int64_t left = strategy_time_left(s, "RolledBack");
	if (known == WAITING)
		return left > 0 ? WAITING
				: fail(s, "RollbackFailed", "the former plan could not be read");
	if (!s->back)
		return fail(s, "RollbackRefused", "the former plan is gone");
	return left > 0 ? DONE : fail(s, "RollbackFailed", "the former version is not ready");
}

void strategy_await_back(struct strategy_pass *s)
{
	plan_requeue_after(s->plan, strategy_time_left(s, "RolledBack"));
}

enum ensured strategy_ensure_back_allowed(struct strategy_pass *s)
{
	const char *why;
	enum ensured account = strategy_ensure_account(s);
	if (account == ENDED)
		return fail(s, "RollbackFailed", s->account.message);
	if (account == WAITING || strategy_try_back(s, s->app->installed, s->back, &why) == WAITING)
		return WAITING;
	return why ? fail(s, "RollbackRefused", why) : DONE;
}

/* What the revision that is given up leaves: its record says so, and of its definitions what
 * switched a converter is put back. */
enum ensured strategy_settle_failed(struct strategy_pass *s)
{
	struct install_plan *p;
	enum ensured known = strategy_find_plan(s, s->ref->name, s->revision, &p);
	if (known == WAITING || !p)
		return known;
	return strategy_record(s, p, "failed") == DONE ? strategy_revert(s, p) : WAITING;
}

enum ensured strategy_record_rolling_back(struct strategy_pass *s)
{
	return strategy_record_back(s, s->back, "pending-rollback");
}

enum ensured strategy_run_pre_rollback(struct strategy_pass *s)
{
	return strategy_run_hooks(s, s->back->doc, "pre-rollback", "RolledBack");
}

enum ensured strategy_apply_back(struct strategy_pass *s)
{
	const struct strategy_groups g = {.plan = s->back,
					  .owner = s->app->installed,
					  .first = UNIT_GROUP_NAMESPACE,
					  .last = INT_MAX,
					  .handoff = true,
					  .at_once = true};
	return strategy_apply_groups(s, &g);
}

enum ensured strategy_await_back_ready(struct strategy_pass *s)
{
	const char *why = NULL;
	return strategy_readiness(s, s->back, &why) == READY ? DONE : WAITING;
}

enum ensured strategy_run_post_rollback(struct strategy_pass *s)
{
	return strategy_run_hooks(s, s->back->doc, "post-rollback", "RolledBack");
}

enum ensured strategy_delete_failed(struct strategy_pass *s)
{
	return strategy_delete_leftovers_of(s, s->back, s->ref);
}

enum ensured strategy_record_rolled_back(struct strategy_pass *s)
{
	return strategy_record_back(s, s->back, "deployed");
}

enum ensured strategy_end_rollback(struct strategy_pass *s)
{
	if (strategy_tries_values(s))
		return strategy_values_back(s, s->back);
	return strategy_enter(s, PHASE_ROLLED_BACK, "RolledBack", "RolledBack",
			      arena_fmt(s->v->a, "%s runs again", s->app->installed->version));
}
