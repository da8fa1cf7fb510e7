/* What a server says it consists of; the answers of a real one are in tests/golden/kube-api/pods.py. */
#include "alm/apiserver/kinds/components.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define CS "/api/v1/componentstatuses"

static void expect_row(struct apifake *f, const char *status, const char *message)
{
	apifake_header(f, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
	struct answer a = apifake_expect(f, "GET", CS, NULL, 200);
	assert_int_equal(obj_len(obj_path(a.json, "columnDefinitions")), 4);
	assert_int_equal(obj_len(obj_path(a.json, "rows")), 1);
	assert_int_equal(obj_len(obj_get(a.json, "metadata")), 0); /* of no revision */
	assert_string_equal(obj_as_string(obj_path(a.json, "rows[0].cells[0]")), "etcd-0");
	assert_string_equal(obj_as_string(obj_path(a.json, "rows[0].cells[1]")), status);
	assert_string_equal(obj_as_string(obj_path(a.json, "rows[0].cells[2]")), message);
	assert_string_equal(obj_as_string(obj_path(a.json, "rows[0].cells[3]")), "");
}

/* As kubectl get cs shows it. */
static void test_components__a_store_that_works_or_fails(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	expect_row(f, "Healthy", "ok");
	assert_ok(db_exec(apifake_db(f), "PRAGMA max_page_count = 1", &err), &err);
	apifake_expect(f, "POST", "/api/v1/namespaces/default/configmaps",
		       "{\"metadata\":{\"name\":\"a\"}}", 503);
	expect_row(f, "Unhealthy", "the store fails: see /readyz?verbose");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_components__a_store_that_works_or_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
