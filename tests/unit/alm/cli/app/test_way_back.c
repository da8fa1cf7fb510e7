/* test_way_back.c: what a strategy that has not begun says of itself. */
#include "tests/lib/test.h"

#include "alm/cli/app/way_back.h"
#include "alm/obj/json.h"

static void holds(const char *conditions, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *text = arena_fmt(a, "{\"status\":{\"conditions\":[%s]}}", conditions);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	const char *why = way_back_holds(o, a);
	assert_string_equal(why ? why : "-", want);
	obj_unref(o);
}

#define CONDITION(type, status)                                                           \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" type "Reason\"," \
	"\"message\":\"waits for dice\"}"

static void test_way_back__what_holds_is_the_condition_that_is_not_so(void **state)
{
	(void)state;
	holds("", "-");
	holds(CONDITION("PlanReady", "True") "," CONDITION("Applied", "False"), "-");
	holds(CONDITION("Applied", "False") "," CONDITION("RequirementsMet", "False"),
	      "RequirementsMetReason: waits for dice");
	holds(CONDITION("CRDCompatible", "False") "," CONDITION("PlanReady", "False"),
	      "PlanReadyReason: waits for dice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_way_back__what_holds_is_the_condition_that_is_not_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
