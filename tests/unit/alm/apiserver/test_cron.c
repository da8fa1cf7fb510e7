#include "alm/apiserver/loops/cron.h"

#include "alm/base/clock.h"
#include "tests/lib/test.h"

static int64_t at(const char *text)
{
	int64_t ns = 0;
	assert_true(clock_parse(str_of(text), &ns));
	return ns;
}

static void test_cron__next(void **state)
{
	(void)state;
	/* 2026-11-23 is a Monday. */
	static const struct {
		const char *schedule, *after, *next;
	} cases[] = {
		{"* * * * *", "2026-11-23T06:37:01Z", "2026-11-23T06:38:00Z"},
		{"* * * * *", "2026-11-23T06:38:00Z", "2026-11-23T06:39:00Z"},
		{"*/15 * * * *", "2026-11-23T06:37:01Z", "2026-11-23T06:45:00Z"},
		{"5,35 9-17/4 * * *", "2026-11-23T09:36:00Z", "2026-11-23T13:05:00Z"},
		{"0 0 1 jan *", "2026-11-23T06:37:01Z", "2027-01-01T00:00:00Z"},
		{"0 12 * * sun", "2026-11-23T06:37:01Z", "2026-11-29T12:00:00Z"},
		{"0 12 1 * FRI", "2026-11-23T06:37:01Z", "2026-11-27T12:00:00Z"}, /* either day */
		{"0 12 29 2 *", "2026-11-23T06:37:01Z", "2028-02-29T12:00:00Z"},
		{"@hourly", "2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z"},
		{"@weekly", "2026-11-23T06:37:01Z", "2026-11-29T00:00:00Z"},
		{"@every 90s", "2026-11-23T06:37:01Z", "2026-11-23T06:38:31Z"},
		{"30/10 * * * *", "2026-11-23T06:41:00Z", "2026-11-23T06:50:00Z"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cron c;
		struct error err = ERROR_INIT;
		char got[CLOCK_TEXT_MAX];
		assert_int_equal(cron_parse(str_of(cases[i].schedule), &c, &err), 0);
		clock_format(cron_next(&c, at(cases[i].after)), CLOCK_SECONDS, got);
		assert_string_equal(got, cases[i].next);
	}
}

static void test_cron__refuses(void **state)
{
	(void)state;
	/* In the words of a real server. */
	static const char *const bad[][2] = {
		{"", "empty spec string"},
		{"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
		{"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
		{"60 * * * *", "end of range (60) above maximum (59): 60"},
		{"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
		{"* * * 13 *", "end of range (13) above maximum (12): 13"},
		{"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
		{"*/0 * * * *", "step of range should be a positive number: */0"},
		{"x * * * *",
		 "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
		{"1- * * * *",
		 "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"},
		{"@never", "unrecognized descriptor: @never"},
		{"@every x", "failed to parse duration @every x: time: invalid duration \"x\""}};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct cron c;
		struct error err = ERROR_INIT;
		assert_true(cron_parse(str_of(bad[i][0]), &c, &err) < 0);
		assert_string_equal(err.msg, bad[i][1]);
	}
	struct cron never;
	struct error err = ERROR_INIT;
	assert_int_equal(cron_parse(STR("0 0 31 2 *"), &never, &err), 0);
	assert_int_equal(cron_next(&never, at("2026-11-23T06:37:01Z")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cron__next),
		cmocka_unit_test(test_cron__refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
