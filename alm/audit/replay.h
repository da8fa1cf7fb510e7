/*
 * replay: is what the log says was decided what its own inputs give? (audit.md 12)
 *
 * A Decision of the resolver names the blob of all that it read: it is resolved again from that
 * alone, and verdict, candidates, versions, path, message and key must be the bytes of the record.
 * A Transition is made again from the status before it and its own: states, conditions that turned,
 * versions, revision and plan. A hash chain tells that nobody changed a record; this tells that the
 * record was true when it was written.
 *
 * A decision that another version of alm took may differ because that one decided otherwise: it is
 * reported as not checked. Decisions that name no inputs (waits for an approval) are counted only.
 */
#ifndef ALM_AUDIT_REPLAY_H
#define ALM_AUDIT_REPLAY_H

#include "alm/audit/verify.h"

/* Of the options only progress counts. Adds its findings and figures to the report of verify_log(). Negative if the log cannot be read.
 */
int replay_log(struct db *d, const struct verify_options *o, struct verify_report *rep,
	       struct error *err);

#endif
