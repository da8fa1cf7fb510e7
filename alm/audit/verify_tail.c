/* verify_tail(): the last entries alone, as a process does when it opens the log. */
#include "alm/audit/verify.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/tables.h"
#include "alm/audit/verify_parts.h"

/* The rows of a full tile are what the tile says: what it proves of them holds then. */
static int check_leaf(struct db *d, int64_t seq, const unsigned char leaf[SHA256_BYTES],
		      struct error *err)
{
	struct stmt *s;
	int64_t index = seq - 1;
	int r = db_prepare(d, "SELECT substr(hashes, ?, 32) FROM audit_tile WHERE id = ?", &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, index % TREE_TILE * SHA256_BYTES + 1);
	stmt_bind_int(s, 2, tree_tile_id(0, index / TREE_TILE));
	r = stmt_step(s, err);
	if (r > 0 && !str_eq(stmt_blob(s, 0), str_n((const char *)leaf, SHA256_BYTES)))
		r = error_set(err, E_ALTERED, "entry %" PRId64 " is not the one of its tile", seq);
	stmt_reset(s);
	return r < 0 ? r : 0;
}

static int check_tail(struct db *d, struct stmt *s, unsigned char chain[SHA256_BYTES],
		      struct error *err)
{
	struct record rec;
	unsigned char leaf[SHA256_BYTES];
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT(RECORD_BYTES_MAX);
	int64_t expected = 0;
	int r;
	while ((r = stmt_step(s, err)) > 0) {
		log_record(s, &rec);
		struct str stored = stmt_blob(s, LOG_CHAIN_COLUMN);
		bool known = expected || rec.seq == 1;
		record_leaf(&rec, &scratch, leaf);
		chain_next(chain, leaf, chain);
		if ((expected && rec.seq != expected) || stored.len != SHA256_BYTES ||
		    (known && memcmp(chain, stored.ptr, SHA256_BYTES) != 0))
			return error_set(err, E_ALTERED, "entry %" PRId64 " does not fit the chain",
					 rec.seq);
		memcpy(chain, stored.ptr, SHA256_BYTES);
		expected = rec.seq + 1;
		r = check_leaf(d, rec.seq, leaf, err);
		if (r < 0)
			return r;
	}
	return r;
}

int verify_tail(struct db *d, const char *origin, int64_t n, struct error *err)
{
	struct stmt *s;
	unsigned char chain[SHA256_BYTES];
	int r = tables_check(d, err);
	if (r < 0)
		return r;
	r = db_prepare(d,
		       "SELECT " LOG_COLUMNS " FROM audit WHERE seq >= (SELECT max(seq) FROM audit)"
		       " - ? ORDER BY seq",
		       &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, n);
	chain_start(origin, chain);
	r = check_tail(d, s, chain, err);
	stmt_reset(s);
	return r;
}
