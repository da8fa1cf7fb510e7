/* resource_quota: which objects the scopes of a quota cover, and what they take of its names. */
#include "alm/apiserver/kinds/resource_quota.h"

#include <string.h>

#include "tests/lib/test.h"
#include "tests/lib/told.h"

/* Pods of which each scope says yes or no; a scope and its opposite share none, and nothing is left out. */
static const struct {
	const char *pod;
	bool ends, is_best_effort, has_class, crosses;
} pods[] = {
	{"{\"spec\":{\"containers\":[{}]}}", false, true, false, false},
	{"{\"spec\":{\"containers\":[{}],\"activeDeadlineSeconds\":1}}", true, true, false, false},
	{"{\"spec\":{\"containers\":[{}],\"activeDeadlineSeconds\":0}}", true, true, false, false},
	{"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}", false,
	 false, false, false},
	{"{\"spec\":{\"containers\":[{},{\"resources\":{\"limits\":{\"memory\":\"1\"}}}]}}", false,
	 false, false, false},
	{"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"0\"}}}]}}", false,
	 true, false, false},
	{"{\"spec\":{\"containers\":[{}],\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":"
	 "\"1\"}}}]}}",
	 false, false, false, false},
	{"{\"spec\":{\"containers\":[{}],\"priorityClassName\":\"high\"}}", false, true, true,
	 false},
	{"{\"spec\":{\"containers\":[{}],\"affinity\":{\"podAffinity\":{"
	 "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"namespaces\":[\"x\"]}]}}}}",
	 false, true, false, true},
	{"{\"spec\":{\"containers\":[{}],\"affinity\":{\"podAntiAffinity\":{"
	 "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"podAffinityTerm\":{"
	 "\"namespaceSelector\":{}}}]}}}}",
	 false, true, false, true},
	{"{\"spec\":{\"containers\":[{}],\"affinity\":{\"podAffinity\":{"
	 "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"x\"}]}}}}",
	 false, true, false, false},
};

static bool covers(const char *quota_text, const char *group, const char *plural, const char *text)
{
	CLEANUP(obj_unrefp) struct obj *quota = told_read(quota_text), *o = told_read(text);
	return quota_covers(quota, group, plural, o);
}

#define SCOPE(name) "{\"spec\":{\"hard\":{\"pods\":\"1\"},\"scopes\":[\"" name "\"]}}"
#define TERM(name, op, values)                                                            \
	"{\"spec\":{\"hard\":{\"pods\":\"1\"},\"scopeSelector\":{\"matchExpressions\":[{" \
	"\"scopeName\":\"" name "\",\"operator\":\"" op "\"" values "}]}}}"

static void test_resource_quota__which_pods_a_scope_covers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
		const struct {
			const char *quota;
			bool want;
		} rows[] = {
			{"{\"spec\":{\"hard\":{\"pods\":\"1\"}}}", true},
			{"{\"spec\":{\"hard\":{\"count/pods\":\"1\"}}}", true},
			{"{\"spec\":{\"hard\":{\"requests.cpu\":\"1\"}}}", true},
			{"{\"spec\":{\"hard\":{\"services\":\"1\"}}}", false},
			{"{\"spec\":{\"hard\":{\"count/pods.x.io\":\"1\"}}}", false},
			{SCOPE("Terminating"), pods[i].ends},
			{SCOPE("NotTerminating"), !pods[i].ends},
			{SCOPE("BestEffort"), pods[i].is_best_effort},
			{SCOPE("NotBestEffort"), !pods[i].is_best_effort},
			{SCOPE("CrossNamespacePodAffinity"), pods[i].crosses},
			{SCOPE("Terminating\",\"BestEffort"),
			 pods[i].ends && pods[i].is_best_effort},
			{TERM("Terminating", "Exists", ""), pods[i].ends},
			{TERM("PriorityClass", "Exists", ""), pods[i].has_class},
			{TERM("PriorityClass", "DoesNotExist", ""), !pods[i].has_class},
			{TERM("PriorityClass", "In", ",\"values\":[\"low\",\"high\"]"),
			 pods[i].has_class},
			{TERM("PriorityClass", "In", ",\"values\":[\"low\"]"), false},
			{TERM("PriorityClass", "NotIn", ",\"values\":[\"low\"]"), true},
			{TERM("PriorityClass", "NotIn", ",\"values\":[\"high\"]"),
			 !pods[i].has_class},
		};
		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			if (covers(rows[k].quota, "", "pods", pods[i].pod) != rows[k].want)
				fail_msg("pod %zu, quota %zu: %s", i, k, rows[k].quota);
	}
}

static void test_resource_quota__which_other_objects(void **state)
{
	static const struct {
		const char *quota, *group, *plural, *object;
		bool want;
	} rows[] = {
		{"{\"spec\":{\"hard\":{\"services\":\"1\"}}}", "", "services", "{}", true},
		{"{\"spec\":{\"hard\":{\"services.nodeports\":\"1\"}}}", "", "services", "{}",
		 true},
		{"{\"spec\":{\"hard\":{\"services\":\"1\"}}}", "x.io", "services", "{}", false},
		{"{\"spec\":{\"hard\":{\"requests.storage\":\"1\"}}}", "", "persistentvolumeclaims",
		 "{}", true},
		{"{\"spec\":{\"hard\":{\"requests.cpu\":\"1\"}}}", "", "persistentvolumeclaims",
		 "{}", false},
		{"{\"spec\":{\"hard\":{\"count/deployments.apps\":\"1\"}}}", "apps", "deployments",
		 "{}", true},
		{"{\"spec\":{\"hard\":{\"count/deployments.apps\":\"1\"}}}", "x.io", "deployments",
		 "{}", false},
		{"{\"spec\":{\"hard\":{\"requests.storage\":\"1\"},\"scopes\":[\"Terminating\"]}}",
		 "", "persistentvolumeclaims", "{}", false},
		{"{\"spec\":{\"hard\":{\"requests.storage\":\"1\"},\"scopeSelector\":{"
		 "\"matchExpressions\":[{\"scopeName\":\"VolumeAttributesClass\",\"operator\":"
		 "\"In\","
		 "\"values\":[\"gold\"]}]}}}",
		 "", "persistentvolumeclaims",
		 "{\"spec\":{\"volumeAttributesClassName\":\"gold\"}}", true},
		{"{\"spec\":{\"hard\":{\"requests.storage\":\"1\"},\"scopeSelector\":{"
		 "\"matchExpressions\":[{\"scopeName\":\"VolumeAttributesClass\",\"operator\":"
		 "\"In\","
		 "\"values\":[\"gold\"]}]}}}",
		 "", "persistentvolumeclaims", "{\"spec\":{}}", false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (covers(rows[i].quota, rows[i].group, rows[i].plural, rows[i].object) !=
		    rows[i].want)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resource_quota__which_pods_a_scope_covers),
		cmocka_unit_test(test_resource_quota__which_other_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
