/*
 * catalog_judge: what is made of a catalog's new revision (lifecycle.md 1.4). Pure: two indexes and
 * the Catalog object in, a verdict out.
 */
#ifndef ALM_CONTROLLERS_WORK_CATALOG_JUDGE_H
#define ALM_CONTROLLERS_WORK_CATALOG_JUDGE_H

#include "alm/obj/obj.h"
#include "catalog/index/index.h"

/* May new (NULL: unchanged) be used instead of old (NULL: none)? E_REFUSED: REASON_SUSPICIOUS_SHRINK,
 * REASON_CATALOG_STALE, or E_INVALID for a policy that cannot be obeyed; *ret_bad is then the
 * revision that is not used, "" for the one in use. */
int catalog_judge(const struct catalog_index *old, const struct catalog_index *new,
		  const struct obj *catalog, int64_t now_ns, const char **ret_bad,
		  struct error *err);
/* What the status says of a revision in use. Owned. */
struct obj *catalog_outcome(const struct catalog_index *x);
/* The same of one that is not; NULL for "". Owned. */
struct obj *catalog_refused(const char *digest);
/* Body of the entry that a revision is another one than before. Owned. */
struct obj *catalog_change(const char *name, const struct catalog_index *old,
			   const struct catalog_index *new);

#endif
