/* test_cel_functions.c: what the functions of CEL give, by the messages of policies, as a real kube-apiserver 1.36 gave it
 * (tests/golden/kube-api/cel.py). */
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

static void test_cel_functions__values_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/cel.jsonl", 100, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cel_functions__values_are_those_of_a_real_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
