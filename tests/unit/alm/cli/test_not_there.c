#include "tests/lib/test.h"

#include "alm/cli/not_there.h"

static void test_not_there__paths_of_alm_have_a_remedy(void **state)
{
	(void)state;
	static const char *const ours[] = {"/apis/app.coreos.com/v1beta1/apps",
					   "/apis/opinstaller.coreos.com/v1beta1"};
	static const char *const others[] = {"",
					     "/",
					     "/apis",
					     "/apis/app.coreos.com",
					     "/apis/apps/v1/deployments",
					     "/api/v1/pods",
					     "/apis/app.coreos.com.evil/v1/apps",
					     "/apis/xapp.coreos.com/v1/apps"};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		assert_non_null(strstr(not_there_path(ours[i]), "alm install --to-cluster"));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_string_equal(not_there_path(others[i]), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_there__paths_of_alm_have_a_remedy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
