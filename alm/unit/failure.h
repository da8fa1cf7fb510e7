/*
 * failure: what shows that a step will not succeed, long before its time is over: a container that
 * cannot start, a Pod that nobody schedules, a Job that gave up. Pure, over objects that are given.
 *
 * Looked at are the object of the step and its Pods, those of the newest template alone, as the
 * former ones are on their way out. A container that ended before the step wrote anything is not
 * its fault. What a cluster may mend by itself (a Secret that comes later, a node that is added) has
 * a grace: it is a failure when it was seen for so long, look by look; what was seen when is kept
 * by the caller between two looks.
 *
 * In texts stand the words of kubelet and controllers, and no value of an object.
 */
#ifndef ALM_UNIT_FAILURE_H
#define ALM_UNIT_FAILURE_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

/* What to look for, and for how long it may be seen before the step fails. */
struct failure_check {
	const char *name; /* of the table: "CrashLoopBackOff" */
	int64_t grace_ns;
};

/* The check of that name with the grace that it has by default; NULL: there is none. JobOOMKilled,
 * the seed's word, is OOMKilled. */
const struct failure_check *failure_check_find(const char *name);
/* All of them, which is what a step without a list of its own looks for. */
const struct failure_check *failure_checks(size_t *ret_n);
/* "OOMKilled, CrashLoopBackOff, ..." */
void failure_names(struct strbuf *b);

#define FAILURE_SEEN_MAX    64  /* graced ones at a time; what is beyond has to wait */
#define FAILURE_MESSAGE_MAX 512 /* bytes of a text of others */

struct failure_facts {
	const struct obj *live; /* NULL: absent, and nothing has failed */
	/* Lists, of its namespace at least; NULL: none. What belongs to others is passed over.
	 * ReplicaSets are needed for a Deployment, Events for FailedMount and FailedAttachVolume. */
	const struct obj *pods, *replica_sets, *events;
	int64_t since_ns; /* of the step's first write */
	int64_t now_ns;
};

struct failure_found {
	const char *reason; /* "ImagePullBackOff"; NULL: nothing has failed */
	/* "ImagePullBackOff: manifest unknown (3m ago, pod x, container y)": made once, when a step
	 * fails, as the age would change it with every look. Of a grace that runs, too. */
	const char *text;
	int64_t again_ns; /* a grace that runs is over then; 0: none */
	struct obj *seen; /* arena; for the next look; NULL: nothing is seen */
};

/* seen: what the look before returned, or NULL. True if the step has failed. Of several failures
 * the one whose check is first. */
bool failure_look(const struct failure_check *checks, size_t n, const struct failure_facts *facts,
		  const struct obj *seen, struct arena *a, struct failure_found *ret);

#endif
