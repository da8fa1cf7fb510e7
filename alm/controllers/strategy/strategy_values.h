/*
 * strategy_values: changed values, or another account, of what is installed (lifecycle.md 7.6): its
 * strategy goes through the phases of an upgrade once more as its next revision. Until that has
 * succeeded the former one counts as installed; a failure ends in Succeeded with the plan of the
 * former.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_VALUES_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_VALUES_H

#include "alm/controllers/strategy/strategy_pass.h"

/* What differs from the plan s->install: "the values changed"; NULL: nothing. */
const char *strategy_inputs_changed(const struct strategy_pass *s);
/* Another revision of this version, from Pending on. ENDED. */
enum ensured strategy_start_revision(struct strategy_pass *s, const char *message);
/* The former revision runs again: Succeeded, and what failed is marked. back: its plan. ENDED. */
enum ensured strategy_values_back(struct strategy_pass *s, struct install_plan *back);
void strategy_set_values(const struct strategy_pass *s, struct obj *status);

#endif
