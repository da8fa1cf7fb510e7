/*
 * unit_live: the objects of a unit as they are on the cluster, read from the informers in every
 * reconcile. No position is remembered: what is done is what is live.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_LIVE_H
#define ALM_CONTROLLERS_UNIT_UNIT_LIVE_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"
#include "alm/unit/unit.h"

/* One row of a unit {stage, digest, object}; an object without a namespace is of ns. Requests the
 * informer of its kind with this selector where it is missing; plan NULL: does not. */
void unit_entry_load(const struct view *v, const struct obj *row, const char *ns,
		     const char *selector, struct unit_entry *e, struct plan *plan);
/* e->object is wanted with what is somebody else's in live (NULL: nothing is): what the row ignores is as it is there,
 * what an autoscaler has set is left out. unit_entry_load() does it with e->live; this is for what no watch shows. */
void unit_entry_spare(struct unit_entry *e, const struct obj *row, const struct obj *live,
		      struct arena *a);
/* Is the live object at this unit's state? */
bool unit_is_applied(const struct unit_entry *e);
/* A server may write a value in a way that nobody can foresee (a webhook, a conversion): what an
 * apply of this process has left is no drift. unit_holds_object() knows the rest. */
bool unit_is_as_left(const struct view *v, const struct unit_entry *e);

#endif
