/* test_audit_origin.c: what a log may be called. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/audit_internal.h"
#include "tests/lib/audit_log.h"

/* With a space or a newline in it every checkpoint of the log would be found altered. */
static void test_audit_origin__an_origin_is_a_name(void **state)
{
	(void)state;
	char longest[AUDIT_ORIGIN_MAX + 2];
	memset(longest, 'a', AUDIT_ORIGIN_MAX + 1);
	longest[AUDIT_ORIGIN_MAX + 1] = 0;
	const char *const origins[] = {"",         "a b", "a\nb",  " ",         "a+b",
				       "\xc3\xa4", "\t",  longest, longest + 1, "example.com/prod"};
	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		struct audit_log l;
		struct error err = ERROR_INIT;
		audit_log_open(&l, ":memory:", NULL);
		audit_close(l.audit);
		db_close(l.db);
		struct db_config dc = {.path = ":memory:"};
		assert_ok(db_open(&dc, &l.db, &err), &err);
		struct audit_config ac = {.db = l.db, .loop = &l.loop.base, .origin = origins[i]};
		bool good = i + 2 >= ARRAY_LEN(origins);
		l.audit = NULL;
		assert_int_equal(audit_open(&ac, &l.audit, &err), good ? 0 : -E_INVALID);
		if (good) {
			audit_log_fill(&l, 3, 1);
			audit_log_assert_intact(&l);
		}
		audit_log_close(&l);
	}
}

/* Statuses and objects are not compared with a log of runs: no other one may be named as one is. */
static void test_audit_origin__a_family_keeps_its_name(void **state)
{
	(void)state;
	static const struct {
		const char *origin;
		bool is_of_runs;
	} rows[] = {{"alm.run/prod", true},
		    {"alm.run", true},
		    {"alm.run/", true},
		    {"alm.runs/a", false},
		    {"alm.local/alm.run", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		int want = rows[i].is_of_runs ? -E_INVALID : 0;
		assert_int_equal(audit_is_of_runs(rows[i].origin), rows[i].is_of_runs);
		assert_int_equal(audit_check_origin(rows[i].origin, NULL, &err), want);
		err = ERROR_INIT;
		assert_ok(audit_check_origin(rows[i].origin, AUDIT_FAMILY_RUN, &err), &err);
	}
}

/* "NAME/2" is what NAME became after a gap; any other end is part of the name. */
static void test_audit_origin__a_generation_is_a_number_behind_the_name(void **state)
{
	(void)state;
	static const struct {
		const char *origin, *base;
		int64_t generation;
	} rows[] = {{"a", "a", 1},         {"a/b", "a/b", 1},        {"a/2", "a", 2},
		    {"a/b/17", "a/b", 17}, {"a/1", "a/1", 1},        {"a/0", "a/0", 1},
		    {"a/-2", "a/-2", 1},   {"a/2x", "a/2x", 1},      {"a/", "a/", 1},
		    {"a/9999", "a", 9999}, {"a/10000", "a/10000", 1}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t n = 0;
		struct str base = audit_base_origin(rows[i].origin, &n);
		if (!str_is(base, rows[i].base) || n != rows[i].generation)
			fail_msg("%s: %.*s, %d", rows[i].origin, STR_ARG(base), (int)n);
	}
}

/* A log is opened by its name, or by none; by another it is not. */
static void test_audit_origin__another_name_opens_no_log(void **state)
{
	(void)state;
	static const struct {
		const char *origin;
		bool opens;
	} rows[] = {{"a/b", true},  {"a/b", true}, {NULL, true},
		    {"a/c", false}, {"a", false},  {"a/b/c", false}};
	struct audit_log l;
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL); /* for its loop */
	audit_close(STEAL(l.audit));
	db_close(l.db);
	const struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &l.db, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct audit_config ac = {
			.db = l.db, .loop = &l.loop.base, .origin = rows[i].origin};
		struct audit *a = NULL;
		err = ERROR_INIT;
		assert_int_equal(audit_open(&ac, &a, &err), rows[i].opens ? 0 : -E_INVALID);
		if (rows[i].opens)
			assert_string_equal(audit_origin(a), "a/b");
		else
			assert_non_null(strstr(err.msg, "the audit log is a/b, not "));
		audit_close(a);
	}
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_origin__an_origin_is_a_name),
		cmocka_unit_test(test_audit_origin__another_name_opens_no_log),
		cmocka_unit_test(test_audit_origin__a_family_keeps_its_name),
		cmocka_unit_test(test_audit_origin__a_generation_is_a_number_behind_the_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
