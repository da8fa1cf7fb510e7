#include "alm/sources/source.h"

#include "tests/lib/test.h"

#define MS INT64_C(1000000)

/* Reads of a folder that n changes make, one every gap_ms. */
static size_t reads(size_t n, int64_t gap_ms)
{
	int64_t first = 0, due = 0, now = MS;
	size_t count = 0;
	for (size_t i = 0; i < n; i++, now += gap_ms * MS) {
		if (due && due <= now) {
			count++;
			first = 0;
		}
		due = now + source_notice(&first, now);
	}
	return count + 1; /* after the last */
}

static void test_source__a_burst_is_read_once_in_two_seconds(void **state)
{
	(void)state;
	assert_int_equal(reads(1, 100), 1);
	assert_int_equal(reads(100, 1), 1);
	assert_int_equal(reads(100, 100), 5);
	assert_int_equal(reads(1000, 100), 50);
	/* each after its pause */
	assert_int_equal(reads(100, 500), 100);
}

static void test_source__what_is_late_is_read_at_once(void **state)
{
	(void)state;
	int64_t first = 5 * MS;
	assert_int_equal(source_notice(&first, first + SOURCE_LATE_NS - MS), MS);
	assert_int_equal(source_notice(&first, first + 2 * SOURCE_LATE_NS), 0);
	assert_int_equal(first, 5 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source__a_burst_is_read_once_in_two_seconds),
		cmocka_unit_test(test_source__what_is_late_is_read_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
