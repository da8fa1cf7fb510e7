/* multimap: lists of one pointer, of many, and of one again. */
#include "alm/base/multimap.h"

#include "tests/lib/test.h"

static int numbers[20];

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void assert_list(const struct multimap *m, const char *key, const int *want, size_t n_want)
{
	size_t n;
	void *const *list = multimap_get(m, key, &n);
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(*(const int *)list[i], want[i]);
	if (!n_want)
		assert_null(list);
}

static void fill(void)
{
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		numbers[i] = (int)i;
}

static void test_multimap__keeps_the_order_of_adding(void **state)
{
	(void)state;
	CLEANUP(multimap_freep) struct multimap *m = multimap_new();
	static const int all[] = {3, 1, 2, 3}, left[] = {3, 2, 3}, last[] = {3};
	fill();
	assert_list(m, "a", NULL, 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		multimap_add(m, "a", &numbers[all[i]]);
		assert_list(m, "a", all, i + 1);
	}
	multimap_add(m, "b", &numbers[9]);
	multimap_remove(m, "a", &numbers[1]);
	multimap_remove(m, "a", &numbers[7]);
	multimap_remove(m, "c", &numbers[7]);
	assert_list(m, "a", left, ARRAY_LEN(left));
	multimap_remove(m, "a", &numbers[3]);
	multimap_remove(m, "a", &numbers[2]);
	assert_list(m, "a", last, ARRAY_LEN(last));
	multimap_remove(m, "a", &numbers[3]);
	assert_list(m, "a", NULL, 0);
	assert_list(m, "b", (const int[]){9}, 1);
}

static void test_multimap__keeps_an_order_of_its_own(void **state)
{
	(void)state;
	CLEANUP(multimap_freep) struct multimap *m = multimap_new();
	int want[ARRAY_LEN(numbers)];
	fill();
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		want[i] = (int)i;
		multimap_add_sorted(m, "k", &numbers[(i * 7 + 3) % ARRAY_LEN(numbers)], by_number);
	}
	assert_list(m, "k", want, ARRAY_LEN(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multimap__keeps_the_order_of_adding),
		cmocka_unit_test(test_multimap__keeps_an_order_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
