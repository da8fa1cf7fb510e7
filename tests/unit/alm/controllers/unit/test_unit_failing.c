/* When reconciles of a unit that fail are told. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_failing.h"

/* A letter a reconcile: f fails with code, h gets half way, w works; a second lies between two. F: it fails, and that
 * is told. */
static void hold(int code, const char *passes)
{
	struct unit_failing f = {0};
	struct error err = ERROR_INIT;
	error_set(&err, code, "no");
	for (size_t i = 0; passes[i]; i++) {
		bool fails = passes[i] == 'f' || passes[i] == 'F';
		bool told = unit_failing_pass(&f, (int64_t)i * NS_PER_S, passes[i] == 'h',
					      fails ? &err : NULL);
		if (told != (passes[i] == 'F'))
			fail_msg("%d, %s: told is %d at %zu", code, passes, told, i);
	}
}

static void test_unit_failing__what_does_not_pass_at_the_third_time(void **state)
{
	static const int codes[] = {E_INVALID, E_FORBIDDEN, E_UNAUTHORIZED};
	(void)state;
	/* getting half way is no proof of what is forbidden */
	hold(E_FORBIDDEN, "fhfhF");
	hold(E_FORBIDDEN, "fhhfhhF");
	hold(E_FORBIDDEN, "ffhhhffF");
	hold(E_INVALID, "fhfhfhffF");
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		hold(codes[i], "ffFF");
		hold(codes[i], "fwffF");
	}
}

/* Two minutes after the first of them. */
static void test_unit_failing__what_may_pass_after_two_minutes(void **state)
{
	static const int64_t late = 2 * NS_PER_MIN;
	(void)state;
	struct unit_failing f = {0};
	struct error err = ERROR_INIT;
	error_set(&err, E_UNAVAILABLE, "no");
	assert_false(unit_failing_pass(&f, NS_PER_S, false, &err));
	for (int64_t at = NS_PER_S; at < NS_PER_S + late; at += NS_PER_S)
		assert_false(unit_failing_pass(&f, at, false, &err));
	assert_false(unit_failing_pass(&f, NS_PER_S + late - 1, false, &err));
	assert_true(unit_failing_pass(&f, NS_PER_S + late, false, &err));
	assert_false(unit_failing_pass(&f, NS_PER_S + late, false, NULL));
	assert_false(unit_failing_pass(&f, NS_PER_S + late, false, &err)); /* it begins anew */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_failing__what_does_not_pass_at_the_third_time),
		cmocka_unit_test(test_unit_failing__what_may_pass_after_two_minutes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
