/*
 * unit_canary: a step with a canary (alm/unit/canary.h), as far as the cluster lets it. The record of
 * the step has how far each is:
 *
 *	"canary": {ROW: as canary_next() wants it, "metrics" and "checks" of C}
 *
 * C is in the inventory before it is made, so whatever ends the run, the next one finds it; what was left by
 * another revision goes before anything else is tried. On the way back there is no canary. With
 * spec.prune.mode None one that a run left which was killed stays, as all else, when no step wants it.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_CANARY_H
#define ALM_CONTROLLERS_UNIT_UNIT_CANARY_H

#include "alm/controllers/unit/unit_pass.h"

struct canary_pass {
	struct unit_pass *s;
	const struct unit_step *step;
	size_t row;
	struct obj *record; /* of the step */
	int stage;          /* of applies */
	const char *why;    /* returned: what is waited for, or has failed */
};

enum canary_goes {
	CANARY_GOES_ON,  /* why is waited for */
	CANARY_NONE,     /* there is none, or nothing is left of it: P is to be as it is wanted */
	CANARY_IS_GOOD,  /* P is to be as it is wanted, then unit_canary_end() */
	CANARY_HAS_ENDED /* why it failed; C is gone */
};

enum canary_goes unit_canary(struct canary_pass *c);
/* P is as it is wanted: DONE once C is gone. */
enum ensured unit_canary_end(struct canary_pass *c);
/* P could not be made so: the next reconcile ends it. */
void unit_canary_fail(struct canary_pass *c, const char *message);
/* The time of the step is over, or a person has had enough: each canary that it has begun ends for
 * that reason, and goes; one that was good already goes and was not aborted. DONE: there is none. */
enum ensured unit_canary_stop(struct unit_pass *s, struct obj *record, const char *reason,
			      const char *why);
/* The objects that canaries of the unit are about to make go behind those of *to, which has room for
 * all objects of the unit. */
void unit_canary_lines(const struct unit_pass *s, struct inventory *to);
/* Why a step wants a canary of what has none; NULL: none does. */
const char *unit_canary_judge(const struct unit_pass *s);

#endif
