/* What a rule of a Role allows. */
#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/obj/query/rbac_rule.h"

#define PODS "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]"

static const struct {
	const char *rule;
	struct rbac_attributes a;
	bool allowed;
} rows[] = {
	{PODS "}", {"get", true, "", "pods", "", "a", "x", ""}, true},
	{PODS "}", {"list", true, "", "pods", "", "a", "", ""}, false},
	{PODS "}", {"get", true, "apps", "pods", "", "a", "x", ""}, false},
	{PODS "}", {"get", true, "", "pods", "log", "a", "x", ""}, false},
	{PODS "}", {"get", false, "", "", "", "", "", "/pods"}, false},
	/* a list of names says nothing about what has none */
	{PODS ",\"resourceNames\":[\"x\"]}", {"get", true, "", "pods", "", "a", "x", ""}, true},
	{PODS ",\"resourceNames\":[\"x\"]}", {"get", true, "", "pods", "", "a", "y", ""}, false},
	{PODS ",\"resourceNames\":[\"x\"]}", {"get", true, "", "pods", "", "a", "", ""}, false},
	{PODS ",\"resourceNames\":[\"*\"]}", {"get", true, "", "pods", "", "a", "x", ""}, false},
	{"{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}",
	 {"get", true, "apps", "pods", "log", "", "", ""},
	 true},
	{"{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"*/log\"]}",
	 {"get", true, "", "pods", "log", "", "", ""},
	 true},
	{"{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods/log\"]}",
	 {"get", true, "", "pods", "", "", "", ""},
	 false},
	/* nothing but the whole text is a name */
	{"{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\\u0000x\"]}",
	 {"get", true, "", "pods", "", "", "", ""},
	 false},
	{"{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/m*\"]}",
	 {"get", false, "", "", "", "", "", "/metrics"},
	 true},
	{"{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/m\"]}",
	 {"get", false, "", "", "", "", "", "/metrics"},
	 false},
	{"{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/m\\u0000*\"]}",
	 {"get", false, "", "", "", "", "", "/m"},
	 false},
};

static void test_rbac_rule__allows_what_it_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *rule = NULL;
		struct error err = ERROR_INIT;
		assert_ok(json_parse(str_of(rows[i].rule), &rule, &err), &err);
		if (rbac_rule_allows(rule, &rows[i].a) != rows[i].allowed)
			fail_msg("row %zu: %s", i, rows[i].rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rbac_rule__allows_what_it_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
