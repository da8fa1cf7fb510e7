/* test_differs.c: generated writes of built-in kinds that once were answered otherwise here, and what a real kube-apiserver 1.36
 * made of them (tests/fuzz/diff_api.py). */
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

static void test_differs__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay("tests/golden/kube-api/differs.jsonl", 250, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differs__answers_are_those_of_a_real_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
