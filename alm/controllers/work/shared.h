/* shared: what the reconciles of one process share besides the caches; view->shared. */
#ifndef ALM_CONTROLLERS_WORK_SHARED_H
#define ALM_CONTROLLERS_WORK_SHARED_H

#include "alm/engine/view.h"
#include "catalog/index/index.h"

struct claims;
struct plan_cache;
struct unit_side;
struct bundle_side;

struct shared {
	const struct catalog_index *const *indexes; /* last good revision of each synced catalog */
	size_t n_indexes, n_unsynced;
	struct claims *claims;         /* NULL: made of the lists (claims.h) */
	struct plan_cache *plans;      /* NULL: each reconcile parses them anew (plan_cache.h) */
	const struct unit_side *units; /* what this process was told to run: unit_side.h; NULL */
	const struct bundle_side *bundles; /* bundle_side.h; NULL: no program git can be run */
};

#endif
