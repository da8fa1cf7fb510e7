#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/io/metrics_server.h"
#include "alm/io/transport.h"

struct fixture {
	struct loop *loop;
	struct metrics *metrics;
	struct metrics_server *server;
	const char *missing;
	int status;
	bool done;
	struct strbuf body;
};

static const char *not_ready(void *arg)
{
	return ((struct fixture *)arg)->missing;
}

static void on_head(void *arg, int status, const struct http_headers *h)
{
	(void)h;
	((struct fixture *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
	strbuf_addstr(&((struct fixture *)arg)->body, chunk);
}

static void on_done(void *arg, const struct error *err)
{
	struct fixture *f = arg;
	if (err)
		f->status = -err->code;
	f->done = true;
	loop_stop(f->loop);
}

static int get(struct fixture *f, struct transport *t, const char *target)
{
	static const struct transport_events events = {on_head, on_data, on_done};
	struct transport_request r = {
		.method = "GET", .target = target, .timeout_ns = NS_PER_MIN, .body_max = 1 << 20};
	f->done = false;
	strbuf_clear(&f->body);
	(void)transport_start(t, &r, &events, f);
	while (!f->done)
		loop_run(f->loop);
	return f->status;
}

static void test_metrics_server__metrics_health_and_readiness(void **state)
{
	(void)state;
	struct fixture f = {.loop = loop_event_new(),
			    .metrics = metrics_new(),
			    .missing = "no run has ended",
			    .body = STRBUF_INIT(STRBUF_SMALL)};
	struct error err = ERROR_INIT;
	struct transport *t = NULL;
	char url[64];
	struct metrics_server_config c = {
		.listen = "127.0.0.1:0", .metrics = f.metrics, .not_ready = not_ready, .arg = &f};
	assert_ok(metrics_server_start(f.loop, &c, &f.server, &err), &err);
	snprintf(url, sizeof(url), "http://%s", metrics_server_address(f.server));
	struct transport_config tc = {.base_url = url};
	assert_ok(transport_curl_new(f.loop, &tc, &t, &err), &err);
	metric_add(metrics_counter(f.metrics, "rollout_executions_total", "h", NULL), 3);
	assert_int_equal(get(&f, t, "/healthz"), 200);
	assert_int_equal(get(&f, t, "/readyz"), 503);
	assert_string_equal(f.body.buf, "no run has ended");
	f.missing = NULL;
	assert_int_equal(get(&f, t, "/readyz"), 200);
	assert_int_equal(get(&f, t, "/metrics"), 200);
	assert_non_null(strstr(f.body.buf, "rollout_executions_total 3\n"));
	assert_int_equal(get(&f, t, "/debug"), 404);
	transport_free(t);
	metrics_server_free(f.server);
	metrics_free(f.metrics);
	strbuf_release(&f.body);
	loop_free(f.loop);
}

static void test_metrics_server__off_is_none(void **state)
{
	(void)state;
	struct loop *l = loop_event_new();
	struct error err = ERROR_INIT;
	struct metrics_server *s = NULL;
	struct metrics_server_config c = {.listen = "off"};
	assert_ok(metrics_server_start(l, &c, &s, &err), &err);
	assert_null(s);
	c.listen = "nonsense";
	assert_true(metrics_server_start(l, &c, &s, &err) < 0);
	assert_true(cstr_has_prefix(err.msg, "--metrics-listen: "));
	metrics_server_free(s);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_server__metrics_health_and_readiness),
		cmocka_unit_test(test_metrics_server__off_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
