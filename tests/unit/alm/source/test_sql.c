#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/source/sql.h"

static void test_sql__bad_configurations_name_the_field(void **state)
{
	static const char *const cases[][2] = {
		{"query: x\nkey: k", "t.yaml: path: is missing"},
		{"path: x\nkey: k", "t.yaml: query: is missing"},
		{"path: x\nquery: k", "t.yaml: key: is missing"},
		{"databaseName: d\nquery: q\nkey: k",
		 "t.yaml: databaseName: d: no such connection"},
		{"path: x\nquery: q\nkey: k\nrows: 1", "rows"},
		{"path: 1\nquery: q\nkey: k", "path"},
		{"path: x\nquery: q\nkey: k\ngroupRows: maybe", "groupRows"},
		{"- a", "t.yaml: "},
		{"a: [", "t.yaml: "},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct sql_config c;
		const struct databases none = {0};
		if (sql_config_read(str_of(cases[i][0]), "t.yaml", &none, a, &c, &err) >= 0 ||
		    !strstr(err.msg, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.msg);
	}
}

static void test_sql__rows_become_runs(void **state)
{
	static const struct {
		const char *rows, *want; /* want: JSON, or a part of the error */
		bool group, fails;
	} cases[] = {
		{"[]", "[]", false, false},
		{"[{\"k\":\"a\",\"n\":1}]", "[{\"key\":\"a\",\"config\":{\"k\":\"a\",\"n\":1}}]",
		 false, false},
		{"[{\"k\":7}]", "[{\"key\":\"7\",\"config\":{\"k\":7}}]", false, false},
		{"[{\"k\":\"a\"},{\"k\":\"a\"}]", "row 2: a: another row has this key", false,
		 true},
		{"[{\"k\":\"a\",\"n\":1},{\"k\":\"b\"},{\"k\":\"a\"}]",
		 "[{\"key\":\"a\",\"config\":{\"rows\":[{\"k\":\"a\",\"n\":1},{\"k\":\"a\"}]}},"
		 "{\"key\":\"b\",\"config\":{\"rows\":[{\"k\":\"b\"}]}}]",
		 true, false},
		{"[{\"n\":1}]", "row 1: column k: want a text", false, true},
		{"[{\"k\":\"\"}]", "row 1: column k: want a text", false, true},
		{"[{\"k\":null}]", "row 1: column k: want a text", true, true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const struct sql_config c = {
			.path = "p", .query = "q", .key = "k", .group_rows = cases[i].group};
		const struct obj *runs = NULL;
		struct error err = ERROR_INIT;
		struct obj *rows = NULL;
		assert_ok(json_parse(str_of(cases[i].rows), &rows, &err), &err);
		int r = sql_runs(&c, obj_keep(a, rows), a, &runs, &err);
		CLEANUP(xfreep) char *text = r < 0 ? xstrdup(err.msg) : json_text(runs);
		if ((r < 0) != cases[i].fails || !strstr(text, cases[i].want))
			fail_msg("%s: %s", cases[i].rows, text);
	}
}

static void test_sql__a_report_has_a_file_and_a_statement(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why; /* NULL: well */
	} rows[] = {
		{"{path: a.db, statement: INSERT}", NULL},
		{"{statement: INSERT}", "x.yaml: path: is missing"},
		{"{path: a.db}", "x.yaml: statement: is missing"},
		{"{path: a.db, statement: INSERT, query: SELECT}", "query"},
		{"{path: [", "x.yaml: "},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct sql_report r = {0};
		int rc = sql_report_read(str_of(rows[i].text), "x.yaml", a, &r, &err);
		assert_int_equal(rc < 0, rows[i].why != NULL);
		if (rows[i].why)
			assert_non_null(strstr(err.msg, rows[i].why));
		else
			assert_string_equal(r.statement, "INSERT");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sql__bad_configurations_name_the_field),
		cmocka_unit_test(test_sql__rows_become_runs),
		cmocka_unit_test(test_sql__a_report_has_a_file_and_a_statement),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
