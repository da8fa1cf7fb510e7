/* test_keytable.c: it says what a map of the same keys says. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/keytable.h"
#include "alm/base/map.h"

struct value {
	size_t a, b;
};

static const char *key_of(char out[32], unsigned i)
{
	snprintf(out, 32, "key-%u", i);
	return out;
}

static void compare(const struct keytable *t, const struct map *m, unsigned keys)
{
	char key[32];
	struct value v;
	assert_int_equal(keytable_count(t), map_count(m));
	for (unsigned i = 0; i < keys; i++) {
		bool there = map_has(m, key_of(key, i));
		assert_int_equal(keytable_get(t, key, &v), there);
		if (there) {
			assert_int_equal(v.a, map_number(m, key));
			assert_int_equal(v.b, ~v.a);
		}
	}
}

static bool is_even(void *arg, const void *value)
{
	const struct value *v = value;
	*(size_t *)arg += 1;
	return v->a % 2 == 0;
}

static void test_keytable__says_what_a_map_says(void **state)
{
	(void)state;
	enum { KEYS = 1000 };
	struct keytable *t = keytable_new(sizeof(struct value));
	struct map *m = map_new(NULL);
	unsigned x = 7;
	char key[32];
	compare(t, m, KEYS);
	assert_false(keytable_del(t, "key-1"));
	for (unsigned i = 1; i <= 20000; i++) {
		x = x * 1103515245 + 12345;
		key_of(key, (x >> 8) % KEYS);
		if (x >> 31) {
			assert_int_equal(keytable_del(t, key), map_del(m, key));
		} else {
			keytable_set(t, key, &(struct value){i, ~(size_t)i});
			map_set_number(m, key, i);
		}
		if (i % 4000 == 0)
			compare(t, m, KEYS);
	}
	size_t asked = 0, n = keytable_count(t);
	keytable_filter(t, is_even, &asked);
	assert_int_equal(asked, n);
	for (unsigned i = 0; i < KEYS; i++)
		if (map_number(m, key_of(key, i)) % 2)
			map_del(m, key);
	compare(t, m, KEYS);
	keytable_free(t);
	map_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keytable__says_what_a_map_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
