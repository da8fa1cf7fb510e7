#include "alm/audit/prune_delete.h"

#include "alm/audit/audit_internal.h"
#include "alm/audit/prune.h"
#include "alm/audit/prune_facts.h"
#include "alm/audit/tables.h"

#define DIGESTS_BYTES (PRUNE_SLICE_ROWS * AUDIT_BLOBS_PER_ROW_MAX * SHA256_BYTES)

/* Blobs that only entries of this slice named. */
static int delete_blobs(struct db *d, struct str digests, struct error *err)
{
	int r = 0;
	for (size_t i = 0; i < digests.len && r >= 0; i += SHA256_BYTES) {
		struct stmt *s;
		r = db_prepare(d,
			       "DELETE FROM audit_blob WHERE digest = ?1 AND NOT EXISTS"
			       " (SELECT 1 FROM audit_ref WHERE digest = ?1)",
			       &s, err);
		if (r < 0)
			return r;
		stmt_bind_blob(s, 1, str_sub(digests, i, SHA256_BYTES));
		r = stmt_step(s, err);
	}
	return r;
}

static int digests_to(struct db *d, int64_t to, struct strbuf *b, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d,
			   "SELECT DISTINCT digest FROM audit_ref WHERE seq <= ? AND"
			   " length(digest) = 32",
			   &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, to);
	while ((r = stmt_step(s, err)) > 0)
		strbuf_addstr(b, stmt_blob(s, 0));
	return r < 0 ? r : strbuf_check(b, "the digests of the blobs", err);
}

static int delete_to(struct db *d, const char *sql, int64_t to, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_int(s, 1, to);
	return stmt_step(s, err);
}

int prune_delete_slice(struct db *d, int64_t below, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf digests = STRBUF_INIT(DIGESTS_BYTES);
	int64_t first = 0;
	int r = db_number(d, "SELECT min(seq) FROM audit", NULL, &first, err);
	int64_t to = first + PRUNE_SLICE_ROWS - 1;
	if (r < 0 || first >= below)
		return r;
	if (to >= below)
		to = below - 1;
	r = digests_to(d, to, &digests, err);
	if (r >= 0)
		r = delete_to(d, "DELETE FROM audit_ref WHERE seq <= ?", to, err);
	if (r >= 0)
		r = delete_to(d, "DELETE FROM audit WHERE seq <= ?", to, err);
	if (r >= 0)
		r = delete_blobs(d, strbuf_str(&digests), err);
	return r < 0 ? r : 1;
}

int prune_mark(struct audit *log, int64_t from, int64_t below, int64_t seq, struct error *err)
{
	struct db *d = log->db;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(prune_facts_freep) struct prune_facts *before = NULL;
	int64_t has_index = 0;
	struct stmt *s;
	int r = audit_row_get(log, seq, &row, err);
	if (r >= 0)
		r = prune_facts_new(d, &before, err);
	if (r >= 0)
		r = prune_facts_drop_heads(before, from, err);
	if (r >= 0)
		r = db_number(d,
			      "SELECT count(*) FROM sqlite_schema WHERE name = "
			      "'" TABLES_PRUNE_INDEX "'",
			      NULL, &has_index, err);
	if (r >= 0 && !has_index)
		r = db_exec(d, TABLES_PRUNE_SQL, err);
	if (r >= 0)
		r = db_prepare(d, "INSERT INTO audit_prune (below, seq, archive) VALUES (?, ?, ?)",
			       &s, err);
	if (r < 0)
		return r;
	const char *archive = obj_str(row, "body.archive");
	stmt_bind_int(s, 1, below);
	stmt_bind_int(s, 2, seq);
	stmt_bind_cstr(s, 3, archive ? archive : "");
	return stmt_step(s, err);
}
