#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/server.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"
#include "tests/lib/client_cert.h"
#include "tests/lib/http_client.h"
#include "tests/lib/server_fixture.h"

static struct transport *client(struct fixture *f, struct transport_config c)
{
	struct transport *t = NULL;
	c.base_url = f->url;
	assert_ok(transport_curl_new(f->loop, &c, &t, &f->err), &f->err);
	return t;
}

static void test_server__tls_answers_and_connections_are_reused(void **state)
{
	struct fixture *f = *state;
	listen_tls(f);
	CLEANUP(transport_freep) struct transport *t =
		client(f, (struct transport_config){.ca_pem = f->ca, .token = "tok"});
	CLEANUP(strbuf_release) struct strbuf big = STRBUF_INIT(HTTP_BODY_BYTES_MAX);
	strbuf_pad(&big, 'y', 1 << 20);
	struct result res = RESULT_INIT;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(call_wait(f->loop, t, "PUT", "/echo?a=%20b", STR("body"), &res),
				 200);
		assert_string_equal(res.body.buf, "PUT /echo?a=%20b body Bearer tok");
		assert_string_equal(res.type, "text/plain");
	}
	assert_int_equal(call_wait(f->loop, t, "POST", "/later", strbuf_str(&big), &res), 201);
	assert_string_equal(res.body.buf, "later");
	assert_int_equal(call_wait(f->loop, t, "GET", "/big", STR_NONE, &res), 200);
	assert_int_equal(res.body.len, 8 << 20);
	assert_int_equal(call_wait(f->loop, t, "HEAD", "/big", STR_NONE, &res), 200);
	assert_int_equal(res.body.len, 0);
	assert_int_equal(call_wait(f->loop, t, "DELETE", "/echo", STR_NONE, &res), 200);
	assert_int_equal(f->n_requests, 7);
	strbuf_release(&res.body);
}

static void test_server__clients_pin_ca_and_name(void **state)
{
	struct fixture *f = *state;
	listen_tls(f);
	CLEANUP(xfreep) char *other = NULL, *other_key = NULL;
	assert_ok(tls_ca_new(f->loop, "other CA", &other, &other_key, &f->err), &f->err);
	struct result res = RESULT_INIT;
	static const struct {
		bool own_ca, insecure;
		const char *name;
		bool works;
	} cases[] = {
		{true, false, NULL, true},
		{true, false, "localhost", true},
		{true, false, "elsewhere.example", false},
		{false, false, NULL, false},
		{false, true, NULL, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct transport_config c = {.ca_pem = cases[i].own_ca ? f->ca : other,
					     .tls_server_name = cases[i].name,
					     .insecure_skip_tls_verify = cases[i].insecure};
		CLEANUP(transport_freep) struct transport *t = client(f, c);
		int status = call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res);
		if (status != (cases[i].works ? 200 : 0))
			fail_msg("case %zu: %d %s", i, status, res.err.msg);
		assert_int_equal(res.err.code, cases[i].works ? 0 : E_IO);
	}
	strbuf_release(&res.body);
}

static void test_server__a_ca_key_of_another_ca_is_refused(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *ca = NULL, *ca_key = NULL, *other = NULL, *other_key = NULL;
	CLEANUP(xfreep) char *cert = NULL, *key = NULL;
	assert_ok(tls_ca_new(f->loop, "a CA", &ca, &ca_key, &f->err), &f->err);
	assert_ok(tls_ca_new(f->loop, "other CA", &other, &other_key, &f->err), &f->err);
	assert_true(tls_serving_new(f->loop, ca, other_key, NULL, 0, &cert, &key, &f->err) < 0);
	assert_true(tls_serving_new(f->loop, "junk", ca_key, NULL, 0, &cert, &key, &f->err) < 0);
	assert_true(tls_serving_new(f->loop, ca, "junk", NULL, 0, &cert, &key, &f->err) < 0);
	assert_null(cert);
	assert_null(key);
}

/* Who the server says it is, or "-" nobody, or "" turned away; with this certificate. */
static const char *named(struct fixture *f, const char *cert, const char *key, struct result *res)
{
	CLEANUP(transport_freep) struct transport *t = client(
		f, (struct transport_config){.ca_pem = f->ca, .cert_pem = cert, .key_pem = key});
	int status = call_wait(f->loop, t, "GET", "/client", STR_NONE, res);
	assert_true(status == 200 || res->err.code == E_IO);
	return status == 200 ? res->body.buf : "";
}

static void test_server__a_client_is_known_by_the_certificate_of_a_ca(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *ca = NULL, *ca_key = NULL, *other = NULL, *other_key = NULL;
	CLEANUP(xfreep) char *cert = NULL, *key = NULL, *nul_cert = NULL, *nul_key = NULL;
	CLEANUP(xfreep) char *foreign = NULL, *foreign_key = NULL, *both = NULL;
	struct result res = RESULT_INIT;
	assert_ok(tls_ca_new(f->loop, "clients", &ca, &ca_key, &f->err), &f->err);
	assert_ok(tls_ca_new(f->loop, "others", &other, &other_key, &f->err), &f->err);
	client_cert(ca, ca_key, "front-proxy", -1, &cert, &key);
	client_cert(ca, ca_key, "front-proxy\0x", 13, &nul_cert, &nul_key);
	client_cert(other, other_key, "front-proxy", -1, &foreign, &foreign_key);
	assert_ok(tls_ca_new(f->loop, "test CA", &f->ca, &f->ca_key, &f->err), &f->err);
	assert_ok(tls_serving_new(f->loop, f->ca, f->ca_key, NULL, 0, &f->cert, &f->key, &f->err),
		  &f->err);
	listen_with(f, (struct server_config){.cert_pem = f->cert, .key_pem = f->key});
	assert_string_equal(named(f, cert, key, &res), "-"); /* nobody's certificate counts */
	assert_ok(server_renew_clients(f->server, ca, &f->err), &f->err);
	assert_string_equal(named(f, cert, key, &res), "front-proxy");
	assert_string_equal(named(f, NULL, NULL, &res), "-");
	assert_string_equal(named(f, nul_cert, nul_key, &res), "-");
	assert_string_equal(named(f, foreign, foreign_key, &res), "");
	assert_string_equal(named(f, f->cert, f->key, &res), ""); /* of a server */
	/* Another certificate of its own keeps them, a text without any changes nothing. */
	assert_ok(server_renew(f->server, f->cert, f->key, &f->err), &f->err);
	assert_true(server_renew_clients(f->server, "junk", &f->err) < 0);
	assert_string_equal(named(f, cert, key, &res), "front-proxy");
	/* While a CA is replaced there are two. */
	struct strbuf b = STRBUF_INIT(HTTP_BODY_BYTES_MAX);
	strbuf_addf(&b, "%s%s", other, ca);
	both = strbuf_detach(&b);
	assert_ok(server_renew_clients(f->server, both, &f->err), &f->err);
	assert_string_equal(named(f, cert, key, &res), "front-proxy");
	assert_string_equal(named(f, foreign, foreign_key, &res), "front-proxy");
	assert_ok(server_renew_clients(f->server, other, &f->err), &f->err);
	assert_string_equal(named(f, cert, key, &res), "");
	strbuf_release(&res.body);
}

static void test_server__tokens_differ(void **state)
{
	struct fixture *f = *state;
	char a[TLS_TOKEN_MAX], b[TLS_TOKEN_MAX];
	tls_token(f->loop, a);
	tls_token(f->loop, b);
	assert_int_equal(strlen(a), 43);
	assert_string_not_equal(a, b);
}

static void test_server__a_stream_is_flushed_after_each_write(void **state)
{
	struct fixture *f = *state;
	listen_tls(f);
	CLEANUP(transport_freep) struct transport *t =
		client(f, (struct transport_config){.ca_pem = f->ca});
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/stream"};
	call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.status, 200));
	exchange_write(f->held, STR("{\"one\":1}\n"));
	assert_true(turn_until(f->loop, &res.n_chunks, 1));
	assert_string_equal(res.body.buf, "{\"one\":1}\n");
	exchange_write(f->held, STR("{\"two\":2}\n"));
	exchange_end(f->held);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.err.code, 0);
	assert_string_equal(res.body.buf, "{\"one\":1}\n{\"two\":2}\n");
	/* A cut is an error for the client, a cancel is told to the handler. */
	call_start(t, &r, &res);
	res.status = 0;
	assert_true(turn_until(f->loop, &res.status, 200));
	exchange_cut(f->held);
	assert_true(turn_until(f->loop, &res.n_done, 2));
	assert_int_equal(res.err.code, E_IO);
	assert_int_equal(f->n_closed, 0);
	res.status = 0;
	struct call *c = call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.status, 200));
	transport_cancel(t, c);
	assert_true(turn_until(f->loop, &f->n_closed, 1));
	assert_int_equal(res.n_done, 2);
	strbuf_release(&res.body);
}

static void test_server__a_reader_that_takes_nothing_is_cut(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fd = dial(f);
	say(fd, STR("GET /stream HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	hear(f, fd, CRLF CRLF);
	CLEANUP(strbuf_release) struct strbuf chunk = STRBUF_INIT(1 << 20);
	strbuf_pad(&chunk, 'z', 1 << 20);
	size_t queued = 0;
	for (int i = 0; i < 100 && f->held; i++) {
		queued = exchange_write(f->held, strbuf_str(&chunk));
		loop_turn(f->loop);
	}
	assert_true(queued > (size_t)1 << 20);
	assert_null(f->held);
	assert_int_equal(f->n_closed, 1);
	close(fd);
}

static void test_server__pipelined_requests_are_answered_in_order(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fd = dial(f);
	say(fd, STR("GET /later HTTP/1.1" CRLF "Host: x" CRLF CRLF "POST /echo?2 HTTP/1.1" CRLF
		    "Host: x" CRLF "Transfer-Encoding: chunked" CRLF CRLF "3" CRLF "abc" CRLF
		    "0" CRLF CRLF "GET /echo?3 HTTP/1.0" CRLF CRLF));
	const char *all = hear(f, fd, "");
	const char *one = strstr(all, "later"), *two = strstr(all, "POST /echo?2 abc"),
		   *three = strstr(all, "GET /echo?3");
	assert_true(one && two && three && one < two && two < three);
	assert_non_null(strstr(all, "Connection: close"));
	close(fd);
}

/* Sends what the socket takes, from *at on. */
static void push(int fd, struct str text, size_t *at)
{
	ssize_t n = send(fd, text.ptr + *at, text.len - *at, MSG_NOSIGNAL | MSG_DONTWAIT);
	assert_true(n >= 0 || errno == EAGAIN);
	*at += n > 0 ? (size_t)n : 0;
}

/* The numbers of "GET /echo?N" in what comes, which must be the next ones: the last of them. */
struct reader {
	char buf[65536];
	size_t n;
	int next;
};

static void pull(int fd, struct reader *r)
{
	size_t room = sizeof(r->buf) - 1 - r->n;
	assert_true(room > 0);
	ssize_t got = recv(fd, r->buf + r->n, room, MSG_DONTWAIT);
	assert_true(got > 0 || (got < 0 && errno == EAGAIN));
	r->n += got > 0 ? (size_t)got : 0;
	r->buf[r->n] = '\0';
	char *p = r->buf, *answer;
	while ((answer = strstr(p, "GET /echo?")) != NULL && strstr(answer, "  .") != NULL) {
		int64_t number;
		struct str rest = str_of(answer + strlen("GET /echo?")), text;
		str_cut(rest, ' ', &text, &rest);
		assert_true(str_parse_i64(text, &number));
		assert_int_equal(number, r->next++);
		p = strstr(answer, "  .") + 3;
	}
	r->n -= (size_t)(p - r->buf);
	memmove(r->buf, p, r->n);
}

static void test_server__a_megabyte_of_requests_is_served_in_order_and_stops_nobody(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT((size_t)2 << 20);
	int n_all = 0;
	while (all.len < (size_t)1 << 20)
		strbuf_addf(&all,
			    "GET /echo?%d HTTP/1.1" CRLF "Host: x" CRLF
			    "Authorization: ." CRLF CRLF,
			    n_all++);
	int flood = dial(f), fd = dial(f);
	size_t sent = 0;
	int64_t end = loop_mono(f->loop) + 60 * NS_PER_S;
	/* It does not read: the server stops to read, too. */
	for (size_t before = 1; sent != before && sent < all.len; loop_turn(f->loop)) {
		before = sent;
		push(flood, strbuf_str(&all), &sent);
	}
	for (int i = 0; i < 20; i++) {
		say(fd, STR("GET /echo?other HTTP/1.1" CRLF "Host: x" CRLF CRLF));
		assert_non_null(strstr(hear(f, fd, "GET /echo"), "GET /echo?other"));
	}
	struct reader *r = xcalloc(1, sizeof(*r));
	while (r->next < n_all && loop_mono(f->loop) < end) {
		if (sent < all.len)
			push(flood, strbuf_str(&all), &sent);
		loop_turn(f->loop);
		pull(flood, r);
	}
	assert_int_equal(r->next, n_all);
	xfree(r);
	close(flood);
	close(fd);
}

static void test_server__limits_and_framing_have_their_answers(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	CLEANUP(strbuf_release) struct strbuf huge = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&huge, "GET /echo HTTP/1.1" CRLF "Host: x" CRLF "X: ");
	strbuf_pad(&huge, 'h', 40000);
	const struct {
		struct str text;
		const char *want;
	} cases[] = {
		{strbuf_str(&huge), "HTTP/1.1 431 "},
		{STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF "Content-Length: 1" CRLF
		     "Transfer-Encoding: chunked" CRLF CRLF),
		 "HTTP/1.1 400 "},
		{STR("POST /echo HTTP/1.1" CRLF "Host: x" CRLF "Content-Length: 3145729" CRLF CRLF),
		 "HTTP/1.1 413 "},
		{STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF "Host: y" CRLF CRLF),
		 "HTTP/1.1 400 "},
		{STR("\x16\x03\x01\x02" CRLF CRLF CRLF), "HTTP/1.1 400 "},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd = dial(f);
		say(fd, cases[i].text);
		const char *answer = hear(f, fd, "");
		if (!cstr_has_prefix(answer, cases[i].want))
			fail_msg("case %zu: %s", i, answer);
		assert_non_null(strstr(answer, "\"kind\":\"Status\""));
		close(fd);
	}
	assert_int_equal(f->n_requests, 0);
}

static void test_server__expect_continue_is_answered_first(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fd = dial(f);
	say(fd, STR("PUT /echo HTTP/1.1" CRLF "Host: x" CRLF "Content-Length: 2" CRLF
		    "Expect: 100-continue" CRLF CRLF));
	assert_non_null(strstr(hear(f, fd, "100 Continue"), "HTTP/1.1 100 "));
	assert_int_equal(f->n_requests, 0);
	say(fd, STR("ok"));
	assert_non_null(strstr(hear(f, fd, "PUT /echo"), "PUT /echo? ok -"));
	close(fd);
}

static void test_server__slow_heads_end(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.header_ns = 50 * NS_PER_MS});
	int slow = dial(f), second = dial(f);
	say(slow, STR("GET / HT"));
	say(second, STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	assert_non_null(strstr(hear(f, second, "GET /echo"), "200 OK"));
	int64_t start = loop_mono(f->loop);
	assert_string_equal(hear(f, slow, ""), "");
	assert_true(loop_mono(f->loop) - start < 5 * NS_PER_S);
	close(slow);
	close(second);
}

static void test_server__a_client_that_leaves_is_told_once(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fd = dial(f);
	say(fd, STR("GET /stream HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	hear(f, fd, CRLF CRLF);
	close(fd);
	assert_true(turn_until(f->loop, &f->n_closed, 1));
	/* One that only stops sending still gets its answer. */
	fd = dial(f);
	say(fd, STR("GET /hold HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	shutdown(fd, SHUT_WR);
	assert_true(turn_until(f->loop, &f->n_requests, 2));
	for (int i = 0; i < 5; i++)
		loop_turn(f->loop);
	fixture_reply_held(f);
	assert_non_null(strstr(hear(f, fd, ""), "later"));
	assert_int_equal(f->n_closed, 1);
	close(fd);
}

/* The turn ends while the work of the second is still to do: the sanitizer tells whether it is freed with the loop. */
static void test_server__what_a_turn_has_not_come_to_ends_with_the_loop(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fds[] = {dial(f), dial(f)};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		say(fds[i], STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF CRLF));
		hear(f, fds[i], "GET /echo");
	}
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		say(fds[i], STR("GET /busy HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	loop_turn(f->loop);
	assert_int_equal(f->n_requests, 3);
	server_free(f->server);
	f->server = NULL;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

static void on_stopped(void *arg)
{
	((struct fixture *)arg)->n_stopped++;
}

static void test_server__stop_lets_answers_finish_and_cuts_streams(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int idle = dial(f), stream = dial(f);
	say(stream, STR("GET /stream HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	hear(f, stream, CRLF CRLF);
	server_stop(f->server, 50 * NS_PER_MS, on_stopped, f);
	assert_string_equal(hear(f, idle, ""), "");
	assert_true(turn_until(f->loop, &f->n_stopped, 1));
	assert_int_equal(f->n_closed, 1);
	close(idle);
	close(stream);
}

static void test_server__a_taken_port_is_named(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	struct server_config c = {.listen = server_address(f->server)};
	struct server *second = NULL;
	assert_int_equal(server_listen(f->loop, &c, fixture_handle, f, &second, &f->err),
			 -E_EXISTS);
	assert_non_null(strstr(f->err.msg, "is already in use"));
	c.listen = "nonsense";
	assert_int_equal(server_listen(f->loop, &c, fixture_handle, f, &second, &f->err), -E_USAGE);
	c.listen = "[::1]:0";
	if (server_listen(f->loop, &c, fixture_handle, f, &second, &f->err) == 0)
		assert_true(cstr_has_prefix(server_address(second), "[::1]:"));
	server_free(second);
}

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

static void test_server__tokens_are_read_again_after_401(void **state)
{
	struct fixture *f = *state;
	listen_tls(f);
	char path[] = "/tmp/alm-test-token-XXXXXX";
	close(mkstemp(path));
	assert_ok(file_write_atomic(path, STR("first\n"), 0600, &f->err), &f->err);
	CLEANUP(transport_freep) struct transport *t =
		client(f, (struct transport_config){.token_file = path, .ca_pem = f->ca});
	struct result res = RESULT_INIT;
	assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
	assert_non_null(strstr(res.body.buf, "Bearer first"));
	assert_ok(file_write_atomic(path, STR("second\n"), 0600, &f->err), &f->err);
	assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
	assert_non_null(strstr(res.body.buf, "Bearer first"));
	bool over = false;
	struct timer pause = {.fn = set_flag, .arg = &over};
	loop_arm(f->loop, &pause, 1100 * NS_PER_MS);
	while (!over)
		loop_turn(f->loop);
	struct transport_request r = {.method = "GET", .target = "/hold"};
	call_start(t, &r, &res);
	while (!f->held)
		loop_turn(f->loop);
	exchange_reply(f->held, 401, NULL, STR(""));
	assert_true(turn_until(f->loop, &res.n_done, 3));
	assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
	assert_non_null(strstr(res.body.buf, "Bearer second"));
	unlink(path);
	strbuf_release(&res.body);
}

/* As kubelet does with the CA of a cluster: the file has another one, whoever runs does not start again. */
static void test_server__its_ca_is_read_again_when_it_is_not_believed(void **state)
{
	struct fixture *f = *state;
	CLEANUP(xfreep) char *ca = NULL, *ca_key = NULL, *cert = NULL, *key = NULL;
	char path[] = "/tmp/alm-test-ca-XXXXXX";
	struct result res = RESULT_INIT;
	listen_tls(f);
	close(mkstemp(path));
	assert_ok(file_write_atomic(path, str_of(f->ca), 0600, &f->err), &f->err);
	CLEANUP(transport_freep) struct transport *t =
		client(f, (struct transport_config){.ca_file = path, .ca_pem = f->ca});
	CLEANUP(transport_freep) struct transport *pinned =
		client(f, (struct transport_config){.ca_pem = f->ca});
	assert_ok(tls_ca_new(f->loop, "next CA", &ca, &ca_key, &f->err), &f->err);
	assert_ok(tls_serving_new(f->loop, ca, ca_key, NULL, 0, &cert, &key, &f->err), &f->err);
	assert_ok(server_renew(f->server, cert, key, &f->err), &f->err);
	assert_ok(file_write_atomic(path, str_of(ca), 0600, &f->err), &f->err);
	for (int i = 0; i < 2; i++) { /* the first finds out */
		assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res) == 200,
				 i == 1);
		assert_int_not_equal(call_wait(f->loop, pinned, "GET", "/echo", STR_NONE, &res),
				     200);
	}
	unlink(path);
	strbuf_release(&res.body);
}

/* An open connection goes on with what it has; a new one gets the new certificate. */
static void test_server__a_certificate_is_renewed_while_it_runs(void **state)
{
	struct fixture *f = *state;
	char *ca = NULL, *ca_key = NULL, *cert = NULL, *key = NULL;
	listen_tls(f);
	CLEANUP(transport_freep) struct transport *old =
		client(f, (struct transport_config){.ca_pem = f->ca});
	struct result res = RESULT_INIT;
	assert_int_equal(call_wait(f->loop, old, "GET", "/echo", STR_NONE, &res), 200);
	assert_ok(tls_ca_new(f->loop, "next CA", &ca, &ca_key, &f->err), &f->err);
	assert_ok(tls_serving_new(f->loop, ca, ca_key, NULL, 0, &cert, &key, &f->err), &f->err);
	assert_ok(server_renew(f->server, cert, key, &f->err), &f->err);
	assert_int_equal(call_wait(f->loop, old, "GET", "/echo", STR_NONE, &res), 200);
	CLEANUP(transport_freep) struct transport *new =
		client(f, (struct transport_config){.ca_pem = ca});
	assert_int_equal(call_wait(f->loop, new, "GET", "/echo", STR_NONE, &res), 200);
	assert_true(server_renew(f->server, cert, f->key, &f->err) < 0); /* of two pairs */
	assert_int_equal(call_wait(f->loop, new, "GET", "/echo", STR_NONE, &res), 200);
	strbuf_release(&res.body);
	xfree(ca);
	xfree(ca_key);
	xfree(cert);
	xfree(key);
}

static void test_server__certificates_do_not_outlive_their_ca(void **state)
{
	struct fixture *f = *state;
	int64_t from = 0, until = 0, now = loop_now(f->loop);
	assert_ok(tls_ca_new(f->loop, "test CA", &f->ca, &f->ca_key, &f->err), &f->err);
	assert_ok(tls_serving_new(f->loop, f->ca, f->ca_key, NULL, 0, &f->cert, &f->key, &f->err),
		  &f->err);
	assert_ok(tls_lifetime(f->cert, &from, &until, &f->err), &f->err);
	assert_true(from <= now - NS_PER_HOUR + NS_PER_S && from > now - 2 * NS_PER_HOUR);
	assert_true(until > now + 29 * NS_PER_DAY && until < now + 31 * NS_PER_DAY);
	assert_true(tls_lifetime("junk", &from, &until, &f->err) < 0);
}

static void test_server__a_certificate_is_due_before_its_end(void **state)
{
	(void)state;
	const int64_t from = 1000 * NS_PER_DAY, until = from + 30 * NS_PER_DAY;
	assert_false(serving_cert_is_due(from, until, from));
	assert_false(serving_cert_is_due(from, until, from + 20 * NS_PER_DAY));
	assert_true(serving_cert_is_due(from, until, from + 20 * NS_PER_DAY + 1));
	assert_true(serving_cert_is_due(from, until, until + NS_PER_DAY));
	assert_true(serving_cert_is_due(from, until, from - 1)); /* the clock went back */
}

static void test_server__credentials_stay_out_of_plain_http(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	const struct transport_config with[] = {{.token = "t"},
						{.token_file = "/none"},
						{.username = "u", .password = "p"},
						{.password = "p"},
						{.cert_pem = "c", .key_pem = "k"}};
	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		struct transport_config c = with[i];
		struct transport *t = NULL;
		c.base_url = f->url;
		assert_int_equal(transport_curl_new(f->loop, &c, &t, &f->err), -E_FORBIDDEN);
		assert_null(t);
	}
	CLEANUP(transport_freep) struct transport *t = client(f, (struct transport_config){0});
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/echo"};
	http_header_add(&r.headers, "authorization", "Bearer t");
	call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.err.code, E_FORBIDDEN);
	assert_int_equal(f->n_requests, 0);
	strbuf_release(&res.body);
}

static void test_server__clients_have_limits(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	CLEANUP(transport_freep) struct transport *t = client(f, (struct transport_config){0});
	struct result res = RESULT_INIT;
	struct transport_request r = {.method = "GET", .target = "/big", .body_max = 1000};
	call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 1));
	assert_int_equal(res.err.code, E_LIMIT);
	r = (struct transport_request){
		.method = "GET", .target = "/hold", .timeout_ns = 30 * NS_PER_MS};
	call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 2));
	assert_int_equal(res.err.code, E_TIMEOUT);
	r = (struct transport_request){
		.method = "GET", .target = "/stream", .idle_ns = 30 * NS_PER_MS};
	call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, 3));
	assert_int_equal(res.err.code, E_TIMEOUT);
	server_free(f->server);
	f->server = NULL;
	assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 0);
	assert_int_equal(res.err.code, E_IO);
	strbuf_release(&res.body);
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Each costs 70 KiB: those of a wave do not stay when it is over, be there a Lease to renew. */
static void test_server__connections_of_a_wave_are_closed_after_it(void **state)
{
	enum { WAVE = 20 };
	struct fixture *f = *state;
	listen_tls(f);
	CLEANUP(transport_freep) struct transport *t =
		client(f, (struct transport_config){.ca_pem = f->ca});
	const struct transport_request r = {
		.method = "GET", .target = "/echo", .timeout_ns = 60 * NS_PER_S};
	struct result res = RESULT_INIT;
	int before = open_files();
	for (int i = 0; i < WAVE; i++)
		call_start(t, &r, &res);
	assert_true(turn_until(f->loop, &res.n_done, WAVE));
	assert_true(open_files() >= before + WAVE);
	int64_t end = loop_mono(f->loop) + 60 * NS_PER_S, next = 0;
	while (open_files() > before + 4 && loop_mono(f->loop) < end) {
		int done = res.n_done, again = loop_mono(f->loop) >= next;
		if (again) {
			call_start(t, &r, &res);
			next = loop_mono(f->loop) + NS_PER_S;
		}
		assert_true(turn_until(f->loop, &res.n_done, done + again));
		loop_turn(f->loop);
		poll(NULL, 0, 10);
	}
	assert_true(open_files() <= before + 4);
	int done = res.n_done;
	call_start(t, &r, &res); /* and the next one is served */
	assert_true(turn_until(f->loop, &res.n_done, done + 1));
	assert_int_equal(res.err.code, 0);
	strbuf_release(&res.body);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_server__tls_answers_and_connections_are_reused),
		TEST(test_server__clients_pin_ca_and_name),
		TEST(test_server__a_ca_key_of_another_ca_is_refused),
		TEST(test_server__a_client_is_known_by_the_certificate_of_a_ca),
		TEST(test_server__tokens_differ),
		TEST(test_server__a_stream_is_flushed_after_each_write),
		TEST(test_server__a_reader_that_takes_nothing_is_cut),
		TEST(test_server__pipelined_requests_are_answered_in_order),
		TEST(test_server__a_megabyte_of_requests_is_served_in_order_and_stops_nobody),
		TEST(test_server__limits_and_framing_have_their_answers),
		TEST(test_server__expect_continue_is_answered_first),
		TEST(test_server__slow_heads_end),
		TEST(test_server__a_client_that_leaves_is_told_once),
		TEST(test_server__what_a_turn_has_not_come_to_ends_with_the_loop),
		TEST(test_server__stop_lets_answers_finish_and_cuts_streams),
		TEST(test_server__a_taken_port_is_named),
		TEST(test_server__tokens_are_read_again_after_401),
		TEST(test_server__its_ca_is_read_again_when_it_is_not_believed),
		TEST(test_server__a_certificate_is_due_before_its_end),
		TEST(test_server__credentials_stay_out_of_plain_http),
		TEST(test_server__a_certificate_is_renewed_while_it_runs),
		TEST(test_server__certificates_do_not_outlive_their_ca),
		TEST(test_server__clients_have_limits),
		TEST(test_server__connections_of_a_wave_are_closed_after_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
