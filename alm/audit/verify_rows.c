#include "alm/audit/verify_rows.h"

#include <string.h>

#include "alm/audit/log.h"

void row_digest_of(struct stmt *s, struct strbuf *scratch, struct row_digest *ret)
{
	struct record rec;
	log_record(s, &rec);
	struct str chain = stmt_blob(s, LOG_CHAIN_COLUMN);
	bool is_write = str_is(rec.type, "Write") && rec.uid.len;
	*ret = (struct row_digest){.seq = rec.seq,
				   .n_blobs = record_body_blobs(rec.body),
				   .has_chain = chain.len == SHA256_BYTES,
				   .is_closed = record_body_is_closed(rec.body),
				   .is_transition = str_is(rec.type, "Transition")};
	if (is_write && str_is(rec.reason, "Deleted"))
		ret->change = ROW_DELETES;
	else if (is_write && (str_is(rec.reason, "Created") || str_is(rec.reason, "Updated")))
		ret->change = ROW_WRITES;
	if (ret->change != ROW_CHANGES_NOTHING) /* no record is longer */
		ret->uid = str_sub(rec.uid, 0, RECORD_BYTES_MAX);
	if (ret->has_chain)
		memcpy(ret->chain, chain.ptr, SHA256_BYTES);
	record_leaf(&rec, scratch, ret->leaf);
}
