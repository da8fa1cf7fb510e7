#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/visible.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

static const struct {
	const char *text, *line, *lines;
} table[] = {
	{"plain text, caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 \\n",
	 "plain text, caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 \\n",
	 "plain text, caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 \\n"},
	{"\x1b[2J\x1b]0;pwn\x07", "\\u001b[2J\\u001b]0;pwn\\u0007",
	 "\\u001b[2J\\u001b]0;pwn\\u0007"},
	{"a\nb\tc\rd\x7f", "a\\nb\\tc\\rd\\u007f", "a\nb\tc\\rd\\u007f"},
	{"\xc2\x9b"
	 "31m\xc2\x80\xc2\x9f",
	 "\\u009b31m\\u0080\\u009f", "\\u009b31m\\u0080\\u009f"},
	{"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "\\u202e\\u2066\\u061c", "\\u202e\\u2066\\u061c"},
	{"\xe2\x80\x8b\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x81\xa0\xef\xbb\xbf\xc2\xad",
	 "\\u200b\\u200d\\u200e\\u200f\\u2060\\ufeff\\u00ad",
	 "\\u200b\\u200d\\u200e\\u200f\\u2060\\ufeff\\u00ad"},
	{"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85", "\\u2028\\u2029\\u0085", "\\u2028\\u2029\\u0085"},
	{"\xff\xc0\x80\xed\xa0\x80\xe2\x82", "\\xff\\xc0\\x80\\xed\\xa0\\x80\\xe2\\x82",
	 "\\xff\\xc0\\x80\\xed\\xa0\\x80\\xe2\\x82"},
	{"\x9b"
	 "31m",
	 "\\x9b31m", "\\x9b31m"},
	{"\xf3\xa0\x80\x81", "\\U000e0001", "\\U000e0001"},
	{"", "", ""},
};

static void test_visible__shows_what_a_terminal_would_obey(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		visible_adds(&b, table[i].text);
		assert_string_equal(b.buf, table[i].line);
		assert_string_equal(visible_text(a, table[i].text), table[i].line);
		strbuf_clear(&b);
		visible_add_lines(&b, str_of(table[i].text));
		assert_string_equal(b.buf, table[i].lines);
	}
	assert_ptr_equal(visible_text(a, table[0].text), table[0].text);
}

/* Whatever goes in, nothing that a terminal obeys comes out, and what came out stays as it is. */
static void test_visible__every_code_point(void **state)
{
	(void)state;
	for (uint32_t r = 1; r < 0x110000; r++) {
		char in[5] = {0};
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(STRBUF_SMALL);
		(void)utf8_encode(r, in);
		visible_adds(&b, in);
		assert_true(utf8_valid(strbuf_str(&b)));
		for (size_t i = 0; i < b.len; i++)
			assert_true((unsigned char)b.buf[i] >= 0x20 && b.buf[i] != 0x7F);
		bool is_control = r < 0x20 || (r >= 0x7F && r < 0xA0) ||
				  (r >= 0x202A && r <= 0x202E) || (r >= 0x2066 && r <= 0x2069);
		if (is_control)
			assert_int_equal(b.buf[0], '\\');
		visible_adds(&again, b.buf);
		assert_string_equal(again.buf, b.buf);
	}
}

static void test_visible__a_format_is_ours_and_its_arguments_are_not(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	visible_addf(&b, "%s\n%.*s|%c|%.3s\n", "a\nb", 2, "\x1b[31m", '\x07', "abcdef");
	assert_string_equal(b.buf, "a\\nb\n\\u001b[|\\u0007|abc\n");
	strbuf_clear(&b);
	visible_addf(&b, "[%-6s][%6s][%-*s][%*s]", "\xc3\xa9", "\xc3\xa9\n", 3, "x", 2, "");
	assert_string_equal(b.buf, "[\xc3\xa9     ][   \xc3\xa9\\n][x  ][  ]");
}

static void test_visible__numbers_are_those_of_printf(void **state)
{
	(void)state;
	char want[256];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
#define NUMBERS                                                                                    \
	"%d %i %u %x %ld %lu %lx %lld %llu %zu %02x %5d|%-5d|%3u %%\n", -1, INT32_MIN, UINT32_MAX, \
		0xabcu, INT64_MIN, UINT64_MAX, UINT64_MAX, -5LL, 18446744073709551615ULL,          \
		(size_t)7, 9u, -42, 42, 1234u
	/* cppcheck-suppress invalidPrintfArgType_sint; lengths and values are in NUMBERS */
	(void)snprintf(want, sizeof(want), NUMBERS);
	visible_addf(&b, NUMBERS);
	assert_string_equal(b.buf, want);
}

/* The texts of -o json and -o yaml say the same values, and hide nothing. */
static void test_visible__objects_for_readers_hide_nothing(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (!utf8_valid(str_of(table[i].text)))
			continue;
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		CLEANUP(obj_unrefp) struct obj *back = NULL;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(STRBUF_SMALL);
		obj_set_str(o, "v", table[i].text);
		obj_set_str(o, table[i].text, "v");
		json_print_pretty(o, 4, &b);
		visible_add_lines(&shown, strbuf_str(&b));
		assert_string_equal(shown.buf, b.buf);
		assert_ok(json_parse(strbuf_str(&b), &back, &err), &err);
		assert_true(obj_equal(o, back));
		strbuf_clear(&b);
		strbuf_clear(&shown);
		yaml_print(o, &b);
		visible_add_lines(&shown, strbuf_str(&b));
		assert_string_equal(shown.buf, b.buf);
		obj_unref(STEAL(back));
		assert_ok(yaml_parse_one(strbuf_str(&b), &back, &err), &err);
		assert_true(obj_equal(o, back));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visible__shows_what_a_terminal_would_obey),
		cmocka_unit_test(test_visible__every_code_point),
		cmocka_unit_test(test_visible__a_format_is_ours_and_its_arguments_are_not),
		cmocka_unit_test(test_visible__numbers_are_those_of_printf),
		cmocka_unit_test(test_visible__objects_for_readers_hide_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
