/*
 * prune: entries that are older than the retention go (audit.md 9): into an archive beside the log
 * first, which is read again; then an entry Pruned says so, with the last chain value, the digest
 * of the archive and what still holds (snapshot.h); then an anchor must have been told of it; then
 * they are deleted. Full tiles stay: 32 bytes an entry, so that every root and proof still can be
 * made.
 *
 * All of it in slices of a turn. Where it stopped shows in the tables: an archive without its entry
 * is made anew, an entry that no row of audit_prune names waits for an anchor, and what a row of
 * audit_prune names is deleted to its end.
 */
#ifndef ALM_AUDIT_PRUNE_H
#define ALM_AUDIT_PRUNE_H

#include "alm/audit/anchor.h"
#include "alm/audit/audit.h"

#define PRUNE_SLICE_ROWS   TREE_TILE
#define PRUNE_ROWS_MAX     ((int64_t)1 << 16)   /* in one archive */
#define PRUNE_BYTES_MAX    ((uint64_t)64 << 20) /* of it; less than a tile of entries above */
#define PRUNE_PER_HEAD     4                    /* fewer entries than this an object stay */
#define PRUNE_EVERY_NS     NS_PER_HOUR
#define PRUNE_FIRST_NS     NS_PER_S
#define PRUNE_RETAIN_MIN_S ((int64_t)365 * 86400) /* less only with --force */

struct pruner;

struct pruner_config {
	struct audit *audit;
	struct loop *loop;
	struct db *db;
	struct anchors *anchors; /* outlives the pruner */
	const char *dir;         /* of the archives */
	int64_t retain_ns;
};

struct pruner *pruner_new(const struct pruner_config *c);
void pruner_free(struct pruner *p); /* before audit_close() */
DEFINE_FREEP(pruner)

#endif
