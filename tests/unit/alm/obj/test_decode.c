#include "tests/lib/test.h"

#include "alm/obj/decode.h"
#include "alm/obj/json.h"

struct sample {
	const char *name, *version;
	const struct obj *list;
	struct decode_strs strs;
};

#define FIELD(path, type, member) {path, type, offsetof(struct sample, member)}
static const struct decode_field fields[] = {
	FIELD("spec.name", DECODE_STR, name),
	FIELD("spec.version", DECODE_TEXT, version),
	FIELD("spec.list", DECODE_LIST, list),
	FIELD("spec.strs", DECODE_STRS, strs),
	{0},
};

static int decoded(const char *text, struct sample *s, struct arena *a, struct error *err)
{
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, err), err);
	return decode_fields(obj_keep(a, o), fields, s, a, err);
}

static void test_decode__all_types(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct sample s = {0};
	assert_ok(decoded("{\"spec\":{\"name\":\"x\",\"version\":1.10,\"list\":[1],"
			  "\"strs\":[\"a\",\"b\"]}}",
			  &s, a, &err),
		  &err);
	assert_string_equal(s.name, "x");
	assert_ok(decoded("{\"spec\":{\"name\":null}}", &s, a, &err), &err);
	assert_string_equal(s.name, "x"); /* absent: stays as it was */
	assert_string_equal(s.version, "1.10");
	assert_int_equal(obj_len(s.list), 1);
	assert_int_equal(s.strs.n, 2);
	assert_string_equal(s.strs.items[1], "b");
}

static void test_decode__errors_name_the_path(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"{\"spec\":{\"name\":1}}", "spec.name: found integer, wanted string"},
		{"{\"spec\":{\"version\":[]}}",
		 "spec.version: found array, wanted string or number"},
		{"{\"spec\":{\"list\":\"x\"}}", "spec.list: found string, wanted array"},
		{"{\"spec\":{\"strs\":[\"a\",null]}}", "spec.strs[1]: found null, wanted string"},
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
