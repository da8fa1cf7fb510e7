/* How a connection ends: what comes behind the last request is thrown away so that its client gets to read the answer, a slow reader stays,
 * and one that has gone is not waited for. */
#include "tests/lib/test.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "tests/lib/server_fixture.h"

#define MIB ((size_t)1 << 20)

/* Sends n bytes that nobody has asked for, for so long; how many were taken. */
static size_t pour(struct fixture *f, int fd, size_t n, int64_t ns)
{
	static const char junk[65536];
	int64_t end = loop_mono(f->loop) + ns;
	size_t sent = 0;
	while (sent < n && loop_mono(f->loop) < end) {
		ssize_t r = send(fd, junk, sizeof(junk), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (r < 0 && errno != EAGAIN)
			break;
		sent += r > 0 ? (size_t)r : 0;
		loop_turn(f->loop);
	}
	return sent;
}

/* While it is closed, with an answer that is out and with one that is not. */
static void test_server_ends__what_follows_is_thrown_away(void **state)
{
	static const char *const paths[] = {"/echo", "/big"};
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		int fd = dial_small(f), little = 32 << 10; /* the kernel is not to keep it all */
		assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)), 0);
		ask(fd, "GET", paths[i], NULL, "Connection: close" CRLF);
		for (int k = 0; k < 20; k++)
			loop_turn(f->loop);
		assert_true(pour(f, fd, 3 * MIB, 5 * NS_PER_S) >= 3 * MIB);
		/* but not without end */
		assert_true(pour(f, fd, 32 * MIB, 5 * NS_PER_S) < 32 * MIB);
		(void)close(fd);
	}
}

static size_t take_some(int fd, size_t max)
{
	static char buf[1 << 20];
	ssize_t r = recv(fd, buf, max < sizeof(buf) ? max : sizeof(buf), MSG_DONTWAIT);
	return r > 0 ? (size_t)r : 0;
}

static void turn_for(struct fixture *f, int64_t ns)
{
	int64_t end = loop_mono(f->loop) + ns;
	while (loop_mono(f->loop) < end) {
		loop_turn(f->loop);
		(void)poll(NULL, 0, 2);
	}
}

/* One that takes something in each of its times; one that takes nothing is cut. */
static void test_server_ends__a_slow_reader_stays(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.idle_ns = NS_PER_S});
	int fd = dial_small(f);
	ask(fd, "GET", "/list", NULL, NULL);
	size_t got = 0;
	for (int i = 0; i < 12; i++) { /* three times as long */
		turn_for(f, 250 * NS_PER_MS);
		for (size_t n = 1, taken = 0; n && taken < MIB / 4; taken += n)
			got += n = take_some(fd, MIB / 4);
		assert_non_null(f->held);
	}
	assert_true(got > MIB / 8);
	assert_int_equal(f->n_closed, 0);
	for (int i = 0; i < 100 && !f->n_closed; i++)
		turn_for(f, 100 * NS_PER_MS);
	assert_int_equal(f->n_closed, 1);
	(void)close(fd);
}

/* The head of an answer without its body, and the connection goes on behind it. */
static void test_server_ends__a_head_has_no_body(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	int fd = dial(f);
	ask(fd, "HEAD", "/echo", NULL, NULL);
	ask(fd, "GET", "/client", NULL, "Connection: close" CRLF);
	const char *all = hear(f, fd, "");
	const char *head_end = strstr(all, CRLF CRLF);
	assert_non_null(head_end);
	assert_non_null(strstr(all, "Content-Length: 14" CRLF)); /* of "HEAD /echo?  -" */
	assert_true(cstr_has_prefix(head_end, CRLF CRLF "HTTP/1.1 200"));
	assert_null(strstr(all, "HEAD /echo"));
	(void)close(fd);
}

static void on_stopped(void *arg)
{
	((struct fixture *)arg)->n_stopped++;
}

/* A handler that wants to hear of it hears once; of another the answer comes later, into the void, and then nothing is left. */
static void test_server_ends__answers_into_the_void(void **state)
{
	struct fixture *f = *state;
	for (int silent = 0; silent < 2; silent++) {
		server_free(STEAL(f->server));
		listen_with(f, (struct server_config){.idle_ns = 50 * NS_PER_MS});
		int fd = dial(f), closed = f->n_closed;
		ask(fd, "GET", "/hold", NULL, NULL);
		while (!f->held)
			loop_turn(f->loop);
		if (silent)
			f->held->on_close = NULL;
		/* with a reset: one that only has nothing more to say waits for its answer */
		const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
		assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
				 0);
		(void)close(fd);
		turn_for(f, 200 * NS_PER_MS);
		assert_int_equal(f->n_closed, closed + !silent);
		f->n_stopped = 0;
		server_stop(f->server, NS_PER_MIN, on_stopped,
			    f); /* waits for who is still there */
		turn_for(f, 20 * NS_PER_MS);
		assert_int_equal(f->n_stopped, !silent);
		if (silent)
			fixture_reply_held(f);
		turn_for(f, 20 * NS_PER_MS);
		assert_int_equal(f->n_stopped, 1);
	}
}

static void count(void *arg)
{
	++*(int *)arg;
}

/* A stream that goes on in a smaller memory, twice in a turn: the former goes once, when whoever called has returned; the last one
 * with the exchange; also of one whose client leaves in that turn. */
static void test_server_ends__a_stream_keeps_what_it_says(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){0});
	for (int leaves = 0; leaves < 2; leaves++) {
		int fd = dial(f), gone[3] = {0};
		say(fd, STR("GET /stream HTTP/1.1" CRLF "Host: x" CRLF CRLF));
		hear(f, fd, CRLF CRLF);
		struct exchange *x = f->held;
		for (int i = 0; i < 3; i++) {
			arena_defer(x->arena, count, &gone[i]);
			if (i < 2)
				exchange_keep(x, arena_sized((size_t)1 << 20, 64));
			assert_int_equal(gone[0] + gone[1] + gone[2], 0);
		}
		assert_null(x->request);
		if (!leaves) {
			turn_for(f, 20 * NS_PER_MS);
			assert_int_equal(gone[0] * 100 + gone[1] * 10 + gone[2], 110);
			exchange_write(x, STR("late"));
			hear(f, fd, "4" CRLF "late" CRLF);
		}
		(void)close(fd);
		turn_for(f, 20 * NS_PER_MS);
		assert_int_equal(gone[0] * 100 + gone[1] * 10 + gone[2], 111);
		assert_int_equal(f->n_closed, leaves + 1);
	}
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_server_ends__##name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_follows_is_thrown_away), TEST(a_slow_reader_stays),
		TEST(a_head_has_no_body),          TEST(answers_into_the_void),
		TEST(a_stream_keeps_what_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
