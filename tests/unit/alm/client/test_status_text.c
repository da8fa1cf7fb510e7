/* What a server says of a refusal, however long it is. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/arena.h"
#include "alm/client/status_text.h"

static char *repeat(struct arena *a, const char *s, size_t n)
{
	char *out = arena_alloc(a, strlen(s) * n + 1);
	*out = '\0';
	for (size_t i = 0; i < n; i++)
		memcpy(out + strlen(s) * i, s, strlen(s) + 1);
	return out;
}

static void test_status_text__a_long_one_keeps_both_ends(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 16);
	struct error err = ERROR_INIT;
	assert_int_equal(status_text_error(&err, E_INVALID, repeat(a, "x", STATUS_TEXT_MAX)),
			 -E_INVALID);
	assert_string_equal(err.msg, repeat(a, "x", STATUS_TEXT_MAX));
	(void)status_text_error(&err, E_INVALID,
				arena_fmt(a,
					  "spec.template: Invalid value: {%s}: field is immutable",
					  repeat(a, "\"a\": 1, ", 2000)));
	assert_int_equal(strlen(err.msg), STATUS_TEXT_MAX);
	assert_int_equal(strncmp(err.msg, "spec.template: Invalid value: {\"a\"", 34), 0);
	assert_non_null(strstr(err.msg, " .. "));
	assert_string_equal(err.msg + strlen(err.msg) - 20, ": field is immutable");
	assert_int_equal(err.code, E_INVALID);
}

/* Of a character both ends have all bytes or none. */
static void test_status_text__is_not_cut_in_a_character(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 16);
	for (size_t i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		(void)status_text_error(
			&err, E_INVALID,
			arena_fmt(a, "%.*s%s", (int)i, "xx", repeat(a, "\xe2\x82\xac", 500)));
		for (const char *p = strstr(err.msg, "\xe2"); *p; p += *p == '\xe2' ? 3 : 4)
			assert_true(!strncmp(p, "\xe2\x82\xac", 3) || !strncmp(p, " .. ", 4));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_text__a_long_one_keeps_both_ends),
		cmocka_unit_test(test_status_text__is_not_cut_in_a_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
