/* What alm approve says that it has approved. */
#include "tests/lib/test.h"

#include "alm/cli/app/approve_bundle.h"

static void test_approve_bundle__no_more_than_the_digest_has(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	assert_string_equal(approve_bundle_text(a, "web", 1000),
			    "approved the deletes of 1000 orphans of bundle/web");
	assert_string_equal(approve_bundle_text(a, "web", 1001),
			    "approved the deletes of the first 1000 of 1001 orphans of bundle/web; "
			    "when these are gone, more than spec.prune.maxDeletes wait again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_approve_bundle__no_more_than_the_digest_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
