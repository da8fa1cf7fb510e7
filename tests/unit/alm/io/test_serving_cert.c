/* The certificate of a server that runs for long; by a clock of its own, in front of a real server. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/io/addresses.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"
#include "tests/lib/http_client.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/server_fixture.h"

/* What this machine's clients take now is made by a clock that began so long ago. */
#define AGO (21 * NS_PER_DAY)

struct serving {
	struct fixture *f;
	struct loop *loop;
	char *ca[2], *ca_key[2];
	struct serving_cert c;
};

static int setup_serving(void **state)
{
	struct serving *s = xcalloc(1, sizeof(*s));
	void *f = NULL;
	assert_int_equal(fixture_setup(&f), 0);
	s->f = f;
	s->loop = loop_fake_new(loop_now(s->f->loop) - AGO);
	for (int i = 0; i < 2; i++)
		assert_ok(tls_ca_new(s->loop, "a CA", &s->ca[i], &s->ca_key[i], &s->f->err),
			  &s->f->err);
	s->c = (struct serving_cert){.loop = s->loop,
				     .ca_cert = s->ca[0],
				     .ca_key = s->ca_key[0],
				     .listen = "127.0.0.1:0"};
	*state = s;
	return 0;
}

static int teardown_serving(void **state)
{
	struct serving *s = *state;
	void *f = s->f;
	serving_cert_release(&s->c);
	assert_true(loop_next_deadline(s->loop) == INT64_MAX); /* nobody looks any more */
	loop_free(s->loop);
	for (int i = 0; i < 2; i++) {
		xfree(s->ca[i]);
		xfree(s->ca_key[i]);
	}
	xfree(s);
	return fixture_teardown(&f);
}

static void serve(struct serving *s)
{
	assert_ok(serving_cert_make(&s->c, &s->f->err), &s->f->err);
	listen_with(s->f, (struct server_config){.cert_pem = s->c.cert, .key_pem = s->c.key});
	serving_cert_keep(&s->c, s->f->server);
}

/* Does a new client that knows this CA take the server by this name? */
static bool is_taken(struct serving *s, const char *ca, const char *name)
{
	struct fixture *f = s->f;
	struct transport *t = NULL;
	struct result res = RESULT_INIT;
	const struct transport_config c = {
		.base_url = f->url, .ca_pem = ca, .tls_server_name = name};
	assert_ok(transport_curl_new(f->loop, &c, &t, &f->err), &f->err);
	bool ret =
		call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res) != 0; /* a status of HTTP */
	transport_free(t);
	strbuf_release(&res.body);
	return ret;
}

static void test_serving_cert__the_next_one_comes_when_a_third_is_left(void **state)
{
	struct serving *s = *state;
	serve(s);
	CLEANUP(xfreep) char *first = xstrdup(s->c.cert);
	s->c.ca_cert = s->ca[1];
	s->c.ca_key = s->ca_key[1];
	/* it is valid for 30 days, the first hour of them before it is made */
	loop_fake_run(s->loop, 20 * NS_PER_DAY - NS_PER_HOUR);
	assert_string_equal(s->c.cert, first);
	assert_true(is_taken(s, s->ca[0], NULL));
	loop_fake_run(s->loop, NS_PER_HOUR);
	assert_string_not_equal(s->c.cert, first);
	assert_true(is_taken(s, s->ca[1], NULL));
	assert_false(is_taken(s, s->ca[0], NULL));
	int64_t until = s->c.until_ns, from = s->c.from_ns;
	assert_ok(tls_lifetime(s->c.cert, &s->c.from_ns, &s->c.until_ns, &s->f->err), &s->f->err);
	assert_true(until == s->c.until_ns && from == s->c.from_ns);
	/* and the clock that has left it is seen within seconds */
	CLEANUP(xfreep) char *second = xstrdup(s->c.cert);
	loop_fake_run(s->loop, NS_PER_MIN);
	assert_string_equal(s->c.cert, second);
	loop_fake_step(s->loop, -5 * NS_PER_DAY);
	loop_fake_run(s->loop, 11 * NS_PER_S);
	assert_string_not_equal(s->c.cert, second);
}

static void test_serving_cert__other_addresses_make_another(void **state)
{
	static const char *const hosts[] = {"one.example", "two.example"};
	struct serving *s = *state;
	s->c.hosts = hosts;
	s->c.n_hosts = 1;
	serve(s);
	CLEANUP(xfreep) char *first = xstrdup(s->c.cert);
	assert_true(is_taken(s, s->ca[0], "one.example"));
	assert_false(is_taken(s, s->ca[0], "two.example"));
	loop_fake_run(s->loop, NS_PER_MIN);
	assert_string_equal(s->c.cert, first);
	s->c.n_hosts = 2;
	loop_fake_run(s->loop, 11 * NS_PER_S);
	assert_true(is_taken(s, s->ca[0], "one.example"));
	assert_true(is_taken(s, s->ca[0], "two.example"));
}

/* What it has stays; it is tried again, and not each time that it looks. */
static void test_serving_cert__one_that_cannot_be_made_is_tried_again(void **state)
{
	struct serving *s = *state;
	serve(s);
	CLEANUP(xfreep) char *first = xstrdup(s->c.cert);
	s->c.ca_key = s->ca_key[1]; /* of another CA */
	loop_fake_run(s->loop, 20 * NS_PER_DAY);
	assert_string_equal(s->c.cert, first);
	assert_true(is_taken(s, s->ca[0], NULL));
	s->c.ca_key = s->ca_key[0];
	int64_t wait = loop_next_deadline(s->loop) - loop_mono(s->loop);
	assert_true(wait > NS_PER_MIN && wait <= 10 * NS_PER_MIN);
	loop_fake_run(s->loop, wait);
	assert_string_not_equal(s->c.cert, first);
	assert_true(is_taken(s, s->ca[0], NULL));
}

/* To the moment, and what cannot be signed is told. */
static void test_serving_cert__when_one_is_due(void **state)
{
	static const struct {
		int64_t now;
		bool is_due;
	} rows[] = {{99, true}, {100, false}, {120, false}, {121, true}, {131, true}};
	struct serving *s = *state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(serving_cert_is_due(100, 130, rows[i].now), rows[i].is_due);
	s->c.ca_key = s->ca_key[1];
	assert_true(serving_cert_make(&s->c, &s->f->err) < 0);
	assert_null(s->c.cert);
	assert_null(s->c.names);
}

static void test_serving_cert__names_what_is_listened_on(void **state)
{
	static const char *const hosts[] = {"alm.example"};
	static const struct {
		const char *listen, *names; /* NULL: every address of the machine */
	} rows[] = {
		{"127.0.0.1:6443", "alm.example 127.0.0.1 "},
		{"[fd00::1]:6443", "alm.example fd00::1 "},
		{"here.example:0", "alm.example here.example "},
		{"0.0.0.0:6443", NULL},
		{"[::]:6443", NULL},
		{":6443", NULL},
	};
	struct serving *s = *state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *all[ADDRESSES_MAX];
	size_t n = addresses_local(a, all);
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "alm.example ");
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || strcmp(all[i - 1], all[i]) <= 0);
		strbuf_addf(&b, "%s ", all[i]);
	}
	assert_non_null(strstr(b.buf, " 127.0.0.1 "));
	s->c.hosts = hosts;
	s->c.n_hosts = 1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		s->c.listen = rows[i].listen;
		assert_ok(serving_cert_make(&s->c, &s->f->err), &s->f->err);
		assert_string_equal(s->c.names, rows[i].names ? rows[i].names : b.buf);
	}
	strbuf_release(&b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_serving, teardown_serving)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_serving_cert__the_next_one_comes_when_a_third_is_left),
		T(test_serving_cert__other_addresses_make_another),
		T(test_serving_cert__one_that_cannot_be_made_is_tried_again),
		T(test_serving_cert__names_what_is_listened_on),
		T(test_serving_cert__when_one_is_due),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
