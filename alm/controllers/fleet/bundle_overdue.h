/*
 * bundle_overdue: deletes of a Bundle that last longer than they should (fleet.md 2.5): of a revision
 * 10 minutes (StateOverdue), of the Bundle itself 30 (DeletionBlocked). Nothing is given up for that: it
 * is told, as an alert, too, and goes on when what holds it is gone. Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_OVERDUE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_OVERDUE_H

#include "alm/base/clock.h"
#include "alm/obj/obj.h"

#define BUNDLE_PRUNING_NS  (10 * NS_PER_MIN)
#define BUNDLE_DELETING_NS (30 * NS_PER_MIN)

struct bundle_overdue {
	const char *deletes; /* what the revision's wait for; NULL: they are in time. Borrowed */
	bool is_blocked;     /* the Bundle's own last too long */
	int64_t again_ns;    /* when one of these comes, if nothing changes; 0: none does */
};

/* record: of what is run (unit_side.h); NULL: nothing is. */
void bundle_overdue_judge(const struct obj *bundle, const struct obj *record, int64_t now_ns,
			  struct bundle_overdue *ret);

#endif
