/* test_plan_access.c: for whom the manifests of an app's rights are. */
#include "tests/lib/test.h"

#include "alm/controllers/app/plan_access.h"
#include "crds/marks.h"

/* Its roles and bindings have one name an app, so that those of two apps in one namespace do not collide. */
static void test_plan_access__who_is_granted(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const struct app app = {.name = "shop", .account = {.ns = "n", .name = "robot"}};
	const struct access_grantee g = plan_grantee(&app, a);
	assert_string_equal(g.ns, "n");
	assert_string_equal(g.account, "robot");
	assert_string_equal(g.name, "app-shop");
	assert_string_equal(g.label, LABEL_APP);
	assert_string_equal(g.value, "shop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_access__who_is_granted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
