#include "alm/io/sqlread.h"

#include <string.h>

#include <sqlite3.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/io/db_copy.h"
#include "alm/obj/json.h"
#include "alm/obj/obj.h"

#define PAGE_BYTES   512  /* at least */
#define BUSY_MS      2000 /* for a writer that commits */
#define VERSION_AT   18   /* of the file's header: 2 2 is WAL, 1 1 is none */
#define HEADER_BYTES 100

/* --- the copy --- */

static int take_bytes(sqlite3 *to, const char *path, struct strbuf *b, struct error *err)
{
	sqlite3_int64 n = 0;
	const unsigned char *p = sqlite3_serialize(to, "main", &n, SQLITE_SERIALIZE_NOCOPY);
	if (!p || n < HEADER_BYTES)
		return error_set(err, E_INVALID, "%s: has no tables", path);
	size_t at = b->len;
	strbuf_add(b, p, (size_t)n);
	if (strbuf_check(b, path, err) < 0)
		return -err->code;
	b->buf[at + VERSION_AT] = b->buf[at + VERSION_AT + 1] = 1;
	return 0;
}

int sqlread_copy(const char *path, struct strbuf *b, struct error *err)
{
	struct file_info info;
	sqlite3 *from = NULL, *to = NULL;
	if (file_info(path, &info, err) < 0)
		return -err->code;
	if (!info.is_regular || info.size > SQL_FILE_BYTES)
		return error_set(err, info.is_regular ? E_LIMIT : E_INVALID,
				 info.is_regular ? "%s: larger than %zu bytes"
						 : "%s: is no file (at most %zu bytes)",
				 path, SQL_FILE_BYTES);
	int rc =
		sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE, NULL);
	int r = rc == SQLITE_OK ? 0 : db_copy_failed(path, rc, err);
	if (r == 0)
		sqlite3_busy_timeout(from, BUSY_MS);
	if (r == 0)
		rc = sqlite3_open_v2(":memory:", &to, SQLITE_OPEN_READWRITE, NULL);
	if (r == 0 && rc != SQLITE_OK)
		r = db_copy_failed(path, rc, err);
	if (r == 0) /* makes it one whose pages lie in a row */
		(void)sqlite3_deserialize(to, "main", NULL, 0, 0,
					  SQLITE_DESERIALIZE_FREEONCLOSE |
						  SQLITE_DESERIALIZE_RESIZEABLE);
	if (r == 0)
		r = db_copy_pages(from, to, path, SQL_FILE_BYTES / PAGE_BYTES, err);
	if (r == 0)
		r = take_bytes(to, path, b, err);
	sqlite3_close(to);
	sqlite3_close(from);
	return r;
}

/* --- the job --- */

static struct obj *value_of(sqlite3_stmt *s, int i)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		return obj_int(sqlite3_column_int64(s, i));
	case SQLITE_NULL:
		return obj_null();
	case SQLITE_BLOB: {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SQL_OUTPUT_BYTES);
		const char *p = sqlite3_column_blob(s, i);
		base64_encode(str_n(p, (size_t)sqlite3_column_bytes(s, i)), &b);
		return obj_stringn(strbuf_str(&b));
	}
	default: { /* a float, too: as SQLite prints it */
		const char *p = (const char *)sqlite3_column_text(s, i);
		struct str text = str_n(p ? p : "", (size_t)sqlite3_column_bytes(s, i));
		return utf8_valid(text) ? obj_stringn(text) : obj_null();
	}
	}
}

static int read_rows(sqlite3 *db, sqlite3_stmt *s, struct obj *rows, struct error *err)
{
	int rc, n = sqlite3_column_count(s);
	size_t bytes = 0;
	if (n > SQL_COLUMNS_MAX)
		return error_set(err, E_LIMIT, "more than %d columns", SQL_COLUMNS_MAX);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct obj *row = obj_map();
		for (int i = 0; i < n; i++) {
			obj_set(row, sqlite3_column_name(s, i), value_of(s, i));
			bytes += (size_t)sqlite3_column_bytes(s, i);
		}
		obj_append(rows, row);
		if (obj_len(rows) > SQL_ROWS_MAX)
			return error_set(err, E_LIMIT, "more than %d rows", SQL_ROWS_MAX);
		if (bytes > SQL_OUTPUT_BYTES)
			return error_set(err, E_LIMIT, "more than %zu bytes of rows",
					 SQL_OUTPUT_BYTES);
	}
	return rc == SQLITE_DONE ? 0 : error_set(err, E_INVALID, "query: %s", sqlite3_errmsg(db));
}

static int query(sqlite3 *db, const char *sql, struct obj *rows, struct error *err)
{
	sqlite3_stmt *s = NULL;
	const char *rest = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, &rest) != SQLITE_OK)
		return error_set(err, E_INVALID, "query: %s", sqlite3_errmsg(db));
	int r = 0;
	if (!s || str_trim(str_of(rest)).len)
		r = error_set(err, E_INVALID, "query: one statement is wanted");
	else if (!sqlite3_stmt_readonly(s))
		r = error_set(err, E_INVALID, "query: it writes; a SELECT is wanted");
	if (r == 0)
		r = read_rows(db, s, rows, err);
	sqlite3_finalize(s);
	return r;
}

void sqlread_prepare(void)
{
	sqlite3 *db = NULL;
	if (sqlite3_open(":memory:", &db) == SQLITE_OK)
		(void)sqlite3_exec(db, "CREATE TABLE t(a); SELECT random(), count(*) FROM t", NULL,
				   NULL, NULL);
	sqlite3_close(db);
}

static sqlite3 *open_bytes(struct str bytes, struct error *err)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open(":memory:", &db);
	if (rc == SQLITE_OK)
		rc = sqlite3_deserialize(db, "main", mem_unconst((const unsigned char *)bytes.ptr),
					 (sqlite3_int64)bytes.len, (sqlite3_int64)bytes.len,
					 SQLITE_DESERIALIZE_READONLY);
	if (rc == SQLITE_OK) {
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)SQL_OUTPUT_BYTES);
		sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
		sqlite3_exec(db, "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON", NULL,
			     NULL, NULL);
		return db;
	}
	error_set(err, E_INVALID, "database: %s", sqlite3_errstr(rc));
	sqlite3_close(db);
	return NULL;
}

int sqlread_job(struct str input, struct strbuf *output, struct error *err)
{
	struct str sql, bytes;
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	if (!str_cut(input, '\0', &sql, &bytes))
		return error_set(err, E_INTERNAL, "the request is cut");
	sqlite3 *db = open_bytes(bytes, err);
	if (!db)
		return -err->code;
	struct obj *rows = obj_list();
	obj_set(out, "rows", rows);
	int r = query(db, sql.ptr, rows, err);
	sqlite3_close(db);
	if (r < 0)
		return r;
	json_print(out, output);
	return strbuf_check(output, "what the query gives", err);
}
