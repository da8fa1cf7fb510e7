#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/io/peers.h"
#include "tests/lib/server_fixture.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Small enough to be met by a test. */
static const struct quota_limit few[N_QUOTAS] = {
	[QUOTA_CONNECTIONS] = {4, 6, 2},
	[QUOTA_REQUESTS] = {3, 5, 2},
	[QUOTA_WATCHES] = {2, 3, 1},
	[QUOTA_BODY_BYTES] = {256 << 10, 512 << 10, 256 << 10},
	[QUOTA_ANSWER_BYTES] = {1 << 20, 2 << 20, 1 << 20},
	[QUOTA_QUEUE_BYTES] = {3 << 20, 4 << 20, 1 << 20},
};

static void listen_few(struct fixture *f)
{
	listen_with(f, (struct server_config){
			       .admit = fixture_admit, .limits = few, .anonymous_max = 8});
}

/* The connection has come to its end, or a reset. */
static bool is_over(struct fixture *f, int fd)
{
	char byte;
	settle_down(f);
	ssize_t r = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
	return r == 0 || (r < 0 && errno != EAGAIN);
}

static void expect(struct fixture *f, int fd, const char *path, const char *user, const char *want)
{
	ask(fd, "GET", path, user, NULL);
	const char *got = hear(f, fd, want);
	if (!strstr(got, want))
		fail_msg("%s as %s: wanted %s, got %s", path, user ? user : "nobody", want, got);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* A server may take larger bodies than the others, or only smaller ones. */
static void test_server_limits__a_body_of_its_own_size(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *more, *want;
	} cases[] = {
		{"Content-Length: 5000000" CRLF "Expect: 100-continue" CRLF, "HTTP/1.1 100 "},
		{"Content-Length: 5000001" CRLF "Expect: 100-continue" CRLF, "HTTP/1.1 413 "},
	};
	listen_with(f, (struct server_config){.body_max = 5000000});
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd = dial(f);
		ask(fd, "POST", "/echo", NULL, cases[i].more);
		const char *got = hear(f, fd, cases[i].want);
		if (!strstr(got, cases[i].want))
			fail_msg("row %zu: %s", i, got);
		close(fd);
	}
}

static void test_server_limits__who_asks_is_decided_before_the_body(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	static const struct {
		const char *path, *user, *more, *want;
	} cases[] = {
		{"/echo", NULL, "Content-Length: 3000000" CRLF, "HTTP/1.1 401 "},
		{"/echo", "wrong", "Content-Length: 3000000" CRLF, "HTTP/1.1 401 "},
		{"/echo", NULL, "Transfer-Encoding: chunked" CRLF, "HTTP/1.1 401 "},
		{"/public", NULL, "Content-Length: 3000000" CRLF, "for everybody"},
		{"/echo", "alice", "Content-Length: 3145729" CRLF, "HTTP/1.1 413 "},
		{"/echo", NULL, "Content-Length: 10" CRLF "Expect: 100-continue" CRLF,
		 "HTTP/1.1 401 "},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd = dial(f);
		ask(fd, "POST", cases[i].path, cases[i].user, cases[i].more);
		const char *got = hear(f, fd, cases[i].want);
		if (!strstr(got, cases[i].want) || strstr(got, "100 Continue"))
			fail_msg("case %zu: %s", i, got);
		close(fd);
	}
	assert_int_equal(f->n_requests, 0);
}

static void test_server_limits__a_small_unwanted_body_keeps_the_connection(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4 * MIB);
	int fd = dial(f);
	ask(fd, "POST", "/echo", NULL, "Content-Length: 60000" CRLF);
	strbuf_pad(&b, 'b', 60000);
	say(fd, strbuf_str(&b));
	assert_non_null(strstr(hear(f, fd, "who are you?"), "401"));
	expect(f, fd, "/echo", "alice", "GET /echo?");
	/* With chunks: a few are thrown away, many end the connection. */
	ask(fd, "POST", "/echo", "wrong", "Transfer-Encoding: chunked" CRLF);
	say(fd, STR("3" CRLF "abc" CRLF "0" CRLF CRLF));
	assert_non_null(strstr(hear(f, fd, "who are you?"), "401"));
	expect(f, fd, "/echo", "alice", "GET /echo?");
	ask(fd, "POST", "/echo", "wrong", "Transfer-Encoding: chunked" CRLF);
	assert_non_null(strstr(hear(f, fd, "who are you?"), "401"));
	say(fd, STR("20000" CRLF));
	for (int i = 0; i < 8; i++) {
		strbuf_clear(&b);
		strbuf_pad(&b, 'c', 16384);
		(void)send(fd, b.buf, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		loop_turn(f->loop);
	}
	assert_true(is_over(f, fd));
	close(fd);
	assert_int_equal(f->n_requests, 2);
}

static void test_server_limits__bodies_have_a_budget(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int one = dial(f), two = dial(f), three = dial(f);
	ask(one, "PUT", "/echo", "alice", "Content-Length: 200000" CRLF);
	ask(two, "PUT", "/echo", "alice", "Content-Length: 100000" CRLF);
	const char *got = hear(f, two, "\"code\":429");
	assert_non_null(strstr(got, "HTTP/1.1 429 Too Many Requests"));
	assert_non_null(strstr(got, "Retry-After: 1" CRLF));
	assert_non_null(strstr(got, "\"reason\":\"TooManyRequests\""));
	assert_non_null(strstr(got, "\"details\":{\"retryAfterSeconds\":1}"));
	assert_non_null(strstr(got, "Connection: close"));
	/* The budget is one user's; chunks are charged as they come. */
	ask(three, "PUT", "/echo", "bob", "Transfer-Encoding: chunked" CRLF);
	say(three, STR("8000" CRLF));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(MIB);
	strbuf_pad(&b, 'b', 0x8000);
	strbuf_adds(&b, CRLF "8000" CRLF);
	for (int i = 0; i < 9; i++) {
		say(three, strbuf_str(&b));
		settle_down(f);
	}
	assert_non_null(strstr(hear(f, three, "429"), "HTTP/1.1 429 "));
	/* What is over is given back. */
	strbuf_clear(&b);
	strbuf_pad(&b, 'x', 200000);
	say(one, strbuf_str(&b));
	hear(f, one, "HTTP/1.1 200 ");
	int four = dial(f);
	ask(four, "PUT", "/echo", "alice", "Content-Length: 200000" CRLF);
	say(four, strbuf_str(&b));
	assert_non_null(strstr(hear(f, four, "HTTP/1.1 200 "), "HTTP/1.1 200 "));
	close_all((int[]){one, two, three, four}, 4);
}

/* Nobodies share what one user may hold: those that send slowly keep no other one out. */
static void test_server_limits__a_slow_body_makes_room_for_one_that_is_complete(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.limits = few});
	int fds[3], fourth = -1;
	int64_t began;
	const char *got;
	do { /* all of it within the grace, which a loaded machine may miss */
		if (fourth >= 0)
			close_all((int[]){fds[0], fds[1], fds[2], fourth}, 4);
		settle_down(f);
		began = loop_mono(f->loop);
		for (int i = 0; i < 3; i++) {
			fds[i] = dial(f);
			ask(fds[i], "PUT", "/echo", NULL, "Content-Length: 4" CRLF);
			settle_down(f);
		}
		fourth = dial(f);
		ask(fourth, "GET", "/echo", NULL, NULL);
		got = hear(f, fourth, CRLF CRLF);
	} while (loop_mono(f->loop) - began >= SERVER_BODY_GRACE_NS);
	assert_non_null(strstr(got, "HTTP/1.1 429 "));
	for (int i = 0; i < 3; i++)
		assert_false(is_over(f, fds[i]));
	close(fourth);
	/* The grace is over for all three, and one place is wanted: it is that of the oldest one. */
	while (loop_mono(f->loop) - began < 2 * SERVER_BODY_GRACE_NS)
		loop_turn(f->loop);
	fourth = dial(f);
	expect(f, fourth, "/echo", NULL, "HTTP/1.1 200 ");
	assert_true(is_over(f, fds[0]));
	for (int i = 1; i < 3; i++) {
		say(fds[i], STR("body"));
		assert_non_null(strstr(hear(f, fds[i], "PUT /echo? body"), "HTTP/1.1 200 "));
	}
	close_all((int[]){fds[0], fds[1], fds[2], fourth}, 4);
}

/* What is in work is not taken away: the next one is told to come again. */
static void test_server_limits__nobodies_have_so_many_requests(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.limits = few});
	int fds[3], fourth = dial(f);
	for (int i = 0; i < 3; i++) {
		fds[i] = dial(f);
		ask(fds[i], "GET", "/hold", NULL, NULL);
	}
	settle_down(f);
	expect(f, fourth, "/echo", NULL, "HTTP/1.1 429 ");
	assert_int_equal(f->n_requests, 3);
	fixture_reply_held(f); /* of the third */
	hear(f, fds[2], "later");
	expect(f, fourth, "/echo", NULL, "HTTP/1.1 200 ");
	close_all((int[]){fds[0], fds[1], fds[2], fourth}, 4);
}

static void test_server_limits__a_body_has_its_time(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.body_ns = 50 * NS_PER_MS});
	int fd = dial(f);
	ask(fd, "PUT", "/echo", NULL, "Content-Length: 4" CRLF);
	say(fd, STR("b"));
	int64_t began = loop_mono(f->loop);
	assert_string_equal(hear(f, fd, ""), "");
	assert_true(loop_mono(f->loop) - began < 9 * NS_PER_S);
	close(fd);
}

static void test_server_limits__administrators_have_room_of_their_own(void **state)
{
	struct fixture *f = *state;
	static const char *const users[] = {"alice", "alice", "alice", "bob", "bob", "bob"};
	int fds[6], admin = dial(f->server ? f : (listen_few(f), f)), more;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		fds[i] = dial(f);
		ask(fds[i], "GET", "/hold", users[i], NULL);
		settle_down(f);
	}
	/* 5 requests of all users are in work, and 6 connections are theirs. */
	assert_int_equal(f->n_requests, 5);
	assert_non_null(strstr(hear(f, fds[5], "429"), "too many requests at a time"));
	expect(f, admin, "/echo", "root", "GET /echo?");
	more = dial(f);
	expect(f, more, "/echo", "carol", "HTTP/1.1 429 ");
	close_all(fds, 6);
	close(admin);
	close(more);
}

static void test_server_limits__a_user_has_so_many_requests_and_watches(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fds[4], other = dial(f);
	for (int i = 0; i < 2; i++) {
		fds[i] = dial(f);
		expect(f, fds[i], "/watch", "alice", "HTTP/1.1 200 ");
	}
	/* Watches are no requests: one may still ask. */
	fds[2] = dial(f);
	expect(f, fds[2], "/watch", "alice", "HTTP/1.1 429 ");
	expect(f, fds[2], "/echo", "alice", "GET /echo?");
	expect(f, other, "/watch", "bob", "HTTP/1.1 200 ");
	close(fds[0]);
	settle_down(f);
	expect(f, fds[2], "/watch", "alice", "HTTP/1.1 200 ");
	close_all(fds + 1, 2);
	close(other);
}

static void test_server_limits__the_longest_idle_connection_of_a_user_makes_room(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fds[5];
	for (int i = 0; i < 4; i++) {
		fds[i] = dial(f);
		expect(f, fds[i], "/echo", "alice", "GET /echo?");
	}
	expect(f, fds[0], "/echo", "alice", "GET /echo?");
	fds[4] = dial(f);
	expect(f, fds[4], "/echo", "alice", "GET /echo?");
	assert_true(is_over(f, fds[1]));
	assert_false(is_over(f, fds[0]) || is_over(f, fds[2]) || is_over(f, fds[3]));
	/* All at work: there is no place. */
	ask(fds[0], "GET", "/watch", "alice", NULL);
	ask(fds[2], "GET", "/watch", "alice", NULL);
	ask(fds[3], "GET", "/hold", "alice", NULL);
	ask(fds[4], "GET", "/hold", "alice", NULL);
	settle_down(f);
	close(fds[1]);
	fds[1] = dial(f);
	expect(f, fds[1], "/echo", "alice", "too many connections of this user");
	assert_true(is_over(f, fds[1]));
	close_all(fds, 5);
}

static void test_server_limits__those_that_sit_make_room_for_those_that_come(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int sit[6], silent[2], fd;
	for (int i = 0; i < 2; i++)
		silent[i] = dial(f);
	settle_down(f);
	for (int i = 0; i < 6; i++) {
		sit[i] = dial(f);
		expect(f, sit[i], "/public", NULL, "for everybody");
	}
	/* One address has at most 6 of the 8: each of these ended another, never the newest. */
	assert_true(is_over(f, sit[0]) && is_over(f, sit[1]));
	assert_false(is_over(f, silent[0]) || is_over(f, sit[5]));
	for (int i = 0; i < 50; i++) {
		fd = dial(f);
		expect(f, fd, i % 2 ? "/public" : "/echo", i % 2 ? NULL : "alice", "HTTP/1.1 200 ");
		expect(f, sit[5], "/public", NULL, "for everybody");
		if (i < 49)
			close(fd);
		settle_down(f);
	}
	close(fd);
	close_all(sit, 6);
	close_all(silent, 2);
}

static void test_server_limits__the_oldest_of_those_that_say_nothing_goes(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fds[10];
	for (int i = 0; i < 10; i++) {
		fds[i] = dial(f);
		say(fds[i], STR("GET / "));
		settle_down(f);
	}
	for (int i = 0; i < 10; i++)
		assert_int_equal(is_over(f, fds[i]), i < 4);
	int fd = dial(f);
	expect(f, fd, "/echo", "root", "GET /echo?");
	close(fd);
	close_all(fds, 10);
}

/* Work is not thrown away for those that come: who has a request under way stays, whoever he is. */
static void test_server_limits__one_that_is_served_makes_no_room(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.anonymous_max = 4});
	int served = dial(f), fds[8];
	ask(served, "GET", "/hold", NULL, NULL);
	settle_down(f);
	assert_non_null(f->held);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial(f);
		settle_down(f);
	}
	assert_true(is_over(f, fds[0]) && is_over(f, fds[4]));
	assert_false(is_over(f, served) || is_over(f, fds[7]));
	fixture_reply_held(f);
	assert_non_null(strstr(hear(f, served, "later"), "HTTP/1.1 201 "));
	close(served);
	close_all(fds, ARRAY_LEN(fds));
}

/* Turns for so long. */
static void turn_for(struct fixture *f, int64_t ns)
{
	for (int64_t end = loop_mono(f->loop) + ns; loop_mono(f->loop) < end; poll(NULL, 0, 1))
		loop_turn(f->loop);
}

/* No descriptor is left, and nobody idle: the next one waits until there is one. */
static void test_server_limits__without_descriptors_the_next_one_waits(void **state)
{
	struct fixture *f = *state;
	struct rlimit all;
	listen_with(f, (struct server_config){0});
	for (int i = 0; i < 2; i++) {
		int fd = dial(f), next = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
		const struct rlimit few_files = {(rlim_t)next, all.rlim_max};
		(void)close(next);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few_files), 0);
		say(fd, STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF CRLF));
		turn_for(f, 50 * NS_PER_MS);
		assert_int_equal(f->n_requests, 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		if (i == 0) {
			server_free(f->server); /* while it waits: nothing comes of it any more */
			f->server = NULL;
			turn_for(f, 300 * NS_PER_MS);
			listen_with(f, (struct server_config){0});
		} else {
			assert_non_null(strstr(hear(f, fd, "GET /echo"), "200 OK"));
		}
		close(fd);
	}
}

static void test_server_limits__a_flood_of_connections_is_taken_in_portions(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fds[100];
	for (int i = 0; i < 100; i++) {
		fds[i] = dial(f);
		say(fds[i], STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	}
	loop_turn(f->loop);
	assert_true(f->n_requests <= SERVER_ACCEPTS);
	for (int i = 0; i < 100; i++)
		assert_non_null(strstr(hear(f, fds[i], "GET /echo"), "200 OK"));
	close_all(fds, 100);
}

static void test_server_limits__failed_logins_are_slowed_and_right_ones_are_not(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fd = dial(f), good = dial(f);
	for (int i = 0; i < PEER_FAILURES; i++)
		expect(f, fd, "/echo", "wrong", "who are you?");
	int64_t start = loop_mono(f->loop);
	ask(fd, "GET", "/echo", "wrong", NULL);
	expect(f, good, "/echo", "alice", "GET /echo?");
	const char *got = hear(f, fd, "\"code\":429");
	assert_non_null(strstr(got, "HTTP/1.1 429 "));
	assert_non_null(strstr(got, "Retry-After: 1"));
	assert_true(loop_mono(f->loop) - start >= SERVER_PENALTY_NS);
	/* Without a token nothing was guessed. */
	expect(f, fd, "/echo", NULL, "who are you?");
	close(fd);
	close(good);
}

static int dial_from(struct fixture *f, const char *from)
{
	struct str host, port;
	int64_t n;
	str_rcut(str_of(server_address(f->server)), ':', &host, &port);
	assert_true(str_parse_i64(port, &n));
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)n)},
			   own = {.sin_family = AF_INET};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* Where both protocols are listened on, an IPv4 address is one of its own, and not one network with all others. */
static void test_server_limits__peers_of_both_protocols(void **state)
{
	static const char *const hosts[] = {"x"};
	const struct server_config c = {.listen = "[::]:0",
					.hosts = hosts,
					.n_hosts = 1,
					.admit = fixture_admit,
					.limits = few};
	struct fixture *f = *state;
	if (server_listen(f->loop, &c, fixture_handle, f, &f->server, &f->err) < 0)
		return; /* a machine without IPv6 */
	int one = dial_from(f, "127.0.0.1"), other = dial_from(f, "127.0.0.2");
	for (int i = 0; i < PEER_FAILURES; i++)
		expect(f, one, "/echo", "wrong", "who are you?");
	ask(one, "GET", "/echo", "wrong", NULL);
	expect(f, other, "/echo", "wrong", "who are you?"); /* at once */
	assert_non_null(strstr(hear(f, one, "\"code\":429"), "HTTP/1.1 429 "));
	close(one);
	close(other);
}

static void test_server_limits__unknown_names_are_not_answered(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	static const struct {
		const char *head, *want;
	} cases[] = {
		{"GET /public HTTP/1.1" CRLF "Host: evil.example" CRLF CRLF, "HTTP/1.1 403 "},
		{"GET /public HTTP/1.1" CRLF "Host: x.evil.example:80" CRLF CRLF, "HTTP/1.1 403 "},
		{"GET http://evil.example/public HTTP/1.1" CRLF "Host: evil.example" CRLF CRLF,
		 "HTTP/1.1 403 "},
		{"GET /public HTTP/1.1" CRLF "Host: 127.0.0.1@evil.example" CRLF CRLF,
		 "HTTP/1.1 403 "},
		{"GET /public HTTP/1.1" CRLF "Host: " CRLF CRLF, "HTTP/1.1 403 "},
		{"GET /public HTTP/1.1" CRLF "Host: X:12" CRLF CRLF, "HTTP/1.1 200 "},
		{"GET /public HTTP/1.1" CRLF "Host: localhost:1" CRLF CRLF, "HTTP/1.1 200 "},
		{"GET /public HTTP/1.1" CRLF "Host: [::1]:6443" CRLF CRLF, "HTTP/1.1 200 "},
		{"GET /public HTTP/1.1" CRLF "Host: 10.1.2.3" CRLF CRLF, "HTTP/1.1 200 "},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd = dial(f);
		say(fd, str_of(cases[i].head));
		const char *got = hear(f, fd, cases[i].want);
		if (!cstr_has_prefix(got, cases[i].want))
			fail_msg("case %zu: %s", i, got);
		assert_non_null(strstr(got, "X-Content-Type-Options: nosniff"));
		assert_true(!strstr(cases[i].want, "403") || strstr(got, "--allowed-host"));
		close(fd);
	}
}

static void test_server_limits__answers_that_nobody_takes_are_bounded(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fds[4], good = dial(f);
	/* 1 MiB each, little of which is taken: the fourth is beyond 3 MiB of this user. */
	for (int i = 0; i < 4; i++) {
		fds[i] = dial_small(f);
		ask(fds[i], "GET", "/mib", "alice", NULL);
		settle_down(f);
	}
	int over = 0;
	for (int i = 0; i < 4; i++) {
		hear(f, fds[i], "HTTP/1.1 200 ");
		char byte[4096];
		ssize_t n = 1;
		while (n > 0) {
			settle_down(f);
			n = recv(fds[i], byte, sizeof(byte), MSG_DONTWAIT);
		}
		over += n == 0 || errno != EAGAIN;
	}
	assert_int_equal(over, 1);
	expect(f, good, "/echo", "bob", "GET /echo?");
	close_all(fds, 4);
	close(good);
}

static void test_server_limits__who_holds_most_makes_room(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fds[5], carol = dial(f), over = 0;
	/* 5 requests of all users are open, and wait for bodies that do not come. */
	for (int i = 0; i < 5; i++) {
		fds[i] = dial(f);
		ask(fds[i], "PUT", "/echo", i < 3 ? "alice" : "bob", "Content-Length: 9" CRLF);
		settle_down(f);
	}
	expect(f, carol, "/echo", "carol", "GET /echo?");
	for (int i = 0; i < 3; i++)
		over += is_over(f, fds[i]);
	assert_int_equal(over, 1);
	assert_false(is_over(f, fds[3]) || is_over(f, fds[4]));
	close_all(fds, 5);
	close(carol);
}

static void test_server_limits__what_follows_waits_until_the_reader_has_taken_enough(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fd = dial_small(f);
	for (int i = 0; i < 100; i++)
		ask(fd, "GET", "/mib", "alice", NULL);
	settle_down(f);
	assert_int_equal(f->n_requests, 1);
	close(fd);
}

static void test_server_limits__a_long_list_is_written_as_it_is_taken(void **state)
{
	struct fixture *f = *state;
	listen_few(f);
	int fd = dial_small(f);
	char buf[65536];
	size_t n = 0;
	ask(fd, "GET", "/list", "alice", NULL);
	settle_down(f);
	assert_true(f->queued >= SERVER_QUEUE_HIGH && f->queued < 2 * SERVER_QUEUE_HIGH);
	/* Half closed, and asked more after it: it has its whole list, and its next answer. */
	ask(fd, "GET", "/echo", "alice", "Connection: close" CRLF);
	for (int64_t end = loop_mono(f->loop) + 60 * NS_PER_S; loop_mono(f->loop) < end;) {
		loop_turn(f->loop);
		ssize_t r = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (r == 0)
			break;
		for (ssize_t i = 0; i < r; i++)
			n += buf[i] == 'l';
	}
	assert_true(n >= 8 * MIB && n < 8 * MIB + 100);
	assert_int_equal(f->n_requests, 2);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_server_limits__a_body_of_its_own_size),
		TEST(test_server_limits__who_asks_is_decided_before_the_body),
		TEST(test_server_limits__a_small_unwanted_body_keeps_the_connection),
		TEST(test_server_limits__bodies_have_a_budget),
		TEST(test_server_limits__a_slow_body_makes_room_for_one_that_is_complete),
		TEST(test_server_limits__nobodies_have_so_many_requests),
		TEST(test_server_limits__a_body_has_its_time),
		TEST(test_server_limits__administrators_have_room_of_their_own),
		TEST(test_server_limits__a_user_has_so_many_requests_and_watches),
		TEST(test_server_limits__the_longest_idle_connection_of_a_user_makes_room),
		TEST(test_server_limits__those_that_sit_make_room_for_those_that_come),
		TEST(test_server_limits__the_oldest_of_those_that_say_nothing_goes),
		TEST(test_server_limits__one_that_is_served_makes_no_room),
		TEST(test_server_limits__without_descriptors_the_next_one_waits),
		TEST(test_server_limits__a_flood_of_connections_is_taken_in_portions),
		TEST(test_server_limits__failed_logins_are_slowed_and_right_ones_are_not),
		TEST(test_server_limits__peers_of_both_protocols),
		TEST(test_server_limits__unknown_names_are_not_answered),
		TEST(test_server_limits__answers_that_nobody_takes_are_bounded),
		TEST(test_server_limits__who_holds_most_makes_room),
		TEST(test_server_limits__what_follows_waits_until_the_reader_has_taken_enough),
		TEST(test_server_limits__a_long_list_is_written_as_it_is_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
