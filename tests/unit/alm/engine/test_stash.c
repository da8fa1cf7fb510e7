#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/engine/stash.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static void put_bytes(struct stash *s, const char *id, size_t n)
{
	stash_put(s, id, NULL, str_n(xcalloc(1, n), n), NULL, 0);
}

/* A value of about n bytes. */
static void put_value(struct stash *s, const char *id, size_t n, int64_t now_ns)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(n + 1);
	for (size_t i = 0; i < n; i++)
		strbuf_addc(&b, 'x');
	stash_put(s, id, NULL, STR_NONE, obj_stringn(strbuf_str(&b)), now_ns);
}

static const char *name(char buf[32], const char *head, size_t i)
{
	snprintf(buf, 32, "%s%zu", head, i);
	return buf;
}

static void test_stash__one_over_the_bound_takes_the_least_recently_used(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	char id[32];
	for (size_t i = 0; i < 63; i++)
		put_bytes(s, name(id, "a", i), MIB);
	assert_int_equal(stash_count(s), 63);
	assert_non_null(stash_get(s, "a0")); /* used: not the oldest any more */
	put_bytes(s, "b", MIB);
	assert_non_null(stash_get(s, "a0"));
	assert_null(stash_get(s, "a1"));
	assert_non_null(stash_get(s, "a2"));
	assert_non_null(stash_get(s, "b"));
	assert_true(stash_bytes(s) <= STASH_BYTES_MAX);
	stash_free(s);
}

/* A clock that was set back makes nothing young for hours. */
static void test_stash__what_is_of_later_than_now_is_old(void **state)
{
	(void)state;
	const struct outcome o = {.at_ns = NS_PER_HOUR};
	assert_true(outcome_is_younger(&o, NS_PER_HOUR, NS_PER_S));
	assert_true(outcome_is_younger(&o, NS_PER_HOUR + NS_PER_S - 1, NS_PER_S));
	assert_false(outcome_is_younger(&o, NS_PER_HOUR + NS_PER_S, NS_PER_S));
	assert_false(outcome_is_younger(&o, NS_PER_HOUR - 1, NS_PER_S));
}

/* Twice as long after each failure in a row, and an hour behind the sixth; of a clock that was set back nothing is known. */
static void test_stash__when_to_try_again(void **state)
{
	static const struct {
		unsigned failures;
		int64_t age_ns, left_ns;
	} rows[] = {
		{1, 0, NS_PER_MIN},
		{1, NS_PER_MIN - 1, 1},
		{1, NS_PER_MIN, 0},
		{1, NS_PER_MIN + 1, 0},
		{1, -1, 0},
		{2, 0, 2 * NS_PER_MIN},
		{6, NS_PER_MIN, 31 * NS_PER_MIN},
		{7, 0, NS_PER_HOUR},
		{1000, NS_PER_HOUR - 1, 1},
		{0, 0, NS_PER_HOUR},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct outcome o = {.at_ns = NS_PER_HOUR, .failures = rows[i].failures};
		assert_int_equal(outcome_retry_in(&o, NS_PER_HOUR + rows[i].age_ns),
				 rows[i].left_ns);
	}
}

static struct str digest(void)
{
	return str_n(xmemdup("digest", 6), 6);
}

/* Small ones are not counted but weighed: five thousand used to be one too many. */
static void test_stash__many_small_ones_fit(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	char id[32];
	for (size_t i = 0; i < 50000; i++)
		stash_put(s, name(id, "seen:", i), NULL, digest(), NULL, 0);
	for (size_t i = 0; i < 50000; i++)
		assert_non_null(stash_get(s, name(id, "seen:", i)));
	for (size_t i = 0; i < 300000; i++)
		stash_put(s, name(id, "other:", i), NULL, digest(), NULL, 0);
	assert_true(stash_bytes(s) <= STASH_BYTES_MAX);
	stash_free(s);
}

/* More keys at once than there is room for: each asks, and finds its answer when its turn comes. */
static void test_stash__what_nobody_has_read_stays(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	char id[32];
	for (size_t i = 0; i < 100; i++)
		put_value(s, name(id, "render:", i), MIB, 0);
	for (size_t i = 0; i < 100; i++) {
		assert_non_null(stash_get(s, name(id, "render:", i)));
		put_value(s, name(id, "other:", i), KIB, 0);
	}
	assert_true(stash_bytes(s) <= STASH_BYTES_MAX);
	stash_free(s);
}

static void test_stash__but_not_for_ever(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	char id[32];
	for (size_t i = 0; i < 100; i++)
		put_value(s, name(id, "render:", i), MIB, 0);
	assert_true(stash_bytes(s) > STASH_BYTES_MAX);
	put_value(s, "last", KIB, STASH_UNREAD_NS - 1);
	assert_int_equal(stash_count(s), 101);
	put_value(s, "last", KIB, STASH_UNREAD_NS);
	assert_true(stash_bytes(s) <= STASH_BYTES_MAX);
	assert_non_null(stash_get(s, "last"));
	stash_free(s);
}

static void test_stash__one_larger_than_all(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	put_bytes(s, "small", KIB);
	put_bytes(s, "large", STASH_BYTES_MAX + 1);
	assert_non_null(stash_get(s, "large"));
	assert_null(stash_get(s, "small"));
	put_bytes(s, "small", KIB);
	assert_null(stash_get(s, "large"));
	assert_non_null(stash_get(s, "small"));
	stash_free(s);
}

static void test_stash__failures_in_a_row(void **state)
{
	(void)state;
	struct stash *s = stash_new();
	struct error err;
	error_set(&err, E_IO, "no");
	for (unsigned i = 1; i < 4; i++) {
		stash_put(s, "a", &err, STR_NONE, NULL, 0);
		assert_int_equal(stash_get(s, "a")->failures, i);
	}
	size_t before = stash_bytes(s);
	stash_put(s, "a", &err, STR_NONE, NULL, 0);
	assert_int_equal(stash_bytes(s), before);
	stash_put(s, "a", NULL, STR_NONE, NULL, 0);
	assert_int_equal(stash_get(s, "a")->failures, 0);
	stash_drop(s, "a");
	assert_null(stash_get(s, "a"));
	assert_int_equal(stash_bytes(s), 0);
	stash_free(s);
}

/* 200,000 of them, and whatever comes behind: those that were forgotten were not applied. */
static void test_stash__what_was_applied_is_bounded(void **state)
{
	(void)state;
	char d[SHA256_HEX], other[SHA256_HEX], id[32];
	struct stash *s = stash_new();
	sha256_hex(STR("a"), d);
	sha256_hex(STR("b"), other);
	stash_set_applied(s, "uid", d, 7);
	assert_true(stash_is_applied(s, "uid", d));
	assert_false(stash_is_applied(s, "uid", other));
	assert_int_equal(stash_applied_ns(s, "uid"), 7);
	stash_set_applied(s, "uid", other, 8);
	assert_false(stash_is_applied(s, "uid", d));
	assert_int_equal(stash_applied_ns(s, "uid"), 8);
	assert_int_equal(stash_first_applied_ns(s, "uid"), 7);
	stash_drop_applied(s, "uid");
	assert_false(stash_is_applied(s, "uid", other));
	assert_int_equal(stash_applied_ns(s, "uid"), 0);
	for (size_t i = 0; i < APPLIED_MAX; i++)
		stash_set_applied(s, name(id, "u", i), d, 1);
	for (size_t i = 0; i < APPLIED_MAX; i += 1000)
		assert_true(stash_is_applied(s, name(id, "u", i), d));
	stash_set_applied(s, "one more", d, 1);
	size_t left = 0;
	for (size_t i = 0; i < APPLIED_MAX; i++)
		left += stash_is_applied(s, name(id, "u", i), d);
	assert_int_equal(left, APPLIED_MAX / 2);
	assert_true(stash_is_applied(s, "one more", d));
	stash_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stash__what_is_of_later_than_now_is_old),
		cmocka_unit_test(test_stash__when_to_try_again),
		cmocka_unit_test(test_stash__what_was_applied_is_bounded),
		cmocka_unit_test(test_stash__one_over_the_bound_takes_the_least_recently_used),
		cmocka_unit_test(test_stash__many_small_ones_fit),
		cmocka_unit_test(test_stash__what_nobody_has_read_stays),
		cmocka_unit_test(test_stash__but_not_for_ever),
		cmocka_unit_test(test_stash__one_larger_than_all),
		cmocka_unit_test(test_stash__failures_in_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
