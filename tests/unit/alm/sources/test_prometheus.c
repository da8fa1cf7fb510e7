/* One question to a Prometheus on loopback: what comes back, to whom a token is shown, and what ends it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"
#include "alm/sources/prometheus.h"
#include "alm/unit/check_prometheus.h"
#include "tests/lib/http_client.h"
#include "tests/lib/server_fixture.h"

#define GOOD "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}"

struct asked {
	struct fixture *f;
	int status;
	const char *body;
	struct strbuf seen; /* the request */
	int n_seen, n_done;
	struct error err;
	struct strbuf answer;
};

static void handle(void *arg, struct exchange *x)
{
	struct asked *q = arg;
	const struct http_request *r = x->request;
	const char *auth = http_header(&r->headers, "Authorization");
	strbuf_addf(&q->seen, "%s %s?%s %s", r->method, r->path, r->query, auth ? auth : "-");
	q->n_seen++;
	if (!q->status)
		return; /* it never answers */
	struct http_headers h = {0};
	http_header_add(&h, "Location", "http://127.0.0.1:1/");
	exchange_reply(x, q->status, &h, str_of(q->body));
}

static void listen_as(struct asked *q, bool tls)
{
	struct fixture *f = q->f;
	struct server_config c = {.listen = "127.0.0.1:0"};
	strbuf_init(&q->seen, 4096);
	strbuf_init(&q->answer, 2 * PROMETHEUS_ANSWER_MAX);
	if (tls) {
		assert_ok(tls_ca_new(f->loop, "p", &f->ca, &f->ca_key, &f->err), &f->err);
		assert_ok(tls_serving_new(f->loop, f->ca, f->ca_key, NULL, 0, &f->cert, &f->key,
					  &f->err),
			  &f->err);
		c.cert_pem = f->cert;
		c.key_pem = f->key;
	}
	assert_ok(server_listen(f->loop, &c, handle, q, &f->server, &f->err), &f->err);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(256);
	strbuf_addf(&b, "http%s://%s", tls ? "s" : "", server_address(f->server));
	f->url = strbuf_detach(&b);
}

static void done(void *arg, struct str body, const struct error *err)
{
	struct asked *q = arg;
	q->n_done++;
	if (err)
		q->err = *err;
	else
		strbuf_addstr(&q->answer, body);
}

static void ask_it(struct asked *q, const struct obj *secret, const char *address)
{
	q->n_done = 0;
	q->err = ERROR_INIT;
	strbuf_clear(&q->seen);
	strbuf_clear(&q->answer);
	(void)prometheus_ask(q->f->loop, NULL, secret, address, "up{a=\"b\"} / 2", done, q);
	assert_int_equal(q->n_done, 0); /* in a later turn, whatever it is */
	assert_true(turn_until(q->f->loop, &q->n_done, 1));
}

static void release(struct asked *q)
{
	strbuf_release(&q->seen);
	strbuf_release(&q->answer);
}

static void test_prometheus__an_answer_and_what_is_none(void **state)
{
	static const struct {
		int status;
		const char *body;
		int code;
		const char *why; /* NULL: it is the answer */
	} rows[] = {
		{200, GOOD, 0, NULL},
		{200, "<html>", 0, NULL}, /* check_prometheus.h says what that is */
		{400, "{\"status\":\"error\",\"error\":\"parse error: x\"}", E_UNAVAILABLE,
		 "Prometheus answers 400: parse error: x"},
		{401, "no", E_UNAUTHORIZED, "Prometheus answers 401"},
		{403, "", E_FORBIDDEN, "Prometheus answers 403"},
		{404, GOOD, E_NOTFOUND, "Prometheus answers 404"},
		{503, GOOD, E_UNAVAILABLE, "Prometheus answers 503"},
		{302, GOOD, E_UNAVAILABLE, "Prometheus answers 302"}, /* and it goes nowhere */
		{204, "", E_UNAVAILABLE, "Prometheus answers 204"},
	};
	struct asked q = {.f = *state};
	listen_as(&q, false);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		q.status = rows[i].status;
		q.body = rows[i].body;
		ask_it(&q, NULL, q.f->url);
		assert_string_equal(q.seen.buf,
				    "GET /api/v1/query?query=up%7Ba%3D%22b%22%7D%20%2F%202 -");
		assert_int_equal(q.err.code, rows[i].code);
		if (rows[i].why)
			assert_string_equal(q.err.msg, rows[i].why);
		else
			assert_string_equal(q.answer.buf, rows[i].body);
	}
	release(&q);
}

static void test_prometheus__a_large_answer_is_none(void **state)
{
	struct asked q = {.f = *state, .status = 200};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * PROMETHEUS_ANSWER_MAX);
	listen_as(&q, false);
	strbuf_pad(&b, ' ', PROMETHEUS_ANSWER_MAX + 1);
	q.body = b.buf;
	ask_it(&q, NULL, q.f->url);
	assert_int_equal(q.err.code, E_LIMIT);
	assert_int_equal(q.answer.len, 0);
	release(&q);
}

static struct obj *secret_for(const char *origin, const char *ca)
{
	struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)64 << 10);
	const char *const data[][2] = {{"token", "hush"}, {"origins", origin}, {"ca.crt", ca}};
	obj_set_str(o, "type", CREDENTIALS_TYPE);
	obj_set(o, "data", obj_map());
	for (size_t i = 0; i < ARRAY_LEN(data); i++) {
		strbuf_clear(&b);
		base64_encode(str_of(data[i][1]), &b);
		obj_set(obj_get_mut(o, "data"), data[i][0], obj_string(b.buf));
	}
	return o;
}

static void test_prometheus__a_token_goes_where_its_secret_says(void **state)
{
	struct asked q = {.f = *state, .status = 200, .body = GOOD};
	listen_as(&q, true);
	CLEANUP(obj_unrefp) struct obj *own = secret_for(q.f->url, q.f->ca);
	CLEANUP(obj_unrefp) struct obj *other = secret_for("https://other.example", q.f->ca);
	ask_it(&q, own, q.f->url);
	assert_int_equal(q.err.code, 0);
	assert_non_null(strstr(q.seen.buf, " Bearer hush"));
	ask_it(&q, other, q.f->url);
	assert_int_equal(q.err.code, E_NOTALLOWED);
	assert_string_equal(q.seen.buf, ""); /* nobody was asked */
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(256);
	strbuf_addf(&plain, "http://%s", server_address(q.f->server));
	ask_it(&q, own, plain.buf);
	assert_int_equal(q.err.code, E_NOTALLOWED);
	assert_string_equal(q.err.msg, "a token is sent over https:// only");
	assert_null(strstr(q.err.msg, "hush"));
	ask_it(&q, NULL, q.f->url); /* of a CA that nobody knows */
	assert_int_equal(q.err.code, E_IO);
	assert_string_equal(q.seen.buf, "");
	release(&q);
}

static void test_prometheus__what_is_cancelled_is_never_told(void **state)
{
	struct asked q = {.f = *state};
	listen_as(&q, false);
	struct prometheus_question *x =
		prometheus_ask(q.f->loop, NULL, NULL, q.f->url, "up", done, &q);
	assert_true(turn_until(q.f->loop, &q.n_seen, 1));
	prometheus_cancel(x);
	x = prometheus_ask(q.f->loop, NULL, NULL, "http://x y", "up", done, &q);
	prometheus_cancel(x); /* before it is told that this is no address */
	prometheus_cancel(NULL);
	settle_down(q.f);
	assert_int_equal(q.n_done, 0);
	release(&q);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_prometheus__an_answer_and_what_is_none),
		TEST(test_prometheus__a_large_answer_is_none),
		TEST(test_prometheus__a_token_goes_where_its_secret_says),
		TEST(test_prometheus__what_is_cancelled_is_never_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
