#include "tests/lib/test.h"

#include "alm/base/str.h"

static void test_str__next_yields_every_field(void **state)
{
	(void)state;
	struct str rest = STR("a,,b,"), field;
	const char *want[] = {"a", "", "b", ""};
	size_t n = 0;
	while (str_next(&rest, ',', &field)) {
		assert_true(n < 4);
		assert_str(field, want[n++]);
	}
	assert_int_equal(n, 4);
}

static void test_str__parse_i64_refuses_overflow(void **state)
{
	(void)state;
	int64_t v;
	assert_true(str_parse_i64(STR("-9223372036854775808"), &v));
	assert_true(v == INT64_MIN);
	assert_false(str_parse_i64(STR("9223372036854775808"), &v));
	assert_false(str_parse_i64(STR(""), &v));
	assert_false(str_parse_i64(STR("1x"), &v));
}

static void test_str__utf8_refuses_surrogates_and_overlong_forms(void **state)
{
	(void)state;
	assert_true(utf8_valid(STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
	assert_false(utf8_valid(STR("\xed\xa0\x80")));
	assert_false(utf8_valid(STR("\xc0\x80")));
	assert_false(utf8_valid(STR("\xf4\x90\x80\x80")));
	for (uint32_t r = 1; r < 0x110000; r += 7) {
		char out[4];
		uint32_t back = 0;
		size_t n = utf8_encode(r, out);
		if (r >= 0xD800 && r <= 0xDFFF)
			continue;
		assert_int_equal(utf8_decode(str_n(out, n), &back), n);
		assert_int_equal(back, r);
	}
}

static void test_str__clip_cuts_no_character_in_two(void **state)
{
	(void)state;
	struct str s = STR("a\xc3\xa4\xe2\x82\xac"
			   "b"); /* 1, 2, 3 and 1 bytes */
	static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 7, 7};
	for (size_t max = 0; max < ARRAY_LEN(want); max++)
		assert_int_equal(str_clip(s, max).len, want[max]);
	assert_int_equal(str_clip(STR_NONE, 5).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_str__next_yields_every_field),
		cmocka_unit_test(test_str__parse_i64_refuses_overflow),
		cmocka_unit_test(test_str__clip_cuts_no_character_in_two),
		cmocka_unit_test(test_str__utf8_refuses_surrogates_and_overlong_forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
