/* Names of what `alm run` runs. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/run/run_name.h"

static void test_run_name__is_a_part_of_names_and_a_label(void **state)
{
	(void)state;
	static const char fifty[] = "a2345678901234567890123456789012345678901234567890";
	static const struct {
		const char *name;
		bool ok;
	} rows[] = {
		{"web", true},       {"1-a", true},
		{fifty, true},       {"", false},
		{"-a", false},       {"a-", false},
		{"Web", false},      {"a.b", false},
		{"a b", false},      {"a/b", false},
		{"\xc3\xa4", false}, {"a23456789012345678901234567890123456789012345678901", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		bool ok = run_name_check(rows[i].name, "f: mainResource", &err) == 0;
		if (ok != rows[i].ok)
			fail_msg("%s", rows[i].name);
		assert_true(ok || cstr_has_prefix(err.msg, "f: mainResource "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_name__is_a_part_of_names_and_a_label),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
