#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/io/peers.h"

static void test_peers__failures_have_a_bucket(void **state)
{
	(void)state;
	CLEANUP(peers_freep) struct peers *p = peers_new();
	int64_t now = 100 * NS_PER_S;
	struct peer *one = peers_enter(p, "10.0.0.1", now), *two = peers_enter(p, "10.0.0.2", now);
	assert_ptr_equal(one, peers_enter(p, "10.0.0.1", now));
	for (int i = 0; i < PEER_FAILURES; i++)
		assert_true(peer_may_fail(one, now + i));
	assert_false(peer_may_fail(one, now + NS_PER_S / 2));
	assert_true(peer_may_fail(two, now));
	assert_true(peer_may_fail(one, now + NS_PER_S + 100));
	assert_false(peer_may_fail(one, now + NS_PER_S + 100));
	for (int i = 0; i < PEER_FAILURES; i++)
		assert_true(peer_may_fail(one, now + 100 * NS_PER_S));
}

static void test_peers__addresses_without_connections_are_forgotten(void **state)
{
	(void)state;
	CLEANUP(peers_freep) struct peers *p = peers_new();
	struct peer *kept = peers_enter(p, "kept", 0);
	char name[32];
	for (int i = 0; i < 3 * PEERS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		struct peer *peer = peers_enter(p, name, i);
		peer_may_fail(peer, i); /* unpaid for a second: forgotten all the same */
		peer_leave(peer, true);
		assert_true(peers_count(p) <= PEERS_MAX);
	}
	assert_int_equal(kept->n_anonymous, 1);
	peer_authenticated(kept);
	assert_int_equal(kept->n_anonymous, 0);
	peer_leave(kept, false);
	assert_int_equal(kept->n_conns, 0);
}

/* Whoever has still to pay is remembered for as long as there is room by those that have. */
static void test_peers__who_has_not_paid_is_forgotten_last(void **state)
{
	(void)state;
	CLEANUP(peers_freep) struct peers *p = peers_new();
	char name[32];
	struct peer *poor = peers_enter(p, "poor", 0);
	for (int i = 0; i < PEER_FAILURES; i++)
		assert_true(peer_may_fail(poor, 0));
	peer_leave(poor, true);
	for (int i = 0; i < 2 * PEERS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		peer_leave(peers_enter(p, name, 0), true);
	}
	assert_true(peers_count(p) <= PEERS_MAX);
	poor = peers_enter(p, "poor", 0);
	assert_false(peer_may_fail(poor, 0));
	peer_leave(poor, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peers__who_has_not_paid_is_forgotten_last),
		cmocka_unit_test(test_peers__failures_have_a_bucket),
		cmocka_unit_test(test_peers__addresses_without_connections_are_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
