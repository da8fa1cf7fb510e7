/*
 * verify_scan: one reading of the log, shared by verify.c (entries and their chain) and verify_notes.c
 * (checkpoints, tiles and anchors, held against the tree that the entries make).
 */
#ifndef ALM_AUDIT_VERIFY_SCAN_H
#define ALM_AUDIT_VERIFY_SCAN_H

#include "alm/audit/checkpoint.h"
#include "alm/audit/pruned.h"
#include "alm/audit/snapshot.h"
#include "alm/audit/tree.h"
#include "alm/audit/verify_parts.h"

#define TILE_DOUBTS_MAX 16

struct scan {
	struct db *d;
	struct verify_report *rep;
	char *origin;
	int64_t expected; /* next seq */
	/* Stored and recomputed chain value of the row before; doubt: they differ. */
	unsigned char stored[SHA256_BYTES], computed[SHA256_BYTES];
	bool doubt, unknown; /* unknown: the row before is missing */
	bool root_failed;
	struct tree tree;
	struct strbuf scratch;
	struct anchor_keys keys;
	int64_t after; /* rows up to this one are read */
	int64_t rows_in_all;
	/* The next checkpoint; size INT64_MAX: none so far. */
	int64_t note_size;
	struct strbuf note;
	int64_t n_refs;
	struct pruned pruned;
	struct snapshot *snapshot;
	struct verify_objects objects;
	struct verify_marks marks;
	int64_t mark_size; /* the next one to be compared */
	/* Rows whose hash differs from the stored tile: which of the two is wrong shows later. */
	struct tile_doubt {
		int64_t seq, end;
	} tiles[TILE_DOUBTS_MAX];
	size_t n_tiles;
};

/* --- verify_notes.c --- */
/* tree_tile_fn: the stored tile against the recomputed one. */
int scan_verify_tile(void *arg, unsigned level, int64_t index, const unsigned char *hashes,
		     struct error *err);
void scan_settle_tiles(struct scan *v);
/* The first checkpoint larger than size. */
int scan_next_note(struct scan *v, int64_t size, struct error *err);
/* Checkpoints up to and with the row that was just read. */
int scan_check_notes(struct scan *v, int64_t seq, struct error *err);
void scan_check_mark(struct scan *v);

#endif
