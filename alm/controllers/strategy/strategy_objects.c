#include "alm/controllers/strategy/strategy_objects.h"

#include <string.h>

#include "alm/controllers/app/usage.h"
#include "alm/controllers/strategy/strategy_definition.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/prune.h"
#include "alm/unit/rollout_next.h"

#define FORMER_MAX 32 /* revisions of one version whose leftovers are looked for */

/* --- as planned, ours, ready --- */

bool strategy_holds(const struct strategy_pass *s, const struct unit_entry *e)
{
	if (!e->live || unit_holds_object(e->live, e->object))
		return e->live;
	CLEANUP(obj_unrefp) struct obj *want =
		install_plan_decorate(s->v, s->app, s->ref, s->install, e, false);
	obj_del_path(want, "metadata.ownerReferences"); /* strategy_owns() */
	return unit_holds_object(e->live, want);
}

bool strategy_owns(const struct strategy_pass *s, const struct unit_entry *e)
{
	if (!e->live || strategy_has_newer_crd(s, e) || strategy_crd_is_taken(s, e))
		return true;
	bool label = cstr_eq(meta_label(e->live, LABEL_STRATEGY),
			     app_label_value(s->ref->name, s->v->a));
	return label && (e->keep || install_plan_is_alm(s->install) ||
			 meta_is_owned_by(e->live, meta_uid(s->ref->o)));
}

enum readiness strategy_readiness(const struct strategy_pass *s, const struct install_plan *p,
				  const char **ret_why)
{
	enum readiness worst = READY;
	for (size_t i = 0; i < p->n; i++) {
		const struct unit_entry *e = &p->entries[i];
		const char *why = "it is gone";
		enum readiness r = e->live ? ready_check(e->live, false, s->v->a, &why) : NOT_READY;
		if (r > worst) {
			worst = r;
			*ret_why = arena_fmt(s->v->a, "%s: %s", unit_entry_text(e, s->v->a), why);
		}
	}
	return worst;
}

/* --- applying --- */

static bool is_left_alone(const struct strategy_pass *s, const struct unit_entry *e)
{
	return strategy_crd_is_placed(s, e) || strategy_has_newer_crd(s, e) ||
	       strategy_crd_is_taken(s, e);
}

/* The groups of a plan from first on, each with one step; NULL steps: none. */
static size_t turns_of(struct strategy_pass *s, const struct strategy_groups *g,
		       struct turn_group *list, int *numbers)
{
	size_t n = 0;
	for (size_t i = 0; i < g->plan->n; i++) {
		const struct unit_entry *e = &g->plan->entries[i];
		size_t at = 0;
		if (e->group < g->first || e->group > g->last)
			continue;
		while (at < n && numbers[at] < e->group)
			at++;
		if (at == n || numbers[at] != e->group) {
			memmove(&list[at + 1], &list[at], (n - at) * sizeof(*list));
			memmove(&numbers[at + 1], &numbers[at], (n - at) * sizeof(*numbers));
			numbers[at] = e->group;
			list[at] = (struct turn_group){
				.steps = ARENA_NEW(s->v->a, struct turn_step), .n = 1};
			list[at].steps->state = STEP_DONE;
			n++;
		}
		struct turn_step *step = list[at].steps;
		if (!is_left_alone(s, e))
			step->state = STEP_ACTING;
		else if (step->state == STEP_DONE && e->is_crd && !g->at_once &&
			 !condition_is(e->live, "Established", "True"))
			step->state = STEP_WAITING; /* its condition brings the key back */
	}
	return n;
}

static void apply_group(struct strategy_pass *s, const struct strategy_groups *g, int group)
{
	for (size_t i = 0; i < g->plan->n; i++) {
		const struct unit_entry *e = &g->plan->entries[i];
		if (e->group != group || is_left_alone(s, e))
			continue;
		if (e->is_crd)
			strategy_write_crd(s, g->plan, e, false, s->phase == PHASE_INSTALLING);
		else if (!e->unknown)
			plan_apply(s->plan,
				   install_plan_decorate(s->v, s->app, g->owner, g->plan, e,
							 g->handoff),
				   e->group, true);
	}
}

enum ensured strategy_apply_groups(struct strategy_pass *s, const struct strategy_groups *g)
{
	struct turn_group *list = ARENA_ARRAY(s->v->a, struct turn_group, g->plan->n + 1);
	int *numbers = ARENA_ARRAY(s->v->a, int, g->plan->n + 1);
	size_t n = turns_of(s, g, list, numbers);
	enum rollout_end end = rollout_next(list, n, g->at_once);
	for (size_t i = 0; i < n; i++)
		if (list[i].steps->go)
			apply_group(s, g, numbers[i]);
	return end == ROLLOUT_DONE ? DONE : WAITING;
}

/* --- leftovers --- */

enum ensured strategy_delete_leftovers_of(struct strategy_pass *s, const struct install_plan *keep,
					  const struct strategy_ref *other)
{
	enum ensured state = DONE;
	struct install_plan *p;
	if (strategy_find_plan(s, other->name, other->revision, &p) == WAITING)
		return WAITING;
	const struct prune_rules rules = {.label = LABEL_APP, .value = s->app->name};
	size_t n;
	const struct prune_item *list = prune_list(p ? p->entries : NULL, p ? p->n : 0,
						   keep->entries, keep->n, &rules, s->v->a, &n);
	for (size_t i = 0; i < n; i++) {
		if (list[i].verdict == PRUNE_DELETE)
			plan_delete(s->plan, list[i].entry->live, "Background");
		if (list[i].verdict != PRUNE_GONE && list[i].verdict != PRUNE_KEEP)
			state = WAITING;
	}
	return state;
}

/* Of the revision that ran and of those tried since, when the values changed. */
static enum ensured delete_former_leftovers(struct strategy_pass *s)
{
	enum ensured state = DONE;
	struct strategy_ref former = *s->ref;
	int64_t tried = s->revision - s->former_revision;
	if (!strategy_tries_values(s))
		return DONE;
	for (int64_t i = 0; i < tried && i < FORMER_MAX; i++) {
		former.revision = s->former_revision + i;
		if (strategy_delete_leftovers_of(s, s->install, &former) == WAITING)
			state = WAITING;
	}
	return state;
}

enum ensured strategy_delete_leftovers(struct strategy_pass *s)
{
	enum ensured state = delete_former_leftovers(s);
	for (size_t i = 0; i < s->app->n; i++) {
		const struct strategy_ref *other = &s->app->strategies[i];
		if (other != s->ref && other->revision &&
		    strategy_delete_leftovers_of(s, s->install, other) == WAITING)
			state = WAITING;
	}
	return state;
}
