/* test_server_answer.c: what stands in the head of each answer. */
#include "tests/lib/test.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/clock.h"
#include "tests/lib/server_fixture.h"

static bool has_date(const char *got, int64_t now_ns)
{
	const time_t at = now_ns / NS_PER_S;
	char want[64];
	struct tm t;
	return gmtime_r(&at, &t) &&
	       strftime(want, sizeof(want), "Date: %a, %d %b %Y %H:%M:%S GMT" CRLF, &t) > 0 &&
	       strstr(got, want);
}

/* The time at which it is answered, as IMF-fixdate of RFC 9110 5.6.7. */
static void test_server_answer__it_has_its_date(void **state)
{
	struct fixture *f = *state;
	listen_with(f, (struct server_config){.header_ns = NS_PER_MIN});
	int fd = dial(f);
	int64_t before = loop_now(f->loop);
	say(fd, STR("GET /echo HTTP/1.1" CRLF "Host: x" CRLF CRLF));
	const char *got = hear(f, fd, "GET /echo");
	int64_t after = loop_now(f->loop);
	bool has = false;
	for (int64_t at = before; !has && at < after + NS_PER_S; at += NS_PER_S)
		has = has_date(got, at);
	assert_true(has);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_server_answer__it_has_its_date, fixture_setup,
						fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
