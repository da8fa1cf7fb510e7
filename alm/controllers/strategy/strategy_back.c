/* The way back: the stored plan of what was installed is applied again, with its rollback hooks; a
 * CRD is never downgraded (lifecycle.md 7.4). And what every phase shares: hooks and release
 * records. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/hook_run.h"
#include "alm/controllers/app/release_record.h"
#include "alm/controllers/strategy/strategy.h"
#include "alm/obj/condition.h"

bool strategy_hooks_done(struct strategy_pass *s, const struct obj *doc, const char *event,
			 const char *condition)
{
	const char *why = NULL, *run = arena_fmt(s->v->a, "r%lld", (long long)s->revision);
	hook_records_keep(s->hooks, run);
	struct hook_run h = {.v = s->v,
			     .plan = s->plan,
			     .app = s->app->name,
			     .keeps_foreign = s->app->account.is_default,
			     .owner = s->ref->o,
			     .doc = doc,
			     .event = event,
			     .run = run,
			     .records = s->hooks};
	switch (hook_run(&h, &why)) {
	case HOOKS_DONE:
		return true;
	case HOOKS_WAITING:
		strategy_condition(s, condition, "False", "Progressing", why);
		return false;
	case HOOKS_FAILED:
		break;
	}
	if (s->phase == PHASE_ROLLING_BACK)
		strategy_enter(s, PHASE_FAILED, condition, "RollbackFailed", why);
	else
		strategy_give_up(s, condition, "HookFailed", why);
	return false;
}

/* Helm's words, with what the conditions tell. */
static const char *failure(const struct strategy_pass *s)
{
	static const char *const types[] = {"Applied", "Verified"};
	const char *what = obj_flag(s->install->doc, "isUpgrade", false) ? "Upgrade" : "Release";
	for (size_t i = 0; i < obj_len(s->conditions); i++)
		for (size_t t = 0; t < ARRAY_LEN(types); t++) {
			const struct obj *c = obj_at(s->conditions, i);
			if (cstr_eq(obj_str(c, "type"), types[t]) &&
			    cstr_eq(obj_str(c, "status"), "False"))
				return arena_fmt(s->v->a, "%s \"%s\" failed: %.500s", what,
						 s->install->release, obj_str(c, "message"));
		}
	return NULL;
}

/* helm cannot know of a release without a record: said as long as that runs. */
static void tell_unrecorded(struct strategy_pass *s, const struct obj *doc)
{
	const char *why = obj_str(doc, "unrecorded");
	if (why)
		strategy_condition(s, "ReleaseRecorded", "False", "RecordTooLarge",
				   arena_fmt(s->v->a,
					     "%s: helm does not list it, only ALM upgrades, rolls "
					     "back and removes it; a smaller chart, or several, "
					     "would have a record",
					     why));
	else
		condition_remove(s->conditions, "ReleaseRecorded");
}

bool strategy_recorded(struct strategy_pass *s, const char *status)
{
	tell_unrecorded(s, s->install->doc);
	struct release_record r = {.v = s->v,
				   .plan = s->plan,
				   .app = s->app,
				   .doc = s->install->doc,
				   .revision = s->install->revision,
				   .status = status,
				   .runs = s->hooks};
	if (!strcmp(status, "failed"))
		r.description = failure(s);
	return release_record_plan(&r);
}

/* The record of the revision that is given up. */
static bool is_told_failed(struct strategy_pass *s)
{
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, NULL);
	if (!doc)
		return install_plan_is_gone(s->v, s->ref->name, s->revision, NULL, s->plan);
	s->install = install_plan_load(s->v, doc, s->plan);
	return strategy_recorded(s, "failed");
}

const char *strategy_back_text(const struct strategy_pass *s, int64_t revision)
{
	return arena_fmt(s->v->a, "Rollback to %lld", (long long)revision);
}

/* Helm's history tells a rollback as a revision of its own. */
static bool rollback_recorded(struct strategy_pass *s, const struct install_plan *back,
			      const char *status)
{
	if (!s->rollback_revision)
		s->rollback_revision = strategy_next_revision(s->app);
	struct release_record r = {.v = s->v,
				   .plan = s->plan,
				   .app = s->app,
				   .doc = back->doc,
				   .revision = s->rollback_revision,
				   .status = status,
				   .description = strategy_back_text(s, back->revision),
				   .runs = s->hooks};
	return release_record_plan(&r);
}

static bool is_applied(struct strategy_pass *s, const struct install_plan *back)
{
	bool done = true;
	for (size_t i = 0; i < back->n; i++) {
		const struct plan_entry *e = &back->entries[i];
		if (e->is_crd || install_plan_is_applied(e))
			continue;
		done = false;
		if (!e->unknown)
			plan_apply(s->plan,
				   install_plan_decorate(s->v, s->app, s->app->installed, back, e,
							 true),
				   e->stage, true);
	}
	return done;
}

static bool is_back(struct strategy_pass *s, struct install_plan *back)
{
	const char *why = NULL;
	bool told = is_told_failed(s) && strategy_reverted(s);
	s->install = back;
	bool done = told && rollback_recorded(s, back, "pending-rollback") &&
		    strategy_hooks_done(s, back->doc, "pre-rollback", "RolledBack") &&
		    is_applied(s, back) && strategy_all_ready(s, &why) == READY &&
		    strategy_hooks_done(s, back->doc, "post-rollback", "RolledBack") &&
		    strategy_leftovers_gone(s, back, s->ref) &&
		    rollback_recorded(s, back, "deployed");
	s->install = NULL;
	return done;
}

int strategy_rollback(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (s->stop || s->phase != PHASE_ROLLING_BACK)
		return STEP_CONTINUE;
	const struct strategy_ref *old = s->app->installed;
	int64_t revision = strategy_tries_values(s) ? s->former_revision
			   : old                    ? strategy_running_revision(old)
						    : 0;
	const struct obj *doc = old ? install_plan_stored(v, old->name, revision, NULL) : NULL;
	int64_t left = strategy_time_left(s, "RolledBack");
	bool known = doc || !old || install_plan_is_gone(v, old->name, revision, NULL, plan);
	if (left > 0 && !known) {
		plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	if (!doc || left <= 0) {
		strategy_enter(s, PHASE_FAILED, "RolledBack",
			       doc || !known ? "RollbackFailed" : "RollbackRefused",
			       doc      ? "the former version is not ready"
			       : !known ? "the former plan could not be read"
					: "the former plan is gone");
		return STEP_CONTINUE;
	}
	bool may = strategy_may_write(s);
	const char *why = NULL;
	struct install_plan *back = install_plan_load(v, doc, plan);
	known = may && strategy_way_back_is_known(s, old, back, &why);
	bool done = known && !s->refused && !why && is_back(s, back); /* once: it plans */
	if (s->refused)
		strategy_enter(s, PHASE_FAILED, "RolledBack", "RollbackFailed", s->refused);
	else if (why)
		strategy_enter(s, PHASE_FAILED, "RolledBack", "RollbackRefused", why);
	else if (done && strategy_tries_values(s))
		strategy_values_back(s, back);
	else if (done)
		strategy_enter(s, PHASE_ROLLED_BACK, "RolledBack", "RolledBack",
			       arena_fmt(v->a, "%s runs again", old->version));
	else if (!s->stop)
		plan_requeue_after(plan, left);
	return STEP_CONTINUE;
}
