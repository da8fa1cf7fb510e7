/* verify_parts: the checks beside the scan of rows; for verify.c only. */
#ifndef ALM_AUDIT_VERIFY_PARTS_H
#define ALM_AUDIT_VERIFY_PARTS_H

#include "alm/audit/verify.h"

#define VERIFY_KEYS_MAX 64

struct verify_keys {
	size_t n;
	struct {
		int64_t size;
		char *vkey; /* owned */
	} items[VERIFY_KEYS_MAX];
};

/* Adds a finding, or makes the last one longer if it says the same of the row before. */
void verify_add(struct verify_report *rep, int64_t from, int64_t to, const char *fmt, ...)
	PRINTF(4, 5);
int verify_tile(void *arg, unsigned level, int64_t index, const unsigned char *hashes,
		struct error *err);

/* Also says whose log it is; owned. */
int verify_load_keys(struct db *d, const char *newest, struct verify_keys *k, char **ret_origin,
		     struct verify_report *rep, struct error *err);
const char *verify_key_at(const struct verify_keys *k, int64_t size); /* NULL: none */
void verify_keys_release(struct verify_keys *k);

int verify_row_refs(struct db *d, int64_t seq, int64_t want, struct verify_report *rep,
		    struct error *err);
int verify_blobs(struct db *d, int64_t n_refs, struct verify_report *rep, struct error *err);
int verify_heads(struct db *d, struct verify_report *rep, struct error *err);
int verify_file(struct db *d, struct verify_report *rep, struct error *err);
int verify_statuses(struct db *d, const struct verify_options *o, struct verify_report *rep,
		    struct error *err);

#endif
