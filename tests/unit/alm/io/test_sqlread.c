/* The rows of a query over a database of somebody else; without the sandbox that the job runs in. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/io/db.h"
#include "alm/io/sqlread.h"

struct fixture {
	char dir[64], path[96];
	struct db *writer;
	struct strbuf bytes, output;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	strbuf_init(&f->bytes, SQL_FILE_BYTES + SQL_QUERY_BYTES);
	strbuf_init(&f->output, 2 * SQL_OUTPUT_BYTES);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/alm-sqlread-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/x.db", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char **names = NULL;
	size_t n = 0;
	db_close(f->writer);
	assert_ok(dir_list(f->dir, 100, &names, &n, &f->err), &f->err);
	for (size_t i = 0; i < n; i++) {
		char path[400];
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		(void)unlink(path);
	}
	dir_list_free(names, n);
	assert_int_equal(rmdir(f->dir), 0);
	strbuf_release(&f->bytes);
	strbuf_release(&f->output);
	xfree(f);
	return 0;
}

static void write_db(struct fixture *f, const char *sql)
{
	const struct db_config c = {.path = f->path};
	if (!f->writer)
		assert_ok(db_open(&c, &f->writer, &f->err), &f->err);
	assert_ok(db_exec(f->writer, sql, &f->err), &f->err);
}

/* The code of copying the file and asking it. */
static int ask(struct fixture *f, const char *sql)
{
	f->err = ERROR_INIT;
	strbuf_clear(&f->bytes);
	strbuf_clear(&f->output);
	strbuf_add(&f->bytes, sql, strlen(sql) + 1);
	if (sqlread_copy(f->path, &f->bytes, &f->err) < 0 ||
	    sqlread_job(strbuf_str(&f->bytes), &f->output, &f->err) < 0)
		return f->err.code;
	return 0;
}

static void check_refused(struct fixture *f, const char *sql, int code, const char *why)
{
	int got = ask(f, sql);
	if (got != code || !strstr(f->err.msg, why))
		fail_msg("%s: %d %s", sql, got, f->err.msg);
}

static void test_sqlread__each_type_has_its_json(void **state)
{
	struct fixture *f = *state;
	write_db(f, "CREATE TABLE t(a, b)");
	assert_int_equal(ask(f, "SELECT * FROM t"), 0);
	assert_string_equal(f->output.buf, "{\"rows\":[]}");
	write_db(f, "INSERT INTO t VALUES (9007199254740993, NULL), (x'00ff', 'g\"/a'), (1.5, '')");
	write_db(f, "INSERT INTO t VALUES (CAST(x'ff' AS TEXT), x'')");
	assert_int_equal(ask(f, " SELECT a AS first, b FROM t ; "), 0);
	assert_string_equal(f->output.buf, "{\"rows\":["
					   "{\"first\":9007199254740993,\"b\":null},"
					   "{\"first\":\"AP8=\",\"b\":\"g\\\"/a\"},"
					   "{\"first\":\"1.5\",\"b\":\"\"},"
					   "{\"first\":null,\"b\":\"\"}]}");
}

/* As it was committed, though the writer has it open and its WAL holds all of it. */
static void test_sqlread__it_is_read_while_others_write(void **state)
{
	struct fixture *f = *state;
	static const char sql[] = "SELECT count(*) AS n FROM t";
	write_db(f, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	write_db(f, "BEGIN IMMEDIATE; INSERT INTO t VALUES (2)");
	assert_int_equal(ask(f, sql), 0);
	assert_string_equal(f->output.buf, "{\"rows\":[{\"n\":1}]}");
	write_db(f, "COMMIT");
	assert_int_equal(ask(f, sql), 0);
	assert_string_equal(f->output.buf, "{\"rows\":[{\"n\":2}]}");
}

static void test_sqlread__what_is_no_query_is_refused(void **state)
{
	struct fixture *f = *state;
	write_db(f, "CREATE TABLE t(a)");
	check_refused(f, "", E_INVALID, "query: one statement is wanted");
	check_refused(f, "SELECT 1; SELECT 2", E_INVALID, "query: one statement is wanted");
	check_refused(f, "SELEC 1", E_INVALID, "query: near \"SELEC\"");
	check_refused(f, "INSERT INTO t VALUES (1)", E_INVALID, "query: it writes");
	check_refused(f, "CREATE TEMP TABLE u(a)", E_INVALID, "query: ");
	check_refused(f, "SELECT * FROM u", E_INVALID, "no such table: u");
	check_refused(f, "SELECT abs(-9223372036854775808)", E_INVALID, "query: integer overflow");
	check_refused(f, "ATTACH '/etc/passwd' AS p", E_INVALID, "query: ");
	assert_true(sqlread_job(STR("SELECT 1"), &f->output, &f->err) < 0);
	assert_int_equal(f->err.code, E_INTERNAL);
}

#define N(n) "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT " n ") SELECT "

static void test_sqlread__an_answer_has_its_limits(void **state)
{
	struct fixture *f = *state;
	struct strbuf columns = STRBUF_INIT(STRBUF_SMALL);
	write_db(f, "CREATE TABLE t(a)");
	assert_int_equal(ask(f, N("10000") "i FROM c"), 0);
	check_refused(f, N("10001") "i FROM c", E_LIMIT, "more than 10000 rows");
	assert_int_equal(ask(f, N("3") "zeroblob(4000000) FROM c"), 0);
	check_refused(f, N("5") "zeroblob(4000000) FROM c", E_LIMIT, "bytes of rows");
	check_refused(f, "SELECT zeroblob(20000000)", E_INVALID, "string or blob too big");
	strbuf_adds(&columns, "SELECT 0 AS c0");
	for (int i = 1; i < SQL_COLUMNS_MAX; i++)
		strbuf_addf(&columns, ", %d AS c%d", i, i);
	assert_int_equal(ask(f, columns.buf), 0);
	assert_non_null(strstr(f->output.buf, "\"c255\":255}"));
	strbuf_adds(&columns, ", 1");
	check_refused(f, columns.buf, E_LIMIT, "more than 256 columns");
	strbuf_release(&columns);
}

/* A view of the file calls what the query's author did not: nothing but what is harmless. */
static void test_sqlread__the_schema_is_not_trusted(void **state)
{
	struct fixture *f = *state;
	write_db(f, "CREATE TABLE t(a); INSERT INTO t VALUES (1);"
		    "CREATE VIEW v AS SELECT load_extension('x') FROM t");
	check_refused(f, "SELECT * FROM v", E_INVALID, "query: ");
}

static void test_sqlread__what_is_no_database_is_told(void **state)
{
	struct fixture *f = *state;
	check_refused(f, "SELECT 1", E_NOTFOUND, f->path);
	assert_ok(file_write_atomic(f->path, STR(""), 0600, &f->err), &f->err);
	check_refused(f, "SELECT * FROM t", E_INVALID, "no such table");
	assert_ok(file_write_atomic(f->path, STR("not of SQLite, and long enough"), 0600, &f->err),
		  &f->err);
	check_refused(f, "SELECT 1", E_INVALID, f->path);
	assert_int_equal(truncate(f->path, (off_t)SQL_FILE_BYTES + 1), 0);
	check_refused(f, "SELECT 1", E_LIMIT, "x.db: larger than 67108864 bytes");
	(void)snprintf(f->path, sizeof(f->path), "%s", f->dir);
	check_refused(f, "SELECT 1", E_INVALID, "is no file");
	assert_true(sqlread_job(str_n("SELECT * FROM t\0junk", 20), &f->output, &f->err) < 0);
	assert_int_equal(f->err.code, E_INVALID);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sqlread__each_type_has_its_json),
		T(test_sqlread__it_is_read_while_others_write),
		T(test_sqlread__what_is_no_query_is_refused),
		T(test_sqlread__an_answer_has_its_limits),
		T(test_sqlread__the_schema_is_not_trusted),
		T(test_sqlread__what_is_no_database_is_told),
	};
	sqlread_prepare();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
