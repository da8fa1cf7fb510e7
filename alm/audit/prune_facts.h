/*
 * prune_facts: what entries that are about to be pruned said that still holds: of each object its
 * newest Transition and the digests of its newest Write, and of each that still is there the newest
 * Approval, Observe and Decision by reason. By the log's own words alone: what stands in the
 * server's tables is compared with them (objects.h).
 *
 * In memory for as long as a pruning is prepared; snapshot.h has the form in which it is kept.
 */
#ifndef ALM_AUDIT_PRUNE_FACTS_H
#define ALM_AUDIT_PRUNE_FACTS_H

#include "alm/audit/record.h"
#include "alm/audit/snapshot.h"

struct prune_facts;

/* Begins with what the last pruning kept. */
int prune_facts_new(struct db *d, struct prune_facts **ret, struct error *err);
void prune_facts_free(struct prune_facts *f);
DEFINE_FREEP(prune_facts)
/* Each entry, in order. E_CORRUPT if it is no JSON. */
int prune_facts_add(struct prune_facts *f, const struct record *rec, struct error *err);
/* Writes the snapshot, and sets what else the entry Pruned says: digests, gap, keys up to size.
 * E_LIMIT: more than a snapshot holds. */
int prune_facts_put(struct prune_facts *f, struct snapshot_writer *w, int64_t size,
		    struct obj *body, struct error *err);
/* Catalogs whose kept revision has its entry among them: fn gets kind, name and digest. */
int prune_facts_each_kept(const struct prune_facts *f,
			  int (*fn)(void *arg, const char *name, const char *digest,
				    struct error *err),
			  void *arg, struct error *err);
/* Objects that were deleted before the last pruning, which began the log at first: their heads go.
 */
int prune_facts_drop_heads(const struct prune_facts *f, int64_t first, struct error *err);

#endif
