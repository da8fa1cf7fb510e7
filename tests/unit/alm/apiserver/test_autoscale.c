/* test_autoscale.c: HorizontalPodAutoscalers of autoscaling/v1 and v2 are one object, as a real kube-apiserver converts them
 * (tests/golden/kube-api/autoscale.py). */
#include "alm/apiserver/kinds/autoscale.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_autoscale__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_autoscale__one_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
