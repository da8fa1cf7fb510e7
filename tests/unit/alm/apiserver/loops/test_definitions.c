/* A definition that waits for names that another one has. */
#include "tests/lib/test.h"

#include "alm/obj/condition.h"
#include "alm/obj/obj.h"
#include "tests/lib/exchange_fake.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/* A definition of group g.io, whose short name is one. */
static void define(struct apifake *f, struct arena *a, const char *plural, const char *kind)
{
	const char *body = arena_fmt(
		a,
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		"\"CustomResourceDefinition\",\"metadata\":{\"name\":\"%s.g.io\"},\"spec\":"
		"{\"group\":\"g.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"%s\","
		"\"kind\":\"%s\",\"shortNames\":[\"one\"]},\"versions\":[{\"name\":\"v1\","
		"\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
		"\"object\"}}}]}}",
		plural, plural, kind);
	assert_int_equal(apifake_do(f, "POST", CRDS, body).status, 201);
}

static bool is_established(struct apifake *f, const char *target)
{
	return condition_is(apifake_do(f, "GET", target, NULL).json, "Established", "True");
}

static void test_definitions__a_name_that_is_freed_goes_to_who_waits(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	define(f, a, "firsts", "First");
	define(f, a, "seconds", "Second");
	assert_false(is_established(f, CRDS "/seconds.g.io"));
	assert_int_equal(apifake_do(f, "GET", "/apis/g.io/v1/seconds", NULL).status, 404);
	assert_int_equal(apifake_do(f, "DELETE", CRDS "/firsts.g.io", NULL).status, 200);
	assert_true(is_established(f, CRDS "/seconds.g.io"));
	assert_int_equal(apifake_do(f, "GET", "/apis/g.io/v1/seconds", NULL).status, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions__a_name_that_is_freed_goes_to_who_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
