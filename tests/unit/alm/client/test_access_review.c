/* The question whether who asks may do something. */
#include "tests/lib/test.h"

#include "alm/client/access_review.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

/* clang-format off */
static const struct { const char *what, *spec; } rows[] = {
	{"{verb: get, group: apps, resource: deployments, namespace: a, name: b, other: x}",
	 "{\"resourceAttributes\":{\"verb\":\"get\",\"group\":\"apps\",\"resource\":\"deployments\",\"namespace\":\"a\",\"name\":\"b\"}}"},
	{"{verb: get, group: '', resource: pods, subresource: log}",
	 "{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\",\"subresource\":\"log\"}}"},
	{"{verb: get, path: /metrics}", "{\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/metrics\"}}"},
};
/* clang-format on */

static void test_access_review__what_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct obj *parsed = NULL;
		assert_ok(yaml_parse_one(str_of(rows[i].what), &parsed, &err), &err);
		CLEANUP(obj_unrefp) struct obj *what = parsed;
		CLEANUP(obj_unrefp) struct obj *o = access_review(what);
		CLEANUP(xfreep) char *text = json_text(obj_get(o, "spec"));
		assert_string_equal(obj_str(o, "kind"), "SelfSubjectAccessReview");
		assert_string_equal(text, rows[i].spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_access_review__what_is_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
