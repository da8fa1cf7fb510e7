/* rollout_internal: between rollout.c (groups and steps) and rollout_checks.c. */
#ifndef ALM_UNIT_ROLLOUT_INTERNAL_H
#define ALM_UNIT_ROLLOUT_INTERNAL_H

#include "alm/unit/rollout.h"

/* success, failure: the lists of the step; NULL: it has none. */
int rollout_read_checks(struct rollout_step *step, const struct obj *success,
			const struct obj *failure, const struct rollout_options *options,
			struct arena *a, struct error *err);

#endif
