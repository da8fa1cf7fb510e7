/* The file of a token: what counts as one, and when it is looked at again. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/transport.h"
#include "tests/lib/http_client.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/server_fixture.h"

static struct strbuf wiped; /* "text|", of each */

/* at: its declaration promises that what stands there is not read. */
static void note_wiped(void *const volatile *at, size_t n)
{
	char *p = *at;
	strbuf_addf(&wiped, "%.*s|", (int)n, p);
	memset(p, 0, n);
}

/* NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name, readability-redundant-declaration): the C library's names are its own */
void __explicit_bzero_chk(void *p, size_t n,
			  size_t room); /* declared where the library is fortified */
void __explicit_bzero_chk(void *p, size_t n, size_t room)
{
	void *const volatile at = p;
	(void)room;
	note_wiped(&at, n);
}

void explicit_bzero(void *p, size_t n)
{
	void *const volatile at = p;
	note_wiped(&at, n);
}
/* NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name, readability-redundant-declaration) */

#define PATH_TEMPLATE "/tmp/alm-test-token-XXXXXX"

static void write_token(const char *path, const char *text)
{
	struct error err = ERROR_INIT;
	assert_ok(file_write_atomic(path, str_of(text), 0600, &err), &err);
}

/* One line of text; what is none leaves the former, and never stands in a header. */
static void test_curl_token__what_is_one(void **state)
{
	static const struct {
		const char *file, *want;
	} rows[] = {
		{"new", "Bearer new"},
		{"new\n", "Bearer new"},
		{" \n new \r\n\n", "Bearer new"},
		{"", "Bearer former"},
		{"\n \n", "Bearer former"},
		{"new\nX-Remote-User: admin", "Bearer former"},
		{"n\ne", "Bearer former"},
	};
	struct fixture *f = *state;
	listen_tls(f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct result res = RESULT_INIT;
		char path[] = PATH_TEMPLATE;
		(void)close(mkstemp(path));
		write_token(path, rows[i].file);
		const struct transport_config c = {
			.base_url = f->url, .ca_pem = f->ca, .token = "former", .token_file = path};
		CLEANUP(transport_freep) struct transport *t = NULL;
		assert_ok(transport_curl_new(f->loop, &c, &t, &f->err), &f->err);
		assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
		if (!strstr(res.body.buf, rows[i].want))
			fail_msg("%s: %s", rows[i].file, res.body.buf);
		strbuf_release(&res.body);
		(void)unlink(path);
	}
}

/* Who has a name and a password instead says both; a password may be empty. */
static void test_curl_token__or_a_name_and_a_password(void **state)
{
	static const struct {
		const char *username, *password, *want;
	} rows[] = {
		{"u", "p:w", "Basic dTpwOnc="},
		{"u", "", "Basic dTo="},
		{"u", NULL, "Basic dTo="},
	};
	struct fixture *f = *state;
	listen_tls(f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct result res = RESULT_INIT;
		char username[8] = "", password[8] = ""; /* which the caller may change then */
		memcpy(username, rows[i].username, strlen(rows[i].username));
		if (rows[i].password)
			memcpy(password, rows[i].password, strlen(rows[i].password));
		const struct transport_config c = {.base_url = f->url,
						   .ca_pem = f->ca,
						   .username = username,
						   .password = rows[i].password ? password : NULL};
		CLEANUP(transport_freep) struct transport *t = NULL;
		assert_ok(transport_curl_new(f->loop, &c, &t, &f->err), &f->err);
		username[0] = password[0] = '-';
		assert_int_equal(call_wait(f->loop, t, "GET", "/echo", STR_NONE, &res), 200);
		if (!strstr(res.body.buf, rows[i].want))
			fail_msg("row %zu: %s", i, res.body.buf);
		strbuf_release(&res.body);
	}
}

/* How often it was opened since the last time. */
static int opened(int watch)
{
	char events[4096];
	ssize_t n = read(watch, events, sizeof(events));
	return n < 0 ? 0 : (int)((size_t)n / sizeof(struct inotify_event));
}

/* A call a minute after the last look, and none before. */
static void test_curl_token__is_looked_at_once_a_minute(void **state)
{
	static const struct {
		int64_t after;
		int want;
	} rows[] = {{0, 0}, {60 * NS_PER_S - 1, 0}, {1, 1}, {0, 0}, {61 * NS_PER_S, 1}};
	(void)state;
	struct loop *l = loop_fake_new(NS_PER_S);
	struct error err = ERROR_INIT;
	struct result res = RESULT_INIT;
	char path[] = PATH_TEMPLATE;
	(void)close(mkstemp(path));
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
	const struct transport_config c = {.base_url = "https://127.0.0.1:1", .token_file = path},
				      other = {.base_url = "http://127.0.0.1:1"};
	CLEANUP(transport_freep) struct transport *t = NULL, *without = NULL;
	assert_ok(transport_curl_new(l, &c, &t, &err), &err);
	assert_ok(transport_curl_new(l, &other, &without, &err), &err);
	assert_int_equal(opened(watch), 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct transport_request r = {.method = "GET", .target = "/"};
		loop_fake_run(l, rows[i].after);
		transport_cancel(without, call_start(without, &r, &res));
		transport_cancel(t, call_start(t, &r, &res)); /* before it asks anybody */
		assert_int_equal(opened(watch), rows[i].want);
	}
	(void)close(watch);
	(void)unlink(path);
	loop_fake_settle(l);
	transport_free(STEAL(t));
	transport_free(STEAL(without));
	loop_free(l);
}

/* Each place that it was in is overwritten once it is not needed there any more. */
static void test_curl_token__leaves_the_memory(void **state)
{
	(void)state;
	struct loop *l = loop_fake_new(NS_PER_S);
	struct error err = ERROR_INIT;
	char path[] = PATH_TEMPLATE;
	(void)close(mkstemp(path));
	write_token(path, "second\n");
	const struct transport_config c = {
		.base_url = "https://127.0.0.1:1", .token = "first", .token_file = path};
	CLEANUP(transport_freep) struct transport *t = NULL;
	strbuf_init(&wiped, STRBUF_SMALL);
	assert_ok(transport_curl_new(l, &c, &t, &err), &err);
	assert_string_equal(wiped.buf, "first|second\n|");
	strbuf_clear(&wiped);
	transport_curl_renew(t, "third");
	assert_string_equal(wiped.buf, "second|");
	strbuf_clear(&wiped);
	transport_free(STEAL(t));
	assert_string_equal(wiped.buf, "third|");
	strbuf_release(&wiped);
	(void)unlink(path);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_curl_token__what_is_one, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_curl_token__or_a_name_and_a_password,
						fixture_setup, fixture_teardown),
		cmocka_unit_test(test_curl_token__is_looked_at_once_a_minute),
		cmocka_unit_test(test_curl_token__leaves_the_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
