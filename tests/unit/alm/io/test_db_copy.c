#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/db_copy.h"

struct fixture {
	char dir[64], old[96], new[96], aside[96];
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/alm-test-db-copy-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->old, sizeof(f->old), "%s/alm.db", f->dir);
	snprintf(f->new, sizeof(f->new), "%s/new.db", f->dir);
	snprintf(f->aside, sizeof(f->aside), "%s/aside.db", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char **names;
	size_t n;
	assert_int_equal(dir_list(f->dir, 100, &names, &n, &f->err), 0);
	for (size_t i = 0; i < n; i++) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
	}
	dir_list_free(names, n);
	rmdir(f->dir);
	xfree(f);
	return 0;
}

static struct db *open_db(struct fixture *f, const char *path)
{
	struct db_config c = {.path = path};
	struct db *d = NULL;
	if (db_open(&c, &d, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	return d;
}

static void put(struct fixture *f, struct db *d, int n)
{
	char sql[96];
	snprintf(sql, sizeof(sql), "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (%d)", n);
	assert_int_equal(db_exec(d, sql, &f->err), 0);
}

/* "1 2" of the table in the file. */
static char *rows_of(struct fixture *f, const char *path)
{
	static char text[64];
	struct stmt *s;
	struct db *d = open_db(f, path);
	assert_true(db_prepare(d, "SELECT group_concat(a, ' ') FROM t", &s, &f->err) >= 0);
	assert_int_equal(stmt_step(s, &f->err), 1);
	struct str found = stmt_text(s, 0);
	snprintf(text, sizeof(text), "%.*s", STR_ARG(found));
	db_close(d);
	return text;
}

static void copy_file(const char *from, const char *to)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	assert_int_equal(file_read(from, &b, &err), 0);
	assert_int_equal(file_write_atomic(to, strbuf_str(&b), 0600, &err), 0);
}

/* As a process that was killed leaves them. */
static void copy_with_wal(struct fixture *f, const char *to)
{
	char from_wal[128], to_wal[128];
	snprintf(from_wal, sizeof(from_wal), "%s-wal", f->new);
	snprintf(to_wal, sizeof(to_wal), "%s-wal", to);
	copy_file(f->new, to);
	copy_file(from_wal, to_wal);
}

static void test_db_copy__what_is_committed_is_in_it_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_db(f, f->old);
	put(f, d, 1);
	assert_int_equal(db_begin(d, &f->err), 0);
	put(f, d, 2);
	assert_int_equal(db_copy(f->old, f->new, &f->err), 0);
	assert_int_equal(db_commit(d, &f->err), 0);
	assert_int_equal(db_copy(f->old, f->new, &f->err), -E_EXISTS);
	db_close(d);
	char wal[128];
	snprintf(wal, sizeof(wal), "%s-wal", f->new);
	assert_false(file_exists(wal));
	assert_string_equal(rows_of(f, f->new), "1");
	assert_string_equal(rows_of(f, f->old), "1 2");
}

static void test_db_copy__what_is_no_whole_database_is_refused(void **state)
{
	struct fixture *f = *state;
	struct error *err = &f->err;
	char big[20000];
	struct db *d = open_db(f, f->old);
	memset(big, 'x', sizeof(big));
	assert_int_equal(
		db_exec(d, "CREATE TABLE t(a); INSERT INTO t VALUES (hex(zeroblob(60000)))", err),
		0);
	db_close(d);
	assert_int_equal(truncate(f->old, 12288), 0);
	assert_true(db_copy(f->old, f->new, err) < 0);
	assert_false(file_exists(f->new));
	assert_int_equal(file_write_atomic(f->old, str_n(big, sizeof(big)), 0600, err), 0);
	assert_int_equal(db_copy(f->old, f->new, err), -E_INVALID);
	assert_int_equal(truncate(f->old, 0), 0);
	assert_int_equal(db_copy(f->old, f->new, err), -E_INVALID);
	assert_int_equal(unlink(f->old), 0);
	assert_int_equal(db_copy(f->old, f->new, err), -E_NOTFOUND);
	assert_false(file_exists(f->new));
}

/* The WAL of the former one would be played into what lies there next. */
static void test_db_copy__a_wal_that_was_left_goes_along_with_its_database(void **state)
{
	struct fixture *f = *state;
	bool kept = false;
	struct db *d = open_db(f, f->new);
	put(f, d, 1);
	put(f, d, 2);
	copy_with_wal(f, f->old);
	db_close(d);
	assert_int_equal(unlink(f->new), 0);
	d = open_db(f, f->new);
	put(f, d, 7);
	db_close(d);
	if (db_replace(f->old, f->new, f->aside, &kept, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	assert_true(kept);
	assert_false(file_exists(f->new));
	assert_string_equal(rows_of(f, f->old), "7");
	assert_string_equal(rows_of(f, f->aside), "1 2");
}

static void test_db_copy__a_damaged_one_is_replaced_and_kept(void **state)
{
	struct fixture *f = *state;
	bool kept = false;
	char text[8192], wal[128];
	CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT((size_t)1 << 20);
	struct db *d = open_db(f, f->new);
	put(f, d, 1);
	db_close(d);
	memset(text, 'x', sizeof(text));
	snprintf(wal, sizeof(wal), "%s-wal", f->old);
	assert_int_equal(file_write_atomic(f->old, str_n(text, sizeof(text)), 0600, &f->err), 0);
	assert_int_equal(file_write_atomic(wal, STR("no journal"), 0600, &f->err), 0);
	assert_int_equal(db_replace(f->old, f->new, f->aside, &kept, &f->err), 0);
	assert_true(kept);
	assert_string_equal(rows_of(f, f->old), "1");
	assert_int_equal(file_read(f->aside, &found, &f->err), 0);
	assert_memory_equal(found.buf, text, sizeof(text));
}

/* Nothing is replaced while the journal of the former one would be played into it. */
static void test_db_copy__a_wal_that_cannot_be_put_aside(void **state)
{
	struct fixture *f = *state;
	bool kept = false;
	char wal[128], there[128], inside[160];
	struct db *d = open_db(f, f->new);
	put(f, d, 1);
	db_close(d);
	copy_file(f->new, f->old);
	snprintf(wal, sizeof(wal), "%s-wal", f->old);
	snprintf(there, sizeof(there), "%s-wal", f->aside);
	snprintf(inside, sizeof(inside), "%s/x", there);
	/* folders: SQLite opens none, and one that is not empty gives way to nothing */
	assert_int_equal(mkdir(wal, 0700) + mkdir(there, 0700) + mkdir(inside, 0700), 0);
	assert_int_equal(db_replace(f->old, f->new, f->aside, &kept, &f->err), -E_IO);
	assert_non_null(strstr(f->err.msg, wal));
	assert_false(kept);
	assert_false(file_exists(f->aside));
	assert_string_equal(rows_of(f, f->new), "1");
	assert_int_equal(rmdir(inside) + rmdir(there) + rmdir(wal), 0);
	assert_int_equal(db_replace(f->old, f->new, f->aside, &kept, &f->err), 0);
	assert_string_equal(rows_of(f, f->old), "1");
}

static void test_db_copy__not_while_somebody_has_it_open(void **state)
{
	struct fixture *f = *state;
	bool kept = false;
	int lock = -1;
	struct db *d = open_db(f, f->old);
	put(f, d, 1);
	assert_int_equal(db_copy(f->old, f->new, &f->err), 0);
	assert_int_equal(db_lock(f->old, &lock, &f->err), -E_UNAVAILABLE);
	assert_int_equal(db_replace(f->old, f->new, f->aside, &kept, &f->err), -E_UNAVAILABLE);
	db_close(d);
	assert_int_equal(db_lock(f->old, &lock, &f->err), 0);
	db_unlock(&lock);
	assert_int_equal(db_replace(f->old, f->new, f->aside, &kept, &f->err), 0);
}

static void test_db_copy__no_more_pages_than_asked_for(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_db(f, f->old);
	sqlite3 *from = NULL, *to = NULL;
	for (int i = 0; i < 3; i++)
		put(f, d, i);
	assert_int_equal(sqlite3_open(f->old, &from), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &to), SQLITE_OK);
	assert_int_equal(db_copy_pages(from, to, "it", 1, &f->err), -E_LIMIT);
	assert_string_equal(f->err.msg, "it: it has more than 1 pages");
	assert_int_equal(db_copy_pages(from, to, "it", 100, &f->err), 0);
	sqlite3_close(from);
	sqlite3_close(to);
	db_close(d);
}

/* It cannot begin then, and ends nothing that it has not begun. */
static void test_db_copy__a_transaction_of_the_caller_stays_his(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_db(f, f->old);
	sqlite3 *from = NULL, *to = NULL;
	put(f, d, 1);
	assert_int_equal(sqlite3_open(f->old, &from), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &to), SQLITE_OK);
	assert_int_equal(sqlite3_exec(from, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(db_copy_pages(from, to, "it", 100, &f->err), -E_IO);
	assert_int_equal(sqlite3_get_autocommit(from), 0);
	sqlite3_close(from);
	sqlite3_close(to);
	db_close(d);
}

static void test_db_copy__what_is_no_database_has_no_pages(void **state)
{
	struct fixture *f = *state;
	sqlite3 *from = NULL, *to = NULL;
	char junk[4096];
	memset(junk, 'x', sizeof(junk));
	assert_int_equal(file_write_atomic(f->old, str_n(junk, sizeof(junk)), 0600, &f->err), 0);
	assert_int_equal(sqlite3_open(f->old, &from), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &to), SQLITE_OK);
	assert_int_equal(db_copy_pages(from, to, "it", 100, &f->err), -E_INVALID);
	assert_string_equal(f->err.msg, "it: file is not a database: want an SQLite database");
	assert_int_equal(db_copy_pages(to, to, "it", 100, &f->err), -E_IO); /* into itself */
	sqlite3_close(from);
	sqlite3_close(to);
}

static void test_db_copy__each_answer_of_sqlite_has_its_code(void **state)
{
	(void)state;
	static const struct {
		int rc, code;
		const char *text;
	} rows[] = {
		{SQLITE_BUSY, E_UNAVAILABLE, "it: database is locked"},
		{SQLITE_LOCKED, E_UNAVAILABLE, "it: database table is locked"},
		{SQLITE_NOTADB, E_INVALID, "it: file is not a database: want an SQLite database"},
		{SQLITE_CORRUPT, E_CORRUPT, "it: database disk image is malformed"},
		{SQLITE_IOERR, E_IO, "it: disk I/O error"},
		{SQLITE_CANTOPEN, E_IO, "it: unable to open database file"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		assert_int_equal(db_copy_failed("it", rows[i].rc, &err), -rows[i].code);
		assert_string_equal(err.msg, rows[i].text);
	}
}

/* The connection that fails: 1 of the copy, 2 of the source, 3 the one that looks the copy over; 4: it cannot look. */
static int failing, n_opened;

static int not_integrity(void *arg, int action, const char *a, const char *b, const char *c,
			 const char *d)
{
	(void)arg;
	(void)b;
	(void)c;
	(void)d;
	return action == SQLITE_PRAGMA && cstr_eq(a, "integrity_check") ? SQLITE_DENY : SQLITE_OK;
}

static int on_open(sqlite3 *db, const char **ret_text, const void *api)
{
	(void)ret_text;
	(void)api;
	if (failing == 4)
		sqlite3_set_authorizer(db, not_integrity, NULL);
	return ++n_opened == failing ? SQLITE_ERROR : SQLITE_OK;
}

static void test_db_copy__each_connection_may_fail(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_db(f, f->old);
	put(f, d, 1);
	db_close(d);
	for (failing = 1; failing <= 5; failing++) {
		char want[256];
		f->err = ERROR_INIT;
		n_opened = 0;
		assert_int_equal(sqlite3_auto_extension((void (*)(void))on_open), SQLITE_OK);
		int r = db_copy(f->old, f->new, &f->err);
		sqlite3_reset_auto_extension();
		if (failing == 5) {
			assert_ok(r, &f->err);
			assert_int_equal(n_opened, 3);
			break;
		}
		assert_int_equal(r, -E_IO);
		(void)snprintf(want, sizeof(want), "copy to %s: %s: SQL logic error", f->new,
			       failing == 1 ? f->new : f->old);
		if (failing == 3)
			(void)snprintf(want, sizeof(want), "%s: SQL logic error", f->new);
		if (failing == 4)
			(void)snprintf(want, sizeof(want), "%s: authorization denied", f->old);
		assert_string_equal(f->err.msg, want);
		assert_false(file_exists(f->new));
	}
	assert_string_equal(rows_of(f, f->new), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_db_copy__a_damaged_one_is_replaced_and_kept,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__a_wal_that_cannot_be_put_aside, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__no_more_pages_than_asked_for, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__a_transaction_of_the_caller_stays_his,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__what_is_no_database_has_no_pages,
						setup, teardown),
		cmocka_unit_test(test_db_copy__each_answer_of_sqlite_has_its_code),
		cmocka_unit_test_setup_teardown(test_db_copy__each_connection_may_fail, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_db_copy__what_is_committed_is_in_it_and_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__what_is_no_whole_database_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_db_copy__a_wal_that_was_left_goes_along_with_its_database, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_db_copy__not_while_somebody_has_it_open, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
