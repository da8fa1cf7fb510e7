/*
 * verify: is the log what was written? (audit.md 4, 5, 10, 12)
 *
 * Chain and body of every row, tiles, signed checkpoints, blobs and their references, heads, the
 * text of tables and triggers, and the objects of the server against what the log says of them.
 * Every damage is a finding that names its row; a finding is no error of the function. What could
 * not be looked at is told apart: the log may be intact, but nobody knows.
 *
 * Rows are read in pages, so that a log that is being written can be verified without holding its
 * WAL; what is compared with other tables is read in one snapshot of the database.
 */
#ifndef ALM_AUDIT_VERIFY_H
#define ALM_AUDIT_VERIFY_H

#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/obj/obj.h"

struct verify_lanes;

#define VERIFY_FINDINGS_MAX  64
#define VERIFY_UNCHECKED_MAX 8
#define VERIFY_ANCHORS_MAX   16

struct verify_finding {
	int64_t seq, to; /* rows seq..to; 0: not a row */
	char text[160];
};

struct verify_report {
	int64_t first, last, rows;
	int64_t checkpoints, blobs, transitions, statuses, objects;
	int64_t good_checkpoint; /* size of the largest one that fits; 0: none */
	int64_t unsigned_rows;   /* after the last checkpoint */
	int64_t hashes_to;       /* rows up to this one are known by their hashes alone */
	char pruned[512]; /* "entries 1..256 were pruned ..., anchor ... vouches for it"; or "" */
	/* Of replay_log(). */
	int64_t decisions, decisions_without_inputs, replayed;
	bool is_replayed;
	bool statuses_compared, objects_compared, since_checkpoint, is_archive, is_of_runs;
	size_t n_findings, n_omitted;
	struct verify_finding findings[VERIFY_FINDINGS_MAX];
	size_t n_anchors;
	char anchor_texts[VERIFY_ANCHORS_MAX][256]; /* "anchor file /mnt/a 214 ok (weak)" */
	size_t n_unchecked;
	char unchecked[VERIFY_UNCHECKED_MAX][160]; /* what and why */
};

/* What a place outside of the database remembers. */
struct verify_anchor {
	const char *name; /* "file /mnt/log.anchor", "witness https://..." */
	bool weak;
	struct str note;  /* and cosignatures */
	const char *vkey; /* of a witness that must have cosigned it; NULL: none */
};

/* One live object. */
typedef int (*verify_object_fn)(void *arg, const struct obj *o, struct error *err);

/* One thing that the database keeps (kept.h), and its digest. */
typedef int (*verify_kept_fn)(void *arg, const char *kind, const char *name, const char *digest,
			      struct error *err);

struct verify_options {
	bool is_archive;        /* read back from a file: no triggers, tiles, heads to compare */
	bool since_checkpoint;  /* only entries after the last checkpoint */
	bool is_of_runs;        /* of the family AUDIT_FAMILY_RUN: there are no statuses */
	bool skip_file_check;   /* no PRAGMA integrity_check */
	bool skip_tables_check; /* for tests that took the triggers away */
	const char *vkey;       /* the key that must be the log's newest; NULL: believe the log */
	const char *dir;        /* of audit.head; NULL: the log has none */
	const struct verify_anchor *anchors;
	size_t n_anchors;
	const char *const *unchecked; /* what the caller could not look at; NULL-ended, or NULL */
	/* Calls fn for every live object that has Write records, as it is stored in the same
	 * database; NULL: not compared. */
	int (*each_object)(void *arg, verify_object_fn fn, void *fn_arg, struct error *err);
	void *each_object_arg;
	/* The same of what is kept of catalogs. */
	int (*each_kept)(void *arg, verify_kept_fn fn, void *fn_arg, struct error *err);
	void *each_kept_arg;
	/* Told now and then how many entries are read, of how many; NULL: nobody. */
	void (*progress)(void *arg, int64_t at, int64_t n);
	void *progress_arg;
	const unsigned char *redact_key; /* of 32 bytes; needed for objects */
	/* Processes for rows and file (verify_lanes.h), each from the file lanes_path; NULL: this
	 * one does. One that ends before its time is an error of verify_log(). */
	struct verify_lanes *lanes;
	const char *lanes_path;
	/* Instead, of a log whose objects are on another server: calls fn for every object there
	 * that has status.transitionSeq; kind, name, uid and status suffice. */
	int (*each_status)(void *arg, verify_object_fn fn, void *fn_arg, struct error *err);
	void *each_status_arg;
};

/* 0 with the report filled, whatever was found; negative if the log could not be read. */
int verify_log(struct db *d, const struct verify_options *o, struct verify_report *ret,
	       struct error *err);
/* "214 entries: chain, tree, ... ok; ..." or the FAIL lines; then what was not checked. */
void verify_print(const struct verify_report *r, struct strbuf *b);
/* The same facts for programs; owned. */
struct obj *verify_obj(const struct verify_report *r);
/* 0 intact, 1 not all could be checked, 4 altered. */
int verify_exit(const struct verify_report *r);

/* Schema and chain of the last n rows, at start: E_ALTERED names the row. */
int verify_tail(struct db *d, const char *origin, int64_t n, struct error *err);

#endif
