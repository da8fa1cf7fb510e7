/* When what somebody changes again and again is put back, and when it is left for a while. */
#include "tests/lib/test.h"

#include "alm/engine/repairs.h"

#define NOW (INT64_C(1893571200) * NS_PER_S)

static void add(struct obj **known, int64_t now_ns)
{
	struct obj *next = repairs_add(*known, now_ns);
	obj_unref(*known);
	*known = next;
}

static void test_repairs__five_in_ten_minutes_and_then_hourly(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *known = NULL;
	int64_t now = NOW;
	assert_int_equal(repairs_left(NULL, now), 0);
	for (int i = 0; i < REPAIRS_MAX; i++) {
		assert_int_equal(repairs_left(known, now), 0);
		add(&known, now);
		now += NS_PER_S;
	}
	assert_int_equal(repairs_left(known, now), REPAIRS_PAUSE_NS - NS_PER_S);
	/* whoever is still there an hour later has one more, and another hour */
	for (int i = 0; i < 3; i++) {
		now += repairs_left(known, now);
		assert_int_equal(repairs_left(known, now), 0);
		add(&known, now);
		assert_int_equal(repairs_left(known, now), REPAIRS_PAUSE_NS);
	}
	/* it stayed so for more than that: what comes now is another matter */
	now += REPAIRS_PAUSE_NS + REPAIRS_NS;
	add(&known, now);
	assert_int_equal(repairs_left(known, now), 0);
}

static void test_repairs__four_are_no_fight(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *known = NULL;
	for (int i = 0; i < 20; i++) {
		add(&known, NOW + i * (REPAIRS_NS / (REPAIRS_MAX - 1)));
		assert_int_equal(repairs_left(known, NOW + i * (REPAIRS_NS / (REPAIRS_MAX - 1))),
				 0);
	}
	assert_true(obj_len(obj_get(known, "ns")) < REPAIRS_MAX);
}

static void test_repairs__a_clock_that_was_set_back_holds_nothing_up(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *known = NULL;
	for (int i = 0; i < REPAIRS_MAX; i++)
		add(&known, NOW);
	assert_int_equal(repairs_left(known, NOW - NS_PER_S), 0);
	add(&known, NOW - NS_PER_S);
	assert_int_equal(repairs_left(known, NOW - NS_PER_S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repairs__five_in_ten_minutes_and_then_hourly),
		cmocka_unit_test(test_repairs__four_are_no_fight),
		cmocka_unit_test(test_repairs__a_clock_that_was_set_back_holds_nothing_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
