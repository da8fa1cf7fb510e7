/* What the simulated kubelet makes of a resize: KEP-1287. */
#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define PODS      "/api/v1/namespaces/default/pods"
#define STRATEGIC "application/strategic-merge-patch+json"

static int setup(void **state)
{
	static const struct apifake_options o = {.simulate = true};
	*state = apifake_new(&o);
	return 0;
}

static int teardown(void **state)
{
	apifake_free(*state);
	return 0;
}

/* What its containers were given, and since when it runs. */
static void check_given(struct apifake *f, const char *first, const char *since)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct answer a = apifake_do(f, "GET", PODS "/p", NULL);
	const struct obj *list = obj_path(a.json, "status.containerStatuses");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_len(list), 2);
	json_print(obj_get(obj_at(list, 0), "resources"), &b);
	strbuf_adds(&b, " ");
	json_print(obj_get(obj_at(list, 0), "allocatedResources"), &b);
	assert_string_equal(b.buf, first);
	assert_int_equal(obj_type(obj_get(obj_at(list, 1), "resources")), OBJ_MAP);
	assert_int_equal(obj_len(obj_get(obj_at(list, 1), "resources")), 0);
	assert_false(obj_has(obj_at(list, 1), "allocatedResources"));
	assert_string_equal(obj_str(a.json, "status.containerStatuses[0].state.running.startedAt"),
			    since);
}

/* A running container is given what it asks for, and nothing of it starts anew. */
static void test_simulate_pods__a_pod_is_resized_where_it_runs(void **state)
{
	static const char pod[] =
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"image\":"
		"\"x:1\",\"resources\":{\"requests\":{\"cpu\":\"1\"},\"limits\":{\"cpu\":\"2\"}}},{"
		"\"name\":\"d\",\"image\":\"x:1\"}]}}";
	static const char more[] = "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{"
				   "\"requests\":{\"cpu\":\"3\"},\"limits\":{\"cpu\":\"4\"}}}]}}";
	struct apifake *f = *state;
	assert_int_equal(apifake_do(f, "POST", PODS, pod).status, 201);
	apifake_advance(f, NS_PER_S);
	struct answer a = apifake_do(f, "GET", PODS "/p", NULL);
	CLEANUP(xfreep) char *since =
		xstrdup(obj_str(a.json, "status.containerStatuses[0].state.running.startedAt"));
	check_given(f, "{\"requests\":{\"cpu\":\"1\"},\"limits\":{\"cpu\":\"2\"}} {\"cpu\":\"1\"}",
		    since);
	assert_int_equal(apifake_do_type(f, "PATCH", PODS "/p/resize", STRATEGIC, more).status,
			 200);
	apifake_advance(f, NS_PER_S);
	check_given(f, "{\"requests\":{\"cpu\":\"3\"},\"limits\":{\"cpu\":\"4\"}} {\"cpu\":\"3\"}",
		    since);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_simulate_pods__a_pod_is_resized_where_it_runs,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
