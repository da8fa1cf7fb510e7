/*
 * strategy_approve: may a plan begin (lifecycle.md 6)? What is approved is one plan, by its digest,
 * for a while.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_APPROVE_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_APPROVE_H

#include "alm/controllers/strategy/strategy_pass.h"

/* Before a status with another plan is written anew: an approval that the live object has is
 * recorded, bound to the plan that it shows now. */
void strategy_note_approval(struct strategy_pass *s);
/* An approval given or taken back while the plan waits for time: recorded when it is seen. */
void strategy_follow_approval(struct strategy_pass *s);

#endif
