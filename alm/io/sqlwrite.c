#include "alm/io/sqlwrite.h"

#include <stdbool.h>
#include <string.h>

#include <sqlite3.h>

#include "alm/base/file.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"
#include "alm/io/db_copy.h"

#define TICK_STEPS 1000

struct watch {
	int left;    /* ticks */
	bool denied; /* it wants to do what it may not */
};

/* Tables are written and read, functions called; nothing else. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *c,
		     const char *d)
{
	struct watch *w = arg;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	switch (action) {
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	default:
		w->denied = true;
		return SQLITE_DENY;
	}
}

static int on_tick(void *arg)
{
	struct watch *w = arg;
	return --w->left < 0;
}

static int failed(sqlite3 *db, const char *path, int rc, struct error *err)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_set(err, E_UNAVAILABLE, "%s: another one writes to it", path);
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return error_set(err, E_IO, "%s: %s", path, sqlite3_errstr(rc));
	case SQLITE_INTERRUPT:
		return error_set(err, E_LIMIT, "%s: statement: it does not end", path);
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_CANTOPEN:
		return db_copy_failed(path, rc, err);
	default:
		return error_set(err, E_INVALID, "%s: statement: %s", path, sqlite3_errmsg(db));
	}
}

static int open_file(const char *path, sqlite3 **ret, struct watch *w, struct error *err)
{
	struct file_info info;
	if (file_info(path, &info, err) < 0)
		return -err->code;
	if (!info.is_regular)
		return error_set(err, E_INVALID, "%s: is no file", path);
	int rc = sqlite3_open_v2(
		path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW,
		NULL);
	if (rc != SQLITE_OK)
		return db_copy_failed(path, rc, err);
	sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	sqlite3_db_config(*ret, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	sqlite3_exec(*ret, "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON", NULL, NULL,
		     NULL);
	sqlite3_set_authorizer(*ret, authorize, w);
	sqlite3_progress_handler(*ret, TICK_STEPS, on_tick, w);
	return 0;
}

static int unknown_parameter(const struct sqlwrite_value *values, const char *name,
			     const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (const struct sqlwrite_value *v = values; v->name; v++)
		strbuf_addf(&b, "%s%s", !b.len ? "" : v[1].name ? ", " : " or ", v->name);
	return error_set(err, E_INVALID, "%s: statement: parameter %.40s: want %s", path,
			 name ? name : "?", b.buf);
}

static int bind(sqlite3_stmt *s, const struct sqlwrite_value *values, const char *path,
		struct error *err)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(s); i++) {
		const char *name = sqlite3_bind_parameter_name(s, i);
		const struct sqlwrite_value *v = values;
		while (v->name && !cstr_eq(v->name, name))
			v++;
		if (!v->name)
			return unknown_parameter(values, name, path, err);
		if (v->is_number)
			(void)sqlite3_bind_int64(s, i, v->number);
		else if (v->text)
			(void)sqlite3_bind_text(s, i, v->text, -1, SQLITE_STATIC);
	}
	return 0;
}

static int run(sqlite3 *db, const char *path, const char *sql, const struct sqlwrite_value *values,
	       bool only_check, struct error *err)
{
	sqlite3_stmt *s = NULL;
	const char *rest = NULL;
	int r = 0, rc = sqlite3_prepare_v2(db, sql, -1, &s, &rest);
	if (rc != SQLITE_OK)
		r = failed(db, path, rc, err);
	else if (!s || str_trim(str_of(rest)).len)
		r = error_set(err, E_INVALID, "%s: statement: one statement is wanted", path);
	else if (sqlite3_stmt_readonly(s))
		r = error_set(err, E_INVALID, "%s: statement: it writes nothing", path);
	else
		r = bind(s, values, path, err);
	while (r == 0 && !only_check && (rc = sqlite3_step(s)) == SQLITE_ROW)
		;
	if (r == 0 && !only_check && rc != SQLITE_DONE)
		r = failed(db, path, rc, err);
	sqlite3_finalize(s);
	return r;
}

static int perform(const char *path, const char *sql, const struct sqlwrite_value *values,
		   bool only_check, struct error *err)
{
	sqlite3 *db = NULL;
	struct watch w = {.left = SQL_WRITE_STEPS / TICK_STEPS};
	if (strlen(sql) > SQL_WRITE_BYTES)
		return error_set(err, E_LIMIT, "%s: statement: more than %zu bytes", path,
				 SQL_WRITE_BYTES);
	struct error own = ERROR_INIT;
	int r = open_file(path, &db, &w, &own);
	if (r == 0)
		r = run(db, path, sql, values, only_check, &own);
	if (w.denied) /* then it was not run */
		r = error_set(err, E_INVALID,
			      "%s: statement: want an INSERT, UPDATE or DELETE on its tables",
			      path);
	else if (r < 0)
		r = error_copy(err, &own);
	sqlite3_close(db);
	return r;
}

int sqlwrite_run(const char *path, const char *statement, const struct sqlwrite_value *values,
		 struct error *err)
{
	return perform(path, statement, values, false, err);
}

int sqlwrite_check(const char *path, const char *statement, const struct sqlwrite_value *values,
		   struct error *err)
{
	return perform(path, statement, values, true, err);
}
