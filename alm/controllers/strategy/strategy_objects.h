/*
 * strategy_objects: where the objects of an install plan stand, read from the live ones in every
 * reconcile (lifecycle.md 7.3): what is as planned, ours, ready, and what only earlier plans have. All
 * questions but the last two are free of effects.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_OBJECTS_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_OBJECTS_H

#include "alm/controllers/strategy/strategy_pass.h"
#include "alm/unit/ready.h"

/* Does the live object have all that the plan says of it? Where our marks took the place of the chart's: ours. */
bool strategy_holds(const struct strategy_pass *s, const struct unit_entry *e);
/* The live object has the marks of this strategy, or is none of its business. */
bool strategy_owns(const struct strategy_pass *s, const struct unit_entry *e);
/* Of the object that is the furthest from it, which *ret_why says. */
enum readiness strategy_readiness(const struct strategy_pass *s, const struct install_plan *p,
				  const char **ret_why);

/* Groups of a plan, one after the other: the next begins when one is applied, and its definitions
 * are established. */
struct strategy_groups {
	const struct install_plan *plan;
	const struct strategy_ref *owner; /* whom the objects shall belong to */
	int first, last;
	bool handoff; /* objects of other owners, too */
	bool at_once; /* all groups, and nothing is waited for */
};
enum ensured strategy_apply_groups(struct strategy_pass *s, const struct strategy_groups *g);

/* Deletes the objects of another strategy's plan that keep does not have. */
enum ensured strategy_delete_leftovers_of(struct strategy_pass *s, const struct install_plan *keep,
					  const struct strategy_ref *other);
/* Deletes what only earlier plans of the app have. */
enum ensured strategy_delete_leftovers(struct strategy_pass *s);

#endif
