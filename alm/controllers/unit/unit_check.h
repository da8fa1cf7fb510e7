/*
 * unit_check: a step's checks (check.h) with what they need to know of the cluster: the Pods,
 * ReplicaSets and Events of a workload, asked for while it is waited for and no more often than a
 * check looks.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_CHECK_H
#define ALM_CONTROLLERS_UNIT_UNIT_CHECK_H

#include "alm/controllers/unit/unit_pass.h"
#include "alm/unit/check.h"

/* record: of the step in this attempt; keeps what the look remembers. Plans the questions, and when
 * to look again. */
void unit_check(struct unit_pass *s, const struct unit_step *step, size_t row,
		const struct obj *live, struct obj *record, struct check_result *ret);
struct job_log {
	const char *text;   /* the end of a sentence; "": nothing */
	const char *reason; /* why its container ended, as its Pod says; NULL: it does not */
};
/* What a Job that failed, or succeeded (well), has logged, once an attempt. WAITING: it is being read. */
enum ensured unit_read_log(struct unit_pass *s, const struct obj *job, bool well,
			   struct job_log *ret);

#endif
