/*
 * check: is a step done with an object, does it wait, or has it failed? Pure: over the live object,
 * what is around it, the time, and what the former look left to remember.
 *
 * An object is done when all success checks of the step hold at one look; without any, when it is
 * ready (ready.h), or as the package's health expressions say (check_health.h); one to delete, when
 * it is gone; a Job, when it has run to its end. It has failed by a failure check (failure.h), by
 * the time of a check or of the step being over, or when it says so itself. Success is asked first:
 * what is done at its last moment is done.
 *
 * Prometheus is asked when all else holds, readiness where there is no other check: what is measured
 * before is not of what was applied.
 *
 * A step of several objects is done when all are, and has failed when one has: check_join().
 * Reasons are words for conditions: CheckFailed, AnalysisFailed, ProgressDeadline, and those of failure.h. Messages
 * are for people: fields and their values, but none of a Secret.
 */
#ifndef ALM_UNIT_CHECK_H
#define ALM_UNIT_CHECK_H

#include "alm/unit/check_health.h"
#include "alm/unit/failure.h"
#include "alm/unit/rollout.h"

enum check_state { CHECK_DONE, CHECK_WAITING, CHECK_FAILED };

struct check_result {
	enum check_state state;
	const char *reason;  /* of CHECK_FAILED, else NULL */
	const char *message; /* what is missing or wrong; NULL when done; arena */
	int64_t again_ns;    /* CHECK_WAITING: look again then, without an event; else 0 */
	bool measures;       /* all but Prometheus holds: it is to be asked */
};

struct check_input {
	const struct obj *live;      /* NULL: absent */
	struct failure_facts around; /* its live, since_ns and now_ns are set by check_step() */
	const struct health *health; /* NULL: none */
	int64_t since_ns;            /* of the step's first write to this object */
	int64_t now_ns;
	const struct obj *record; /* what the former look returned; NULL: there was none */
	/* Of CHECK_PLUGIN, what was said last: {"0": {"state", "message"}} by the index of the success
	 * check; what is not there was not asked yet. NULL: nothing. */
	const struct obj *answers;
	/* Of CHECK_PROMETHEUS, how far it is (check_prometheus.h), by the same index. NULL: nothing was
	 * asked yet. */
	const struct obj *metrics;
	bool unmeasured; /* Prometheus is not asked: it counts as passed */
	int64_t held_ns; /* for so long the step had no data, and its time stood still */
};

/* ret_record: what to give to the next look, arena; NULL: nothing. Small JSON, so that it can be
 * stored: {"seen": {..}, "fields": [{"values", "moved"} or null, ..]}. */
void check_step(const struct rollout_step *s, const struct check_input *in, struct arena *a,
		struct check_result *ret, const struct obj **ret_record);

/* into: of the objects before. The first that failed decides, then those that wait; the messages of
 * all that fail are kept, name (of the object) before each. */
void check_join(struct check_result *into, const char *name, const struct check_result *one,
		struct arena *a);

#endif
