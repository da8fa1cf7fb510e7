/* test_converting_recorded.c: what a real kube-apiserver 1.36 makes of objects whose definition names a converter
 * (tests/golden/kube-api/convert.py). */
#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/converter_fake.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

static void test_converting_recorded__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	hook_fake_answer_by(converter_fake_answer);
	replay_with(&(struct apifake_options){.dial = hook_fake_dial},
		    "tests/golden/kube-api/convert.jsonl", 100, converter_fake_as_recorded, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converting_recorded__answers_are_those_of_a_real_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
