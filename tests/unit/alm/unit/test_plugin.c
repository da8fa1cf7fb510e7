#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/unit/plugin.h"

static void test_plugin__names_are_those_of_files(void **state)
{
	static const struct {
		const char *file, *name;
		enum plugin_kind kind;
	} cases[] = {
		{"action-Foo", "Foo", PLUGIN_ACTION},
		{"check-a-b1", "a-b1", PLUGIN_CHECK},
		{"renderer-x", "x", PLUGIN_RENDERER},
		{"trigger-T", "T", PLUGIN_TRIGGER},
		{"action-", NULL, 0},
		{"action", NULL, 0},
		{"action--x", NULL, 0},
		{"action-Foo.json", NULL, 0},
		{"action-../x", NULL, 0},
		{"Action-Foo", NULL, 0},
		{"action-F\xc3\xbc", NULL, 0},
		{"action-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL,
		 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum plugin_kind kind = PLUGIN_KINDS;
		const char *name = NULL;
		bool is = plugin_name(cases[i].file, &kind, &name);
		assert_int_equal(is, cases[i].name != NULL);
		if (is)
			assert_string_equal(name, cases[i].name);
		if (is)
			assert_int_equal(kind, cases[i].kind);
	}
}

static int read_answer(struct arena *a, const char *text, enum plugin_kind kind,
		       struct plugin_answer *ret, struct error *err)
{
	struct obj *o = NULL;
	*err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, err), err);
	return plugin_answer_read(obj_keep(a, o), kind, a, ret, err);
}

static void test_plugin__answers_are_read(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct plugin_answer ans;
	struct error err;
	(void)state;
	assert_ok(read_answer(a, "{}", PLUGIN_ACTION, &ans, &err), &err);
	assert_int_equal(ans.state, PLUGIN_IN_PROGRESS);
	assert_null(ans.message);
	assert_ok(
		read_answer(
			a,
			"{\"state\": \"Finished\", \"message\": \"m\", \"record\": [1], "
			"\"pollAfter\": \"5s\", \"writes\": [{\"apply\": {}}, {\"delete\": true}]}",
			PLUGIN_ACTION, &ans, &err),
		&err);
	assert_int_equal(ans.state, PLUGIN_FINISHED);
	assert_int_equal(ans.poll_ns, 5 * NS_PER_S);
	assert_int_equal(obj_len(ans.writes), 2);
	assert_ok(read_answer(a, "{\"runs\": [{\"key\": \"a\"}, {\"key\": \"b\", \"config\": {}}]}",
			      PLUGIN_TRIGGER, &ans, &err),
		  &err);
	assert_int_equal(obj_len(ans.runs), 2);
}

static void test_plugin__what_is_wrong_is_named(void **state)
{
	static const struct {
		enum plugin_kind kind;
		const char *text, *want;
	} cases[] = {
		{PLUGIN_ACTION, "{\"state\": \"done\"}", "state: \"done\" is none of Finished"},
		{PLUGIN_ACTION, "{\"state\": 1}", "state"},
		{PLUGIN_ACTION, "{\"status\": 1}", "status"},
		{PLUGIN_ACTION, "{\"runs\": []}", "runs"},
		{PLUGIN_ACTION, "{\"writes\": {}}", "writes"},
		{PLUGIN_ACTION, "{\"writes\": [1]}", "writes[0]"},
		{PLUGIN_ACTION, "{\"writes\": [{}]}", "writes[0]: want"},
		{PLUGIN_ACTION, "{\"writes\": [{\"delete\": false}]}", "writes[0]: want"},
		{PLUGIN_ACTION, "{\"writes\": [{\"delete\": true, \"apply\": {}}]}",
		 "writes[0]: want"},
		{PLUGIN_ACTION, "{\"writes\": [{\"patch\": {}}]}", "writes[0].patch"},
		{PLUGIN_ACTION, "{\"pollAfter\": \"1ns\"}", "pollAfter"},
		{PLUGIN_CHECK, "{\"writes\": []}", "writes"},
		{PLUGIN_TRIGGER, "{\"runs\": [{}]}", "runs[0].key: want a text"},
		{PLUGIN_TRIGGER, "{\"runs\": [{\"key\": \"\"}]}", "runs[0].key: want a text"},
		{PLUGIN_TRIGGER, "{\"runs\": [{\"key\": 1}]}", "runs[0].key"},
		{PLUGIN_TRIGGER, "{\"runs\": [{\"key\": \"a\", \"config\": []}]}",
		 "runs[0].config"},
		{PLUGIN_TRIGGER, "{\"state\": \"Finished\"}", "state"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plugin_answer ans;
		struct error err;
		if (read_answer(a, cases[i].text, cases[i].kind, &ans, &err) >= 0 ||
		    !strstr(err.msg, cases[i].want))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

static void test_plugin__limits_hold(void **state)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 24);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	struct plugin_answer ans;
	struct error err;
	(void)state;
	strbuf_adds(&b, "{\"record\": \"");
	strbuf_pad(&b, 'x', PLUGIN_RECORD_BYTES);
	strbuf_adds(&b, "\"}");
	assert_true(read_answer(a, b.buf, PLUGIN_CHECK, &ans, &err) < 0);
	assert_int_equal(err.code, E_LIMIT);
	strbuf_clear(&b);
	strbuf_adds(&b, "{\"writes\": [{\"delete\": true}");
	for (int i = 0; i < PLUGIN_WRITES_MAX; i++)
		strbuf_adds(&b, ", {\"delete\": true}");
	strbuf_adds(&b, "]}");
	assert_true(read_answer(a, b.buf, PLUGIN_ACTION, &ans, &err) < 0);
	assert_int_equal(err.code, E_LIMIT);
	strbuf_clear(&b);
	strbuf_adds(&b, "{\"message\": \"");
	strbuf_pad(&b, 'm', (size_t)3 * PLUGIN_MESSAGE_MAX);
	strbuf_adds(&b, "\"}");
	assert_ok(read_answer(a, b.buf, PLUGIN_CHECK, &ans, &err), &err);
	assert_int_equal(strlen(ans.message), PLUGIN_MESSAGE_MAX);
}

static void test_plugin__grants_are_read(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: taken */
	} cases[] = {
		{"{}", NULL},
		{"{\"network\": true, \"env\": [\"A\"], \"files\": [\"/x\"]}", NULL},
		{"[]", "action-X.json: "},
		{"{\"network\": \"yes\"}", "action-X.json: "},
		{"{\"net\": true}", "action-X.json: "},
		{"{\"env\": [\"A=b\"]}", "action-X.json: env[0]: want the name"},
		{"{\"env\": [\"\"]}", "action-X.json: env[0]: want the name"},
		{"{\"files\": [\"x\"]}", "action-X.json: files[0]: want an absolute path"},
		{"", "action-X.json: "},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plugin_grant g;
		struct error err = ERROR_INIT;
		int r = plugin_grant_read(str_of(cases[i].text), "action-X.json", a, &g, &err);
		if ((r < 0) != (cases[i].want != NULL) ||
		    (r < 0 && !strstr(err.msg, cases[i].want)))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plugin__names_are_those_of_files),
		cmocka_unit_test(test_plugin__answers_are_read),
		cmocka_unit_test(test_plugin__what_is_wrong_is_named),
		cmocka_unit_test(test_plugin__limits_hold),
		cmocka_unit_test(test_plugin__grants_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
