/* verify_rows: what verify needs of each row of the log, made where it is read. Pure. */
#ifndef ALM_AUDIT_VERIFY_ROWS_H
#define ALM_AUDIT_VERIFY_ROWS_H

#include "alm/audit/record.h"
#include "alm/io/db.h"

enum row_change { ROW_CHANGES_NOTHING, ROW_WRITES, ROW_DELETES };

struct row_digest {
	int64_t seq, n_blobs;
	unsigned char leaf[SHA256_BYTES], chain[SHA256_BYTES];
	bool has_chain; /* false: the stored value is no hash */
	bool is_closed; /* record_body_is_closed() */
	bool is_transition;
	enum row_change change; /* of the object uid */
	struct str uid;         /* borrowed until the next row; empty if nothing changes */
};

/* Of the row under the cursor of a statement that gives LOG_COLUMNS. */
void row_digest_of(struct stmt *s, struct strbuf *scratch, struct row_digest *ret);

#endif
