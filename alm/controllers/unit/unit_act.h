/* unit_act: what one step of a unit does in this reconcile: its objects are written, run, deleted and checked. */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_ACT_H
#define ALM_CONTROLLERS_UNIT_UNIT_ACT_H

#include "alm/controllers/unit/unit_pass.h"

#define FAILURES_TOLD_MAX 2000 /* bytes */

/* One step in this reconcile. */
struct acting {
	struct unit_pass *s;
	const struct unit_step *step;
	const char *id;     /* "GROUP/STEP" */
	struct obj *record; /* its entry of steps; NULL: not begun */
	int stage;          /* of applies: those of one go together */
	struct strbuf why;  /* what is waited for, or has failed: all of it */
	bool failed, waiting, writes;
};

/* Lets the step act: failed, waiting and why say how far it is; neither: it is through. */
void unit_act(struct acting *x);
/* Plans the write of an object that is wanted. */
struct action *unit_write_object(struct unit_pass *s, const struct unit_entry *e, size_t row,
				 int stage);

#endif
