/* test_status_check.c: statuses, what a real kube-apiserver 1.36 said of them, and that what was stored before stays. */
#include "alm/apiserver/kinds/status_check.h"

#include "alm/apiserver/kinds/builtin_check.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_check__in_the_real_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
