/* test_class.c: what Pods, claims and Ingresses get from classes, and what clients are told of valid objects (warn.h), as a real 1.36
 * does (tests/golden/kube-api/told.py). */
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

static void test_class__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/told.jsonl", 100, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class__answers_are_those_of_a_real_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
