#include "tests/lib/test.h"

#include "alm/io/quota.h"

static const struct quota_limit limits[N_QUOTAS] = {
	[QUOTA_CONNECTIONS] = {3, 5, 2},
	[QUOTA_ANSWER_BYTES] = {100, 150, 50},
	[QUOTA_QUEUE_BYTES] = {10, 15, 5},
};

static enum quota_verdict take(struct quota *q, struct quota_user *u, size_t n)
{
	return quota_take(q, u, QUOTA_CONNECTIONS, n);
}

static void test_quota__users_share_and_administrators_have_more(void **state)
{
	(void)state;
	CLEANUP(quota_freep) struct quota *q = quota_new(limits);
	struct quota_user *a = quota_user_ref(q, "a", false), *b = quota_user_ref(q, "b", false),
			  *root = quota_user_ref(q, "a", true),
			  *other = quota_user_ref(q, "r", true);
	assert_ptr_not_equal(a, root);
	assert_ptr_equal(a, quota_user_ref(q, "a", false));
	assert_int_equal(take(q, a, 3), QUOTA_OK);
	assert_int_equal(take(q, a, 1), QUOTA_USER_FULL);
	assert_int_equal(take(q, b, 3), QUOTA_ALL_FULL);
	assert_int_equal(take(q, b, 2), QUOTA_OK);
	/* 5 of 5 are taken: 2 are left for administrators, whoever of them. */
	assert_int_equal(take(q, root, 1), QUOTA_OK);
	assert_int_equal(take(q, other, 1), QUOTA_OK);
	assert_int_equal(take(q, root, 1), QUOTA_ALL_FULL);
	quota_give(q, a, QUOTA_CONNECTIONS, 3);
	assert_int_equal(take(q, root, 3), QUOTA_OK);
	/* Where administrators have more than their share, the others keep theirs. */
	assert_int_equal(take(q, a, 3), QUOTA_OK);
	quota_give(q, a, QUOTA_CONNECTIONS, 3);
	quota_give(q, b, QUOTA_CONNECTIONS, 2);
	quota_give(q, root, QUOTA_CONNECTIONS, 4);
	quota_give(q, other, QUOTA_CONNECTIONS, 1);
	struct quota_user *all[] = {a, a, b, root, other};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		quota_user_unref(q, all[i]);
}

static void test_quota__the_first_answer_passes_and_queues_are_told(void **state)
{
	(void)state;
	CLEANUP(quota_freep) struct quota *q = quota_new(limits);
	struct quota_user *a = quota_user_ref(q, "a", false);
	assert_int_equal(quota_take(q, a, QUOTA_ANSWER_BYTES, 1000), QUOTA_OK);
	assert_int_equal(quota_take(q, a, QUOTA_ANSWER_BYTES, 1), QUOTA_USER_FULL);
	quota_give(q, a, QUOTA_ANSWER_BYTES, 1000);
	quota_add(q, a, QUOTA_QUEUE_BYTES, 10);
	assert_int_equal(quota_check(q, a, QUOTA_QUEUE_BYTES), QUOTA_OK);
	quota_add(q, a, QUOTA_QUEUE_BYTES, 1);
	assert_int_equal(quota_check(q, a, QUOTA_QUEUE_BYTES), QUOTA_USER_FULL);
	quota_give(q, a, QUOTA_QUEUE_BYTES, 11);
	quota_user_unref(q, a);
}

static void test_quota__the_limits_leave_room_for_real_clients(void **state)
{
	(void)state;
	for (int i = 0; i < N_QUOTAS; i++) {
		const struct quota_limit *l = &quota_limits[i];
		assert_true(l->user > 0 && l->user <= l->all && l->admins > 0);
		assert_non_null(quota_name((enum quota_what)i));
	}
	/* A watch has a connection, a body of the largest size fits often. */
	assert_true(quota_limits[QUOTA_WATCHES].user < quota_limits[QUOTA_CONNECTIONS].user);
	assert_true(quota_limits[QUOTA_BODY_BYTES].user >= 10 * ((size_t)3 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quota__users_share_and_administrators_have_more),
		cmocka_unit_test(test_quota__the_first_answer_passes_and_queues_are_told),
		cmocka_unit_test(test_quota__the_limits_leave_room_for_real_clients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
