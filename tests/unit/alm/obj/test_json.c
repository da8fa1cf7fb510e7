#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"

static void assert_round_trip(const char *in, const char *out)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(in), &o, &err), &err);
	char *text = json_text(o);
	assert_string_equal(text, out);
	xfree(text);
	obj_unref(o);
}

static void assert_refused(struct str in, const char *part)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_int_equal(json_parse(in, &o, &err), -E_BADREQUEST);
	assert_null(o);
	if (!strstr(err.msg, part))
		fail_msg("%.*s: got '%s', wanted '%s'", STR_ARG(in), err.msg, part);
}

static void test_json__numbers_keep_their_text(void **state)
{
	(void)state;
	assert_round_trip("[1.50, 1e3,-0, 0, 18446744073709551615,-9223372036854775808]",
			  "[1.50,1e3,-0,0,18446744073709551615,-9223372036854775808]");
	assert_round_trip("18446744073709551616", "18446744073709551616");
	assert_round_trip("{\"a\":null,\"b\":[],\"c\":{}}", "{\"a\":null,\"b\":[],\"c\":{}}");
}

static void test_json__strings_are_escaped_as_go_does(void **state)
{
	(void)state;
	assert_round_trip("\"\\u00e9\\ud83d\\ude00<&>\\/\\u0001\\b\\f\\n\\r\\t\\u2028\\u007f\"",
			  "\"\xc3\xa9\xf0\x9f\x98\x80<&>/\\u0001\\b\\f\\n\\r\\t\\u2028\x7f\"");
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	json_quote(STR("a\xff\"\0z"), &b);
	assert_str(strbuf_str(&b), "\"a\\ufffd\\\"\\u0000z\"");
	strbuf_release(&b);
}

/* Text is looked at in words of eight bytes. */
static void test_json__each_byte_is_seen_at_each_place_of_a_word(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++)
		for (size_t at = 0; at < 17; at++) {
			char in[20], expect[32];
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			struct error err = ERROR_INIT;
			CLEANUP(obj_unrefp) struct obj *o = NULL;
			memset(in, 'a', sizeof(in));
			in[0] = in[18] = '"';
			in[1 + at] = (char)c;
			json_quote(str_n(in + 1, 17), &b);
			bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
			assert_int_equal(str_eq(strbuf_str(&b), str_n(in, 19)), plain);
			assert_ok(json_parse(strbuf_str(&b), &o, &err), &err);
			if (c < 0x80) /* what is not UTF-8 is printed as U+FFFD */
				assert_true(str_eq(obj_as_str(o), str_n(in + 1, 17)));
			strbuf_clear(&b);
			json_print_pretty(o, 2,
					  &b); /* for a terminal, on which nothing is hidden */
			if (c <= 0x7F)
				assert_int_equal(str_eq(strbuf_str(&b), str_n(in, 19)),
						 plain && c != 0x7F);
			obj_unref(STEAL(o));
			int n = snprintf(expect, sizeof(expect), "{%.*s:1}", 19, in);
			struct str map = c ? str_n(expect, (size_t)n) : str_n(in, 19);
			assert_int_equal(json_parse(map, &o, &err) == 0, plain);
			if (plain)
				assert_non_null(obj_getn(o, str_n(in + 1, 17)));
		}
}

static void test_json__refuses_what_go_refuses(void **state)
{
	(void)state;
	assert_refused(STR(""), "unexpected end of JSON input");
	assert_refused(STR("{\"a\":"), "unexpected end of JSON input");
	assert_refused(STR("x"), "invalid character 'x' looking for beginning of value");
	assert_refused(STR("{a:1}"), "invalid character 'a' looking for beginning of object key");
	assert_refused(STR("{'a':1}"), "invalid character '\\'' looking for");
	assert_refused(STR("{\"a\" 1}"), "invalid character '1' after object key");
	assert_refused(STR("{\"a\":1 2}"), "'2' after object key:value pair");
	assert_refused(STR("{\"a\":1,}"), "'}' looking for beginning of object key string");
	assert_refused(STR("[1,]"), "']' looking for beginning of value");
	assert_refused(STR("[1 2]"), "'2' after array element");
	assert_refused(STR("1 2"), "'2' after top-level value");
	assert_refused(STR("NaN"), "'N' looking for beginning of value");
	assert_refused(STR("nan"), "'a' in literal null (expecting 'u')");
	assert_refused(STR("01"), "'1' after top-level value");
	assert_refused(STR("-x"), "'x' in numeric literal");
	assert_refused(STR("1.x"), "'x' after decimal point in numeric literal");
	assert_refused(STR("1ex"), "'x' in exponent of numeric literal");
	assert_refused(STR("1e400"), "number out of range");
	assert_refused(STR("\"\n\""), "'\\n' in string literal");
	assert_refused(STR("\"\\x\""), "'x' in string escape code");
	assert_refused(STR("\"\\u12g4\""), "'g' in \\u hexadecimal character escape");
	assert_refused(STR("\"\0\""), "'\\x00' in string literal");
	assert_refused(STR("\"abc"), "unexpected end of JSON input");
	assert_refused(STR("\"abc\\"), "unexpected end of JSON input");
	assert_refused(STR("\"abc\\u12"), "unexpected end of JSON input");
}

static void test_json__refuses_other_views_of_a_body(void **state)
{
	(void)state;
	assert_refused(STR("{\"a\":1,\"a\":2}"), "a: duplicate field");
	assert_refused(STR("[{\"b\":{\"a\":1,\"\\u0061\":2}}]"), "[0].b.a: duplicate field");
	assert_refused(STR("\"\\ud800\""), "lone surrogate");
	assert_refused(STR("\"\\ud800\\u0041\""), "lone surrogate");
	assert_refused(STR("\"\\udc00\""), "lone surrogate");
	assert_refused(STR("\"\xed\xa0\x80\""), "invalid UTF-8");
	assert_refused(STR("\n\"\xff\""), "invalid UTF-8 (line 2, offset 2)");
	assert_refused(STR("{\"a\\u0000\":1}"), "holds a NUL");
	assert_refused(STR("1\0"), "after top-level value");
}

static void test_json__depth_is_bounded(void **state)
{
	(void)state;
	char text[2 * OBJ_DEPTH_MAX + 2];
	memset(text, '[', OBJ_DEPTH_MAX + 1);
	memset(text + OBJ_DEPTH_MAX + 1, ']', OBJ_DEPTH_MAX + 1);
	assert_refused(str_n(text, sizeof(text)), "exceeded max depth");
	struct obj *o;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_n(text + 1, sizeof(text) - 2), &o, &err), &err);
	obj_unref(o);
}

static void test_json__reports_duplicates(void **state)
{
	(void)state;
	struct json_duplicates dup = {0};
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse_dup(STR("{\"spec\":{\"a\":1,\"a\":2,\"l\":[0,{\"x\":1,\"x\":3}]}}"), 0,
				 &dup, &o, &err),
		  &err);
	assert_int_equal(dup.n, 2);
	assert_string_equal(dup.paths[0], "spec.a");
	assert_string_equal(dup.paths[1], "spec.l[1].x");
	assert_int_equal(obj_i64(o, "spec.a", 0), 2);
	json_duplicates_release(&dup);
	obj_unref(o);
	/* One that came before an error is not left behind. */
	assert_int_equal(json_parse_dup(STR("{\"a\":1,\"a\":2,"), 0, &dup, &o, &err),
			 -E_BADREQUEST);
	assert_int_equal(dup.n, 0);
}

static void test_json__canonical_form(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(STR("{\"b\":[1.0,1e30,4.50,2e-3,1e-27,-0.0,123456789012345678901],"
				 "\"a\":\"\\u2028\\u000f\",\"\":null}"),
			     &o, &err),
		  &err);
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	json_print_canonical(o, &b);
	assert_str(strbuf_str(&b), "{\"\":null,\"a\":\"\xe2\x80\xa8\\u000f\",\"b\":[1,1e+30,4.5,"
				   "0.002,1e-27,0,123456789012345678901]}");
	strbuf_release(&b);
	char digest[65];
	struct obj *empty = obj_map();
	json_digest(empty, digest);
	assert_string_equal(digest,
			    "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
	obj_unref(empty);
	obj_unref(o);
}

static void test_json__pretty_as_kubectl(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(STR("{\"b\":[1,{\"x\":null}],\"a\":{},\"c\":[]}"), &o, &err), &err);
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	json_print_pretty(o, 4, &b);
	assert_str(strbuf_str(&b), "{\n    \"a\": {},\n    \"b\": [\n        1,\n        {\n"
				   "            \"x\": null\n        }\n    ],\n    \"c\": []\n}");
	strbuf_release(&b);
	obj_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json__numbers_keep_their_text),
		cmocka_unit_test(test_json__strings_are_escaped_as_go_does),
		cmocka_unit_test(test_json__each_byte_is_seen_at_each_place_of_a_word),
		cmocka_unit_test(test_json__refuses_what_go_refuses),
		cmocka_unit_test(test_json__refuses_other_views_of_a_body),
		cmocka_unit_test(test_json__depth_is_bounded),
		cmocka_unit_test(test_json__reports_duplicates),
		cmocka_unit_test(test_json__canonical_form),
		cmocka_unit_test(test_json__pretty_as_kubectl),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
