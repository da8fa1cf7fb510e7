/*
 * failure: what shows that a step will not succeed, long before its time is over.
 * Pure.
 */
#ifndef ALM_UNIT_FAILURE_H
#define ALM_UNIT_FAILURE_H

#include "alm/base/strbuf.h"

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

#endif
