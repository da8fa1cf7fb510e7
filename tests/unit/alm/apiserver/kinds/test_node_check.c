/* test_node_check.c: Nodes and RuntimeClasses, in the words of Kubernetes 1.36. */
#include "alm/apiserver/kinds/node_check.h"

#include "alm/base/arena.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

#define LABEL                                                                                   \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_'" \
	" or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "  \
	"'my_value',  or '12345', regex used for validation is "                                \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define ONE_EACH             "may specify no more than one CIDR for each IP family"
#define EFFECTS              "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""
#define TAINT(value, effect) "{\"key\":\"k\",\"value\":\"" value "\",\"effect\":\"" effect "\"}"
#define CIDRS(list)          "{\"spec\":{\"podCIDRs\":[" list "]}}"
#define V4                   "\"10.0.0.0/24\""
#define V6                   "\"fd00::/64\""
#define FEATURES(list)       "{\"status\":{\"declaredFeatures\":[" list "]}}"
#define FEATURE(i, name)                                                                          \
	"status.declaredFeatures[" i "]: Invalid value: \"" name                                  \
	"\": invalid feature name \"" name "\": must start with an UpperCamelCase segment, with " \
	"subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and "  \
	"contain only alphanumeric characters and slashes"

static const struct {
	void (*check)(struct field_errors *e, const struct obj *o);
	const char *json, *want;
} rows[] = {
	{check_node, "{}", ""},
	{check_node, CIDRS(V4), ""},
	{check_node, CIDRS(V4 "," V6), ""},
	{check_node, CIDRS(V6 "," V4), ""},
	{check_node, CIDRS(V4 ",\"10.0.1.0/24\""),
	 "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: " ONE_EACH},
	{check_node, CIDRS(V4 "," V6 ",\"10.0.1.0/24\""),
	 "spec.podCIDRs: Invalid value: "
	 "[\"10.0.0.0/24\",\"fd00::/64\",\"10.0.1.0/24\"]: " ONE_EACH},
	{check_node, CIDRS("\"x\""),
	 "spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
	 "2001:db8::/64)"},
	{check_node, CIDRS(V4 ",\"x\""),
	 "[spec.podCIDRs[1]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 "
	 "or "
	 "2001:db8::/64), spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with "
	 "dual "
	 "stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x), spec.podCIDRs: "
	 "Invalid "
	 "value: [\"10.0.0.0/24\",\"x\"]: " ONE_EACH "]"},
	{check_node,
	 "{\"spec\":{\"taints\":[" TAINT("a", "NoExecute") "," TAINT("b", "NoSchedule") "]}}", ""},
	{check_node,
	 "{\"spec\":{\"taints\":[" TAINT("a", "NoExecute") "," TAINT("b", "NoExecute") "]}}",
	 "metadata.taints[1]: Duplicate value: "
	 "{\"Key\":\"k\",\"Value\":\"b\",\"Effect\":\"NoExecute\",\"TimeAdded\":null}: taints must "
	 "be unique by key and effect pair"},
	{check_node, "{\"spec\":{\"taints\":[" TAINT("-", "x") "," TAINT("", "") "]}}",
	 "[metadata.taints[0].value: Invalid value: \"-\": " LABEL
	 ", metadata.taints[0].effect: Unsupported value: \"x\": " EFFECTS
	 ", metadata.taints[1].effect: Required value]"},
	{check_node, FEATURES("\"A\",\"B\",\"B/c1\",\"Z\""), ""},
	{check_node, FEATURES("\"a\""), FEATURE("0", "a")},
	{check_node, FEATURES("\"A/\""), FEATURE("0", "A/")},
	{check_node, FEATURES("\"A//b\""), FEATURE("0", "A//b")},
	{check_node, FEATURES("\"A-\""), FEATURE("0", "A-")},
	{check_node, FEATURES("\"[\""), FEATURE("0", "[")},
	{check_node, FEATURES("\"A\",\"A\""), "status.declaredFeatures[1]: Duplicate value: \"A\""},
	{check_node, FEATURES("\"B\",\"A\""),
	 "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically"},
	{check_runtime_class, "{\"handler\":\"h\"}", ""},
	{check_runtime_class, "{}", "handler: Required value"},
};

static void test_node_check__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].json);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		rows[i].check(e, o);
		assert_told(e, rows[i].want);
	}
}

#define CHANGE(field) "spec." field ": Forbidden: "

static void test_node_check__what_an_update_may_not_change(void **state)
{
	static const struct {
		void (*kept)(struct field_errors *e, const struct obj *o, const struct obj *before);
		const char *before, *after, *want;
	} updates[] = {
		{node_kept, "{}", CIDRS(V4), ""},
		{node_kept, CIDRS(V4), CIDRS(V4), ""},
		{node_kept, CIDRS(V4), "{}",
		 CHANGE("podCIDRs") "node updates may not change podCIDR except from \"\" to "
				    "valid"},
		{node_kept, CIDRS(V4), CIDRS(V6),
		 CHANGE("podCIDRs") "node updates may not change podCIDR except from \"\" to "
				    "valid"},
		{node_kept, "{}", "{\"spec\":{\"providerID\":\"p\"}}", ""},
		{node_kept, "{\"spec\":{\"providerID\":\"p\"}}",
		 "{\"spec\":{\"providerID\":\"q\"}}",
		 CHANGE("providerID") "node updates may not change providerID except from \"\" to "
				      "valid"},
		{node_kept, "{}", "{\"spec\":{\"externalID\":\"e\"}}",
		 CHANGE("externalID") "may not be updated"},
		{runtime_class_kept, "{\"handler\":\"a\"}", "{\"handler\":\"a\"}", ""},
		{runtime_class_kept, "{\"handler\":\"a\"}", "{\"handler\":\"b\"}",
		 "handler: Invalid value: \"b\": field is immutable"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(updates); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *was = told_read(updates[i].before);
		CLEANUP(obj_unrefp) struct obj *is = told_read(updates[i].after);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		updates[i].kept(e, is, was);
		assert_told(e, updates[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_check__in_the_real_words),
		cmocka_unit_test(test_node_check__what_an_update_may_not_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
