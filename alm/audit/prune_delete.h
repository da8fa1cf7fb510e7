/* prune_delete: entries go that an archive has, some at a time, with the blobs that only they named. */
#ifndef ALM_AUDIT_PRUNE_DELETE_H
#define ALM_AUDIT_PRUNE_DELETE_H

#include "alm/audit/audit.h"
#include "alm/io/db.h"

/* In a transaction of the caller: entry seq stands for those below from now on; from: where the one
 * before it ended. */
int prune_mark(struct audit *log, int64_t from, int64_t below, int64_t seq, struct error *err);
/* In a transaction of the caller: the first entries below. 1: there may be more; 0: there are none. */
int prune_delete_slice(struct db *d, int64_t below, struct error *err);

#endif
