/*
 * audit: the append-only, hash-chained log (audit.md; laws in its section 1).
 *
 * One writer: in the controllers the executor, in the embedded server the commit path, in the same
 * transaction as the object. The caller opens the transaction; audit_append() only inserts, so a
 * row is durable when the caller's db_commit() returns. Rows never change.
 */
#ifndef ALM_AUDIT_AUDIT_H
#define ALM_AUDIT_AUDIT_H

#include "alm/base/hash.h"
#include "alm/io/db.h"
#include "alm/io/loop.h"
#include "alm/obj/obj.h"

#define AUDIT_BODY_BYTES_MAX 61440
#define AUDIT_OP_MAX         64
#define AUDIT_ORIGIN_MAX     200
#define AUDIT_BLOB_BYTES_MAX ((size_t)1 << 20)
#define AUDIT_TEXT_PARTS_MAX 16 /* blobs of one text; what is longer is cut, and says so */

/* Files of key_dir, 64 hex digits each, 0600. */
#define AUDIT_SIGNING_KEY "audit.key"
#define AUDIT_REDACT_KEY  "redact.key"
#define AUDIT_KEY_BYTES   32

struct audit;

struct audit_subject {
	const char *cluster, *kind, *ns, *name, *uid; /* NULL counts as "" */
};

struct audit_row {
	const char *type, *reason; /* "Transition", "Installed" */
	struct audit_subject subject;
	int64_t transition_seq; /* Transition only; 0: none */
	const char *op;         /* NULL: none; unique */
	int64_t cause;          /* 0: a root */
	const char *actor;      /* NULL: ALM itself */
	/* Map; redacted by the caller; cleaned and canonicalised here. Of any size: members that
	 * do not fit into AUDIT_BODY_BYTES_MAX go into blobs (large.h). */
	const struct obj *body;
};

/* The family of logs of `alm run`: their transitions are of runs, which no object has a status of. */
#define AUDIT_FAMILY_RUN "alm.run"

struct audit_config {
	struct db *db;
	struct loop *loop;
	const char *origin; /* NULL: family, "/" and 16 random hex digits, fixed at creation */
	const char *family; /* of a new log; NULL: "alm.local" */
	/* Holds audit.key (Ed25519 seed), redact.key and audit.head (head.h), 0600; NULL: keys in
	 * memory, no head. */
	const char *key_dir;
	const char *const *anchor_files; /* whose notes must be of this log; NULL-ended, or NULL */
	bool tells_end; /* the last entry of audit_close() is LogClosed: an end that was no crash */
};

/* Creates the tables and the LogOpened row if the log is new; else verifies the tail, and that what
 * audit.head and the anchor files remember is a prefix of the log. If not (LogRolledBack), the log
 * is opened all the same, to be read: see audit_read_only(). E_ALTERED for a new log where an
 * anchor remembers another. */
int audit_open(const struct audit_config *c, struct audit **ret, struct error *err);
/* Whether a new log may be named so: 1 to AUDIT_ORIGIN_MAX printable ASCII characters, no space, no
 * '+', and of AUDIT_FAMILY_RUN only in that family (NULL: another one), as of such a log neither statuses nor objects
 * are compared. E_INVALID. */
int audit_check_origin(const char *origin, const char *family, struct error *err);
/* Whether it is of that family. */
bool audit_is_of_runs(const char *origin);
/* One of the two files. E_NOTFOUND, E_CORRUPT. */
int audit_read_key(const char *dir, const char *name, unsigned char key[AUDIT_KEY_BYTES],
		   struct error *err);
void audit_trim(struct audit *a); /* for who is at rest: db_trim(); NULL is fine */
/* Nobody hears of its LogClosed but the anchors, by the last checkpoint. */
void audit_close(struct audit *a);
const char *audit_origin(const struct audit *a);
/* Why nothing can be appended until `alm audit accept-gap`: "LogRolledBack: ..."; NULL: nothing is
 * wrong. Every append then gives E_UNAVAILABLE. */
const char *audit_read_only(const struct audit *a);
/* A note that an anchor remembers. 0 if it is of a prefix of this log; E_ALTERED if not, and then
 * the log is read-only from here on; E_CORRUPT if it is no note that a key of this log signed. */
int audit_check_note(struct audit *a, struct str note, const char *where, struct error *err);
/* An anchor that knows no root, or no note, says that the log was rolled back. */
void audit_set_read_only(struct audit *a, const char *why);
/* Called after each checkpoint with its note; last: the log is being closed. */
void audit_on_checkpoint(struct audit *a,
			 void (*fn)(void *arg, int64_t size, struct str note, bool last),
			 void *arg);
/* Entries from here on say by which lease they were written (body.epoch): how often it had changed hands;
 * -1: none is needed, as there is one writer. */
void audit_set_epoch(struct audit *a, int64_t epoch);
/* First 8 hex digits of SHA-256(origin), as in the Audit-ID header. */
const char *audit_origin_tag(const struct audit *a);

/* Appends inside the caller's transaction. An op that is in the log already is no error: its seq is
 * returned and nothing is written (*ret_seq, return 1). E_CONFLICT for a (uid, transitionSeq) in
 * use. */
int audit_append(struct audit *a, const struct audit_row *row, int64_t *ret_seq, struct error *err);
/* In a transaction of its own, or in the one that is open: durable when it returns, or with that.
 */
int audit_append_now(struct audit *a, const struct audit_row *row, int64_t *ret_seq,
		     struct error *err);
/* After the caller rolled its transaction back: forgets what the rows had advanced. */
void audit_rolled_back(struct audit *a);
/* Who remembers something of entries forgets it when this has changed. */
uint64_t audit_times_rolled_back(const struct audit *a);
/* After the caller's commit: a checkpoint may be due (at most one a second, at once for Approval).
 */
void audit_committed(struct audit *a);

/* Stores bytes once under their SHA-256; call before the row that names the digest. */
int audit_blob_put(struct audit *a, struct str bytes, char ret_digest[SHA256_HEX],
		   struct error *err);
/* A text of any size as blobs, and what names it in the row's body (large.h); owned. */
int audit_text_put(struct audit *a, struct str text, struct obj **ret_ref, struct error *err);

/* Newest transitionSeq of the uid and the row that has it; 0 if there is none. */
int audit_head(struct audit *a, const char *uid, int64_t *ret_tseq, int64_t *ret_row_seq,
	       struct error *err);
/* The status that transition tseq of the uid announced, of its record or of a snapshot. E_NOTFOUND.
 * Owned. */
int audit_announced(struct audit *a, const char *uid, int64_t tseq, struct obj **ret,
		    struct error *err);
/* The status that the newest Transition of the uid announced. E_NOTFOUND: there is none, or it is
 * pruned, or all that is known is what was there when the log began. Owned. */
int audit_said(struct audit *a, const char *uid, struct obj **ret, struct error *err);
/* One row as an object with the keys of audit.md 2; E_NOTFOUND. Owned. */
int audit_row_get(struct audit *a, int64_t seq, struct obj **ret, struct error *err);
/* Whether the newest Transition of the uid says Deleted; tseq and row as audit_head() gives them.
 */
bool audit_is_deleted(struct audit *a, const char *uid, int64_t row_seq);
int audit_row_by_op(struct audit *a, const char *op, int64_t *ret_seq, struct error *err);
int64_t audit_last_seq(const struct audit *a);
/* The first entry that was not pruned. */
int64_t audit_first_seq(const struct audit *a);
/* The newest pruned entry of this type on the object, of those that fit (NULL: any), as it is kept
 * for as long as the object is there; NULL: there is none. Owned. */
struct obj *audit_standing(struct audit *a, const char *type, const struct audit_subject *of,
			   bool (*fits)(const void *arg, const struct obj *row), const void *arg);
int audit_each_standing(struct audit *a,
			int (*fn)(void *arg, const struct obj *row, struct error *err), void *arg,
			struct error *err);
/* Called with each new row once it is committed, in their order, before audit_on_commit()'s; only
 * its type, reason and body are there. For counting. */
void audit_on_row(struct audit *a, void (*fn)(void *arg, const struct audit_row *row), void *arg);
/* Called with each committed row's seq range after audit_committed(); for watches of AuditRecords.
 */
void audit_on_commit(struct audit *a, void (*fn)(void *arg, int64_t from, int64_t to), void *arg);

/* Secret values: a copy of the object with the values of audit.md 8 replaced by their HMAC,
 * without managedFields, resourceVersion and generation. Owned. */
struct obj *audit_redact(struct audit *a, const struct obj *o);
/* A key, or the name of an env entry, whose value is secret: password, token, apiKey, ... */
bool audit_is_secret_name(const char *name);
/* SHA-256 (hex) of the canonical form of audit_redact(o): before/after of Write rows. */
void audit_object_digest(struct audit *a, const struct obj *o, char out[SHA256_HEX]);
/* Objects are about to be written without the log (--no-audit): the last record says so, if the
 * database has a log. */
int audit_bypass(const struct audit_config *c, struct error *err);
const unsigned char *audit_redact_key(const struct audit *a); /* of REDACT_KEY_BYTES; borrowed */
/* The objects beside the log are not those that its Write rows speak of: it is new, or they were
 * written without it, or by other rules of redaction. audit_record_objects() makes good for it. */
bool audit_objects_unknown(struct audit *a);
/* Calls fn for every object. */
typedef int (*audit_each_fn)(void *arg,
			     int (*fn)(void *fn_arg, const struct obj *o, struct error *err),
			     void *fn_arg, struct error *err);
/* Appends, as audit_append_now(), the System row whose snapshot says what all objects are, and how
 * far their transitions had come. reason: "ObjectsRecorded". */
int audit_record_objects(struct audit *a, const char *reason, audit_each_fn each, void *arg,
			 struct error *err);

#endif
