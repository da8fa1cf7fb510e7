/* test_class.c: what Pods, claims and Ingresses get from classes, and what clients are told of valid objects, as a real 1.36 does
 * (tests/golden/kube-api/told.py). */
#include <stdio.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define PODS "/api/v1/namespaces/default/pods"

static void test_class__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/told.jsonl", 100, NULL);
}

/* What each is compared with has an end, and so has what is told. */
static void test_class__a_pod_of_many_ports(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
			"\"image\":\"i:1\",\"ports\":[");
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&b, "%s{\"containerPort\":80}", i ? "," : "");
	strbuf_adds(&b, "]}]}}");
	struct answer a = apifake_do(f, "POST", PODS, b.buf);
	assert_int_equal(a.status, 201);
	assert_non_null(http_header(a.headers, "Warning"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_class__a_pod_of_many_ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
