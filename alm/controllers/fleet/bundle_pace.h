/*
 * bundle_pace: a Bundle's status is written once a second at most, as each write is
 * an entry of the log that holds all of it: what changes in between is told with the next one. Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_PACE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_PACE_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"

/* WAITING: the status is not written now, and a reconcile is asked for that does. Never of another
 * state, a condition that turns, another revision, rollout or generation: what is done by those is
 * announced before it is. To be asked in each reconcile, as that begins the second. */
enum ensured bundle_pace(const struct view *v, const struct obj *bundle, const struct obj *status,
			 struct plan *plan);

#endif
