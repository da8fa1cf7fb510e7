/* What is read out of the texts of the store without reading all of them. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/apiserver/store/store.h"
#include "alm/obj/json.h"

static void labels_are(const char *object, const char *want)
{
	struct str got = text_labels(str_of(object));
	if (!str_is(got, want))
		fail_msg("%s: labels %.*s, want %s", object, STR_ARG(got), want);
}

static void test_text__labels(void **state)
{
	(void)state;
	static const struct {
		const char *object, *want;
	} cases[] = {
		{"{\"metadata\":{\"labels\":{\"a\":\"b\"},\"name\":\"x\"}}", "{\"a\":\"b\"}"},
		{"{\"metadata\":{\"name\":\"x\",\"labels\":{}}}", "{}"},
		{"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"labels\":{\"a\":\"b\"}}}", ""},
		{"{\"metadata\":{},\"labels\":{\"a\":\"b\"}}", ""},
		{"{\"metadata\":{\"annotations\":{\"labels\":\"x\",\"y\":\"\\\"labels\\\":{}\\\\\"}"
		 ","
		 "\"generation\":12,\"labels\":{\"{\":\"}\\\\\\\"\"},\"z\":[{\"a\":[1,{}]}]}}",
		 "{\"{\":\"}\\\\\\\"\"}"},
		{"{\"metadata\":{\"a\":{\"labels\":{\"inner\":\"1\"}},\"b\":[{\"labels\":{}}],"
		 "\"c\":null}}",
		 ""},
		{"{\"metadata\":{\"label\":1,\"labelss\":{\"a\":\"b\"}}}", ""},
		{"{\"metadata\":{\"labels\":null}}", "null"},
		{"{\"kind\":\"x\"}", ""},
		/* no colon behind a key: it is no object of the store */
		{"{\"metadata\":{\"labels\",{\"a\":\"b\"}}}", ""},
		{"{\"metadata\":{\"a\"}\"labels\":{\"a\":\"b\"}}}", ""},
		{"{\"metadata\":{\"labels\"", ""},
		{"{\"metadata\":{labels:{}}}", ""},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		labels_are(cases[i].object, cases[i].want);
}

/* A text that ends anywhere is read to its end and no further. */
static void test_text__labels_of_a_text_that_is_cut(void **state)
{
	(void)state;
	static const char whole[] = "{\"metadata\":{\"annotations\":{\"a\\\\\":\"\\\"\"},"
				    "\"labels\":{\"k\":[\"v\"]},\"n\":1}}";
	for (size_t n = 0; n < strlen(whole); n++) {
		char *cut = xmemdup(whole, n ? n : 1);
		struct str got = text_labels(str_n(cut, n));
		assert_true(!got.len || (got.ptr >= cut && got.ptr + got.len <= cut + n));
		xfree(cut);
	}
}

/* The same as the parser finds, whatever the rest is. */
static void test_text__labels_are_those_of_the_object(void **state)
{
	(void)state;
	static const char *const words[] = {"labels", "\"labels\":{", "}",  "\\",
					    "a\"b",   "metadata",     "\t", ""};
	uint64_t seed = 1;
	for (int n = 0; n < 2000; n++) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		struct obj *meta = obj_need_map(o, "metadata");
		for (int i = 0; i < 6; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			const char *key = words[seed >> 33 & 7], *value = words[seed >> 40 & 7];
			if (seed >> 50 & 1)
				obj_set_str(obj_need_map(meta, "annotations"), key, value);
			if (seed >> 51 & 1)
				obj_set_str(obj_need_map(meta, "labels"), key, value);
			if (seed >> 52 & 1)
				obj_set_int(meta, "generation", i);
		}
		obj_set(obj_need_map(o, "spec"), "labels", obj_string("no"));
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(10000),
						      want = STRBUF_INIT(10000);
		json_print(o, &b);
		const struct obj *labels = obj_path(o, "metadata.labels");
		if (labels)
			json_print(labels, &want);
		labels_are(b.buf, want.len ? want.buf : "");
	}
}

static void test_text__api_version(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}", "v1"},
		{"{\"apiVersion\":\"apps/v1\"}", "apps/v1"},
		{"{\"apiVersion\":\"\"}", ""},
		{"{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", ""},
		{"{\"apiVersion\":\"v1", ""},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str got = text_api_version(str_of(cases[i][0]));
		if (!str_is(got, cases[i][1]))
			fail_msg("%s: %.*s", cases[i][0], STR_ARG(got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__labels),
		cmocka_unit_test(test_text__labels_of_a_text_that_is_cut),
		cmocka_unit_test(test_text__labels_are_those_of_the_object),
		cmocka_unit_test(test_text__api_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
