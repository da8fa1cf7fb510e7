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

static void let_go(struct apifake *f, const char *path)
{
	struct answer a = apifake_do_type(f, "PATCH", path, "application/merge-patch+json",
					  "{\"metadata\":{\"finalizers\":null}}");
	assert_int_equal(a.status, 200);
}

/* What is left is told as a real 1.36 does, kind by kind and finalizer by finalizer. */
static void test_namespaces__tells_what_is_left(void **state)
{
	static const struct {
		const char *type, *status, *reason, *message;
	} want[] = {
		{"NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
		 "All resources successfully discovered"},
		{"NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
		 "All legacy kube types successfully parsed"},
		{"NamespaceDeletionContentFailure", "False", "ContentDeleted",
		 "All content successfully deleted, may be waiting on finalization"},
		{"NamespaceContentRemaining", "True", "SomeResourcesRemain",
		 "Some resources are remaining: configmaps. has 2 resource instances, secrets. has "
		 "1 "
		 "resource instances"},
		{"NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain",
		 "Some content in the namespace has finalizers remaining: a.b/c in 2 resource "
		 "instances, a.b/d in 1 resource instances, z/z in 1 resource instances"},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
	apifake_do(f, "POST", NS "/secrets",
		   "{\"metadata\":{\"name\":\"s\",\"finalizers\":[\"z/z\"]}}");
	apifake_do(f, "POST", NS "/configmaps",
		   "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"a.b/d\",\"a.b/c\"]}}");
	apifake_do(f, "POST", NS "/configmaps",
		   "{\"metadata\":{\"name\":\"b\",\"finalizers\":[\"a.b/c\"]}}");
	apifake_do(f, "POST", NS "/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
	assert_int_equal(apifake_do(f, "DELETE", NS, NULL).status, 200);
	struct answer held = apifake_do(f, "GET", NS, NULL);
	const struct obj *list = obj_path(held.json, "status.conditions");
	assert_int_equal(obj_len(list), ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct obj *c = obj_at(list, i);
		assert_string_equal(obj_str(c, "type"), want[i].type);
		assert_string_equal(obj_str(c, "status"), want[i].status);
		assert_string_equal(obj_str(c, "reason"), want[i].reason);
		assert_string_equal(obj_str(c, "message"), want[i].message);
	}
	/* It is counted anew once in a while, and gone with the last one at once. */
	let_go(f, NS "/configmaps/a");
	apifake_advance(f, INT64_C(11) * 1000 * 1000 * 1000);
	held = apifake_do(f, "GET", NS, NULL);
	assert_string_equal(obj_str(held.json, "status.conditions[4].message"),
			    "Some content in the namespace has finalizers remaining: a.b/c in 1 "
			    "resource instances, z/z in 1 resource instances");
	let_go(f, NS "/configmaps/b");
	assert_int_equal(apifake_do(f, "GET", NS, NULL).status, 200);
	let_go(f, NS "/secrets/s");
	assert_int_equal(apifake_do(f, "GET", NS, NULL).status, 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespaces__another_finalizer_holds_it),
		cmocka_unit_test(test_namespaces__tells_what_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
