/* alm wait --logs where nothing can be told. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/cli/kube/transition_log.h"

static void test_transition_log__it_says_why_it_tells_nothing(void **state)
{
	(void)state;
	static const struct {
		int code;
		const char *todo;
	} rows[] = {{E_NOTFOUND, "--set auditRecords.enabled=true"},
		    {E_FORBIDDEN, "ClusterRole alm-audit-reader gives the right"},
		    {E_UNAVAILABLE, "alm controller --records-listen"}};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		error_set(&err, rows[i].code, "the server says so");
		const char *text = transition_log_missing(&err, a);
		assert_non_null(strstr(text,
				       "auditrecords.audit.app.coreos.com cannot be read: the "
				       "server says so; "));
		assert_non_null(strstr(text, rows[i].todo));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transition_log__it_says_why_it_tells_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
