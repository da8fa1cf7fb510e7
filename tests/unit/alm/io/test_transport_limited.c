#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/io/transport.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct transport *limited;
	int n_heads, n_done, n_lost;
	char order[64];
};

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct fixture *f = arg;
	(void)h;
	assert_int_equal(status, 200);
	f->n_heads++;
}

static void on_data(void *arg, struct str chunk)
{
	struct fixture *f = arg;
	size_t n = strlen(f->order);
	snprintf(f->order + n, sizeof(f->order) - n, "%.*s", STR_ARG(chunk));
}

static void on_done(void *arg, const struct error *err)
{
	struct fixture *f = arg;
	f->n_done++;
	f->n_lost += err != NULL;
}

static const struct transport_events events = {on_head, on_data, on_done};

/* The fake is freed by the test, not by what limits it. */
static void kept(struct transport *t)
{
	(void)t;
}

struct borrowed {
	struct transport transport;
	struct transport *of;
};

static struct call *borrowed_start(struct transport *t, const struct transport_request *r,
				   const struct transport_events *e, void *arg)
{
	return transport_start(CONTAINER_OF(t, struct borrowed, transport)->of, r, e, arg);
}

static void borrowed_cancel(struct transport *t, struct call *c)
{
	transport_cancel(CONTAINER_OF(t, struct borrowed, transport)->of, c);
}

static struct borrowed borrowed;

static void setup(struct fixture *f, double qps, int64_t burst)
{
	static const struct transport_ops ops = {borrowed_start, borrowed_cancel, kept};
	*f = (struct fixture){.loop = loop_fake_new(0)};
	f->fake = transport_fake_new(f->loop);
	borrowed = (struct borrowed){{&ops}, transport_fake_transport(f->fake)};
	f->limited = transport_limited_new(f->loop, &borrowed.transport, qps, burst);
}

static void teardown(struct fixture *f)
{
	transport_free(f->limited);
	transport_fake_free(f->fake);
	loop_free(f->loop);
}

static struct call *get(struct fixture *f, const char *target)
{
	struct transport_request r = {.method = "GET", .target = target};
	return transport_start(f->limited, &r, &events, f);
}

/* What was started, look by look of a second. */
static void test_transport_limited__burst_then_so_many_a_second(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 5, 10);
	for (int i = 0; i < 40; i++) {
		fake_answer(f.fake, "GET", "/x", 200, "");
		(void)get(&f, "/x");
	}
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 10);
	for (size_t s = 1; s <= 6; s++) {
		loop_fake_run(f.loop, NS_PER_S);
		assert_int_equal(fake_count(f.fake), 10 + 5 * s);
	}
	loop_fake_run(f.loop, NS_PER_S);
	assert_int_equal(f.n_done, 40);
	assert_int_equal(f.n_heads, 40);
	teardown(&f);
}

/* An idle second is worth requests, up to burst. */
static void test_transport_limited__the_bucket_fills_up_to_burst(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 2, 3);
	for (int i = 0; i < 12; i++)
		fake_answer(f.fake, "GET", "/x", 200, "");
	for (int i = 0; i < 3; i++)
		(void)get(&f, "/x");
	loop_fake_run(f.loop, NS_PER_HOUR);
	for (int i = 0; i < 5; i++)
		(void)get(&f, "/x");
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 3 + 3);
	loop_fake_run(f.loop, NS_PER_S);
	assert_int_equal(fake_count(f.fake), 3 + 5);
	for (int i = 0; i < 4; i++)
		(void)get(&f, "/x");
	loop_fake_run(f.loop, 10 * NS_PER_S);
	assert_int_equal(f.n_done, 12);
	teardown(&f);
}

static void test_transport_limited__in_order_and_cancelled(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1, 1);
	fake_answer(f.fake, "GET", "/a", 200, "a");
	fake_answer(f.fake, "GET", "/c", 200, "c");
	fake_lose(f.fake, "GET", "/d");
	fake_stream(f.fake, "GET", "/e", 200, "");
	(void)get(&f, "/a");
	struct call *b = get(&f, "/b");
	(void)get(&f, "/c");
	(void)get(&f, "/d");
	struct call *e = get(&f, "/e");
	transport_cancel(f.limited, b); /* it was never sent, and takes no turn */
	loop_fake_run(f.loop, NS_PER_S);
	assert_string_equal(f.order, "ac");
	loop_fake_run(f.loop, 3 * NS_PER_S);
	assert_int_equal(fake_count(f.fake), 4);
	assert_int_equal(f.n_done, 3);
	assert_int_equal(f.n_lost, 1);
	transport_cancel(f.limited, e);
	assert_int_equal(fake_open(f.fake), 0);
	teardown(&f);
}

static void test_transport_limited__freed_with_calls(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, 1, 1);
	fake_stream(f.fake, "GET", "/a", 200, "");
	(void)get(&f, "/a");
	(void)get(&f, "/b");
	loop_fake_settle(f.loop);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transport_limited__burst_then_so_many_a_second),
		cmocka_unit_test(test_transport_limited__the_bucket_fills_up_to_burst),
		cmocka_unit_test(test_transport_limited__in_order_and_cancelled),
		cmocka_unit_test(test_transport_limited__freed_with_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
