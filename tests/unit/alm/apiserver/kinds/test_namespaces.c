/* The end of a namespace, as far as others have a say in it. */
#include "tests/lib/test.h"

#include "alm/obj/obj.h"
#include "tests/lib/exchange_fake.h"

#define NS "/api/v1/namespaces/n"

/* Only "kubernetes" is the server's own to remove. */
static void test_namespaces__another_finalizer_holds_it(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", "/api/v1/namespaces",
		   "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"x.y/z\"]}}");
	apifake_do(f, "POST", NS "/configmaps", "{\"metadata\":{\"name\":\"a\"}}");
	assert_int_equal(apifake_do(f, "DELETE", NS, NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", NS "/configmaps/a", NULL).status, 404);
	struct answer held = apifake_do(f, "GET", NS, NULL);
	assert_string_equal(obj_str(held.json, "status.phase"), "Terminating");
	assert_int_equal(obj_len(obj_path(held.json, "spec.finalizers")), 1);
	assert_string_equal(obj_str(held.json, "spec.finalizers[0]"), "x.y/z");
	apifake_do(f, "PUT", NS "/finalize",
		   "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"},"
		   "\"spec\":{\"finalizers\":[]}}");
	assert_int_equal(apifake_do(f, "GET", NS, NULL).status, 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespaces__another_finalizer_holds_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
