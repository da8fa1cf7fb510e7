/* Names of SQLite files, and the queries whose rows a program imports. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/source/databases.h"

static void test_databases__a_url_is_one_line_of_sqlite(void **state)
{
	static const char *const cases[][2] = {
		/* text, path; NULL: refused */
		{"sqlite://apps.db\n", "apps.db"},
		{"  sqlite:///var/lib/apps.db", "/var/lib/apps.db"},
		{"sqlite://", NULL},
		{"postgres://h/d", NULL},
		{"sqlite://a\nsqlite://b", NULL},
		{"", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		const char *path = NULL;
		int r = database_url_read(str_of(cases[i][0]), "url", a, &path, &err);
		assert_int_equal(r, cases[i][1] ? 0 : -E_INVALID);
		if (cases[i][1])
			assert_string_equal(path, cases[i][1]);
		else
			assert_non_null(strstr(err.msg, "url: want one line, sqlite://PATH"));
	}
}

static void test_databases__connections_name_files(void **state)
{
	static const char *const wrong[][2] = {
		{"connections: []", "c.yaml: connections: is missing"},
		{"{}", "c.yaml: connections: is missing"},
		{"connections: [{type: sqlite}]", "c.yaml: connections[0].name: want 1 to"},
		{"connections: [{name: a}]", "c.yaml: connections[0].type: is missing: sqlite"},
		{"connections: [{name: a, type: cockroachdb, cockroachdb: {conn_string: x}}]",
		 "c.yaml: connections[0].type: cockroachdb: want sqlite"},
		{"connections: [{name: a, type: sqlite}]",
		 "c.yaml: connections[0].sqlite.path: is missing: the SQLite file; or give "
		 "--default-database-url-file"},
		{"connections: [{name: a, type: sqlite, sqlite: {path: x, mode: ro}}]", "mode"},
		{"connections: [{name: config, type: sqlite, sqlite: {path: x}}]",
		 "connections[0].name: config is of alm-runtime itself"},
		{"connections: [{name: a, type: sqlite, sqlite: {path: x}}, {name: a, type: "
		 "sqlite, sqlite: {path: z.db}}]",
		 "connections[1].name: a: another entry has this name"},
		{"connections: [", "c.yaml: "},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct databases d = {0};
	const char *path = NULL;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(
			databases_read(str_of(wrong[i][0]), "c.yaml", NULL, a, &d, &err) < 0, true);
		if (!strstr(err.msg, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.msg);
		assert_int_equal(d.n, 0);
	}
	assert_ok(databases_read(STR("connections: [{name: a, type: sqlite}, {name: b, type: "
				     "sqlite, sqlite: {path: b.db}}]"),
				 "c.yaml", "default.db", a, &d, &err),
		  &err);
	assert_ok(database_path(&d, NULL, "a", &path, &err), &err);
	assert_string_equal(path, "default.db");
	assert_ok(database_path(&d, NULL, "b", &path, &err), &err);
	assert_string_equal(path, "b.db");
	assert_ok(database_path(&d, "own.db", NULL, &path, &err), &err);
	assert_string_equal(path, "own.db");
	assert_int_equal(database_path(&d, NULL, "c", &path, &err), -E_INVALID);
	assert_string_equal(err.msg, "databaseName: c: no such connection");
	assert_int_equal(database_path(&d, "x", "a", &path, &err), -E_INVALID);
	assert_string_equal(err.msg, "databaseName: path is given, too: one of them");
	assert_int_equal(database_path(&(struct databases){0}, NULL, "a", &path, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "--database-connections-file names them"));
	assert_string_equal(path, "own.db");
}

static void test_databases__queries_are_named(void **state)
{
	static const char *const wrong[][2] = {
		{"queries: [{name: a, query: SELECT 1}]", "q.yaml: queries[0].path: is missing"},
		{"queries: [{name: a, databaseName: x, query: SELECT 1}]",
		 "q.yaml: queries[0].databaseName: x: no such connection"},
		{"queries: [{name: a, databaseName: apps}]", "queries[0].query: is missing"},
		{"queries: [{name: a/list, path: x, query: q}]",
		 "queries[0].name: a/list is of alm-runtime itself"},
		{"queries: [{name: '../a', path: x, query: q}]", "queries[0].name: want 1 to"},
		{"queries: [{name: a, path: x, query: q}, {name: a, path: x, query: q}]",
		 "queries[1].name: a: another entry has this name"},
		{"queries: [{name: a, path: x, query: q, key: k}]", "key"},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct database one = {"apps", "apps.db"};
	const struct databases d = {&one, 1};
	struct database_queries q = {0};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(
			database_queries_read(str_of(wrong[i][0]), "q.yaml", &d, a, &q, &err) < 0,
			true);
		if (!strstr(err.msg, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.msg);
	}
	assert_ok(database_queries_read(STR("queries: [{name: teams/all, databaseName: apps, "
					    "query: SELECT 1}]"),
					"q.yaml", &d, a, &q, &err),
		  &err);
	assert_null(database_query_find(&q, "teams"));
	const struct database_query *found = database_query_find(&q, "teams/all");
	assert_non_null(found);
	assert_string_equal(found->path, "apps.db");
	assert_string_equal(found->query, "SELECT 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_databases__a_url_is_one_line_of_sqlite),
		cmocka_unit_test(test_databases__connections_name_files),
		cmocka_unit_test(test_databases__queries_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
