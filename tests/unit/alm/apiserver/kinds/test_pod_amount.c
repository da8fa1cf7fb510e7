/* test_pod_amount.c: what a Pod takes, of its own or by its containers. */
#include "alm/apiserver/kinds/pod_amount.h"

#include "alm/base/clock.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

#define ASKS(cpu)        "\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}"
#define C(cpu)           "{" ASKS(cpu) "}"
#define RESTARTS(cpu)    "{\"restartPolicy\":\"Always\"," ASKS(cpu) "}"
#define POD(list, init)  "{\"spec\":{\"containers\":[" list "],\"initContainers\":[" init "]}}"
#define WHOLE(cpu, list) "{\"spec\":{" ASKS(cpu) ",\"containers\":[" list "]}}"

static void test_pod_amount__of_a_pod(void **state)
{
	static const struct {
		const char *pod;
		int64_t want; /* -1: nothing is said */
	} rows[] = {
		{POD("{}", ""), -1},
		{POD(C("1") "," C("2"), ""), 3},
		{POD(C("1") ",{}", ""), 1},
		{POD(C("1"), C("2")), 2},
		{POD(C("3"), C("2")), 3},
		{POD("{}", C("2")), 2},
		/* what restarts stays beside those behind it, and the others */
		{POD(C("1"), RESTARTS("2")), 3},
		{POD(C("1"), RESTARTS("2") "," C("4")), 6},
		{POD(C("1"), C("4") "," RESTARTS("2")), 4},
		/* its own is the whole */
		{WHOLE("5", C("1")), 5},
		{WHOLE("1", C("5")), 1},
		{WHOLE("0", C("5")), 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i].pod);
		const struct amount is = amount_of_pod(o, "requests", "cpu");
		if (is.is_there != (rows[i].want >= 0))
			fail_msg("row %zu", i);
		if (is.is_there)
			assert_true(is.q.nanos == (quantity_nanos)rows[i].want * NS_PER_S);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_amount__of_a_pod),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
