/* Whether a live object is what was wanted, in the form that a server gave it. */
#include "tests/lib/test.h"

#include "alm/obj/yaml.h"
#include "alm/unit/unit.h"

#define DEPLOYMENT "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: "
#define CONTAINER  "{template: {spec: {containers: [{name: c, "
#define WIDGET     "{apiVersion: example.com/v1, kind: Widget, spec: "

/* clang-format off */
static const struct row {
	const char *about, *live, *want;
	bool holds;
} rows[] = {
	{"a quantity", DEPLOYMENT CONTAINER "resources: {limits: {cpu: 500m}}}]}}}}",
	 DEPLOYMENT CONTAINER "resources: {limits: {cpu: 0.5}}}]}}}}", true},
	{"another quantity", DEPLOYMENT CONTAINER "resources: {limits: {cpu: 400m}}}]}}}}",
	 DEPLOYMENT CONTAINER "resources: {limits: {cpu: 0.5}}}]}}}}", false},
	{"a list without elements", DEPLOYMENT CONTAINER "image: i}]}}}}",
	 DEPLOYMENT CONTAINER "image: i, env: []}]}}}}", true},
	{"another value beside a quantity", DEPLOYMENT CONTAINER "image: j, resources: {limits: {cpu: 500m}}}]}}}}",
	 DEPLOYMENT CONTAINER "image: i, resources: {limits: {cpu: 0.5}}}]}}}}", false},
	{"absent", NULL, DEPLOYMENT "{}}", false},
	{"a custom kind has no quantities", WIDGET "{cpu: 500m}}", WIDGET "{cpu: '0.5'}}", false},
	{"of a custom kind what is said", WIDGET "{cpu: '0.5', more: 1}}", WIDGET "{cpu: '0.5'}}", true},
};
/* clang-format on */

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (text)
		assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return o;
}

static void test_unit_holds__in_the_form_of_the_server(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *live = parsed(rows[i].live);
		CLEANUP(obj_unrefp) struct obj *want = parsed(rows[i].want);
		if (unit_holds_object(live, want) != rows[i].holds)
			fail_msg("%s", rows[i].about);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_holds__in_the_form_of_the_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
