/* test_autoscale.c: HorizontalPodAutoscalers of autoscaling/v1 and v2 are one object, as a real kube-apiserver converts them
 * (tests/golden/kube-api/autoscale.py). */
#include "alm/apiserver/kinds/autoscale.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define V1 "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
#define V2 "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"

static void test_autoscale__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/autoscale.jsonl", 190, NULL);
}

/* What v1 wrote is stored once, as v2; a write that says nothing new through either writes nothing. */
static void test_autoscale__one_object(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", V1,
		"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"maxReplicas\":3,\"scaleTargetRef\":{"
		"\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"d\"}}}");
	assert_int_equal(a.status, 201);
	char *rv = xstrdup(obj_str(a.json, "metadata.resourceVersion"));
	a = apifake_do_type(f, "PATCH", V1 "/a", "application/merge-patch+json",
			    "{\"spec\":{\"targetCPUUtilizationPercentage\":80}}");
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"), rv);
	a = apifake_do_type(f, "PATCH", V2 "/a", "application/merge-patch+json",
			    "{\"spec\":{\"minReplicas\":1}}");
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"), rv);
	xfree(rv);
	a = apifake_do(f, "GET", V2, NULL);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 1);
}

/* Who writes more than is read is told so, and quickly. */
static void test_autoscale__too_much(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b,
		    "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"autoscaling.alpha.kubernetes."
		    "io/metrics\":\"[");
	for (int i = 0; i < 60000; i++)
		strbuf_adds(&b, i ? ",{}" : "{}");
	strbuf_adds(
		&b,
		"]\"}},\"spec\":{\"maxReplicas\":3,\"scaleTargetRef\":{\"apiVersion\":\"apps/v1\","
		"\"kind\":\"Deployment\",\"name\":\"d\"}}}");
	struct answer a = apifake_do(f, "POST", V1, b.buf);
	assert_int_equal(a.status, 422);
	assert_non_null(strstr(obj_str(a.json, "message"),
			       "Too many: must have at most 1024 maps and lists"));
}

/* Nor is he who writes a spec told of the size of a status that another one wrote. */
static void test_autoscale__a_large_status_is_nobody_elses_fault(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	struct answer a = apifake_do(
		f, "POST", V1,
		"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"maxReplicas\":3,\"scaleTargetRef\":{"
		"\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"d\"}}}");
	assert_int_equal(a.status, 201);
	strbuf_adds(&b, "{\"status\":{\"desiredReplicas\":1,\"currentMetrics\":[");
	for (int i = 0; i < 600; i++)
		strbuf_addf(&b,
			    "%s{\"type\":\"Pods\",\"pods\":{\"metric\":{\"name\":\"m%d\"},"
			    "\"current\":{\"averageValue\":\"1\"}}}",
			    i ? "," : "", i);
	strbuf_adds(&b, "]}}");
	a = apifake_do_type(f, "PATCH", V2 "/a/status", "application/merge-patch+json", b.buf);
	assert_int_equal(a.status, 200);
	a = apifake_do_type(f, "PATCH", V1 "/a", "application/merge-patch+json",
			    "{\"spec\":{\"maxReplicas\":4}}");
	assert_int_equal(a.status, 200);
	a = apifake_do(f, "GET", V2 "/a", NULL);
	assert_int_equal(obj_i64(obj_get(a.json, "spec"), "maxReplicas", 0), 4);
	assert_int_equal(obj_len(obj_path(a.json, "status.currentMetrics")), 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_autoscale__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_autoscale__one_object),
		cmocka_unit_test(test_autoscale__too_much),
		cmocka_unit_test(test_autoscale__a_large_status_is_nobody_elses_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
