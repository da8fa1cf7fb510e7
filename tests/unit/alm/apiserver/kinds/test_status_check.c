/* test_status_check.c: statuses, what a real kube-apiserver 1.36 said of them, and that what was stored before stays. */
#include "alm/apiserver/kinds/status_check.h"

#include <string.h>

#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/job_check.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

static const struct row {
	const char *group, *plural, *json, *want; /* all that is wrong */
} rows[] = {
	{"policy", "poddisruptionbudgets",
	 "{\"status\":{\"conditions\":[{\"type\":\"b\",\"status\":\"x\",\"observedGeneration\""
	 ":-1,\"reason\":\"a\"},{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"2"
	 "021-01-01T00:00:00Z\",\"reason\":\"\",\"message\":\"m\"},{\"type\":\"A\",\"status\":"
	 "\"True\",\"lastTransitionTime\":\"2021-01-01T00:00:00Z\",\"reason\":\"x\",\"message"
	 "\":\"m\"}],\"disruptionsAllowed\":-1,\"currentHealthy\":0,\"desiredHealthy\":0,\"exp"
	 "ectedPods\":0}}",
	 "[status.conditions[0].status: Unsupported value: \"x\": supported values: \"False\","
	 " \"True\", \"Unknown\", status.conditions[0].observedGeneration: Invalid value: -1: "
	 "must be greater than or equal to zero, status.conditions[0].lastTransitionTime: Requ"
	 "ired value, status.conditions[1].reason: Required value, status.conditions[2].type: "
	 "Duplicate value: \"A\", status.disruptionsAllowed: Invalid value: -1: must be greate"
	 "r than or equal to 0]"},
	{"", "pods",
	 "{\"status\":{\"hostIP\":\"1.2.3.4\",\"hostIPs\":[{\"ip\":\"x\"}],\"podIPs\":[{\"ip\""
	 ":\"y\"}],\"resourceClaimStatuses\":[{\"name\":\"x\"}]}}",
	 "[status.resourceClaimStatuses[0].name: Invalid value: \"x\": must match the name of "
	 "an entry in `spec.resourceClaims`, status.podIPs[0]: Invalid value: \"y\": must be a"
	 " valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), status.hostIPs[0].ip: Invalid "
	 "value: \"x\": must be equal to `hostIP`, status.hostIPs[0]: Invalid value: \"x\": mu"
	 "st be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)]"},
	{"batch", "jobs",
	 "{\"status\":{\"active\":-1,\"ready\":3,\"completionTime\":\"2020-01-01T00:00:00Z\","
	 "\"failedIndexes\":\"1\"}}",
	 "[status.active: Invalid value: -1: must be greater than or equal to 0, "
	 "status.completionTime: Invalid value: \"2020-01-01T00:00:00Z\": cannot set "
	 "completionTime "
	 "when there is no Complete=True condition, status.failedIndexes: Invalid value: \"1\": "
	 "cannot "
	 "set non-null failedIndexes when backoffLimitPerIndex is null, status.ready: Invalid "
	 "value: 3: "
	 "cannot set more ready pods than active]"},
	{"", "persistentvolumeclaims",
	 "{\"status\":{\"allocatedResourceStatuses\":{\"cpu\":\"x\"},\"allocatedResources\":{"
	 "\"cpu\":\"1\"}}}",
	 "[status.allocatedResourceStatuses: Unsupported value: \"cpu\": supported values: \"s"
	 "torage\", status.allocatedResourceStatuses: Unsupported value: \"cpu\": supported va"
	 "lues: \"ControllerResizeInProgress\", \"ControllerResizeInfeasible\", \"NodeResizeIn"
	 "Progress\", \"NodeResizeInfeasible\", \"NodeResizePending\", status.allocatedResourc"
	 "es: Unsupported value: \"cpu\": supported values: \"storage\"]"},
	{"", "services", "{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\"}]}}}",
	 "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBa"
	 "lancer'"},
	{"batch", "jobs",
	 "{\"spec\":{},\"status\":{\"startTime\":\"2020-01-01T00:00:00Z\",\"completionTime\":"
	 "\"2020-01-02T00:00:00Z\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"},{"
	 "\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"}],\"uncountedTerminatedPods\":{"
	 "\"failed\":[\"u\"]}}}",
	 "status.uncountedTerminatedPods: Invalid value: {\"failed\":[\"u\"]}: must be empty for "
	 "finished job"},
	{"apps", "deployments", "{\"status\":{\"terminatingReplicas\":-1}}",
	 "status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0"},
};

static void test_status_check__in_the_real_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].json);
		struct field_errors e;
		field_errors_init(&e, a);
		builtin_check_status(rows[i].group, rows[i].plural, o, NULL, &e);
		assert_told(&e, rows[i].want);
		CLEANUP(obj_unrefp) struct obj *changed = obj_copy(o);
		obj_set_path(changed, "status.phase", obj_string("x"));
		field_errors_init(&e, a);
		builtin_check_status(rows[i].group, rows[i].plural, changed, o, &e);
		assert_int_equal(e.n, 0);
	}
}

/* Single ones and intervals, each behind the one before, all below what the Job has. */
static void test_status_check__indexes(void **state)
{
	static const struct {
		const char *text, *fault;
		int64_t n;
	} lists[] = {
		{"", NULL, 0},
		{"0", NULL, 1},
		{"9", NULL, 1},
		{"10", "too large index: \"10\"", 0},
		{"0-9", NULL, 10},
		{"0-10", "too large index: \"10\"", 0},
		{"1,3-5,7", NULL, 5},
		{"3-4,5", NULL, 3},
		{"3-3", "non-increasing order, previous: 3, current: 3", 0},
		{"4-3", "non-increasing order, previous: 4, current: 3", 0},
		{"3,3", "non-increasing order, previous: 3, current: 3", 0},
		{"3-5,5", "non-increasing order, previous: 5, current: 5", 0},
		{"0,0", "non-increasing order, previous: 0, current: 0", 0},
		{"a", "cannot convert string to integer for index: \"a\"", 0},
		{"1-a", "cannot convert string to integer for index: \"a\"", 0},
		{"1-2-3",
		 "the fragment \"1-2-3\" violates the requirement that an index interval can have "
		 "at "
		 "most two parts separated by '-'",
		 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct field_errors e;
		int64_t n = -1;
		field_errors_init(&e, a);
		const char *fault = job_indexes_fault(&e, lists[i].text, 10, &n);
		if (!fault != !lists[i].fault || (fault && strcmp(fault, lists[i].fault) != 0))
			fail_msg("%s: %s", lists[i].text, fault ? fault : "none");
		assert_int_equal(n, lists[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_check__in_the_real_words),
		cmocka_unit_test(test_status_check__indexes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
