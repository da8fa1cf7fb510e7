/* test_services_traffic.c: how long clients stay with what answered them, and the port that is asked for health; the rest of it is in
 * test_services.c and test_differs.c. */
#include "alm/apiserver/kinds/services_traffic.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"

static struct obj *with_spec(const char *spec)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(arena_fmt(a, "{\"spec\":{%s}}", spec)), &o, &err), &err);
	return o;
}

/* Of one cause at most. */
static void expect(const struct field_errors *e, const char *path)
{
	assert_int_equal(e->n, path ? 1 : 0);
	if (path)
		assert_string_equal(e->items[0].path, path);
}

#define STAYS(seconds)                                                               \
	"\"sessionAffinity\":\"ClientIP\",\"sessionAffinityConfig\":{\"clientIP\":{" \
	"\"timeoutSeconds\":" seconds "}}"
#define TIMEOUT "spec.sessionAffinityConfig.clientIP.timeoutSeconds"

static void test_services_traffic__a_client_stays_for_a_day(void **state)
{
	(void)state;
	static const struct {
		const char *spec, *path;
	} rows[] = {
		{STAYS("0"), TIMEOUT},     {STAYS("1"), NULL}, {STAYS("86400"), NULL},
		{STAYS("86401"), TIMEOUT}, {"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
		CLEANUP(obj_unrefp) struct obj *o = with_spec(rows[i].spec);
		struct field_errors e;
		field_errors_init(&e, a);
		services_check_affinity(&e, o);
		expect(&e, rows[i].path);
	}
}

#define LOCAL(port)                                                      \
	"\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\"," \
	"\"healthCheckNodePort\":" port
#define OTHER(type, policy, port)                                   \
	"\"type\":\"" type "\",\"externalTrafficPolicy\":\"" policy \
	"\",\"healthCheckNodePort\":" port
#define HEALTH "spec.healthCheckNodePort"

static void test_services_traffic__the_port_for_health_stays(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *path;
	} rows[] = {
		{LOCAL("30001"), LOCAL("30001"), NULL},
		{LOCAL("30001"), LOCAL("30002"), HEALTH},
		{LOCAL("0"), LOCAL("30002"), NULL}, /* it gets one */
		{OTHER("LoadBalancer", "Cluster", "30001"), LOCAL("30002"), NULL},
		{LOCAL("30001"), OTHER("NodePort", "Local", "30002"), NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
		CLEANUP(obj_unrefp) struct obj *was = with_spec(rows[i].before);
		CLEANUP(obj_unrefp) struct obj *is = with_spec(rows[i].after);
		struct field_errors e;
		field_errors_init(&e, a);
		services_check_health_kept(&e, is, was);
		expect(&e, rows[i].path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_services_traffic__a_client_stays_for_a_day),
		cmocka_unit_test(test_services_traffic__the_port_for_health_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
