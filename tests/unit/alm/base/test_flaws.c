#include "alm/base/flaws.h"

#include "tests/lib/test.h"

static void test_flaws__without_a_list_the_first_error_stays(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	error_set(&err, E_INVALID, "x");
	assert_int_equal(flaws_take(NULL, &err), -E_INVALID);
	assert_string_equal(err.msg, "x");
}

static void test_flaws__what_is_of_one_thing_is_taken(void **state)
{
	static const struct {
		int code;
		bool taken;
	} cases[] = {{E_INVALID, true}, {E_BADREQUEST, true}, {E_LIMIT, false}, {E_CORRUPT, false}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct flaws f = {.a = a};
		struct error err = ERROR_INIT;
		error_set(&err, cases[i].code, "x");
		int want = cases[i].taken ? 0 : -cases[i].code;
		assert_int_equal(flaws_take(&f, &err), want);
		assert_int_equal(err.code, -want);
		assert_int_equal(f.n, cases[i].taken);
	}
}

static void test_flaws__there_is_a_limit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct flaws f = {.a = a};
	struct error err = ERROR_INIT;
	for (int i = 0; i < FLAWS_MAX; i++)
		assert_ok(flaws_add(&f, "x", &err), &err);
	error_set(&err, E_INVALID, "the last straw");
	assert_int_equal(flaws_take(&f, &err), -E_LIMIT);
	assert_string_equal(err.msg,
			    "there are more than 100 faults; the next one is: the last straw");
	assert_int_equal(f.n, FLAWS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flaws__without_a_list_the_first_error_stays),
		cmocka_unit_test(test_flaws__what_is_of_one_thing_is_taken),
		cmocka_unit_test(test_flaws__there_is_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
