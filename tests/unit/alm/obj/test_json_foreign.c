#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/json_foreign.h"

static void assert_reads(const char *in, const char *out)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_foreign_parse(str_of(in), &o, &err), &err);
	char *text = json_text(o);
	assert_string_equal(text, out);
	xfree(text);
	obj_unref(o);
}

static void test_json_foreign__reads_what_json_says(void **state)
{
	(void)state;
	assert_reads("{\"token\":\"t\\u00e9\",\"expires_in\":300,\"a\":[1.50,-2,true,null,{}]}",
		     "{\"token\":\"t\xc3\xa9\",\"expires_in\":300,\"a\":[1.50,-2,true,null,{}]}");
	assert_reads("7", "7");
	assert_reads("18446744073709551615", "18446744073709551615");
	assert_reads("{\"a\":1,\"a\":2}", "{\"a\":2}");
}

static void test_json_foreign__refuses_what_it_does_not(void **state)
{
	(void)state;
	const char *bad[] = {"",      "{",       "{\"a\":1} x",      "NaN",      "[1,]",  "01.5",
			     "[-]",   "// x\n1", "{\"a\":Infinity}", "\"\xff\"", "1e999", "[1 2]",
			     "\"\x01"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		if (json_foreign_parse(str_of(bad[i]), &o, &err) != -E_BADREQUEST)
			fail_msg("%s was read", bad[i]);
		assert_null(o);
		assert_true(*err.msg);
	}
}

static int parse_repeated(const char *piece, size_t n, struct obj **o)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	strbuf_adds(&b, "[");
	for (size_t i = 0; i < n; i++)
		strbuf_adds(&b, piece);
	strbuf_adds(&b, "0]");
	return json_foreign_parse(strbuf_str(&b), o, &err);
}

static void test_json_foreign__has_limits(void **state)
{
	(void)state;
	struct obj *o = NULL;
	assert_int_equal(parse_repeated("{},", JSON_FOREIGN_VALUES_MAX, &o), -E_TOOLARGE);
	assert_int_equal(parse_repeated("[", JSON_FOREIGN_DEPTH_MAX, &o), -E_BADREQUEST);
	assert_null(o);
	assert_int_equal(parse_repeated("[],", JSON_FOREIGN_VALUES_MAX / 2 - 2, &o), 0);
	assert_int_equal(obj_len(o), JSON_FOREIGN_VALUES_MAX / 2 - 1);
	obj_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_foreign__reads_what_json_says),
		cmocka_unit_test(test_json_foreign__refuses_what_it_does_not),
		cmocka_unit_test(test_json_foreign__has_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
