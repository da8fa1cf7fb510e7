#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/engine/deadlines.h"

static void test_deadlines__starts_with_what_the_wall_clock_leaves(void **state)
{
	(void)state;
	struct deadlines *d = deadlines_new();
	assert_int_equal(deadlines_left(d, "a", 100, 100, 5), 100);
	assert_int_equal(deadlines_left(d, "a", 100, 100, 50), 55);
	assert_int_equal(deadlines_left(d, "a", 100, -7, 105), 0);
	assert_int_equal(deadlines_left(d, "after a restart", 100, 40, 0), 40);
	assert_int_equal(deadlines_left(d, "clock jumped on", 100, -1000, 0), 10);
	assert_int_equal(deadlines_left(d, "clock jumped back", 100, 1000, 0), 100);
	assert_true(deadlines_left(d, "for ever", INT64_MAX, INT64_MAX, 100) > 0);
	deadlines_free(d);
}

/* More strategies at once than the table was made for, each looked at every second: all end. */
static void test_deadlines__one_over_the_bound_ends_as_well(void **state)
{
	(void)state;
	struct deadlines *d = deadlines_new();
	char id[32];
	for (int64_t second = 0; second <= 10; second++)
		for (int i = 0; i < DEADLINES_SWEPT + 1000; i++) {
			snprintf(id, sizeof(id), "strategy-%d", i);
			int64_t left = deadlines_left(d, id, 10 * NS_PER_S, 10 * NS_PER_S,
						      second * NS_PER_S);
			assert_int_equal(left, (10 - second) * NS_PER_S);
		}
	deadlines_free(d);
}

static void test_deadlines__what_is_long_over_goes(void **state)
{
	(void)state;
	struct deadlines *d = deadlines_new();
	char id[32];
	for (int i = 0; i < 100000; i++) {
		snprintf(id, sizeof(id), "strategy-%d", i);
		deadlines_left(d, id, NS_PER_S, NS_PER_S, i * NS_PER_S);
	}
	assert_true(deadlines_count(d) <= 2 * DEADLINES_SWEPT);
	assert_true(deadlines_left(d, "strategy-99999", NS_PER_S, NS_PER_S, 100000 * NS_PER_S) <=
		    0);
	deadlines_free(d);
}

/* Of any two: what the wall clock leaves, but for a tenth at least and all of it at most. */
static void test_deadlines__between_a_tenth_and_all(void **state)
{
	(void)state;
	struct deadlines *d = deadlines_new();
	char id[64];
	for (int64_t all = 10; all <= 40; all += 10)
		for (int64_t wall = -5; wall <= all + 5; wall++) {
			int64_t want = wall < all / 10 ? all / 10 : wall > all ? all : wall;
			snprintf(id, sizeof(id), "%lld of %lld", (long long)wall, (long long)all);
			assert_int_equal(deadlines_left(d, id, all, wall, 1000), want);
			assert_int_equal(deadlines_left(d, id, all, 0, 1001), want - 1);
		}
	deadlines_free(d);
	deadlines_free(NULL);
}

/* An hour after its end it is still known; a moment later it may begin again. */
static void test_deadlines__for_an_hour(void **state)
{
	(void)state;
	for (int64_t late = 0; late < 2; late++) {
		struct deadlines *d = deadlines_new();
		char id[32];
		int64_t now = 10 + DEADLINE_KEPT_NS + late;
		assert_int_equal(deadlines_left(d, "first", 10, 10, 0), 10);
		for (int i = 0; i <= DEADLINES_SWEPT; i++) {
			snprintf(id, sizeof(id), "strategy-%d", i);
			deadlines_left(d, id, NS_PER_DAY, NS_PER_DAY, now);
		}
		assert_true(deadlines_left(d, "first", 10, 10, now) == (late ? 10 : 10 - now));
		deadlines_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadlines__starts_with_what_the_wall_clock_leaves),
		cmocka_unit_test(test_deadlines__one_over_the_bound_ends_as_well),
		cmocka_unit_test(test_deadlines__what_is_long_over_goes),
		cmocka_unit_test(test_deadlines__between_a_tenth_and_all),
		cmocka_unit_test(test_deadlines__for_an_hour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
