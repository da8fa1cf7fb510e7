#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/obj/decode.h"
#include "alm/obj/json.h"

struct sample {
	const char *name, *version;
	bool flag;
	int64_t n, every, at;
	const struct obj *values, *list;
	struct decode_strs strs;
};

#define FIELD(path, type, member, flags) {path, type, offsetof(struct sample, member), flags}
static const struct decode_field fields[] = {
	FIELD("spec.name", DECODE_STR, name, DECODE_REQUIRED),
	FIELD("spec.version", DECODE_TEXT, version, 0),
	FIELD("spec.flag", DECODE_BOOL, flag, 0),
	FIELD("spec.n", DECODE_INT, n, 0),
	FIELD("spec.values", DECODE_OBJ, values, 0),
	FIELD("spec.list", DECODE_LIST, list, 0),
	FIELD("spec.strs", DECODE_STRS, strs, 0),
	FIELD("spec.every", DECODE_DURATION, every, 0),
	FIELD("spec.at", DECODE_TIME, at, 0),
	{0},
};

static int decoded(const char *text, struct sample *s, struct arena *a, struct error *err)
{
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, err), err);
	return decode(obj_keep(a, o), fields, s, a, err);
}

static void test_decode__all_types(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct sample s = {.n = 7};
	assert_ok(decoded("{\"spec\":{\"name\":\"x\",\"version\":1.10,\"flag\":true,\"values\":{},"
			  "\"list\":[1],\"strs\":[\"a\",\"b\"],\"every\":\"1m30s\","
			  "\"at\":\"1970-01-01T00:00:02Z\",\"n\":null}}",
			  &s, a, &err),
		  &err);
	assert_string_equal(s.name, "x");
	assert_string_equal(s.version, "1.10");
	assert_true(s.flag);
	assert_int_equal(s.n, 7);
	assert_int_equal(obj_len(s.list), 1);
	assert_int_equal(s.strs.n, 2);
	assert_string_equal(s.strs.items[1], "b");
	assert_int_equal(s.every, 90 * NS_PER_S);
	assert_int_equal(s.at, 2 * NS_PER_S);
}

static void test_decode__errors_name_the_path(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"{}", "spec.name: required, but absent"},
		{"{\"spec\":{\"name\":1}}", "spec.name: found integer, wanted string"},
		{"{\"spec\":{\"name\":\"\",\"flag\":\"true\"}}",
		 "spec.flag: found string, wanted boolean"},
		{"{\"spec\":{\"name\":\"\",\"strs\":[\"a\",null]}}",
		 "spec.strs[1]: found null, wanted string"},
		{"{\"spec\":{\"name\":\"\",\"n\":1.5}}", "spec.n: found number, wanted integer"},
		{"{\"spec\":{\"name\":\"\",\"at\":\"x\"}}",
		 "spec.at: found \"x\", wanted an RFC 3339 time"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(65536);
		struct error err = ERROR_INIT;
		struct sample s = {0};
		assert_int_equal(decoded(cases[i].text, &s, a, &err), -E_INVALID);
		assert_string_equal(err.msg, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode__all_types),
		cmocka_unit_test(test_decode__errors_name_the_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
