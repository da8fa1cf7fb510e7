#include "alm/controllers/strategy/strategy_record.h"

#include <string.h>

#include "alm/controllers/app/release_record.h"
#include "alm/controllers/unit/hook_run.h"
#include "alm/obj/condition.h"

enum ensured strategy_run_hooks(struct strategy_pass *s, const struct obj *doc, const char *event,
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
	enum ensured state = hook_run(&h, &why);
	if (state == WAITING)
		strategy_condition(s, condition, "False", "Progressing", why);
	if (state != ENDED)
		return state;
	return s->phase == PHASE_ROLLING_BACK
		       ? strategy_enter(s, PHASE_FAILED, condition, "RollbackFailed", why)
		       : strategy_give_up(s, condition, "HookFailed", why);
}

/* Helm's words, with what the conditions tell. */
static const char *failure(const struct strategy_pass *s, const struct install_plan *p)
{
	const struct obj *why = strategy_failure(s);
	const char *what = obj_flag(p->doc, "isUpgrade", false) ? "Upgrade" : "Release";
	return why ? arena_fmt(s->v->a, "%s \"%s\" failed: %.500s", what, p->release,
			       obj_str(why, "message"))
		   : NULL;
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

enum ensured strategy_record(struct strategy_pass *s, const struct install_plan *p,
			     const char *status)
{
	tell_unrecorded(s, p->doc);
	struct release_record r = {.v = s->v,
				   .plan = s->plan,
				   .app = s->app,
				   .doc = p->doc,
				   .revision = p->revision,
				   .status = status,
				   .runs = s->hooks};
	if (!strcmp(status, "failed"))
		r.description = failure(s, p);
	return release_record_ensure(&r);
}

const char *strategy_back_text(const struct strategy_pass *s, int64_t revision)
{
	return arena_fmt(s->v->a, "Rollback to %lld", (long long)revision);
}

enum ensured strategy_record_back(struct strategy_pass *s, const struct install_plan *back,
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
	return release_record_ensure(&r);
}
