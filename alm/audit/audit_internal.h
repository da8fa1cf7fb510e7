/* audit_internal: the log's state, for the files of this folder only. */
#ifndef ALM_AUDIT_AUDIT_INTERNAL_H
#define ALM_AUDIT_AUDIT_INTERNAL_H

#include "alm/audit/audit.h"
#include "alm/audit/checkpoint.h"
#include "alm/audit/record.h"
#include "alm/audit/redact.h"
#include "alm/audit/tree.h"
#include "alm/base/clock.h"

#define AUDIT_BLOBS_PER_ROW_MAX 64
#define AUDIT_SIGN_EVERY_NS     NS_PER_S

struct audit {
	struct db *db;
	struct loop *loop;
	char *origin;
	char tag[9];
	struct signer *signer;
	unsigned char redact_key[REDACT_KEY_BYTES];

	/* The end of the log as the open transaction sees it. */
	int64_t last_seq, last_time_us;
	unsigned char chain[SHA256_BYTES];
	struct tree tree;
	int64_t committed_seq, checkpoint_seq;
	int64_t checkpoint_mono_ns;
	bool checkpoint_at_once;
	struct timer timer;

	/* Blobs put since the last row: the next row is theirs. */
	unsigned char blobs[AUDIT_BLOBS_PER_ROW_MAX][SHA256_BYTES];
	size_t n_blobs;
	struct strbuf body, scratch;

	void (*on_commit)(void *arg, int64_t from, int64_t to);
	void *on_commit_arg;
};

/* Sets the state to the last row of the table. */
int audit_load_end(struct audit *a, struct error *err);
/* Signs the committed size, in a transaction of its own. */
int audit_sign_now(struct audit *a, struct error *err);
/* body.digests: by which key and rules the digests from here on are made. */
void audit_set_digests(const struct audit *a, struct obj *body);
/* The timer's function. */
void audit_sign_due(void *arg);

#endif
