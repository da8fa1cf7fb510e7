/*
 * strategy_rollout: spec.rolloutRef. A Rollout (rollout.h) says in which groups and steps the objects
 * of a chart are applied; without one they go by kinds. Its text is part of the install plan, so of
 * what is approved; what it is when a plan is made counts for that plan.
 *
 * A step names an object by the file of its template, "templates/deployment.yaml"; one of several of
 * a file is FILE!0, FILE!1. Definitions and the Namespaces of a plan are applied before, as always.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_ROLLOUT_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_ROLLOUT_H

#include "alm/controllers/strategy/strategy_pass.h"

/* s->rollout is the Rollout that is named; ENDED: Blocked, as it is not there or cannot be read. */
enum ensured strategy_find_rollout(struct strategy_pass *s);
/* Sets keys of the rows of doc, and which of them are not kept as they are applied; the Rollout
 * becomes part of it. NULL, or what is wrong with it. */
const char *strategy_lay_out(struct strategy_pass *s, struct obj *doc, const struct obj *rendered);
/* The groups of the stored plan, by the walker of all units. DONE: all steps are through. */
enum ensured strategy_roll_out(struct strategy_pass *s);
/* status.rollout and status.groups. */
void strategy_set_rollout(const struct strategy_pass *s, struct obj *status);

#endif
