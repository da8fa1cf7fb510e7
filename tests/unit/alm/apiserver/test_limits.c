/* test_limits.c: Pods and claims under LimitRanges, and what a real kube-apiserver 1.36 made of them
 * (tests/golden/kube-api/limits.py). */
#include <string.h>

#include "alm/apiserver/kinds/limit_range.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/limits.jsonl"
#define CLAIMS   "/api/v1/namespaces/default/persistentvolumeclaims"
#define MERGE    "application/merge-patch+json"

static void test_limits__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay(RECORDED, 80, NULL);
}

/* An update of a claim is judged too, one of its status or of a claim that goes is not. */
static void test_limits__updates_of_claims(void **state)
{
	(void)state;
	static const char claim[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
		"\"x\","
		"\"finalizers\":[\"e.io/f\"]},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
		"\"resources\":{\"requests\":{\"storage\":\"4Gi\"}}}}";
	static const char range[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"l\"},"
		"\"spec\":{"
		"\"limits\":[{\"type\":\"PersistentVolumeClaim\",\"max\":{\"storage\":\"2Gi\"}}]}}";
	static const char label[] = "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}";
	static const char status[] = "{\"status\":{\"phase\":\"Bound\"}}";
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(apifake_do(f, "POST", CLAIMS, claim).status, 201);
	assert_int_equal(
		apifake_do(f, "POST", "/api/v1/namespaces/default/limitranges", range).status, 201);
	struct answer a = apifake_do_type(f, "PATCH", CLAIMS "/x", MERGE, label);
	assert_int_equal(a.status, 403);
	assert_string_equal(obj_str(a.json, "message"),
			    "persistentvolumeclaims \"x\" is forbidden: maximum storage usage per "
			    "PersistentVolumeClaim is 2Gi, but request is 4Gi");
	assert_int_equal(apifake_do_type(f, "PATCH", CLAIMS "/x/status", MERGE, status).status,
			 200);
	assert_int_equal(apifake_do(f, "DELETE", CLAIMS "/x", NULL).status, 200);
	assert_int_equal(apifake_do_type(f, "PATCH", CLAIMS "/x", MERGE, label).status, 200);
}

/* A range that is read and written back is the same one. */
static void test_limits__defaults_twice_are_once(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *range = NULL;
	CLEANUP(obj_unrefp) struct obj *want = NULL;
	assert_ok(
		json_parse(
			STR("{\"spec\":{\"limits\":[{\"type\":\"Pod\",\"max\":{\"cpu\":\"4\"}},{"
			    "\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},\"min\":{\"cpu\":\"1\","
			    "\"memory\":\"1Mi\"},\"default\":{}}]}}"),
			&range, &err),
		&err);
	assert_ok(
		json_parse(
			STR("{\"spec\":{\"limits\":[{\"type\":\"Pod\",\"max\":{\"cpu\":\"4\"}},{"
			    "\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},\"min\":{\"cpu\":\"1\","
			    "\"memory\":\"1Mi\"},\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{"
			    "\"cpu\":\"2\",\"memory\":\"1Mi\"}}]}}"),
			&want, &err),
		&err);
	for (int i = 0; i < 2; i++) {
		limit_range_default(range);
		assert_true(obj_equal(range, want));
	}
}

static void expect_condition(struct apifake *f, const char *path, const char *type,
			     const char *status, const char *message)
{
	struct answer a = apifake_do(f, "GET", path, NULL);
	const struct obj *found = condition_find(obj_path(a.json, "status.conditions"), type);
	if (!status) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(obj_str(found, "status"), status);
	if (message)
		assert_string_equal(obj_str(found, "message"), message);
}

/* A simulated workload whose Pods are refused says so, has none, and has them once it may. */
static void test_limits__simulated_workloads_obey(void **state)
{
	(void)state;
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define RANGES      "/api/v1/namespaces/default/limitranges"
#define PODS        "/api/v1/namespaces/default/pods"
	static const char range[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"l\"},"
		"\"spec\":{"
		"\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}]}}";
	static const char deployment[] =
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"
		"\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":"
		"{"
		"\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
		"\"i\","
		"\"resources\":{\"limits\":{\"cpu\":\"2\"}}}]}}}}";
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.simulate = true});
	assert_int_equal(apifake_do(f, "POST", RANGES, range).status, 201);
	assert_int_equal(apifake_do(f, "POST", DEPLOYMENTS, deployment).status, 201);
	apifake_advance(f, NS_PER_S);
	expect_condition(f, DEPLOYMENTS "/d", "ReplicaFailure", "True",
			 "pods \"d-\" is forbidden: maximum cpu usage per Container is 1, but "
			 "limit is 2");
	expect_condition(f, DEPLOYMENTS "/d", "Available", "False", NULL);
	assert_int_equal(obj_len(obj_get(apifake_do(f, "GET", PODS, NULL).json, "items")), 0);
	assert_int_equal(apifake_do(f, "DELETE", RANGES "/l", NULL).status, 200);
	apifake_advance(f, 30 * NS_PER_S);
	expect_condition(f, DEPLOYMENTS "/d", "ReplicaFailure", NULL, NULL);
	expect_condition(f, DEPLOYMENTS "/d", "Available", "True", NULL);
	assert_int_equal(obj_len(obj_get(apifake_do(f, "GET", PODS, NULL).json, "items")), 1);
	/* What came up stays, whatever range comes later. */
	assert_int_equal(apifake_do(f, "POST", RANGES, range).status, 201);
	assert_int_equal(apifake_do_type(f, "PATCH", DEPLOYMENTS "/d", MERGE,
					 "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")
				 .status,
			 200);
	apifake_advance(f, NS_PER_S);
	expect_condition(f, DEPLOYMENTS "/d", "Available", "True", NULL);
	assert_int_equal(obj_len(obj_get(apifake_do(f, "GET", PODS, NULL).json, "items")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_limits__updates_of_claims),
		cmocka_unit_test(test_limits__defaults_twice_are_once),
		cmocka_unit_test(test_limits__simulated_workloads_obey),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
