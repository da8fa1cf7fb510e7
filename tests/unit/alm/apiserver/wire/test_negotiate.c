#include "alm/apiserver/wire/negotiate.h"

#include <string.h>

#include "alm/apiserver/wire/json_fault.h"
#include "tests/lib/golden.h"
#include "tests/lib/test.h"

static void accepts(const char *header, enum accept_as as, const char *version, bool yaml)
{
	struct error err = ERROR_INIT;
	struct accept a = {.as = AS_OBJECT};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_ok(negotiate_accept(header, false, false, &a, &err), &err);
	assert_int_equal(a.as, as);
	assert_int_equal(a.form, yaml ? FORM_YAML : FORM_JSON);
	assert_true(cstr_eq(a.as_version, version));
}

static void test_negotiate__the_first_served_alternative_wins(void **state)
{
	(void)state;
	accepts(NULL, AS_OBJECT, NULL, false);
	accepts("", AS_OBJECT, NULL, false);
	accepts("*/*", AS_OBJECT, NULL, false);
	accepts("application/json", AS_OBJECT, NULL, false);
	accepts("application/yaml", AS_OBJECT, NULL, true);
	accepts("application/vnd.kubernetes.protobuf,application/json", AS_OBJECT, NULL, false);
	accepts("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", AS_TABLE, "v1",
		false);
	accepts("application/json;as=Table;v=v9;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
		"g=meta.k8s.io",
		AS_TABLE, "v1beta1", false);
	accepts("application/json; as=PartialObjectMetadataList; g=meta.k8s.io; v=v1", AS_METADATA,
		"v1", false);
	accepts("text/html, */*;q=0.1", AS_OBJECT, NULL, false);
}

static void refused(int n)
{
	CLEANUP(obj_unrefp) struct obj *g = golden_case(n);
	struct error err = ERROR_INIT;
	struct accept a = {.as = AS_OBJECT};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_int_equal(negotiate_accept(obj_str(g, "req.acc"), false, false, &a, &err),
			 -E_NOTACCEPTABLE);
	assert_string_equal(err.msg, obj_str(g, "resp.message"));
}

static void test_negotiate__nothing_served_is_406(void **state)
{
	(void)state;
	refused(97);
	refused(98);
}

/* Of a kind with a type, whole objects, and only where nothing else is taken. */
static void test_negotiate__protobuf_is_for_who_takes_nothing_else(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct accept a = {.as = AS_OBJECT, .include = INCLUDE_NONE};
	assert_ok(negotiate_accept(NEGOTIATE_PROTOBUF, true, true, &a, &err), &err);
	assert_int_equal(a.form, FORM_PROTOBUF);
	assert_int_equal(a.include, INCLUDE_NONE);
	assert_ok(negotiate_accept(NEGOTIATE_PROTOBUF ";stream=watch, text/html", true, true, &a,
				   &err),
		  &err);
	assert_int_equal(a.form, FORM_PROTOBUF);
	assert_ok(negotiate_accept(NEGOTIATE_PROTOBUF ", */*;q=0.1", false, true, &a, &err), &err);
	assert_int_equal(a.form, FORM_JSON);
	assert_int_equal(negotiate_accept(NEGOTIATE_PROTOBUF, false, false, &a, &err),
			 -E_NOTACCEPTABLE);
	assert_int_equal(negotiate_accept(NEGOTIATE_PROTOBUF ";as=Table;v=v1;g=meta.k8s.io", false,
					  true, &a, &err),
			 -E_NOTACCEPTABLE);
}

static void test_negotiate__a_watch_is_never_yaml(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct accept a = {.as = AS_OBJECT};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_int_equal(negotiate_accept("application/yaml", true, false, &a, &err),
			 -E_NOTACCEPTABLE);
	assert_ok(negotiate_accept("application/json;stream=watch", true, false, &a, &err), &err);
}

static const struct kind widget = {
	.group = "golden.example.com", .version = "v1", .kind = "Widget", .flags = KIND_CUSTOM};

static void body_error(int n, const char *message)
{
	CLEANUP(obj_unrefp) struct obj *g = golden_case(n);
	struct error err = ERROR_INIT;
	struct body body;
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	int r = negotiate_body(&widget, obj_str(g, "req.ct"), str_of(obj_str(g, "req.body")), arena,
			       &body, &err);
	assert_int_equal(error_http(-r), obj_i64(g, "status", 0));
	assert_string_equal(err.msg, message ? message : obj_str(g, "resp.message"));
}

static void test_negotiate__bodies_that_cannot_be_read(void **state)
{
	(void)state;
	body_error(45, NULL);
	body_error(46, NULL);
	body_error(48, NULL);
}

/* As it is if it looks like JSON and is text, in hexadecimal digits else; no more than fits a message. */
static void test_negotiate__a_body_that_is_no_json_is_shown(void **state)
{
	(void)state;
	static const struct {
		struct str body;
		const char *shown;
	} rows[] = {
		{{"{\"a\" 1}", 7}, "({\"a\" 1})"},
		{{"[1 2]", 5}, "(5b3120325d)"},
		{{"{\"a\":\"\xff\"", 8}, "(7b2261223a22ff22)"},
		{{"{\0a", 3}, "(7b0061)"},
	};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 18);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct body body;
		assert_true(negotiate_body(&widget, "application/json", rows[i].body, arena, &body,
					   &err) < 0);
		if (!strstr(err.msg, rows[i].shown))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

static void test_negotiate__duplicates_are_findings(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct body body;
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_ok(negotiate_body(&widget, "application/json; charset=utf-8",
				 STR("{\"spec\":{\"size\":1,\"size\":2}}"), arena, &body, &err),
		  &err);
	assert_int_equal(body.n_duplicates, 1);
	assert_string_equal(body.duplicates[0], "duplicate field \"spec.size\"");
	assert_int_equal(obj_i64(body.value, "spec.size", 0), 2);
	assert_ok(negotiate_body(&widget, "application/yaml", STR("a: 1\nb:\n  c: y\n  c: 2\n"),
				 arena, &body, &err),
		  &err);
	assert_int_equal(body.n_duplicates, 0);
	assert_string_equal(body.twice,
			    "yaml: unmarshal errors:\n  line 4: key \"c\" already set in map");
	assert_ok(negotiate_body(&widget, NULL, STR("{\"a\":1}"), arena, &body, &err), &err);
	assert_int_equal(obj_i64(body.value, "a", 0), 1);
	assert_ok(negotiate_body(NULL, "", STR(""), arena, &body, &err), &err);
	assert_null(body.value);
}

static void test_negotiate__custom_resources_never_come_as_protobuf(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct body body;
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_int_equal(negotiate_body(&widget, "application/vnd.kubernetes.protobuf", STR("k8s"),
					arena, &body, &err),
			 -E_MEDIATYPE);
}

static void test_negotiate__json_faults_read_as_in_go(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"bad", "invalid character 'b' looking for beginning of value"},
		{"{bad", "invalid character 'b' looking for beginning of object key string"},
		{"{\"a\" 1}", "invalid character '1' after object key"},
		{"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
		{"[1 2]", "invalid character '2' after array element"},
		{"[1] x", "invalid character 'x' after top-level value"},
		{"{\"a\":", "unexpected end of JSON input"},
		{"\"a", "unexpected end of JSON input"},
		{"trup", "invalid character 'p' in literal true (expecting 'e')"},
		{"1.x", "invalid character 'x' after decimal point in numeric literal"},
		{"\"\\q\"", "invalid character 'q' in string escape code"},
		{"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
		{"", "unexpected end of JSON input"},
	};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 18);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(json_fault(str_of(cases[i][0]), arena), cases[i][1]);
	assert_null(json_fault(STR(" {\"a\":[1,2.5e3,null,{}],\"b\":\"\\u00e4\"} "), arena));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_negotiate__a_body_that_is_no_json_is_shown),
		cmocka_unit_test(test_negotiate__the_first_served_alternative_wins),
		cmocka_unit_test(test_negotiate__nothing_served_is_406),
		cmocka_unit_test(test_negotiate__protobuf_is_for_who_takes_nothing_else),
		cmocka_unit_test(test_negotiate__a_watch_is_never_yaml),
		cmocka_unit_test(test_negotiate__bodies_that_cannot_be_read),
		cmocka_unit_test(test_negotiate__duplicates_are_findings),
		cmocka_unit_test(test_negotiate__custom_resources_never_come_as_protobuf),
		cmocka_unit_test(test_negotiate__json_faults_read_as_in_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
