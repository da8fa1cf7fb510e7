/* test_priority.c: what the Priority plugin makes of Pods and of PriorityClasses, in the words of a real 1.36. */
#include <stdio.h>

#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"
#define PODS    "/api/v1/namespaces/default/pods"
#define MERGE   "application/merge-patch+json"

static struct answer class(struct apifake *f, const char *name, const char *rest)
{
	char body[512];
	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"},%s}", name, rest);
	return apifake_do(f, "POST", CLASSES, body);
}

static struct answer pod(struct apifake *f, const char *name, const char *spec)
{
	char body[512];
	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s\"containers\":[{\"name\":\"c\","
		 "\"image\":\"i\"}]}}",
		 name, spec);
	return apifake_do(f, "POST", PODS, body);
}

static void assert_priority(const struct answer *a, int64_t n, const char *policy, const char *name)
{
	assert_int_equal(a->status, 201);
	assert_int_equal(obj_i64(a->json, "spec.priority", -1), n);
	assert_string_equal(obj_str(a->json, "spec.preemptionPolicy"), policy);
	if (name)
		assert_string_equal(obj_str(a->json, "spec.priorityClassName"), name);
	else
		assert_false(obj_has(obj_get(a->json, "spec"), "priorityClassName"));
}

static void assert_refused(const struct answer *a, const char *message)
{
	assert_int_equal(a->status, 403);
	assert_string_equal(obj_str(a->json, "message"), message);
}

static void test_priority__of_the_class_that_is_named(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = pod(f, "plain", "");
	assert_priority(&a, 0, "PreemptLowerPriority", NULL);
	a = pod(f, "node", "\"priorityClassName\":\"system-node-critical\",");
	assert_priority(&a, 2000001000, "PreemptLowerPriority", "system-node-critical");
	a = pod(f, "cluster", "\"priorityClassName\":\"system-cluster-critical\",");
	assert_priority(&a, 2000000000, "PreemptLowerPriority", "system-cluster-critical");
	a = class(f, "low", "\"value\":-5,\"preemptionPolicy\":\"Never\"");
	assert_int_equal(a.status, 201);
	a = pod(f, "low", "\"priorityClassName\":\"low\",\"priority\":-5,");
	assert_priority(&a, -5, "Never", "low");
}

static void test_priority__refusals(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = pod(f, "x", "\"priorityClassName\":\"none\",");
	assert_refused(&a, "pods \"x\" is forbidden: no PriorityClass with name none was found");
	a = pod(f, "x", "\"priority\":7,");
	assert_refused(&a, "pods \"x\" is forbidden: the integer value of priority (7) must not be "
			   "provided in pod spec; priority admission controller computed 0 from "
			   "the given PriorityClass name");
	a = pod(f, "x", "\"preemptionPolicy\":\"Never\",");
	assert_refused(&a, "pods \"x\" is forbidden: the string value of PreemptionPolicy (Never) "
			   "must not be provided in pod spec; priority admission controller "
			   "computed PreemptLowerPriority from the given PriorityClass name");
	a = apifake_do(f, "DELETE", CLASSES "/system-node-critical", NULL);
	assert_refused(&a, "priorityclasses.scheduling.k8s.io \"system-node-critical\" is "
			   "forbidden: this is a system priority class and cannot be deleted");
}

static void test_priority__one_default_of_all(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = class(f, "usual", "\"value\":3,\"globalDefault\":true");
	assert_int_equal(a.status, 201);
	a = pod(f, "p", "");
	assert_priority(&a, 3, "PreemptLowerPriority", "usual");
	a = class(f, "other", "\"value\":4,\"globalDefault\":true");
	assert_refused(&a,
		       "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass "
		       "usual is already marked as default. Only one default can exist");
	a = class(f, "other", "\"value\":4");
	assert_int_equal(a.status, 201);
	a = apifake_do_type(f, "PATCH", CLASSES "/other", MERGE, "{\"globalDefault\":true}");
	assert_int_equal(a.status, 403);
	a = apifake_do_type(f, "PATCH", CLASSES "/usual", MERGE, "{\"description\":\"x\"}");
	assert_int_equal(a.status, 200);
	a = apifake_do_type(f, "PATCH", CLASSES "/usual", MERGE, "{\"value\":9}");
	assert_int_equal(a.status, 422);
}

/* A client that writes back what it applied, without what the server added, changes nothing. */
static void test_priority__an_update_keeps_it(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = pod(f, "p", "\"priorityClassName\":\"system-node-critical\",");
	assert_int_equal(a.status, 201);
	a = apifake_do_type(f, "PATCH", PODS "/p", MERGE,
			    "{\"spec\":{\"priority\":null,\"preemptionPolicy\":null}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_i64(a.json, "spec.priority", -1), 2000001000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priority__of_the_class_that_is_named),
		cmocka_unit_test(test_priority__refusals),
		cmocka_unit_test(test_priority__one_default_of_all),
		cmocka_unit_test(test_priority__an_update_keeps_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
