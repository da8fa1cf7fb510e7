#include "alm/sources/catalog_store.h"

#include <inttypes.h>
#include <string.h>

#define KIND    "Catalog"
#define COLUMNS "name, source, revision, etag, last_modified, lines"
enum { NAME, SOURCE, REVISION, ETAG, LAST_MODIFIED, LINES, N_COLUMNS };

static int make_table(struct db *d, struct error *err)
{
	return db_exec(d,
		       "CREATE TABLE IF NOT EXISTS catalog_revision(name TEXT PRIMARY KEY, source "
		       "TEXT NOT NULL, revision TEXT NOT NULL, etag TEXT NOT NULL, last_modified "
		       "TEXT NOT NULL, lines BLOB NOT NULL)",
		       err);
}

/* Over all columns; each with its length, so that nothing moves from one into the next. */
static void digest_of(const struct str columns[N_COLUMNS], char out[SHA256_HEX])
{
	unsigned char bytes[SHA256_BYTES];
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	for (size_t i = 0; i < N_COLUMNS; i++) {
		CLEANUP(strbuf_release) struct strbuf length = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&length, "%zu:", columns[i].len);
		sha256_add(h, length.buf, length.len);
		if (columns[i].len)
			sha256_add(h, columns[i].ptr, columns[i].len);
	}
	sha256_final(h, bytes);
	hex_encode(bytes, sizeof(bytes), out);
}

static void columns_of(struct stmt *s, struct str ret[N_COLUMNS])
{
	for (int i = 0; i < N_COLUMNS; i++)
		ret[i] = i == LINES ? stmt_blob(s, i) : stmt_text(s, i);
}

static int write_both(struct stmt *s, struct audit *a, const char *name, const char *digest,
		      struct error *err)
{
	if (stmt_step(s, err) < 0)
		return -err->code;
	return a ? kept_append(a, KIND, name, digest, err) : 0;
}

/* Entry and record, in a transaction of their own or in the one of the server that is open. */
static int run(struct db *d, struct stmt *s, struct audit *a, const char *name, const char *digest,
	       struct error *err)
{
	bool nested = db_in_transaction(d);
	if ((nested ? db_savepoint(d, err) : db_begin(d, err)) < 0)
		return -err->code;
	if (write_both(s, a, name, digest, err) < 0 ||
	    (nested ? db_release(d, err) : db_commit(d, err)) < 0) {
		if (nested)
			db_rollback_to(d);
		else
			db_rollback(d);
		if (a)
			audit_rolled_back(a);
		return -err->code;
	}
	if (a && !nested)
		audit_committed(a);
	return 0;
}

int catalog_store_save(struct db *d, struct audit *a, const char *name, const char *source,
		       const char *revision, const struct sync_validators *v, struct str lines,
		       struct error *err)
{
	const struct str columns[N_COLUMNS] = {
		str_of(name),    str_of(source),           str_of(revision),
		str_of(v->etag), str_of(v->last_modified), lines};
	char digest[SHA256_HEX];
	struct stmt *s;
	digest_of(columns, digest);
	if (make_table(d, err) < 0 || db_prepare(d,
						 "INSERT OR REPLACE INTO catalog_revision(" COLUMNS
						 ") VALUES(?, ?, ?, ?, ?, ?)",
						 &s, err) < 0)
		return -err->code;
	for (int i = 0; i < LINES; i++)
		stmt_bind_text(s, i + 1, columns[i]);
	stmt_bind_blob(s, LINES + 1, lines.ptr ? lines : STR(""));
	return run(d, s, a, name, digest, err);
}

static void take(char out[SYNC_VALIDATOR_MAX], struct str s)
{
	size_t n = s.len < SYNC_VALIDATOR_MAX ? s.len : 0;
	if (n)
		memcpy(out, s.ptr, n);
	out[n] = 0;
}

/* columns NULL: there is nothing. */
static int check(struct db *d, const char *name, const struct str *columns, struct error *err)
{
	char want[SHA256_HEX], have[SHA256_HEX] = "";
	int64_t seq = 0;
	int r = kept_digest(d, KIND, name, want, &seq, err);
	if (columns)
		digest_of(columns, have);
	if (r < 0 || (r > 0 && cstr_eq(want, have)))
		return r < 0 ? r : 0;
	if (r == 0)
		return error_set(err, E_NOTFOUND, "the log does not say what is kept of %s", name);
	return error_set(err, E_ALTERED,
			 "what the database keeps of catalog %s is not what record %" PRId64
			 " says: somebody %s it; alm audit verify",
			 name, seq, columns ? "altered" : "removed");
}

int catalog_store_load(struct db *d, struct audit *a, const char *name, const char *source,
		       struct sync_validators *ret_validators, struct strbuf *ret_lines,
		       struct error *err)
{
	struct stmt *s;
	struct str columns[N_COLUMNS] = {0};
	if (make_table(d, err) < 0 ||
	    db_prepare(d, "SELECT " COLUMNS " FROM catalog_revision WHERE name = ?", &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, name);
	int r = stmt_step(s, err);
	if (r < 0)
		return r;
	bool found = r > 0;
	if (found)
		columns_of(s, columns);
	r = a ? check(d, name, found ? columns : NULL, err) : 0;
	if (r >= 0 && (!found || !str_is(columns[SOURCE], source)))
		r = error_set(err, E_NOTFOUND, "no revision of catalog %s is kept", name);
	if (r >= 0) {
		take(ret_validators->etag, columns[ETAG]);
		take(ret_validators->last_modified, columns[LAST_MODIFIED]);
		strbuf_addstr(ret_lines, columns[LINES]);
	}
	stmt_reset(s);
	return r < 0 ? r : strbuf_check(ret_lines, "the kept revision", err);
}

int catalog_store_drop(struct db *d, struct audit *a, const char *name, struct error *err)
{
	struct stmt *s;
	char digest[SHA256_HEX];
	int64_t seq;
	int recorded = a ? kept_digest(d, KIND, name, digest, &seq, err) : 0;
	if (recorded < 0)
		return recorded;
	if (make_table(d, err) < 0 ||
	    db_prepare(d, "DELETE FROM catalog_revision WHERE name = ?", &s, err) < 0)
		return -err->code;
	stmt_bind_cstr(s, 1, name);
	return run(d, s, recorded ? a : NULL, name, NULL, err);
}

static bool has_table(struct db *d)
{
	struct error ignored = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(d, "SELECT 1 FROM sqlite_schema WHERE name = 'catalog_revision'", &s,
		       &ignored) < 0)
		return false;
	bool found = stmt_step(s, &ignored) > 0;
	stmt_reset(s);
	return found;
}

int catalog_store_each(void *arg, verify_kept_fn fn, void *fn_arg, struct error *err)
{
	struct db *d = arg;
	struct stmt *s;
	if (!has_table(d))
		return 0;
	int r = db_prepare(d, "SELECT " COLUMNS " FROM catalog_revision ORDER BY name", &s, err);
	if (r < 0)
		return r;
	while ((r = stmt_step(s, err)) > 0) {
		struct str columns[N_COLUMNS];
		char digest[SHA256_HEX];
		columns_of(s, columns);
		digest_of(columns, digest);
		CLEANUP(xfreep) char *name = str_dup(columns[NAME]);
		r = fn(fn_arg, KIND, name, digest, err);
		if (r < 0)
			break;
	}
	stmt_reset(s);
	return r;
}
