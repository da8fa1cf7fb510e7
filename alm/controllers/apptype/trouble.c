#include "alm/controllers/apptype/trouble.h"

#include "alm/base/clock.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

static enum ensured await_since(const struct view *v, struct plan *plan, const struct obj *o,
				const char *type, const char *since, int64_t deadline_ns)
{
	int64_t at;
	if (!since || !clock_parse(str_of(since), &at)) {
		plan_requeue_after(plan, deadline_ns);
		return WAITING;
	}
	const char *id = arena_fmt(v->a, "%s:%s:%s:lasts", meta_uid(o), type, since);
	return plan_await(plan,
			  v->ops->left(v->ops_arg, id, deadline_ns, at + deadline_ns - v->now_ns));
}

/* DONE: the condition of o is what it is for longer than that. */
static enum ensured await(const struct view *v, struct plan *plan, const struct obj *o,
			  const char *type, int64_t deadline_ns)
{
	return await_since(v, plan, o, type, condition_since(o, type), deadline_ns);
}

/* What was told once stays until its cause is gone: a restart with another clock begins no new wait.
 */
static bool is_told(const struct app *app, const char *type, const char *reason)
{
	struct condition c;
	return condition_get(app->o, type, &c) && cstr_eq(c.status, "True") &&
	       cstr_eq(c.reason, reason);
}

enum ensured trouble_await_deletion(const struct view *v, const struct app *app, struct plan *plan)
{
	if (is_told(app, "DeletionBlocked", "FinalizerHeld"))
		return DONE;
	return await_since(v, plan, app->o, "deleted",
			   obj_str(app->o, "metadata.deletionTimestamp"), DELETING_NS);
}

/* --- what is installed --- */

static bool repairs(const struct app *app)
{
	return !app->paused && !cstr_eq(obj_str(app->o, "spec.drift"), "Report");
}

static void find_drift(const struct view *v, const struct app *app, struct trouble *t)
{
	struct condition c;
	if (!condition_get(app->installed->o, "Drifted", &c) || !cstr_eq(c.status, "True") ||
	    (repairs(app) && !cstr_eq(c.reason, "DriftNotRepaired")))
		return;
	t->drifted = arena_strdup(v->a, c.reason);
	t->drift = arena_strdup(v->a, c.message);
}

static void find_unavailable(const struct view *v, const struct app *app, struct plan *plan,
			     struct trouble *t)
{
	struct condition c;
	const struct obj *o = app->installed->o;
	if (!condition_get(o, "Available", &c) || !cstr_eq(c.status, "False"))
		return;
	bool gone = cstr_eq(c.reason, "ObjectMissing") && t->drifted; /* and it stays away */
	if (!gone && !is_told(app, "Degraded", "WorkloadUnavailable") &&
	    await(v, plan, o, "Available", UNAVAILABLE_NS) == WAITING)
		return;
	t->degraded = gone ? "ObjectMissing" : "WorkloadUnavailable";
	t->why = arena_strdup(v->a, c.message);
}

static void judge_installed(const struct view *v, const struct app *app, struct plan *plan,
			    struct trouble *t)
{
	find_drift(v, app, t);
	find_unavailable(v, app, plan, t);
	if (!t->degraded && cstr_eq(t->drifted, "DriftNotRepaired")) {
		t->degraded = t->drifted;
		t->why = t->drift;
	}
}

/* --- states that last --- */

/* "catalog community: SourceUnreachable: ...": the first that was never read. */
static const char *unread_catalog(const struct view *v)
{
	size_t n;
	const struct obj *const *all = view_list(v, WATCH_CATALOG, NULL, &n);
	for (size_t i = 0; i < n; i++) {
		struct condition c = {.reason = "Syncing", .message = "it is being read"};
		bool known = condition_get(all[i], "Synced", &c);
		bool read = false;
		for (size_t k = 0; k < v->shared->n_indexes; k++)
			read = read || cstr_eq(v->shared->indexes[k]->name, meta_name(all[i]));
		if (!read && !(known && cstr_eq(c.status, "True")))
			return arena_fmt(v->a, "catalog %s was never read: %s: %s",
					 meta_name(all[i]), c.reason, c.message);
	}
	return "a catalog was never read";
}

/* Given up once, it stays so until the catalogs are there. */
static enum ensured await_resolved(const struct view *v, const struct app *app, struct plan *plan)
{
	struct condition ready;
	if (!condition_get(app->o, "Ready", &ready) || cstr_eq(ready.status, "True") ||
	    cstr_eq(ready.reason, "New")) {
		plan_requeue_after(plan, RESOLVING_NS);
		return WAITING;
	}
	return cstr_eq(ready.reason, "Unresolved") ? DONE
						   : await(v, plan, app->o, "Ready", RESOLVING_NS);
}

static void judge_time(const struct view *v, const struct app *app, struct plan *plan,
		       struct trouble *t)
{
	struct condition c;
	if (!app->installed && !app->busy && app->resolution.not_ready) {
		if (await_resolved(v, app, plan) == WAITING)
			return;
		t->overdue = "Resolving";
		t->blocker = unread_catalog(v);
		return;
	}
	if (!app->busy || app->busy->phase != PHASE_VERIFYING ||
	    !condition_get(app->busy->o, "OwnershipMoved", &c) || cstr_eq(c.status, "True") ||
	    (!is_told(app, "StateOverdue", "Verifying") &&
	     await(v, plan, app->busy->o, "OwnershipMoved", HANDOFF_NS) == WAITING))
		return;
	t->overdue = "Verifying";
	t->blocker = arena_fmt(v->a, "%s: objects do not change hands: %s: %s", app->busy->version,
			       c.reason, c.message);
}

/* Its time runs since the newest plan was there to be approved. */
static void judge_approval(const struct view *v, const struct app *app, struct plan *plan,
			   struct trouble *t)
{
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		if (s->phase != PHASE_AWAITING)
			continue;
		const char *since = obj_str(s->o, "status.phaseSince");
		if (is_told(app, "ApprovalPending", "AwaitingApproval") ||
		    await_since(v, plan, s->o, "awaiting", since, AWAITING_NS) == DONE)
			t->unapproved = arena_strdup(v->a, s->version);
	}
}

void trouble_of(const struct view *v, const struct app *app, struct plan *plan, struct trouble *ret)
{
	*ret = (struct trouble){0};
	if (app->installed && app->installed->phase == PHASE_SUCCEEDED && !app->busy)
		judge_installed(v, app, plan, ret);
	judge_time(v, app, plan, ret);
	judge_approval(v, app, plan, ret);
}
