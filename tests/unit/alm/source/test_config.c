/* Layers of a configuration. */
#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/source/config.h"

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void test_config__later_layers_win(void **state)
{
	static const struct {
		const char *layers[4], *want;
	} cases[] = {
		{{"{\"a\":1,\"b\":null}"}, "{\"a\":1,\"b\":null}"}, /* one is taken as it is */
		{{"{\"a\":1,\"b\":2}", "{\"b\":3}"}, "{\"a\":1,\"b\":3}"},
		{{"{\"m\":{\"x\":1,\"y\":2}}", "{\"m\":{\"y\":null,\"z\":3}}"},
		 "{\"m\":{\"x\":1,\"z\":3}}"},
		{{"{\"l\":[1,2]}", "{\"l\":[3]}"}, "{\"l\":[3]}"},
		{{"{\"m\":{\"x\":1}}", "{\"m\":2}", "{\"m\":{\"y\":1}}"}, "{\"m\":{\"y\":1}}"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct config_layer layers[5] = {{"none", NULL}};
		struct obj *owned[4] = {NULL}, *merged = NULL;
		size_t n = 1;
		for (size_t k = 0; k < 4 && cases[i].layers[k]; k++, n++) {
			owned[k] = parse(cases[i].layers[k]);
			layers[n] = (struct config_layer){"layer", owned[k]};
		}
		assert_ok(config_merge(layers, n, &merged, &err), &err);
		CLEANUP(xfreep) char *text = json_text(merged);
		assert_string_equal(text, cases[i].want);
		obj_unref(merged);
		for (size_t k = 0; k < 4; k++)
			obj_unref(owned[k]);
	}
}

static void test_config__no_layer_is_none(void **state)
{
	struct error err = ERROR_INIT;
	struct obj *merged = NULL;
	const struct config_layer none = {"x", NULL};
	(void)state;
	assert_ok(config_merge(&none, 1, &merged, &err), &err);
	assert_null(merged);
}

static void test_config__what_is_none_is_refused_by_name(void **state)
{
	static const struct {
		const char *name, *text, *says;
	} cases[] = {
		{"c.json", "[1]", "c.json: a configuration is an object, not array"},
		{"c.yaml", "3", "c.yaml: a configuration is an object, not integer"},
		{"c.yaml", "a: 1\na: 2\n", "c.yaml: "},
		{"c.yaml", "a: 1\n---\nb: 2\n", "c.yaml: "},
		{"c.json", "{\"a\": 1,}", "c.json: "},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		assert_true(config_parse(str_of(cases[i].text), cases[i].name, &o, &err) < 0);
		assert_true(cstr_has_prefix(err.msg, cases[i].says));
		assert_null(o);
	}
	struct error err = ERROR_INIT;
	struct obj *merged = NULL;
	CLEANUP(obj_unrefp) struct obj *list = parse("[]");
	const struct config_layer layer = {"Secret apps/web", list};
	assert_int_equal(config_merge(&layer, 1, &merged, &err), -E_INVALID);
	assert_string_equal(err.msg, "Secret apps/web: a configuration is an object, not array");
}

static void test_config__files(void **state)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	(void)state;
	assert_ok(config_parse(STR("a: {b: [1]}\n"), "c.yaml", &o, &err), &err);
	assert_int_equal(obj_i64(o, "a.b[0]", 0), 1);
	obj_unref(o);
	o = NULL;
	assert_ok(config_parse(STR("{\"a\":\t1}"), "c.json", &o, &err), &err);
	obj_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config__later_layers_win),
		cmocka_unit_test(test_config__no_layer_is_none),
		cmocka_unit_test(test_config__what_is_none_is_refused_by_name),
		cmocka_unit_test(test_config__files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
