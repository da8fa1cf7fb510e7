/*
 * bundle_steer: what a person says of a revision while it is rolled out, and how long it has waited
 * for one, or for data. Pure.
 *
 * Steering is of one rollout of one plan, which it names (status.revisionDigest, status.rollingSince),
 * and of no other: with that rollout it ends, and the same plan begun anew is another one. A process
 * that begins where another one was killed goes on with the same, as the audit log tells it.
 *
 *	spec:
 *	  approvals: {canary: {plan, since, weight, reason, by}}   canaries at this weight go on
 *	  skipAnalysis: {plan, since, reason, by}   figures, pauses and approvals are left out, readiness is not
 *	  abort: {plan, since, reason, by}          as a step that has failed
 *
 * by is what the writer says; who it was stands in the audit log.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_STEER_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_STEER_H

#include "alm/base/arena.h"
#include "alm/base/hash.h"
#include "alm/obj/obj.h"

#define BUNDLE_HELD_NS  (10 * NS_PER_MIN)  /* without data, before it is an alert */
#define BUNDLE_ASKED_NS (24 * NS_PER_HOUR) /* without an answer */

/* Is what is asked said of that rollout? */
bool bundle_steer_holds(const struct obj *asked, const char *plan, const char *since);
/* What is said of it, as a unit_job has it: {"approve", "skip", "abort"}. Owned; NULL: nothing. */
struct obj *bundle_steer(const struct obj *bundle, const char *plan, const char *since);
/* Why spec.approvals.prune approves no deletes of the unit of that digest, of that commit; NULL: it does. A plan
 * has to be named where the Bundle has instances: who named a commit alone knew nothing of those that leave it. */
const char *bundle_steer_unpruned(const struct obj *bundle, const char *commit, const char *plan);
/* When the rollout of that plan began that another process did not end; NULL: there is none. said: the status that
 * the log has (view_ops.said), not the Bundle's: who may write that would make an old word hold again. */
const char *bundle_steer_resumes(const struct obj *said, const char *plan);
/* retry: the newest RetryAsked of the log; NULL: none. Asked since that rollout began, of which nobody knows any more how it
 * ended: another one begins, and what was said of the former (an abort) is over. */
bool bundle_steer_ends(const struct obj *retry, const char *uid, const char *since);
/* status.rollingSince: what is run began then; newer: another rollout is about to begin; is_done: it
 * is through. said: as above, of use only where
 * nothing is run yet. */
struct bundle_now;
void bundle_steer_since(const struct bundle_now *now, const struct obj *said, bool newer,
			bool is_done, struct obj *status);
/* Of all else that the spec says. */
void bundle_steer_rest(const struct obj *bundle, char ret[SHA256_HEX]);

/* For what the steps of a record (unit_side.h) wait that is not theirs to end. 0: for nothing. */
struct bundle_held {
	int64_t data_ns, asked_ns; /* since when: Prometheus says nothing; a person is asked */
	const char *data_text, *asked_text; /* of the step; borrowed from the record */
};
void bundle_held_read(const struct obj *record, struct bundle_held *ret);
/* The same, without what is not too long yet: a reconcile comes for that. */
struct plan;
void bundle_held_judge(const struct obj *record, int64_t now_ns, struct plan *plan,
		       struct bundle_held *ret);

#endif
