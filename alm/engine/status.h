/*
 * status: what a status write says of itself. Pure: old and new status in, the reason of the
 * Transition entry and the list of conditions that turned out (lifecycle.md 4.4).
 */
#ifndef ALM_ENGINE_STATUS_H
#define ALM_ENGINE_STATUS_H

#include "alm/engine/plan.h"

/* Plans the status of live if it differs from the old one (transitionSeq aside). state is the new
 * state or phase, was the old one; the entry's reason is state if it moved, else the first
 * condition that turned, else "Refreshed". Returns the action, or NULL if nothing changed. status
 * is consumed. */
struct action *status_plan(struct plan *p, const struct obj *live, struct obj *status,
			   const char *was, const char *state, const char *message);

/* They are the same, transitionSeq aside. */
bool status_is_equal(const struct obj *old, const struct obj *status);
/* A condition is there, gone, or True, False or Unknown, that was not. */
bool status_turns(const struct obj *old, const struct obj *status, struct arena *a);

#endif
