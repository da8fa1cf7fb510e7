/* Where a configuration comes from: what is wrong is told with its field, and no secret. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/source/config_from.h"

static void test_config_from__each_source_is_one_of_five(void **state)
{
	(void)state;
	static const char text[] = "from:\n"
				   "- {configMap: {namespace: apps, name: web, key: a.yaml}}\n"
				   "- {secret: {name: web}}\n"
				   "- {resource: {apiVersion: v1, kind: Node, name: one}}\n"
				   "- {sql: {path: a.db, query: SELECT 1}}\n"
				   "- {file: {path: more.yaml}}\n";
	static const char *const want[] = {"ConfigMap apps/web", "Secret web", "Node one", "a.db",
					   "more.yaml"};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct error err = ERROR_INIT;
	struct config_sources s;
	assert_ok(config_from_read(STR(text), "f", a, &s, &err), &err);
	assert_int_equal(s.n, ARRAY_LEN(want));
	for (size_t i = 0; i < s.n; i++) {
		assert_int_equal(s.items[i].type, i);
		assert_string_equal(config_from_text(&s.items[i], s.items[i].ns, a), want[i]);
	}
	assert_string_equal(s.items[0].key, "a.yaml");
	assert_string_equal(s.items[1].api_version, "v1");
	assert_string_equal(s.items[3].query, "SELECT 1");
}

static void test_config_from__what_is_wrong_is_told_with_its_field(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"from: []", "f: from: is missing"},
		{"{}", "f: from: is missing"},
		{"from: {}", "from"},
		{"form: []", "form"},
		{"- a", "f: "},
		{"from: [a]", "from[0]: one of configMap"},
		{"from: [{}]", "from[0]: one of configMap"},
		{"from: [{configmap: {name: a}}]", "from[0]: one of configMap"},
		{"from: [{file: {path: a}, sql: {path: a}}]", "from[0]: one of configMap"},
		{"from: [{file: {path: a}}, {secret: {}}]", "from[1].secret.name: is missing"},
		{"from: [{secret: {name: ''}}]", "from[0].secret.name: is missing"},
		{"from: [{secret: a}]", "from[0].secret"},
		{"from: [{secret: {name: a, nmespace: b}}]", "nmespace"},
		{"from: [{secret: {name: 1}}]", "name"},
		{"from: [{resource: {kind: A, name: b}}]",
		 "from[0].resource.apiVersion: is missing"},
		{"from: [{sql: {path: a}}]", "from[0].sql.query: is missing"},
		{"from: [", "f: "},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		struct error err = ERROR_INIT;
		struct config_sources s = {.n = 7};
		if (config_from_read(str_of(rows[i].text), "f", a, &s, &err) >= 0 ||
		    !strstr(err.msg, rows[i].want))
			fail_msg("%s: %s", rows[i].text, err.msg);
		assert_int_equal(s.n, 7);
	}
}

/* data of the object; key; its layer as JSON, or a part of the error. */
static void test_config_from__layers_of_objects(void **state)
{
	(void)state;
	static const struct {
		enum config_from_type type;
		const char *live, *key, *want;
	} rows[] = {
		{FROM_CONFIG_MAP, "{\"data\":{\"a\":\"1\",\"b\":\"{}\"}}", NULL,
		 "{\"a\":\"1\",\"b\":\"{}\"}"},
		{FROM_CONFIG_MAP, "{}", NULL, "{}"},
		{FROM_CONFIG_MAP, "{\"data\":{\"a\":\"x: [1]\"}}", "a", "{\"x\":[1]}"},
		{FROM_CONFIG_MAP, "{\"data\":{\"a\":\"x: [1]\"}}", "b", "! S n: has no key b"},
		{FROM_CONFIG_MAP, "{\"data\":{\"a\":\"[1]\"}}", "a",
		 "! S n key a: a configuration"},
		{FROM_SECRET, "{\"data\":{\"a\":\"aHVudGVyMg==\"}}", NULL, "{\"a\":\"hunter2\"}"},
		{FROM_SECRET, "{\"data\":{\"a\":\"eDogMQ==\"}}", "a", "{\"x\":1}"},
		{FROM_SECRET, "{\"data\":{\"a\":\"%%\"}}", NULL, "! S n: key a is no base64"},
		/* "hunter2: [": the parser would quote it */
		{FROM_SECRET, "{\"data\":{\"a\":\"aHVudGVyMjogWw==\"}}", "a",
		 "! S n key a: one object"},
		{FROM_RESOURCE, "{\"spec\":{\"x\":1}}", NULL, "{\"spec\":{\"x\":1}}"},
		/* each write changes these */
		{FROM_RESOURCE,
		 "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\",\"managedFields\":[{}]}}",
		 NULL, "{\"metadata\":{\"name\":\"a\"}}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		struct error err = ERROR_INIT;
		const struct config_from f = {.type = rows[i].type, .key = rows[i].key};
		const struct obj *layer = NULL;
		struct obj *live = NULL;
		assert_ok(json_parse(str_of(rows[i].live), &live, &err), &err);
		obj_keep(a, live);
		int r = config_from_layer(&f, live, "S n", a, &layer, &err);
		CLEANUP(xfreep) char *got = r < 0 ? xstrdup(err.msg) : json_text(layer);
		if (*rows[i].want == '!')
			assert_true(r < 0 && cstr_has_prefix(got, rows[i].want + 2));
		else
			assert_string_equal(got, rows[i].want);
		assert_null(strstr(r < 0 ? got : "", "hunter2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_from__each_source_is_one_of_five),
		cmocka_unit_test(test_config_from__what_is_wrong_is_told_with_its_field),
		cmocka_unit_test(test_config_from__layers_of_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
