/* Two candidates against the real API server, in process, in virtual time. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/engine/leader.h"
#include "tests/lib/exchange_fake.h"

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/alm-system/leases/alm-controller"

struct candidate {
	struct fixture *f;
	bool cut;  /* its requests are answered with 503 */
	bool deaf; /* they reach the server, and no answer comes back */
	bool slow; /* one waits on its way to the server: late */
	struct exchange *late;
	struct transport *transport;
	struct client *client;
	struct leader *leader;
	int n_elected, n_lost, n_waiting, n_resigned, n_failed;
	bool (*is_dead)(const char *holder);
	int64_t wait_ns;
	int64_t epoch;
};

struct fixture {
	struct apifake *server;
	struct candidate one, two;
};

static void handle(void *arg, struct exchange *x)
{
	struct candidate *c = arg;
	struct http_headers h = {0};
	if (c->slow) {
		c->late = x;
		return;
	}
	CLEANUP(xfreep) char *body = xstrndup(x->request->body.ptr, x->request->body.len);
	if (c->deaf)
		(void)apifake_send(c->f->server, x->request->method, x->request->path,
				   "application/json", body);
	if (c->cut || c->deaf)
		exchange_reply(x, 503, &h, STR("cut"));
	else
		apiserver_handle(apifake_server(c->f->server), x);
}

static void on_elected(void *arg, int64_t epoch)
{
	struct candidate *c = arg;
	c->n_elected++;
	c->epoch = epoch;
	const struct leader *other = c == &c->f->one ? c->f->two.leader : c->f->one.leader;
	assert_false(other && leader_is_elected(other));
}

static void on_lost(void *arg)
{
	((struct candidate *)arg)->n_lost++;
}

static void on_waiting(void *arg, const char *holder)
{
	struct candidate *c = arg;
	c->n_waiting++;
	assert_string_equal(holder, c->is_dead ? "three" : c == &c->f->one ? "two" : "one");
}

static void on_failed(void *arg, const struct error *err)
{
	((struct candidate *)arg)->n_failed++;
	assert_string_equal(err->msg, "the server answered 503");
}

static void on_resigned(void *arg)
{
	((struct candidate *)arg)->n_resigned++;
}

static void join(struct fixture *f, struct candidate *c, const char *identity)
{
	c->f = f;
	if (!c->client) {
		c->transport = transport_local_new(apifake_loop(f->server), handle, c, "secret");
		c->client = client_new(apifake_loop(f->server), c->transport);
	}
	const struct leader_config config = {.client = c->client,
					     .ns = "alm-system",
					     .name = "alm-controller",
					     .identity = identity,
					     .on_elected = on_elected,
					     .on_lost = on_lost,
					     .on_waiting = on_waiting,
					     .on_failed = on_failed,
					     .is_dead = c->is_dead,
					     .wait_ns = c->wait_ns,
					     .arg = c};
	c->leader = leader_new(&config);
	apifake_advance(f->server, NS_PER_S);
}

static void leave(struct candidate *c)
{
	leader_free(STEAL(c->leader));
	client_free(STEAL(c->client));
	transport_free(STEAL(c->transport));
}

/* Both are there, one is elected. */
static void setup(struct fixture *f)
{
	*f = (struct fixture){.server = apifake_new(NULL)};
	f->one.f = f->two.f = f;
	f->one.client = NULL;
	join(f, &f->one, "one");
	join(f, &f->two, "two");
	assert_int_equal(f->one.n_elected, 1);
	assert_int_equal(f->two.n_elected, 0);
	assert_int_equal(f->two.n_waiting, 1);
}

/* The renewal of the one that is elected is on its way: late. */
static void setup_renewing(struct fixture *f)
{
	setup(f);
	f->one.slow = true;
	apifake_advance(f->server, LEADER_RETRY_NS);
	assert_non_null(f->one.late);
}

static void teardown(struct fixture *f)
{
	leave(&f->one);
	leave(&f->two);
	apifake_free(f->server);
}

static const char *spec(struct fixture *f, const char *path)
{
	struct answer a = apifake_do(f->server, "GET", LEASE, NULL);
	assert_int_equal(a.status, 200);
	return obj_str(a.json, path);
}

static void test_leader__one_acts_and_the_other_waits(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	apifake_advance(f.server, 10 * NS_PER_MIN);
	assert_true(leader_is_elected(f.one.leader));
	assert_int_equal(f.two.n_elected, 0);
	assert_int_equal(f.one.n_lost, 0);
	assert_int_equal(f.one.n_elected, 1);
	assert_int_equal(f.two.n_waiting, 1);
	assert_string_equal(spec(&f, "spec.holderIdentity"), "one");
	teardown(&f);
}

/* Whoever showed a failure since shows the holder again. */
static void test_leader__the_holder_is_told_again_after_a_failure(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.two.cut = true;
	apifake_advance(f.server, NS_PER_MIN);
	assert_true(f.two.n_failed > 0);
	assert_int_equal(f.two.n_waiting, 1);
	f.two.cut = false;
	apifake_advance(f.server, NS_PER_MIN);
	assert_int_equal(f.two.n_waiting, 2);
	teardown(&f);
}

static void test_leader__a_crash_is_noticed_when_the_lease_has_run_out(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	leave(&f.one);
	apifake_advance(f.server, LEADER_LEASE_NS - 10 * NS_PER_S);
	assert_int_equal(f.two.n_elected, 0);
	apifake_advance(f.server, 20 * NS_PER_S);
	assert_int_equal(f.two.n_elected, 1);
	assert_int_equal(f.two.epoch, 1);
	teardown(&f);
}

static bool one_is_dead(const char *holder)
{
	return cstr_eq(holder, "one");
}

/* Two see it at once: the second write is of a Lease that has changed since. */
static void test_leader__a_dead_holder_is_not_waited_for(void **state)
{
	(void)state;
	struct fixture f = {0};
	f.server = apifake_new(NULL);
	f.one.f = f.two.f = &f;
	join(&f, &f.one, "one");
	leave(&f.one);
	f.one.n_elected = 0;
	f.two.is_dead = f.one.is_dead = one_is_dead;
	f.two.slow = true;
	join(&f, &f.two, "two"); /* it looks, and the answer is on its way */
	struct exchange *look = STEAL(f.two.late);
	apiserver_handle(apifake_server(f.server), look);
	apifake_advance(f.server, NS_PER_S / 10);
	struct exchange *taken = STEAL(f.two.late); /* so is its write */
	assert_non_null(taken);
	join(&f, &f.one, "three"); /* takes it meanwhile */
	assert_int_equal(f.one.n_elected, 1);
	f.two.slow = false;
	apiserver_handle(apifake_server(f.server), taken);
	apifake_advance(f.server, LEADER_LEASE_NS);
	assert_int_equal(f.two.n_elected, 0);
	assert_true(leader_is_elected(f.one.leader));
	assert_string_equal(spec(&f, "spec.holderIdentity"), "three");
	teardown(&f);
}

static void test_leader__the_same_log_started_again_does_not_wait(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	leave(&f.one);
	join(&f, &f.one, "one");
	assert_int_equal(f.one.n_elected, 2);
	assert_int_equal(f.one.epoch, 0);
	teardown(&f);
}

static void test_leader__resigned_the_other_takes_over_at_its_next_try(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	leader_resign(f.one.leader, on_resigned, &f.one);
	apifake_advance(f.server, LEADER_RETRY_NS + 2 * NS_PER_S);
	assert_int_equal(f.one.n_resigned, 1);
	assert_int_equal(f.one.n_lost, 0);
	assert_int_equal(f.two.n_elected, 1);
	teardown(&f);
}

static void test_leader__cut_off_it_stops_before_another_may_start(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.one.cut = true;
	apifake_advance(f.server, LEADER_RENEW_NS + NS_PER_S);
	assert_int_equal(f.one.n_lost, 1);
	assert_int_equal(f.two.n_elected, 0);
	apifake_advance(f.server, LEADER_LEASE_NS);
	assert_int_equal(f.two.n_elected, 1);
	f.one.cut = false;
	apifake_advance(f.server, NS_PER_MIN);
	assert_int_equal(f.one.n_elected, 1); /* back, and waiting */
	assert_int_equal(f.one.n_waiting, 1);
	assert_true(leader_is_elected(f.two.leader));
	teardown(&f);
}

/* One direction of its network is down all the time: what it writes arrives, and it never hears. */
static void test_leader__deaf_it_stops_and_does_not_keep_the_lease(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	const char *before = spec(&f, "spec.renewTime");
	f.one.deaf = true;
	apifake_advance(f.server, LEADER_RENEW_NS + NS_PER_S);
	assert_string_not_equal(spec(&f, "spec.renewTime"), before); /* one of them arrived */
	assert_int_equal(f.one.n_lost, 1);
	assert_int_equal(f.two.n_elected, 0);
	apifake_advance(f.server, LEADER_LEASE_NS + LEADER_RETRY_NS);
	assert_int_equal(f.two.n_elected, 1);
	apifake_advance(f.server, 10 * NS_PER_MIN);
	assert_true(leader_is_elected(f.two.leader));
	assert_string_equal(spec(&f, "spec.holderIdentity"), "two");
	f.one.deaf = false;
	apifake_advance(f.server, NS_PER_MIN);
	assert_int_equal(f.one.n_elected, 1);
	assert_int_equal(f.one.n_waiting, 1);
	teardown(&f);
}

static void test_leader__a_short_cut_changes_nothing(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.one.cut = true;
	apifake_advance(f.server, 12 * NS_PER_S);
	f.one.cut = false;
	apifake_advance(f.server, 5 * NS_PER_MIN);
	assert_int_equal(f.one.n_lost, 0);
	assert_int_equal(f.one.n_elected, 1);
	assert_int_equal(f.two.n_elected, 0);
	teardown(&f);
}

/* Others count from the write, whenever its answer arrives. */
static void test_leader__a_late_answer_gives_no_more_time(void **state)
{
	(void)state;
	struct fixture f;
	setup_renewing(&f);
	apifake_advance(f.server, 7 * NS_PER_S);
	f.one.slow = false;
	f.one.cut = true;
	apiserver_handle(apifake_server(f.server), STEAL(f.one.late));
	apifake_advance(f.server, LEADER_RENEW_NS - 11 * NS_PER_S);
	assert_int_equal(f.one.n_lost, 0);
	apifake_advance(f.server, 4 * NS_PER_S);
	assert_int_equal(f.one.n_lost, 1);
	teardown(&f);
}

/* A renewal is under way: what it brings is what is given up. */
static void test_leader__resigned_while_it_renews(void **state)
{
	(void)state;
	struct fixture f;
	setup_renewing(&f);
	leader_resign(f.one.leader, on_resigned, &f.one);
	assert_int_equal(f.one.n_resigned, 0);
	f.one.slow = false;
	apiserver_handle(apifake_server(f.server), STEAL(f.one.late));
	apifake_advance(f.server, NS_PER_S);
	assert_int_equal(f.one.n_resigned, 1);
	assert_string_equal(spec(&f, "spec.holderIdentity"), "");
	teardown(&f);
}

/* No answer comes: it is over all the same, and the Lease runs out. */
static void test_leader__resigned_without_an_answer(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.one.cut = true;
	leader_resign(f.one.leader, on_resigned, &f.one);
	apifake_advance(f.server, 3 * NS_PER_S);
	assert_int_equal(f.one.n_resigned, 1);
	assert_int_equal(f.two.n_elected, 0);
	apifake_advance(f.server, LEADER_LEASE_NS);
	assert_int_equal(f.two.n_elected, 1);
	assert_int_equal(f.one.n_lost, 0);
	teardown(&f);
}

static void test_leader__who_waits_looks_as_often_as_it_likes(void **state)
{
	(void)state;
	struct fixture f;
	f = (struct fixture){.server = apifake_new(NULL)};
	f.two.wait_ns = NS_PER_S / 10;
	f.one.f = f.two.f = &f;
	join(&f, &f.one, "one");
	join(&f, &f.two, "two");
	leader_resign(f.one.leader, on_resigned, &f.one);
	apifake_advance(f.server, NS_PER_S / 5);
	assert_int_equal(f.two.n_elected, 1);
	teardown(&f);
}

static void test_leader__what_the_server_says_is_told(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.one.cut = true;
	apifake_advance(f.server, LEADER_RENEW_NS - NS_PER_S);
	assert_true(f.one.n_failed >= 1);
	assert_int_equal(f.two.n_failed, 0);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leader__one_acts_and_the_other_waits),
		cmocka_unit_test(test_leader__the_holder_is_told_again_after_a_failure),
		cmocka_unit_test(test_leader__a_crash_is_noticed_when_the_lease_has_run_out),
		cmocka_unit_test(test_leader__a_dead_holder_is_not_waited_for),
		cmocka_unit_test(test_leader__the_same_log_started_again_does_not_wait),
		cmocka_unit_test(test_leader__resigned_the_other_takes_over_at_its_next_try),
		cmocka_unit_test(test_leader__cut_off_it_stops_before_another_may_start),
		cmocka_unit_test(test_leader__deaf_it_stops_and_does_not_keep_the_lease),
		cmocka_unit_test(test_leader__a_short_cut_changes_nothing),
		cmocka_unit_test(test_leader__a_late_answer_gives_no_more_time),
		cmocka_unit_test(test_leader__resigned_while_it_renews),
		cmocka_unit_test(test_leader__resigned_without_an_answer),
		cmocka_unit_test(test_leader__who_waits_looks_as_often_as_it_likes),
		cmocka_unit_test(test_leader__what_the_server_says_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
