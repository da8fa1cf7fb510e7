/* transport_local; transport_curl is tested in test_server.c, over a socket. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "tests/lib/http_client.h"

struct fixture {
	struct loop *loop;
	struct transport *transport;
	struct exchange *held;
	int n_requests, n_closed;
	bool wants_close;
};

static void on_close(void *arg)
{
	struct fixture *f = arg;
	f->n_closed++;
	f->held = NULL;
}

static void handle(void *arg, struct exchange *x)
{
	struct fixture *f = arg;
	const struct http_request *r = x->request;
	f->n_requests++;
	const char *auth = http_header(&r->headers, "authorization");
	char *text =
		arena_fmt(x->arena, "%s %s ?%s %.*s %s %s", r->method, r->path, r->query,
			  STR_ARG(r->body), auth, r->trusted_audit_id ? r->trusted_audit_id : "-");
	if (strcmp(r->path, "/echo") == 0) {
		exchange_reply(x, 200, NULL, str_of(text));
		return;
	}
	f->held = x;
	if (f->wants_close) {
		x->on_close = on_close;
		x->on_close_arg = f;
	}
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->loop = loop_event_new();
	f->transport = transport_local_new(f->loop, handle, f, "tok");
	f->wants_close = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	transport_free(f->transport);
	loop_free(f->loop);
	xfree(f);
	return 0;
}

static void test_transport__local_answers_in_a_later_turn(void **state)
{
	struct fixture *f = *state;
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "POST",
				      .target = "/echo?x=1",
				      .body = STR("b"),
				      .trusted_audit_id = "o/7"};
	call_start(f->transport, &r, &res);
	assert_int_equal(f->n_requests, 0);
	assert_int_equal(res.n_done, 0);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.status, 200);
	assert_string_equal(res.body.buf, "POST /echo ?x=1 b Bearer tok o/7");
	assert_int_equal(res.err.code, 0);
	strbuf_release(&res.body);
}

static void test_transport__local_streams_and_cuts(void **state)
{
	struct fixture *f = *state;
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/stream"};
	call_start(f->transport, &r, &res);
	assert_true(turn_until(f->loop, &f->n_requests, 1));
	exchange_begin(f->held, 200, NULL);
	assert_int_equal(exchange_write(f->held, STR("one")), 3);
	assert_int_equal(exchange_write(f->held, STR("two")), 6);
	assert_int_equal(res.status, 0); /* never from inside the other side's call */
	assert_true(turn_until(f->loop, &res.n_chunks, 1));
	assert_string_equal(res.body.buf, "onetwo");
	exchange_cut(f->held);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.err.code, E_IO);
	assert_int_equal(f->n_closed, 0);
	strbuf_release(&res.body);
}

static void test_transport__local_cancel_is_told_to_the_handler(void **state)
{
	struct fixture *f = *state;
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/stream"};
	struct call *c = call_start(f->transport, &r, &res);
	transport_cancel(f->transport, c); /* before the handler saw it */
	for (int i = 0; i < 3; i++)
		loop_turn(f->loop);
	assert_int_equal(f->n_requests, 0);
	c = call_start(f->transport, &r, &res);
	assert_true(turn_until(f->loop, &f->n_requests, 1));
	transport_cancel(f->transport, c);
	assert_int_equal(f->n_closed, 1);
	/* A handler that did not ask to be told answers into the void. */
	f->wants_close = false;
	c = call_start(f->transport, &r, &res);
	assert_true(turn_until(f->loop, &f->n_requests, 2));
	transport_cancel(f->transport, c);
	exchange_reply(f->held, 200, NULL, STR("late"));
	for (int i = 0; i < 3; i++)
		loop_turn(f->loop);
	assert_int_equal(res.n_done, 0);
	assert_int_equal(res.status, 0);
	strbuf_release(&res.body);
}

struct canceller {
	struct fixture *f;
	struct call *call;
	int n;
};

static void cancel_at_data(void *arg, struct str chunk)
{
	struct canceller *c = arg;
	assert_true(chunk.len > 0);
	c->n++;
	transport_cancel(c->f->transport, c->call);
}

static void never(void *arg, const struct error *err)
{
	(void)arg;
	fail_msg("done after a cancel: %s", err ? err->msg : "");
}

static void test_transport__local_may_be_cancelled_inside_a_callback(void **state)
{
	struct fixture *f = *state;
	struct canceller c = {.f = f};
	const struct transport_events events = {.data = cancel_at_data, .done = never};
	struct transport_request r = {.method = "GET", .target = "/stream"};
	c.call = transport_start(f->transport, &r, &events, &c);
	assert_true(turn_until(f->loop, &f->n_requests, 1));
	exchange_begin(f->held, 200, NULL);
	exchange_write(f->held, STR("x"));
	assert_true(turn_until(f->loop, &c.n, 1));
	assert_int_equal(f->n_closed, 1);
	c.call = transport_start(f->transport, &r, &events, &c);
	assert_true(turn_until(f->loop, &f->n_requests, 2));
	exchange_reply(f->held, 200, NULL, STR("whole"));
	assert_true(turn_until(f->loop, &c.n, 2));
	assert_int_equal(f->n_closed, 1);
}

static void test_transport__local_has_limits(void **state)
{
	struct fixture *f = *state;
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/echo", .body_max = 3};
	call_start(f->transport, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.err.code, E_LIMIT);
	r = (struct transport_request){.method = "GET", .target = "/hold", .timeout_ns = NS_PER_MS};
	call_start(f->transport, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 2));
	assert_int_equal(res.err.code, E_TIMEOUT);
	assert_int_equal(f->n_closed, 1);
	call_start(f->transport, &(struct transport_request){.method = "GET", .target = "/hold"},
		   &res);
	assert_true(turn_until(f->loop, &f->n_requests, 3));
	strbuf_release(&res.body); /* the open call dies with the transport */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_transport__local_answers_in_a_later_turn),
		TEST(test_transport__local_streams_and_cuts),
		TEST(test_transport__local_cancel_is_told_to_the_handler),
		TEST(test_transport__local_may_be_cancelled_inside_a_callback),
		TEST(test_transport__local_has_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
