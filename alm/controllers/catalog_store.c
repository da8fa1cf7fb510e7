#include "alm/controllers/catalog_store.h"

#include <string.h>

static int make_table(struct db *d, struct error *err)
{
	return db_exec(d,
		       "CREATE TABLE IF NOT EXISTS catalog_revision(name TEXT PRIMARY KEY, source "
		       "TEXT NOT NULL, revision TEXT NOT NULL, etag TEXT NOT NULL, last_modified "
		       "TEXT NOT NULL, lines BLOB NOT NULL)",
		       err);
}

/* In a transaction of its own, or in the one of the server that is open. */
static int run(struct db *d, struct stmt *s, struct error *err)
{
	bool nested = db_in_transaction(d);
	if (!nested && db_begin(d, err) < 0)
		return -err->code;
	if (stmt_step(s, err) < 0 || (!nested && db_commit(d, err) < 0)) {
		if (!nested)
			db_rollback(d);
		return -err->code;
	}
	return 0;
}

int catalog_store_save(struct db *d, const char *name, const char *source, const char *revision,
		       const struct sync_validators *v, struct str lines, struct error *err)
{
	struct stmt *s;
	if (make_table(d, err) < 0 ||
	    db_prepare(d, "INSERT OR REPLACE INTO catalog_revision VALUES(?, ?, ?, ?, ?, ?)", &s,
		       err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, name);
	stmt_bind_cstr(s, 2, source);
	stmt_bind_cstr(s, 3, revision);
	stmt_bind_cstr(s, 4, v->etag);
	stmt_bind_cstr(s, 5, v->last_modified);
	stmt_bind_blob(s, 6, lines.ptr ? lines : STR(""));
	return run(d, s, err);
}

static void take(char out[SYNC_VALIDATOR_MAX], struct str s)
{
	size_t n = s.len < SYNC_VALIDATOR_MAX ? s.len : 0;
	if (n)
		memcpy(out, s.ptr, n);
	out[n] = 0;
}

int catalog_store_load(struct db *d, const char *name, const char *source,
		       struct sync_validators *ret_validators, struct strbuf *ret_lines,
		       struct error *err)
{
	struct stmt *s;
	if (make_table(d, err) < 0 ||
	    db_prepare(d,
		       "SELECT etag, last_modified, lines FROM catalog_revision WHERE name = ? AND "
		       "source = ?",
		       &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, name);
	stmt_bind_cstr(s, 2, source);
	int r = stmt_step(s, err);
	if (r < 0)
		return -err->code;
	if (!r)
		return error_set(err, E_NOTFOUND, "no revision of catalog %s is kept", name);
	take(ret_validators->etag, stmt_text(s, 0));
	take(ret_validators->last_modified, stmt_text(s, 1));
	strbuf_addstr(ret_lines, stmt_blob(s, 2));
	stmt_reset(s);
	return strbuf_check(ret_lines, "the kept revision", err);
}

int catalog_store_drop(struct db *d, const char *name, struct error *err)
{
	struct stmt *s;
	if (make_table(d, err) < 0 ||
	    db_prepare(d, "DELETE FROM catalog_revision WHERE name = ?", &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, name);
	return run(d, s, err);
}
