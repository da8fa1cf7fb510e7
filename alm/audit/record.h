/*
 * record: one row of the log as canonical bytes (audit.md 4), and the hashes over them.
 *
 * The record is printed from the columns by one fixed template, so a column and the record cannot
 * disagree, and verifying parses no JSON. The body is the only free part: record_body() makes it
 * from an object, record_body_is_closed() proves that stored text cannot reach beyond its place.
 */
#ifndef ALM_AUDIT_RECORD_H
#define ALM_AUDIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define RECORD_INT_MAX   INT64_C(9007199254740991) /* 2^53-1: I-JSON */
#define RECORD_BYTES_MAX ((size_t)1 << 18)

struct record { /* borrows its texts */
	int64_t seq, time_us;
	struct str type, reason;
	struct str cluster, kind, ns, name, uid;
	bool has_tseq, has_cause; /* NULL in the table: the key is absent */
	int64_t tseq, cause;
	struct str op, actor; /* ptr NULL: absent */
	struct str body;      /* canonical text */
};

/* Valid UTF-8 without NUL: what is not becomes U+FFFD. */
void record_clean(struct str s, struct strbuf *b);
/* What the log itself says in a body: "blobs", "clock", "epoch", "root"; those that are 0 are left out, but
 * for an epoch of 0 where there is one. */
struct record_facts {
	int64_t blobs, clock_us, root, epoch;
	bool has_epoch;
};
/* The canonical body: keys sorted, empty members left out, floats and large integers as strings, the
 * log's facts (NULL: none) in place of members of these names. E_INVALID if body is no map. */
int record_body(const struct obj *body, const struct record_facts *f, struct strbuf *b,
		struct error *err);
/* Any value in the same profile, as blobs and statuses are compared. */
void record_value(const struct obj *o, struct strbuf *b);
/* One JSON object from the first byte to the last, as far as strings and brackets tell. */
bool record_body_is_closed(struct str body);
/* The number behind "blobs" in a canonical body; 0 if there is none. */
int64_t record_body_blobs(struct str body);

void record_print(const struct record *r, struct strbuf *b);
/* leaf = SHA-256(0x00 || record). scratch is cleared and used. */
void record_leaf(const struct record *r, struct strbuf *scratch, unsigned char out[SHA256_BYTES]);

void chain_start(const char *origin, unsigned char out[SHA256_BYTES]);
/* chain(n) from chain(n-1), in place or not. */
void chain_next(const unsigned char before[SHA256_BYTES], const unsigned char leaf[SHA256_BYTES],
		unsigned char out[SHA256_BYTES]);

#endif
