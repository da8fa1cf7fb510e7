/*
 * tries: plans whose writes failed, so that the same attempt again is no new intent (audit.md 3,
 * "Repeated failures of one action"): its writes have the old Plan entry and the next attempt in their
 * op, and of the failures of one action the first, each change of what went wrong, and of those between
 * the 2nd, 4th, 8th and so on have an entry; `suppressed` counts those that have none. Kept in memory:
 * after a start a plan is announced once more.
 */
#ifndef ALM_ENGINE_TRIES_H
#define ALM_ENGINE_TRIES_H

#include "alm/base/hash.h"
#include "alm/engine/plan.h"

#define TRIES_MAX 4096 /* units that are remembered; of more each attempt has its entries */

struct tries;

struct tries *tries_new(void);
void tries_free(struct tries *t);

/* What a plan writes, without the revisions that it was made from; "" if it writes nothing. */
void tries_digest(const struct plan *p, char out[SHA256_HEX]);
/* One more attempt of the unit's plan that failed last, if that wrote what this one writes: its Plan
 * entry, and which attempt this is. Each gets a number of its own, whatever becomes of it: an op is
 * unique in the log. 0: it is another plan. */
int64_t tries_again(struct tries *t, const char *unit, const struct plan *p, unsigned *ret_attempt);
/* An action of the plan failed in this way. Whether it has an entry: then how many before it had
 * none. */
bool tries_failed(struct tries *t, const char *unit, const char *digest, int64_t plan_seq,
		  size_t action, const char *how, int64_t *ret_suppressed);
/* An action was done: how many of its failures have no entry. */
int64_t tries_pending(const struct tries *t, const char *unit, size_t action);
/* The plan was done, or another one follows. */
void tries_forget(struct tries *t, const char *unit);

#endif
