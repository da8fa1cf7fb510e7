/* audit_internal: the log's state, for the files of this folder only. */
#ifndef ALM_AUDIT_AUDIT_INTERNAL_H
#define ALM_AUDIT_AUDIT_INTERNAL_H

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/head.h"
#include "alm/audit/record.h"
#include "alm/audit/redact.h"
#include "alm/audit/tree.h"
#include "alm/base/clock.h"

#define AUDIT_BLOBS_PER_ROW_MAX 64
#define AUDIT_SIGN_EVERY_NS     NS_PER_S
#define AUDIT_ROOTS_KEPT        256
#define AUDIT_CLOCK_STEP_NS     NS_PER_S /* further in one step has an entry */

struct audit {
	struct db *db;
	struct loop *loop;
	char *origin;
	char tag[9];
	struct signer *signer;
	unsigned char redact_key[REDACT_KEY_BYTES];

	/* The end of the log as the open transaction sees it. */
	int64_t last_seq, last_time_us;
	uint64_t n_rolled_back;
	int64_t clock_ns; /* wall clock less the monotonic one, as the last entry had it */
	int64_t clock_seq, clock_before_ns; /* of the newest ClockStepped */
	unsigned char chain[SHA256_BYTES];
	struct audit_root {
		int64_t seq, root;
	} roots[AUDIT_ROOTS_KEPT]; /* of entries that were causes or are new, by seq */
	int64_t epoch;             /* audit_set_epoch(); -1: none */
	struct tree tree;
	int64_t committed_seq, checkpoint_seq;
	int64_t checkpoint_mono_ns;
	bool checkpoint_at_once;
	struct timer timer;
	bool tells_end;
	char *key_dir; /* NULL: keys in memory, no head */
	struct head_notes notes;
	char *read_only;         /* why; NULL: it is not */
	struct snapshot *pruned; /* what entries that are gone said; NULL: none are */

	void (*on_checkpoint)(void *arg, int64_t size, struct str note, bool last);
	void *on_checkpoint_arg;

	/* Blobs put since the last row: the next row is theirs. */
	unsigned char blobs[AUDIT_BLOBS_PER_ROW_MAX][SHA256_BYTES];
	size_t n_blobs;
	struct strbuf body, scratch;

	void (*on_row)(void *arg, const struct audit_row *row);
	void *on_row_arg;
	/* Rows of the open transaction, which on_row hears of if it is committed. */
	struct audit_pending {
		int64_t seq;
		char *type, *reason;
		struct obj *body;
	} *pending;
	size_t n_pending, cap_pending;
	void (*on_commit)(void *arg, int64_t from, int64_t to);
	void *on_commit_arg;
};

/* What was pruned may have changed. What is known stays if the disk fails. */
int audit_load_pruned(struct audit *a, struct error *err);
/* Sets the state to the last row of the table. */
int audit_load_end(struct audit *a, struct error *err);
/* --- audit_sign.c --- */
/* The checkpoint of the committed size, inside the caller's transaction. */
int audit_store_note(struct audit *a, struct error *err);
/* Signs the committed size, in a transaction of its own, and tells the head and the anchors. */
int audit_sign_now(struct audit *a, bool last, struct error *err);
/* The timer's function. */
void audit_sign_due(void *arg);
/* The newest checkpoint of the table; "" if there is none. */
int audit_newest_note(struct audit *a, char out[CHECKPOINT_BYTES_MAX + 1], struct error *err);
/* The head beside the keys, with the newest checkpoint of the table. */
int audit_write_head(struct audit *a, bool closed, bool durably, struct error *err);
/* audit_anchor.c: what is known outside of the database, before anything is appended. */
int audit_check_outside(struct audit *a, const struct audit_config *c, bool is_new,
			struct error *err);
/* body.digests: by which key and rules the digests from here on are made. */
void audit_set_digests(const struct audit *a, struct obj *body);
/* audit_root.c: the first cause of all of what has this cause; and that of an entry that is new. */
int audit_root_of(struct audit *a, int64_t cause, int64_t *ret, struct error *err);
void audit_keep_root(struct audit *a, int64_t seq, int64_t root);
/* audit_open.c: a log's state without a log; its origin, keys and first record. */
struct audit *audit_alloc(const struct audit_config *c);
void audit_free(struct audit *a);
int audit_open_keys(struct audit *a, const char *origin, struct error *err);
/* Tables and LogOpened with this body, inside the caller's transaction; before: put_first() of the
 * blobs that the record names, or NULL. */
int audit_begin_log(struct audit *a, struct obj *body,
		    int (*put_first)(void *arg, struct error *err), void *arg, struct error *err);
int audit_register_key(struct audit *a, struct error *err);
/* Origins of a log that began again after a gap: "prod", "prod/2", "prod/3". */
struct str audit_base_origin(const char *origin, int64_t *ret_generation);
/* audit_pending.c: the row that is now the last; all of them, after the commit. */
void audit_pend(struct audit *a, const struct audit_row *row);
void audit_tell_pending(struct audit *a);
/* Rows behind this one were rolled back. */
void audit_drop_pending(struct audit *a, int64_t after);

#endif
