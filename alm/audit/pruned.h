/*
 * pruned: what a log says of the entries that it no longer has (audit.md 9).
 *
 * The newest row of audit_prune names the first entry that is kept and the System entry Pruned that
 * speaks for those below: with their last chain value, the digest of their archive, and what they
 * said that still holds (snapshot.h). Rows below it may still be there, for as long as they are
 * being deleted; nothing but the pruner looks at them.
 */
#ifndef ALM_AUDIT_PRUNED_H
#define ALM_AUDIT_PRUNED_H

#include "alm/base/hash.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"

#define PRUNED_FILE_MAX 128

struct pruned {
	int64_t below; /* the first entry that is kept; 0: nothing was pruned */
	int64_t seq;   /* of the entry Pruned */
	int64_t time_us;
	unsigned char chain[SHA256_BYTES]; /* of below - 1 */
	char file[PRUNED_FILE_MAX];        /* the archive, in the folder of the log */
};

/* E_ALTERED if the entry does not say what the table says. */
int pruned_load(struct db *d, struct pruned *ret, struct error *err);
/* The entry that says how the log began: Pruned if there is one, else the first. */
int64_t pruned_opening(struct db *d);
/* A log that began after an accepted gap says, in the entry of its opening, what was remembered of
 * the one before and of others, body.gap: {origin, size, others: [{origin, size}]}. Is a checkpoint
 * of that origin and size in it? */
bool pruned_gap_covers(const struct obj *opening, struct str origin, int64_t size);
/* Why entry seq is not there: E_NOTFOUND "entry 5 was pruned ..., DIR/audit-1f-1-256.jsonl has it",
 * or that there is none. */
int pruned_no_entry(struct db *d, int64_t seq, struct error *err);

#endif
