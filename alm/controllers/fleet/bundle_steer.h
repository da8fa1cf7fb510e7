/*
 * bundle_steer: what a person says of a revision while it is rolled out, and how long it has waited
 * for one, or for data. Pure.
 *
 * Steering is of one plan, which it names (status.revisionDigest), and of no other:
 *
 *	spec:
 *	  approvals: {canary: {plan, weight, reason, by}}   the canaries that are at this weight go on
 *	  skipAnalysis: {plan, reason, by}    figures, pauses and approvals are left out; readiness is not
 *	  abort: {plan, reason, by}           as a step that has failed
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_STEER_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_STEER_H

#include "alm/base/arena.h"
#include "alm/base/hash.h"
#include "alm/obj/obj.h"

#define BUNDLE_HELD_NS  (10 * NS_PER_MIN)  /* without data, before it is an alert */
#define BUNDLE_ASKED_NS (24 * NS_PER_HOUR) /* without an answer */

/* What is said of the plan, as a unit_job has it: {"approve", "skip", "abort"}. Owned; NULL: nothing. */
struct obj *bundle_steer(const struct obj *bundle, const char *plan);
/* Of all else that the spec says. */
void bundle_steer_rest(const struct obj *bundle, char ret[SHA256_HEX]);

/* For what the steps of a record (unit_side.h) wait that is not theirs to end. 0: for nothing. */
struct bundle_held {
	int64_t data_ns, asked_ns; /* since when: Prometheus says nothing; a person is asked */
	const char *data_text, *asked_text; /* of the step; borrowed from the record */
};
void bundle_held_read(const struct obj *record, struct bundle_held *ret);

#endif
