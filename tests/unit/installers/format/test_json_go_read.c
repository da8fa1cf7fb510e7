/* test_json_go_read.c: what is escaped in a text, by halves of UTF-16: two that fit are one character, any other is U+FFFD. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "installers/format/json_go.h"

static void check(const char *text, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct value v;
	if (json_go_decode(a, str_of(text), &v, &msg) < 0)
		fail_msg("%s: %s", text, msg.buf);
	assert_int_equal(v.type, VALUE_STRING);
	if (!str_is(value_text(v), want))
		fail_msg("%s: %.*s", text, STR_ARG(value_text(v)));
}

/* At each end of both ranges, each with each. */
static void test_json_go_read__halves_of_characters(void **state)
{
	static const uint32_t halves[] = {0x41,   0xD7FF, 0xD800, 0xDBFF, 0xDC00,
					  0xDFFF, 0xE000, 0xFFFD, 0xFFFF};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(halves); i++)
		for (size_t k = 0; k < ARRAY_LEN(halves); k++) {
			uint32_t x = halves[i], y = halves[k];
			bool high = x >= 0xD800 && x <= 0xDBFF, low = y >= 0xDC00 && y <= 0xDFFF;
			CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
			char text[16];
			(void)snprintf(text, sizeof(text), "\"\\u%04x\\u%04X\"", x, y);
			if (high && low) {
				strbuf_addrune(&want, 0x10000 + (x - 0xD800) * 0x400 + y - 0xDC00);
			} else {
				strbuf_addrune(&want, x >= 0xD800 && x <= 0xDFFF ? 0xFFFD : x);
				strbuf_addrune(&want, y >= 0xD800 && y <= 0xDFFF ? 0xFFFD : y);
			}
			check(text, want.buf);
		}
	check("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80");
	check("\"\\ud83dx\"", "\xEF\xBF\xBDx");
	check("\"\\ud83d\\n\\ude00\"", "\xEF\xBF\xBD\n\xEF\xBF\xBD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_go_read__halves_of_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
