#include "tests/lib/test.h"

#include "alm/base/clock.h"
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

struct members {
	bool flag;
	int64_t span;
	const struct obj *map, *any;
};

#define MEMBER(path, type, member) {path, type, offsetof(struct members, member)}
static const struct decode_field member_fields[] = {
	MEMBER("flag", DECODE_BOOL, flag),
	MEMBER("span", DECODE_SPAN, span),
	MEMBER("map", DECODE_MAP, map),
	MEMBER("any", DECODE_ANY, any),
	{0},
};

static int members(const char *text, struct members *m, struct arena *a, struct error *err)
{
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, err), err);
	return decode_members(obj_keep(a, o), "spec.x[0]", member_fields, m, a, err);
}

static void test_decode__members_of_a_map(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct members m = {0};
	assert_ok(members("{\"flag\":true,\"span\":\"1m30s\",\"map\":{\"a\":1},\"any\":null}", &m,
			  a, &err),
		  &err);
	assert_true(m.flag);
	assert_true(m.span == 90 * NS_PER_S);
	assert_int_equal(obj_len(m.map), 1);
	assert_int_equal(obj_type(m.any), OBJ_NULL);
	assert_ok(members("{\"span\":5000000000}", &m, a, &err), &err);
	assert_true(m.span == 5 * NS_PER_S);
}

#define NO_SPAN " is no duration from 1ms to 7d; write it like \"30s\" or \"5m\""

static void test_decode__bad_members_are_told(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"[]", "spec.x[0]: found array, wanted object"},
		{"{\"flag\":1}", "spec.x[0].flag: found integer, wanted boolean"},
		{"{\"map\":[]}", "spec.x[0].map: found array, wanted object"},
		{"{\"flags\":true}",
		 "spec.x[0].flags: there is no such field; known are flag, span, map, any"},
		{"{\"span\":30}", "spec.x[0].span: \"30\"" NO_SPAN},
		{"{\"span\":\"0\"}", "spec.x[0].span: \"0\"" NO_SPAN},
		{"{\"span\":\"-5m\"}", "spec.x[0].span: \"-5m\"" NO_SPAN},
		{"{\"span\":\"200h\"}", "spec.x[0].span: \"200h\"" NO_SPAN},
		{"{\"span\":true}",
		 "spec.x[0].span: found boolean, wanted a duration like \"30s\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(65536);
		struct error err = ERROR_INIT;
		struct members m = {0};
		assert_int_equal(members(cases[i].text, &m, a, &err), -E_INVALID);
		assert_string_equal(err.msg, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode__all_types),
		cmocka_unit_test(test_decode__errors_name_the_path),
		cmocka_unit_test(test_decode__members_of_a_map),
		cmocka_unit_test(test_decode__bad_members_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
