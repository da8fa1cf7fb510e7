/*
 * bundle_side: what this process holds of each Bundle: what was read last, and the unit that is run
 * (manager_bundles.c). Memory only: after a restart it is read again, and what is on the cluster
 * already is not written.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_SIDE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_SIDE_H

#include "alm/controllers/unit/unit_side.h"

#define BUNDLE_INSTANCE "files" /* of the objects of a tree */

struct bundle_now {
	/* What was read last; NULL: nothing. {"commit", "author", "subject", "digest", "objects"} */
	const struct obj *read;
	bool rewritten;             /* what ran before is none of its ancestors */
	const struct unit_job *job; /* what is run; NULL: nothing was begun */
	const struct obj *source;   /* of the job, as read */
	const char *since;  /* when its rollout began: status.rollingSince; NULL: nothing is run */
	int64_t generation; /* of the Bundle when it began */
	unsigned failures;  /* of attempts, in a row */
	int64_t ended_ns;   /* of the last one */
	/* ANNOTATION_RETRY of the Bundle when it began, and when the last reading did; NULL: there was none. */
	const char *asked, *asked_read;
	const char *head; /* commit that was read last, well or not; NULL: none */
	bool fetched;     /* the last reading that ended had a commit; what it said is about that */
	bool hooked;      /* a push was told since the last reading began */
};

/* shared.bundles; borrowed until the next turn. */
struct bundle_side {
	bool (*now)(void *arg, const char *bundle, struct bundle_now *ret);
	void *arg;
};

#endif
