/* transport_curl and servers that are not ours: what counts as a whole answer over TLS, where the end of a connection may be somebody's who cut
 * it. The server is a child, which says what the row says. */
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "alm/io/tls.h"
#include "tests/lib/http_client.h"

static const struct {
	const char *answer;
	bool says_end; /* of TLS */
	int status;    /* 0: it is none */
	const char *body;
} rows[] = {
	{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", true, 200, "abc"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, 200, ""},
	{"HTTP/1.1 204 No Content\r\n\r\n", true, 204, ""},
	{"HTTP/1.1 200 OK\r\n\r\n", true, 200, ""},
	{"HTTP/1.1 200 OK\r\n\r\nabc", true, 0, NULL},
	{"HTTP/1.1 200 OK\r\n\r\nabc", false, 0, NULL},
	{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", true, 0, NULL},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", true, 200,
	 "abc"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true, 0, NULL},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", true, 0, NULL},
	{"no HTTP\r\n\r\n", true, 0, NULL},
	{"", true, 0, NULL},
};

/* In the child: a connection for each row. */
static void serve(int listener, SSL_CTX *ctx)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char request[4096];
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), n = 0;
		SSL *ssl = SSL_new(ctx);
		SSL_set_fd(ssl, fd);
		if (fd < 0 || SSL_accept(ssl) != 1)
			_exit(1);
		do {
			int r = SSL_read(ssl, request + n, (int)sizeof(request) - 1 - n);
			if (r <= 0)
				_exit(2);
			n += r;
			request[n] = '\0';
		} while (!strstr(request, "\r\n\r\n"));
		if (*rows[i].answer)
			(void)SSL_write(ssl, rows[i].answer, (int)strlen(rows[i].answer));
		if (rows[i].says_end)
			(void)SSL_shutdown(ssl);
		(void)close(fd);
		SSL_free(ssl);
	}
	_exit(0);
}

static int listen_at(int *ret_port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&sa, len) == 0 && listen(fd, 8) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	*ret_port = ntohs(sa.sin_port);
	return fd;
}

static void test_curl_answers__whole_or_none(void **state)
{
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(xfreep) char *ca = NULL, *ca_key = NULL, *cert = NULL, *key = NULL;
	CLEANUP(transport_freep) struct transport *t = NULL;
	struct error err = ERROR_INIT;
	struct ssl_ctx_st *ctx = NULL;
	char url[64];
	int port, status = -1, listener = listen_at(&port);
	(void)state;
	assert_ok(tls_ca_new(l, "x-ca", &ca, &ca_key, &err), &err);
	assert_ok(tls_serving_new(l, ca, ca_key, NULL, 0, &cert, &key, &err), &err);
	assert_ok(tls_server_context(cert, key, NULL, &ctx, &err), &err);
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0,
			    0); /* a test that fails leaves nothing behind */
		serve(listener, ctx);
	}
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
	const struct transport_config c = {.base_url = url, .ca_pem = ca};
	assert_ok(transport_curl_new(l, &c, &t, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct result res = RESULT_INIT;
		struct transport_request r = {.method = "GET", .target = "/"};
		call_start(t, &r, &res);
		assert_true(turn_until(l, &res.n_done, 1));
		if ((res.err.code == 0) != (rows[i].status != 0))
			fail_msg("row %zu: %d %s", i, res.status, res.err.msg);
		if (rows[i].status) {
			assert_int_equal(res.status, rows[i].status);
			assert_string_equal(res.body.len ? res.body.buf : "", rows[i].body);
		} else {
			assert_int_equal(res.err.code, E_IO);
		}
		strbuf_release(&res.body);
	}
	assert_true(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
	SSL_CTX_free(ctx);
	(void)close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_curl_answers__whole_or_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
