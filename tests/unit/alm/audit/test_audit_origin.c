/* test_audit_origin.c: what a log may be called. */
#include "tests/lib/test.h"

#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_origin__an_origin_is_a_name),
		cmocka_unit_test(test_audit_origin__a_family_keeps_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
