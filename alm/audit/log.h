/* log: what append, verify and query share of the audit tables. */
#ifndef ALM_AUDIT_LOG_H
#define ALM_AUDIT_LOG_H

#include "alm/audit/record.h"
#include "alm/audit/tree.h"
#include "alm/io/db.h"

/* Every column of a record and the chain value, in the order that log_record() reads. */
#define LOG_COLUMNS                                                               \
	"seq, time, type, reason, cluster, kind, ns, name, uid, tseq, op, cause," \
	" actor, body, chain"
#define LOG_CHAIN_COLUMN 14

/* The row under the statement's cursor; borrowed until the next step. */
void log_record(struct stmt *s, struct record *ret);
/* Binds LOG_COLUMNS from parameter 1 on. */
void log_bind(struct stmt *s, const struct record *rec, struct str chain);
/* The entries after one and up to another, in order; the caller steps and resets. */
int log_range(struct db *d, int64_t after, int64_t to, struct stmt **ret, struct error *err);
/* The origin of the log: the name in its first System record. E_NOTFOUND if there is none. Owned.
 */
int log_origin(struct db *d, char **ret, struct error *err);
/* Right edge of the tree at size, from rows and stored tiles. */
int log_load_tree(struct db *d, int64_t size, struct tree *t, struct error *err);
/* proof_subtree_fn; arg is the struct db. From full tiles, and from rows where there is none: an
 * archive has none at all. */
int log_subtree(void *arg, unsigned level, int64_t index, unsigned char out[SHA256_BYTES],
		struct error *err);
/* The first n hashes of a tile, stored or not: out is of TREE_TILE. */
int log_tile(struct db *d, unsigned level, int64_t index, unsigned n,
	     unsigned char out[TREE_TILE][SHA256_BYTES], struct error *err);
/* 1: the hashes of a full tile; 0: it is not there. */
int log_stored_tile(struct db *d, unsigned level, int64_t index,
		    unsigned char out[TREE_TILE][SHA256_BYTES], struct error *err);
/* {seq, time, type, ...} with body parsed; E_CORRUPT if the body is no JSON. Owned. */
int log_object(const struct record *r, struct obj **ret, struct error *err);
/* The same of the next row of a statement that gives LOG_COLUMNS, which it resets; NULL: there is none. */
int log_entry(struct stmt *s, struct obj **ret, struct error *err);
/* E_NOTFOUND */
int log_blob(struct db *d, const char *hex, struct strbuf *ret, struct error *err);

#endif
