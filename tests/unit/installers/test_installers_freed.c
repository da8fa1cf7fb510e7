/* What was never made, or is gone, is freed by nobody: each destructor of the folder takes NULL, so that who unwinds need not ask. */
#include "tests/lib/test.h"

#include "installers/chart/gzip.h"
#include "installers/tmpl/tmpl.h"

static void test_installers_freed__nothing_is_freed(void **state)
{
	(void)state;
	gzip_reader_free(NULL);
	tmpl_run_free(NULL);
	tmpl_set_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_installers_freed__nothing_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
