/*
 * strategy_definition: where a definition of an install plan is on its way (crd_moves.h), read from the live one in
 * every reconcile (lifecycle.md 7.3). All are questions without effects.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_DEFINITION_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_DEFINITION_H

#include "alm/controllers/app/crd_moves.h"
#include "alm/controllers/strategy/strategy_pass.h"

/* Where a definition is on its way, and what a write of it leads to now. */
enum crd_move strategy_crd_at(const struct unit_entry *e);
enum crd_move strategy_crd_move(const struct strategy_pass *s, const struct unit_entry *e);
/* As far as this phase takes it. */
bool strategy_crd_is_placed(const struct strategy_pass *s, const struct unit_entry *e);
/* A definition that is somebody else's by now: it is left alone. */
bool strategy_crd_is_taken(const struct strategy_pass *s, const struct unit_entry *e);
/* A CRD is never downgraded: what a newer version applied stays (lifecycle.md 7.4). */
bool strategy_has_newer_crd(const struct strategy_pass *s, const struct unit_entry *e);

#endif
