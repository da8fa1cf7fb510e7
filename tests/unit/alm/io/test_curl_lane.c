/* The lane, above a libcurl of the test's own. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/io/curl_lane.h"
#include "tests/lib/loop_fake.h"

#define LOOK_NS (4 * NS_PER_S) /* as curl_lane.c has it */

static struct {
	struct curl_lib lib;
	struct curl_lane lane;
	struct loop *loop;
	int open, handles, n_acted, n_ended;
	long connects_max;
	curl_multi_timer_callback set_timer;
	void *timer_arg;
	CURLMsg messages[2];
	int n_messages;
	CURLcode codes[4];
} t;

static CURLM *multi_init(void)
{
	t.open++;
	return (CURLM *)&t;
}

static CURLMcode multi_cleanup(CURLM *m)
{
	assert_ptr_equal(m, &t);
	t.open--;
	return CURLM_OK;
}

static CURLMcode multi_setopt(CURLM *m, CURLMoption option, ...)
{
	va_list ap;
	assert_ptr_equal(m, &t);
	va_start(ap, option);
	if (option == CURLMOPT_TIMERFUNCTION)
		t.set_timer = va_arg(ap, curl_multi_timer_callback);
	else if (option == CURLMOPT_TIMERDATA)
		t.timer_arg = va_arg(ap, void *);
	else if (option == CURLMOPT_MAXCONNECTS)
		t.connects_max = va_arg(ap, long);
	va_end(ap);
	return CURLM_OK;
}

static CURLMcode multi_add_handle(CURLM *m, CURL *easy)
{
	assert_ptr_equal(m, &t);
	assert_non_null(easy);
	t.handles++;
	return CURLM_OK;
}

static CURLMcode multi_remove_handle(CURLM *m, CURL *easy)
{
	assert_ptr_equal(m, &t);
	assert_non_null(easy);
	t.handles--;
	return CURLM_OK;
}

static CURLMcode multi_socket_action(CURLM *m, curl_socket_t fd, int flags, int *running)
{
	assert_ptr_equal(m, &t);
	assert_int_equal(fd, CURL_SOCKET_TIMEOUT);
	assert_int_equal(flags, 0);
	*running = t.handles;
	t.n_acted++;
	return CURLM_OK;
}

static CURLMsg *multi_info_read(CURLM *m, int *left)
{
	assert_ptr_equal(m, &t);
	*left = 0;
	return t.n_messages ? &t.messages[--t.n_messages] : NULL;
}

static void ended(CURL *easy, CURLcode code)
{
	t.codes[t.n_ended++] = code;
	curl_lane_remove(&t.lane, easy);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.loop = loop_fake_new(1000 * NS_PER_S);
	t.lib = (struct curl_lib){.multi_init = multi_init,
				  .multi_cleanup = multi_cleanup,
				  .multi_setopt = multi_setopt,
				  .multi_add_handle = multi_add_handle,
				  .multi_remove_handle = multi_remove_handle,
				  .multi_socket_action = multi_socket_action,
				  .multi_info_read = multi_info_read};
	curl_lane_init(&t.lane, t.loop, &t.lib, ended);
	assert_int_equal(t.open, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	while (t.handles)
		curl_lane_remove(&t.lane, (CURL *)&t);
	curl_lane_close(&t.lane);
	assert_int_equal(t.open, 0);
	loop_free(t.loop);
	return 0;
}

static void calls(int n)
{
	for (; n > 0; n--)
		curl_lane_add(&t.lane, (CURL *)&t);
	for (; n < 0; n++)
		curl_lane_remove(&t.lane, (CURL *)&t);
}

/* One for each call that there was lately is kept, and eight times as many; more go at the next look. */
static void test_curl_lane__what_a_wave_has_left_goes_at_a_look(void **state)
{
	(void)state;
	static const struct {
		int wave, then, open; /* calls at a time, then later on; is it still open? */
	} rows[] = {{8, 1, 1}, {9, 1, 0}, {16, 2, 1}, {17, 2, 0}, {1, 0, 0}, {100, 12, 0}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		calls(rows[i].wave);
		assert_int_equal(t.open, 1);
		assert_int_equal(t.handles, rows[i].wave);
		calls(-rows[i].wave);
		loop_fake_run(t.loop, LOOK_NS); /* it had the wave in its span */
		assert_int_equal(t.open, 1);
		calls(rows[i].then);
		calls(-rows[i].then);
		loop_fake_run(t.loop, LOOK_NS);
		if (t.open != rows[i].open)
			fail_msg("%d, then %d: %d", rows[i].wave, rows[i].then, t.open);
		if (t.open)
			curl_lane_close(&t.lane);
	}
}

static void test_curl_lane__never_while_there_is_a_call(void **state)
{
	(void)state;
	calls(20);
	calls(-19);
	loop_fake_run(t.loop, 10 * LOOK_NS);
	assert_int_equal(t.open, 1);
	calls(-1);
	loop_fake_run(t.loop, LOOK_NS); /* the one that ended was lately */
	loop_fake_run(t.loop, LOOK_NS);
	assert_int_equal(t.open, 0);
	calls(1); /* opened again, with a count of its own */
	assert_int_equal(t.open, 1);
	calls(-1);
	loop_fake_run(t.loop, LOOK_NS);
	calls(1);
	calls(-1);
	loop_fake_run(t.loop, LOOK_NS);
	assert_int_equal(t.open, 1);
	assert_int_equal(t.connects_max, 64);
}

static void test_curl_lane__its_timer_is_libcurls(void **state)
{
	(void)state;
	calls(2);
	assert_ptr_equal(t.timer_arg, &t.lane);
	t.set_timer((CURLM *)&t, 30, t.timer_arg);
	t.set_timer((CURLM *)&t, -1, t.timer_arg);
	loop_fake_run(t.loop, NS_PER_S);
	assert_int_equal(t.n_acted, 0);
	t.set_timer((CURLM *)&t, 30, t.timer_arg);
	loop_fake_run(t.loop, 29 * NS_PER_MS);
	assert_int_equal(t.n_acted, 0);
	t.messages[0] = (CURLMsg){.msg = CURLMSG_DONE,
				  .easy_handle = (CURL *)&t,
				  .data.result = CURLE_COULDNT_CONNECT};
	t.messages[1] = (CURLMsg){.msg = CURLMSG_NONE, .easy_handle = (CURL *)&t};
	t.n_messages = 2;
	loop_fake_run(t.loop, NS_PER_MS);
	assert_int_equal(t.n_acted, 1);
	assert_int_equal(t.n_ended, 1);
	assert_int_equal(t.codes[0], CURLE_COULDNT_CONNECT);
	assert_int_equal(t.handles, 1);
	t.set_timer((CURLM *)&t, 30, t.timer_arg);
	calls(-1);
	curl_lane_close(&t.lane);
	loop_fake_run(t.loop, NS_PER_S); /* nothing is called that is closed */
	assert_int_equal(t.n_acted, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_curl_lane__what_a_wave_has_left_goes_at_a_look),
		TEST(test_curl_lane__never_while_there_is_a_call),
		TEST(test_curl_lane__its_timer_is_libcurls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
