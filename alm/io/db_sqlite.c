/*
 * db_sqlite: statements, and what their errors mean. The rules are in reliability.md 4: WAL with
 * synchronous=FULL, one writer, a failed commit or disk error ends the handle.
 */
#include <assert.h>

#include "alm/base/map.h"
#include "alm/io/db.h"
#include "alm/io/db_copy.h"
#include "alm/io/db_internal.h"

#define STATEMENTS_MAX 1024

/* Errors */

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CONSTRAINT:
		switch (rc) {
		case SQLITE_CONSTRAINT_UNIQUE:
		case SQLITE_CONSTRAINT_PRIMARYKEY:
		case SQLITE_CONSTRAINT_ROWID:
			return E_EXISTS;
		case SQLITE_CONSTRAINT_TRIGGER:
			return E_CONFLICT;
		default:
			return E_INTERNAL;
		}
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return E_CORRUPT;
	case SQLITE_TOOBIG:
		return E_LIMIT;
	case SQLITE_ERROR:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return E_INTERNAL;
	default:
		return E_IO;
	}
}

/* What ends the handle: its view of the file may be wrong from here on. A full disk and a foreign
 * lock only fail the statement. */
static bool is_fatal(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_IOERR:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_NOMEM:
	case SQLITE_CANTOPEN:
	case SQLITE_PROTOCOL:
		return true;
	default:
		return false;
	}
}

int db_refuse_unreadable(struct db *d, struct error *err)
{
	if (db_unreadable(d->conn, d->path, err) == 0)
		return 0;
	d->broken = true;
	return -err->code;
}

int db_failed(struct db *d, int rc, struct error *err)
{
	int code = code_of(rc);
	if (is_fatal(rc))
		d->broken = true;
	if (code == E_CORRUPT && db_refuse_unreadable(d, err) < 0)
		return -err->code;
	if (code == E_CORRUPT)
		return error_set(err, code, "%s: " DB_DAMAGED_REMEDY, d->path,
				 sqlite3_errmsg(d->conn));
	if (code == E_EXISTS || code == E_CONFLICT)
		return error_set(err, code, "%s", sqlite3_errmsg(d->conn));
	return error_set(err, code, "%s: %s", d->path, sqlite3_errmsg(d->conn));
}

int db_refuse_broken(const struct db *d, struct error *err)
{
	return error_set(err, E_IO, "%s: unusable after a disk error, until it is opened again",
			 d->path);
}

/* Opening */

void db_trim(struct db *d)
{
	sqlite3_db_release_memory(d->conn);
}

/* Statements */

int db_exec(struct db *d, const char *sql, struct error *err)
{
	if (d->broken)
		return db_refuse_broken(d, err);
	int rc = sqlite3_exec(d->conn, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : db_failed(d, rc, err);
}

int db_prepare(struct db *d, const char *sql, struct stmt **ret, struct error *err)
{
	if (d->broken)
		return db_refuse_broken(d, err);
	struct stmt *s = map_get(d->statements, sql);
	if (s) {
		sqlite3_reset(s->s);
		sqlite3_clear_bindings(s->s);
		*ret = s;
		return 0;
	}
	if (map_count(d->statements) >= STATEMENTS_MAX)
		return error_set(err, E_LIMIT, "%s: more than %d different statements", d->path,
				 STATEMENTS_MAX);
	sqlite3_stmt *raw = NULL;
	int rc = sqlite3_prepare_v3(d->conn, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, NULL);
	if (rc != SQLITE_OK)
		return db_failed(d, rc, err);
	s = xcalloc(1, sizeof(*s));
	s->db = d;
	s->s = raw;
	map_set(d->statements, sql, s);
	*ret = s;
	return 0;
}

/* A wrong index or a busy statement is a programmer's error. */
static void bound(int rc)
{
	assert(rc == SQLITE_OK || rc == SQLITE_TOOBIG);
}

void stmt_bind_int(struct stmt *s, int i, int64_t v)
{
	bound(sqlite3_bind_int64(s->s, i, v));
}

void stmt_bind_text(struct stmt *s, int i, struct str v)
{
	bound(sqlite3_bind_text64(s->s, i, v.ptr ? v.ptr : "", v.len, SQLITE_STATIC, SQLITE_UTF8));
}

void stmt_bind_cstr(struct stmt *s, int i, const char *v)
{
	if (v)
		stmt_bind_text(s, i, str_of(v));
	else
		stmt_bind_null(s, i);
}

void stmt_bind_blob(struct stmt *s, int i, struct str v)
{
	bound(sqlite3_bind_blob64(s->s, i, v.ptr ? v.ptr : "", v.len, SQLITE_STATIC));
}

void stmt_bind_null(struct stmt *s, int i)
{
	bound(sqlite3_bind_null(s->s, i));
}

int stmt_step(struct stmt *s, struct error *err)
{
	if (s->db->broken)
		return db_refuse_broken(s->db, err);
	int rc = sqlite3_step(s->s);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(s->s);
		return 0;
	}
	int r = db_failed(s->db, rc, err);
	sqlite3_reset(s->s);
	return r;
}

void stmt_reset(struct stmt *s)
{
	sqlite3_reset(s->s);
}

int64_t stmt_int(struct stmt *s, int i)
{
	return sqlite3_column_int64(s->s, i);
}

struct str stmt_text(struct stmt *s, int i)
{
	const char *p = (const char *)sqlite3_column_text(s->s, i);
	return p ? str_n(p, (size_t)sqlite3_column_bytes(s->s, i)) : STR_NONE;
}

struct str stmt_blob(struct stmt *s, int i)
{
	const char *p = sqlite3_column_blob(s->s, i);
	return p ? str_n(p, (size_t)sqlite3_column_bytes(s->s, i)) : STR_NONE;
}

/* The value itself: each of the calls for a column looks it up again. */
struct str stmt_bytes(struct stmt *s, int i)
{
	struct str v = stmt_bytes_opt(s, i);
	return v.ptr ? v : STR("");
}

struct str stmt_bytes_opt(struct stmt *s, int i)
{
	sqlite3_value *v = sqlite3_column_value(s->s, i);
	const char *p = sqlite3_value_blob(v); /* NULL for "", too */
	if (p)
		return str_n(p, (size_t)sqlite3_value_bytes(v));
	return sqlite3_value_type(v) == SQLITE_NULL ? STR_NONE : STR("");
}

bool stmt_is_null(struct stmt *s, int i)
{
	return sqlite3_column_type(s->s, i) == SQLITE_NULL;
}

bool db_in_transaction(const struct db *d)
{
	return d->conn && !sqlite3_get_autocommit(d->conn);
}

bool db_is_broken(const struct db *d)
{
	return d->broken;
}

int db_number(struct db *d, const char *sql, const int64_t *at, int64_t *ret, struct error *err)
{
	struct stmt *s;
	int r = db_prepare(d, sql, &s, err);
	if (r < 0)
		return r;
	if (at)
		stmt_bind_int(s, 1, *at);
	r = stmt_step(s, err);
	*ret = r > 0 ? stmt_int(s, 0) : 0;
	if (r > 0)
		stmt_reset(s);
	return r < 0 ? r : 0;
}
