/*
 * restored: a copy of the database that is about to become the one in use says so in its log, and is
 * told what is remembered of the log that it is the copy of.
 *
 * The record is not signed: where the copy is older than what is remembered, there may be another
 * record of this number, and two checkpoints of one size would be two logs. The anchors keep their
 * meaning: such a copy is LogRolledBack until the gap is accepted.
 */
#ifndef ALM_AUDIT_RESTORED_H
#define ALM_AUDIT_RESTORED_H

#include "alm/audit/verify.h"
#include "alm/io/loop.h"

struct restored_config {
	struct db *db; /* of the copy, for writing */
	struct loop *loop;
	const char *dir;    /* where it will be: its keys, if they are there, and its head */
	const char *reason; /* why; of the record */
	const char *details;
	const struct verify_anchor *anchors; /* what places remember */
	size_t n_anchors;
};

struct restored {
	char *origin, *gap; /* owned; origin NULL: there is no log; gap NULL: nothing is missing */
	int64_t rows;       /* before the record */
};
void restored_release(struct restored *r);

/* Appends the System record "Restored". */
int restored_append(const struct restored_config *c, struct restored *ret, struct error *err);

#endif
