/*
 * verify: is the log what was written? (specs/audit.md 4, 5, 10, 12)
 *
 * Chain and body of every row, tiles, signed checkpoints, blobs and their references, heads, the
 * text of tables and triggers, and the statuses of live objects against the newest Transitions.
 * Every damage is a finding that names its row; a finding is no error of the function.
 */
#ifndef ALM_AUDIT_VERIFY_H
#define ALM_AUDIT_VERIFY_H

#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"

#define VERIFY_FINDINGS_MAX 64

struct verify_finding {
	int64_t seq, to; /* rows seq..to; 0: not a row */
	char text[160];
};

struct verify_report {
	int64_t first, last, rows;
	int64_t checkpoints, blobs, transitions, statuses, anchors;
	int64_t good_checkpoint; /* size of the largest one that fits; 0: none */
	int64_t unsigned_rows;   /* after the last checkpoint */
	bool statuses_compared, since_checkpoint, is_archive;
	size_t n_findings, n_omitted;
	struct verify_finding findings[VERIFY_FINDINGS_MAX];
};

/* One live object with a transitionSeq. */
typedef void (*verify_status_fn)(void *arg, const char *uid, int64_t transition_seq,
				 const struct obj *status);

struct verify_options {
	bool is_archive;        /* read back from a file: no triggers, tiles, heads to compare */
	bool since_checkpoint;  /* only rows after the last checkpoint */
	bool skip_file_check;   /* no PRAGMA integrity_check */
	bool skip_tables_check; /* for tests that took the triggers away */
	const char *vkey;       /* the key that must be the log's newest; NULL: believe the log */
	/* Calls fn for every live object that has status.transitionSeq; NULL: not compared. */
	int (*each_status)(void *arg, verify_status_fn fn, void *fn_arg, struct error *err);
	void *each_status_arg;
};

/* 0 with the report filled, whatever was found; negative if the log could not be read. */
int verify_log(struct db *d, const struct verify_options *o, struct verify_report *ret,
	       struct error *err);
/* "214 rows: chain, tree, ... ok; ..." or the FAIL lines. */
void verify_print(const struct verify_report *r, struct strbuf *b);

/* Schema and chain of the last n rows, at start: E_ALTERED names the row. */
int verify_tail(struct db *d, const char *origin, int64_t n, struct error *err);

#endif
