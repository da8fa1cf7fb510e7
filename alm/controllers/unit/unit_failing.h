/*
 * unit_failing: reconciles of a unit that fail until a person hears of it. What does not pass by itself
 * is told at the third failure in a row, what may after two minutes.
 *
 * A reconcile that got half way after one that was forbidden is no proof that the unit works, as it may
 * well get half way, be forbidden the rest, and get half way again for ever: three of them in a row are.
 * Pure.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_FAILING_H
#define ALM_CONTROLLERS_UNIT_UNIT_FAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/error.h"

struct unit_failing { /* zero: nothing has failed */
	unsigned failures, worked;
	int code; /* of the last one */
	int64_t since_ns;
};

/* A reconcile has ended; err NULL: well, or with half, that it goes on. True: it is time to tell err. */
bool unit_failing_pass(struct unit_failing *f, int64_t mono_ns, bool half, const struct error *err);

#endif
