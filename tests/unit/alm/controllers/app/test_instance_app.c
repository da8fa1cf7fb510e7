/* test_instance_app.c: what an instance that names a chart becomes, and whose word lets it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/instance_app.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define KEY   "coreos-websites.web.coreos.com/default/www-coreos-com"
#define CHART "quay.io/coreos/web:stable"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new((size_t)1 << 22);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static struct obj *parsed(const char *json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return obj_keep(a, o);
}

static struct obj *instance(const char *spec)
{
	return parsed(
		arena_fmt(a,
			  "{\"apiVersion\":\"web.coreos.com/v1\",\"kind\":\"CoreOSWebsite\","
			  "\"metadata\":{\"name\":\"www-coreos-com\",\"namespace\":\"default\"},"
			  "\"spec\":%s}",
			  spec));
}

static struct obj *parent(void)
{
	return parsed("{\"kind\":\"AppType\",\"metadata\":{\"name\":\"coreos-website\"},"
		      "\"spec\":{\"type\":\"com.tectonic.web\"}}");
}

static void test_instance_app__the_key(void **state)
{
	(void)state;
	struct instance_key k;
	assert_true(instance_key_read(KEY, a, &k));
	assert_string_equal(k.crd, "coreos-websites.web.coreos.com");
	assert_string_equal(k.ns, "default");
	assert_string_equal(k.name, "www-coreos-com");
	assert_true(instance_key_read("xs.g.io//x", a, &k));
	assert_null(k.ns);
	assert_false(instance_key_read("xs.g.io/x", a, &k));
}

/* It is the release of a chart: 53 characters, no dot, and another for each instance. */
static void test_instance_app__the_name(void **state)
{
	(void)state;
	static const char *const keys[] = {
		"xs.g.io/a/x",
		"xs.g.io/b/x",
		"ys.g.io/a/x",
		"xs.g.io/a/x.y",
		"xs.g.io/a/x-y",
		"xs.g.io/a/a-very.long-name.with.dots-and-many-characters-beyond-fifty-three",
		"xs.g.io/a/a-very.long-name.with.dots-and-many-characters-beyond-fifty-four",
		"xs.g.io/a/123456789012345678901234567890123456789012-4",
	};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *name = instance_app_name(keys[i], a);
		assert_true(name_is_dns_label(str_of(name)) &&
			    strlen(name) <= INSTANCE_APP_NAME_MAX);
		assert_null(strstr(name, "--"));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(name, instance_app_name(keys[k], a));
	}
	assert_true(cstr_has_prefix(instance_app_name(KEY, a), "www-coreos-com-"));
}

static void test_instance_app__of_the_example(void **state)
{
	(void)state;
	struct obj *o = instance("{\"type\":\"helm\",\"helmChart\":{\"template\":\"" CHART "\","
				 "\"values\":{\"endpoint\":\"www.coreos.com\"},"
				 "\"upgrades\":{\"automatic\":true,\"strategy\":\"rolling\"}}}");
	struct obj *declared = parsed("{\"secretRef\":{\"name\":\"registry\"}}");
	assert_true(instance_is_app(o));
	assert_null(instance_problem(o, a));
	struct obj *app = obj_keep(a, instance_app(o, KEY, parent(), declared, a));
	assert_string_equal(meta_name(app), instance_app_name(KEY, a));
	assert_string_equal(instance_of(app), KEY);
	assert_string_equal(instance_parent(app), "coreos-website");
	assert_true(obj_equal(
		obj_get(app, "spec"),
		parsed("{\"type\":\"com.tectonic.web\",\"installNamespace\":\"default\","
		       "\"upgrade\":{\"mode\":\"Automatic\"},\"operator\":{\"type\":\"helm\","
		       "\"secretRef\":{\"name\":\"registry\"},\"helmChart\":{\"template\":\"" CHART
		       "\",\"values\":{\"endpoint\":\"www.coreos.com\"}}}}")));
	o = instance("{\"type\":\"helm\",\"helmChart\":{\"template\":\"" CHART "\","
		     "\"upgrades\":{\"automatic\":false}}}");
	app = obj_keep(a, instance_app(o, KEY, parent(), NULL, a));
	assert_string_equal(obj_str(app, "spec.upgrade.mode"), "Manual");
	assert_null(obj_path(app, "spec.operator.secretRef"));
	assert_false(instance_is_app(instance("{\"size\":3}")));
	assert_false(instance_is_app(instance("{\"helmChart\":null}")));
}

#define OF(type, chart) "{\"type\":\"" type "\",\"helmChart\":" chart "}"

static void test_instance_app__bad_input_names_the_field(void **state)
{
	(void)state;
	static const struct {
		const char *spec, *want; /* NULL: it is fine */
	} cases[] = {
		{OF("helm", "{\"template\":\"" CHART "\"}"), NULL},
		{"{\"helmChart\":{\"template\":\"" CHART "\"}}", "spec.type: nothing is not"},
		{OF("jsonnet", "{\"template\":\"" CHART "\"}"), "spec.type: jsonnet is not"},
		{OF("helm", "3"), "spec.helmChart: want an object"},
		{OF("helm", "{}"), "spec.helmChart.template: required"},
		{OF("helm", "{\"template\":\"h.io/x\"}"),
		 "spec.helmChart.template: name the chart"},
		{OF("helm", "{\"template\":\"h.io/x@sha256:1\"}"), "spec.helmChart.template: "},
		{OF("helm", "{\"template\":\"http://h.io/x:1\"}"), "spec.helmChart.template: "},
		{OF("helm", "{\"template\":\"" CHART "\",\"values\":1}"),
		 "spec.helmChart.values: want an object"},
		{OF("helm", "{\"template\":\"" CHART "\",\"values\":{\"a\":[1,{\"b\":null}]}}"),
		 "spec.helmChart.values.a[1].b: null is no value here"},
		{OF("helm", "{\"template\":\"" CHART "\",\"wait\":1}"),
		 "spec.helmChart.wait: not known"},
		{OF("helm",
		    "{\"template\":\"" CHART "\",\"upgrades\":{\"strategy\":\"recreate\"}}"),
		 "spec.helmChart.upgrades.strategy: use rolling"},
		{OF("helm", "{\"template\":\"" CHART "\",\"upgrades\":{\"automatic\":\"no\"}}"),
		 "spec.helmChart.upgrades.automatic: want true or false"},
		{OF("helm", "{\"template\":\"" CHART "\",\"upgrades\":{\"auto\":true}}"),
		 "spec.helmChart.upgrades.auto: not known"},
		{OF("helm", "{\"template\":\"" CHART "\",\"upgrades\":1}"),
		 "spec.helmChart.upgrades: want an object"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = instance_problem(instance(cases[i].spec), a);
		if (!got != !cases[i].want || (got && !strstr(got, cases[i].want)))
			fail_msg("%s: %s", cases[i].spec, got ? got : "accepted");
	}
	struct obj *o = instance(OF("helm", "{\"template\":\"" CHART "\"}"));
	obj_del_path(o, "metadata.namespace");
	assert_non_null(strstr(instance_problem(o, a), "metadata.namespace: "));
}

static void test_instance_app__the_namespace_names_whose_instances(void **state)
{
	(void)state;
	static const struct {
		const char *annotation;
		bool want;
	} cases[] = {
		{"coreos-website", true}, {"x, coreos-website", true}, {"*", true}, {"", false},
		{"coreos", false},        {"coreos-website2", false},
	};
	struct obj *app =
		obj_keep(a, instance_app(instance(OF("helm", "{}")), KEY, parent(), NULL, a));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct obj *ns =
			parsed(arena_fmt(a,
					 "{\"metadata\":{\"name\":\"default\",\"annotations\":{"
					 "\"app.coreos.com/instances\":\"%s\"}}}",
					 cases[i].annotation));
		assert_int_equal(instance_is_welcome(ns, app), cases[i].want);
		assert_false(instance_is_welcome(ns, parent())); /* it was made of none */
	}
	assert_false(instance_is_welcome(parsed("{\"metadata\":{\"name\":\"default\"}}"), app));
}

static void test_instance_app__outputs_have_their_types(void **state)
{
	(void)state;
	const struct obj *declared = parsed(
		"[{\"name\":\"url\",\"type\":\"url\"},{\"name\":\"whole\",\"type\":\"link\"},"
		"{\"name\":\"n\",\"type\":\"integer\"},{\"name\":\"x\",\"type\":\"number\"},"
		"{\"name\":\"yes\",\"type\":\"boolean\"},{\"name\":\"text\"},"
		"{\"name\":\"absent\"},{\"name\":\"wrong\",\"type\":\"integer\"},"
		"{\"name\":\"inf\",\"type\":\"number\"},{\"name\":\"list\"}]");
	const struct obj *chart = parsed("{\"n\":\"12\",\"x\":\"1.5\",\"yes\":\"true\","
					 "\"wrong\":\"many\",\"inf\":\"inf\",\"other\":\"o\"}");
	const struct obj *values =
		parsed("{\"url\":\"www.coreos.com\",\"whole\":\"https://a.b/c\",\"n\":7,"
		       "\"text\":\"t\",\"list\":[]}");
	assert_true(
		obj_equal(obj_keep(a, instance_outputs(declared, chart, values)),
			  parsed("{\"url\":\"http://www.coreos.com\",\"whole\":\"https://a.b/c\","
				 "\"n\":12,\"x\":1.5,\"yes\":true,\"text\":\"t\"}")));
	assert_true(
		obj_equal(obj_keep(a, instance_outputs(declared, NULL, values)),
			  parsed("{\"url\":\"http://www.coreos.com\",\"whole\":\"https://a.b/c\","
				 "\"n\":7,\"text\":\"t\"}")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_instance_app__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_key),
		TEST(the_name),
		TEST(of_the_example),
		TEST(bad_input_names_the_field),
		TEST(the_namespace_names_whose_instances),
		TEST(outputs_have_their_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
