/* A statement on a database of somebody else. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/io/sqlwrite.h"

static const struct sqlwrite_value values[] = {{.name = ":step", .text = "g/a"},
					       {.name = ":reason"},
					       {.name = ":seq", .number = 7, .is_number = true},
					       {0}};

struct place {
	char dir[64], path[96], lock[104];
};

static void open_place(struct place *p, const char *tables)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/alm-sqlwrite-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	(void)snprintf(p->path, sizeof(p->path), "%s/x.db", p->dir);
	(void)snprintf(p->lock, sizeof(p->lock), "%s.lock", p->path);
	const struct db_config c = {.path = p->path};
	assert_ok(db_open(&c, &d, &err), &err);
	assert_ok(db_exec(d, tables, &err), &err);
	db_close(d);
}

static void close_place(const struct place *p)
{
	assert_int_equal(unlink(p->path), 0);
	assert_int_equal(unlink(p->lock), 0);
	assert_int_equal(rmdir(p->dir), 0);
}

static int64_t number(const struct place *p, const char *sql)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	int64_t n = -1;
	const struct db_config c = {.path = p->path};
	assert_ok(db_open(&c, &d, &err), &err);
	assert_ok(db_number(d, sql, NULL, &n, &err), &err);
	db_close(d);
	return n;
}

static void test_sqlwrite__values_are_bound_by_name(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	static const char sql[] = "INSERT INTO t VALUES (:seq, :step, :reason)";
	open_place(&p, "CREATE TABLE t(n, step, reason)");
	assert_ok(sqlwrite_check(p.path, sql, values, &err), &err);
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 0);
	assert_ok(sqlwrite_run(p.path, sql, values, &err), &err);
	assert_int_equal(number(&p, "SELECT count(*) FROM t WHERE n = 7 AND step = 'g/a' AND "
				    "reason IS NULL"),
			 1);
	close_place(&p);
}

static void test_sqlwrite__what_is_no_such_statement_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		int code;
		const char *why;
	} rows[] = {
		{"SELECT :step", E_INVALID, "it writes nothing"},
		{"INSERT INTO t(n) VALUES (:who)", E_INVALID,
		 "parameter :who: want :step, :reason or :seq"},
		{"INSERT INTO t(n) VALUES (?)", E_INVALID, "parameter ?: want"},
		{"INSERT INTO t(n) VALUES (1); DELETE FROM t", E_INVALID,
		 "one statement is wanted"},
		{"", E_INVALID, "one statement is wanted"},
		{"INSER INTO t", E_INVALID, "syntax error"},
		{"INSERT INTO gone VALUES (1)", E_INVALID, "no such table: gone"},
		{"DROP TABLE t", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"CREATE TABLE u(a)", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"ATTACH '/tmp/y' AS y", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"VACUUM INTO '/tmp/alm-sqlwrite-none'", E_INVALID,
		 "want an INSERT, UPDATE or DELETE"},
		{"DETACH main", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"BEGIN", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"PRAGMA journal_mode = OFF", E_INVALID, "want an INSERT, UPDATE or DELETE"},
		{"UPDATE sqlite_master SET sql = ''", E_INVALID, "may not be modified"},
		{"INSERT INTO t(n) VALUES (load_extension('x'))", E_INVALID, ""},
	};
	struct place p;
	open_place(&p, "CREATE TABLE t(n)");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		assert_int_equal(sqlwrite_run(p.path, rows[i].sql, values, &err), -rows[i].code);
		if (!strstr(err.msg, rows[i].why))
			fail_msg("%s: %s", rows[i].sql, err.msg);
	}
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 0);
	assert_int_equal(access("/tmp/alm-sqlwrite-none", F_OK), -1);
	assert_int_equal(number(&p, "SELECT count(*) FROM sqlite_master WHERE name = 'u'"), 0);
	close_place(&p);
}

static void test_sqlwrite__one_that_does_not_end_writes_nothing(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	open_place(&p, "CREATE TABLE t(n)");
	assert_int_equal(sqlwrite_run(p.path,
				      "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
				      "SELECT i + 1 FROM n) SELECT i FROM n",
				      values, &err),
			 -E_LIMIT);
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 0);
	close_place(&p);
}

static void test_sqlwrite__another_writer_is_no_error_of_the_statement(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	open_place(&p, "CREATE TABLE t(n)");
	const struct db_config c = {.path = p.path};
	assert_ok(db_open(&c, &d, &err), &err);
	assert_ok(db_begin(d, &err), &err);
	assert_int_equal(sqlwrite_run(p.path, "INSERT INTO t VALUES (:seq)", values, &err),
			 -E_UNAVAILABLE);
	db_rollback(d);
	err = ERROR_INIT;
	assert_ok(sqlwrite_run(p.path, "INSERT INTO t VALUES (:seq)", values, &err), &err);
	db_close(d);
	close_place(&p);
}

/* A rule of the table: nothing of the statement stays. */
static void test_sqlwrite__all_or_nothing(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	open_place(&p, "CREATE TABLE t(n UNIQUE)");
	assert_int_equal(sqlwrite_run(p.path, "INSERT INTO t VALUES (:seq), (:seq)", values, &err),
			 -E_INVALID);
	assert_non_null(strstr(err.msg, "UNIQUE constraint failed"));
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 0);
	close_place(&p);
}

static int cannot_open(sqlite3 *db, const char **ret_text, const void *api)
{
	(void)db;
	(void)ret_text;
	(void)api;
	return SQLITE_CANTOPEN;
}

static void test_sqlwrite__a_file_that_cannot_be_opened(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	open_place(&p, "CREATE TABLE t(n)");
	assert_int_equal(sqlite3_auto_extension((void (*)(void))cannot_open), SQLITE_OK);
	assert_int_equal(sqlwrite_run(p.path, "INSERT INTO t VALUES (:seq)", values, &err), -E_IO);
	sqlite3_reset_auto_extension();
	assert_true(cstr_has_prefix(err.msg, p.path));
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 0);
	close_place(&p);
}

static void test_sqlwrite__a_statement_has_its_length(void **state)
{
	(void)state;
	struct place p;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(SQL_WRITE_BYTES + 1);
	open_place(&p, "CREATE TABLE t(n)");
	strbuf_adds(&sql, "INSERT INTO t VALUES (:seq)");
	strbuf_pad(&sql, ' ', SQL_WRITE_BYTES - sql.len);
	assert_int_equal(sql.len, SQL_WRITE_BYTES);
	assert_ok(sqlwrite_run(p.path, sql.buf, values, &err), &err);
	strbuf_addc(&sql, ' ');
	assert_int_equal(sqlwrite_run(p.path, sql.buf, values, &err), -E_LIMIT);
	assert_int_equal(number(&p, "SELECT count(*) FROM t"), 1);
	close_place(&p);
}

static void test_sqlwrite__a_file_that_is_none(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	assert_int_equal(sqlwrite_check("/nowhere/x.db", "DELETE FROM t", values, &err),
			 -E_NOTFOUND);
	err = ERROR_INIT;
	assert_int_equal(sqlwrite_check("/dev/null", "DELETE FROM t", values, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "/dev/null: is no file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqlwrite__values_are_bound_by_name),
		cmocka_unit_test(test_sqlwrite__what_is_no_such_statement_is_refused),
		cmocka_unit_test(test_sqlwrite__one_that_does_not_end_writes_nothing),
		cmocka_unit_test(test_sqlwrite__another_writer_is_no_error_of_the_statement),
		cmocka_unit_test(test_sqlwrite__all_or_nothing),
		cmocka_unit_test(test_sqlwrite__a_file_that_cannot_be_opened),
		cmocka_unit_test(test_sqlwrite__a_statement_has_its_length),
		cmocka_unit_test(test_sqlwrite__a_file_that_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
