/* The end of Verifying (lifecycle.md 7.1, steps 8 and 9): objects change hands, what only earlier
 * plans had is deleted. There is no way back; it is retried until it is done. */
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_record.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

enum ensured strategy_handoff_account(struct strategy_pass *s)
{
	enum ensured state = strategy_ensure_account(s);
	if (state == ENDED)
		strategy_condition(s, "OwnershipMoved", "False", "Forbidden", s->account.message);
	return state;
}

/* Of a definition that is as planned only the label changes: it need not be judged, sent and
 * compared once more, which for 500 KB takes as long as its apply did. */
static void hand_over(struct strategy_pass *s, const struct unit_entry *e)
{
	if (!e->is_crd) {
		plan_apply(s->plan,
			   install_plan_decorate(s->v, s->app, s->ref, s->install, e, true), 0,
			   true);
		return;
	}
	if (!unit_is_applied(e) || !strategy_holds(s, e)) {
		strategy_write_crd(s, s->install, e, true, false);
		return;
	}
	struct obj *patch = obj_map();
	meta_set_label(patch, LABEL_STRATEGY, app_label_value(s->ref->name, s->v->a));
	plan_patch(s->plan, e->live, patch);
}

enum ensured strategy_hand_over(struct strategy_pass *s)
{
	enum ensured state = DONE;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (!e->unknown && strategy_owns(s, e))
			continue;
		if (!e->unknown)
			hand_over(s, e);
		state = WAITING;
	}
	return state;
}

enum ensured strategy_record_deployed(struct strategy_pass *s)
{
	return strategy_record(s, s->install, "deployed");
}

enum ensured strategy_succeed(struct strategy_pass *s)
{
	strategy_condition(s, "OwnershipMoved", "True", "OwnershipMoved", "");
	condition_remove(s->conditions, "RolledBack");
	s->former_revision = 0;
	s->failed = NULL;
	return strategy_enter(s, PHASE_SUCCEEDED, NULL, "Succeeded",
			      arena_fmt(s->v->a, "plan %s", s->digest));
}
