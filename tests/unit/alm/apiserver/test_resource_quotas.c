/* test_resource_quotas.c: writes under ResourceQuotas, and what a real kube-apiserver 1.36 made of them
 * (tests/golden/kube-api/quota.py). */
#include <string.h>

#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/base/clock.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/quota.jsonl"
#define SPACE    "/api/v1/namespaces/default"
#define QUOTA    SPACE "/resourcequotas/q"
#define JSON     "application/json"

/* The recorder deletes what it has made of the wrong ones without a line of it. */
static void sweep(struct apifake *f, struct str line)
{
	if (str_contains(line, STR("POST")) && str_contains(line, STR("q-wrong/")))
		apifake_do(f, "DELETE", "/api/v1/namespaces/q-wrong/resourcequotas/q", NULL);
}

static void test_resource_quotas__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay(RECORDED, 160, sweep);
}

#define NEW(kind, name, rest) \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"}" rest "}"
#define HARD(hard) NEW("ResourceQuota", "q", ",\"spec\":{\"hard\":{" hard "}}")
#define POD(name, cpu)                                                                   \
	NEW("Pod", name,                                                                 \
	    ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{" \
	    "\"requests\":{"                                                             \
	    "\"cpu\":\"" cpu "\"}}}]}")

static int send(struct apifake *f, const char *method, const char *path, const char *body)
{
	return apifake_do(f, method, path, body).status;
}

static void expect_used(struct apifake *f, const char *name, const char *want)
{
	struct answer a = apifake_do(f, "GET", QUOTA, NULL);
	const char *got = obj_as_string(obj_get(obj_path(a.json, "status.used"), name));
	if (!cstr_eq(got, want))
		fail_msg("%s: %s, wanted %s", name, got ? got : "nothing", want);
}

/* Both creates of one turn are judged, before either is committed. */
static void test_resource_quotas__within_one_turn(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas", HARD("\"requests.cpu\":\"1\"")),
			 201);
	size_t first = apifake_send(f, "POST", SPACE "/pods", JSON, POD("a", "600m"));
	size_t second = apifake_send(f, "POST", SPACE "/pods", JSON, POD("b", "600m"));
	apifake_run(f);
	assert_int_equal(apifake_answer(f, first).status, 201);
	assert_int_equal(apifake_answer(f, second).status, 403);
	expect_used(f, "requests.cpu", "600m");
}

/* What a Pod that is resized takes more is counted. */
static void test_resource_quotas__of_what_is_resized(void **state)
{
	static const struct {
		const char *cpu;
		int status;
	} rows[] = {{"900m", 200}, {"1001m", 403}, {"1", 200}, {"100m", 200}};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas", HARD("\"requests.cpu\":\"1\"")),
			 201);
	assert_int_equal(send(f, "POST", SPACE "/pods", POD("a", "600m")), 201);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(
			apifake_do_type(
				f, "PATCH", SPACE "/pods/a/resize",
				"application/strategic-merge-patch+json",
				arena_fmt(a,
					  "{\"spec\":{\"containers\":[{\"name\":\"c\","
					  "\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
					  rows[i].cpu))
				.status,
			rows[i].status);
	expect_used(f, "requests.cpu", "100m");
}

static void fill_disk(struct apifake *f, bool full)
{
	struct error err = ERROR_INIT;
	assert_ok(db_exec(apifake_db(f),
			  full ? "PRAGMA max_page_count = 1" : "PRAGMA max_page_count = 1000000",
			  &err),
		  &err);
}

static const char *large_body(void)
{
	static char body[300000];
	static const char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				   "\"name\":\"large\"},\"data\":{\"a\":\"",
			  tail[] = "\"}}";
	memset(body, 'x', sizeof(body) - 1);
	memcpy(body, head, sizeof(head) - 1);
	memcpy(body + sizeof(body) - sizeof(tail), tail, sizeof(tail));
	return body;
}

/* What a batch that failed took back is not used. */
static void test_resource_quotas__a_batch_that_fails_takes_nothing(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas",
			      HARD("\"requests.cpu\":\"1\",\"secrets\":\"1\"")),
			 201);
	assert_int_equal(send(f, "POST", SPACE "/pods", POD("a", "100m")), 201);
	/* what does not fit on the disk takes the writes before it along */
	fill_disk(f, true);
	size_t pod = apifake_send(f, "POST", SPACE "/pods", JSON, POD("b", "900m"));
	size_t secret = apifake_send(f, "POST", SPACE "/secrets", JSON, NEW("Secret", "s", ""));
	size_t large = apifake_send(f, "POST", SPACE "/configmaps", JSON, large_body());
	apifake_run(f);
	assert_int_equal(apifake_answer(f, pod).status, 503);
	assert_int_equal(apifake_answer(f, secret).status, 503);
	assert_int_equal(apifake_answer(f, large).status, 503);
	fill_disk(f, false);
	assert_int_equal(send(f, "POST", SPACE "/pods", POD("c", "900m")), 201);
	assert_int_equal(send(f, "POST", SPACE "/secrets", NEW("Secret", "s", "")), 201);
	expect_used(f, "requests.cpu", "1");
	expect_used(f, "secrets", "1");
}

/* What is not stated is told however long the telling is. */
static void test_resource_quotas__many_long_names(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas",
			      HARD("\"requests.cpu\":\"1\",\"limits.memory\":\"1Gi\"")),
			 201);
	strbuf_adds(&b, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
			"\"spec\":{\"containers\":[");
	for (int i = 0; i < 100; i++)
		strbuf_addf(&b, "%s{\"name\":\"%063d\",\"image\":\"i\"}", i ? "," : "", i);
	strbuf_adds(&b, "]}}");
	struct answer a = apifake_do(f, "POST", SPACE "/pods", b.buf);
	assert_int_equal(a.status, 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "must specify limits.memory for: 000"));
}

/* More quotas than a turn looks at: all of them are kept. */
static void test_resource_quotas__more_than_a_turn(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < 250; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(
			&b,
			"{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
			"\"q%03d\"},\"spec\":{\"hard\":{\"secrets\":\"9\"}}}",
			i);
		assert_int_equal(send(f, "POST", SPACE "/resourcequotas", b.buf), 201);
		apifake_forget(f);
	}
	assert_int_equal(send(f, "POST", SPACE "/secrets", NEW("Secret", "s", "")), 201);
	const struct obj *items =
		obj_get(apifake_do(f, "GET", SPACE "/resourcequotas", NULL).json, "items");
	assert_int_equal(obj_len(items), 250);
	for (size_t i = 0; i < obj_len(items); i++)
		assert_string_equal(obj_str(obj_at(items, i), "status.used.secrets"), "1");
}

/* A name that is of nothing is a name, and no table of objects. */
static void test_resource_quotas__names_of_nothing(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas",
			      HARD("\"count/nothings.example.com\":\"0\",\"pods\":\"1\"")),
			 201);
	assert_int_equal(send(f, "POST", SPACE "/pods", POD("a", "1")), 201);
	expect_used(f, "pods", "1");
	expect_used(f, "count/nothings.example.com", NULL);
}

/* A Job waits for room; it has not failed, and not ended. */
static void test_resource_quotas__jobs_wait_for_room(void **state)
{
	(void)state;
	static const char job[] = "{\"apiVersion\":\"batch/"
				  "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"},\"spec\":{"
				  "\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
				  "\"containers\":[{\"name\":\"c\","
				  "\"image\":\"i\"}]}}}}";
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.simulate = true});
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas", HARD("\"pods\":\"0\"")), 201);
	assert_int_equal(send(f, "POST", "/apis/batch/v1/namespaces/default/jobs", job), 201);
	apifake_advance(f, 5 * NS_PER_S);
	struct answer a = apifake_do(f, "GET", "/apis/batch/v1/namespaces/default/jobs/j", NULL);
	assert_false(condition_is(a.json, "Complete", "True"));
	assert_false(condition_is(a.json, "Failed", "True"));
	assert_int_equal(send(f, "DELETE", QUOTA, NULL), 200);
	apifake_advance(f, 30 * NS_PER_S);
	a = apifake_do(f, "GET", "/apis/batch/v1/namespaces/default/jobs/j", NULL);
	assert_true(condition_is(a.json, "Complete", "True"));
}

/* A simulated workload has as many Pods as it may, and says what is in its way. */
static void test_resource_quotas__simulated_workloads_obey(void **state)
{
	(void)state;
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
	static const char deployment[] =
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"
		"\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":"
		"{"
		"\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
		"\"i\"}]}}}}";
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.simulate = true});
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas", HARD("\"requests.cpu\":\"1\"")),
			 201);
	assert_int_equal(send(f, "POST", DEPLOYMENTS, deployment), 201);
	apifake_advance(f, NS_PER_S);
	struct answer a = apifake_do(f, "GET", DEPLOYMENTS "/d", NULL);
	const struct obj *c =
		condition_find(obj_path(a.json, "status.conditions"), "ReplicaFailure");
	assert_non_null(c);
	assert_string_equal(obj_str(c, "message"),
			    "pods \"d-\" is forbidden: failed quota: q: must specify requests.cpu "
			    "for: c");
	assert_int_equal(send(f, "DELETE", QUOTA, NULL), 200);
	apifake_advance(f, 30 * NS_PER_S);
	a = apifake_do(f, "GET", DEPLOYMENTS "/d", NULL);
	assert_true(condition_is(a.json, "Available", "True"));
	/* Room for some of them: as many are there, and the rest once there is room for it. */
	assert_int_equal(send(f, "POST", SPACE "/resourcequotas", HARD("\"pods\":\"3\"")), 201);
	assert_int_equal(apifake_do_type(f, "PATCH", DEPLOYMENTS "/d",
					 "application/merge-patch+json",
					 "{\"spec\":{\"replicas\":5}}")
				 .status,
			 200);
	apifake_advance(f, NS_PER_S);
	a = apifake_do(f, "GET", DEPLOYMENTS "/d", NULL);
	assert_int_equal(obj_i64(a.json, "status.readyReplicas", -1), 3);
	assert_true(condition_is(a.json, "Available", "False"));
	assert_true(condition_is(a.json, "ReplicaFailure", "True"));
	expect_used(f, "pods", "3");
	assert_int_equal(apifake_do_type(f, "PATCH", QUOTA, "application/merge-patch+json",
					 "{\"spec\":{\"hard\":{\"pods\":\"9\"}}}")
				 .status,
			 200);
	apifake_advance(f, 30 * NS_PER_S);
	a = apifake_do(f, "GET", DEPLOYMENTS "/d", NULL);
	assert_int_equal(obj_i64(a.json, "status.readyReplicas", -1), 5);
	assert_true(condition_is(a.json, "Available", "True"));
	assert_false(condition_is(a.json, "ReplicaFailure", "True"));
	expect_used(f, "pods", "5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resource_quotas__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_resource_quotas__within_one_turn),
		cmocka_unit_test(test_resource_quotas__of_what_is_resized),
		cmocka_unit_test(test_resource_quotas__a_batch_that_fails_takes_nothing),
		cmocka_unit_test(test_resource_quotas__names_of_nothing),
		cmocka_unit_test(test_resource_quotas__many_long_names),
		cmocka_unit_test(test_resource_quotas__more_than_a_turn),
		cmocka_unit_test(test_resource_quotas__jobs_wait_for_room),
		cmocka_unit_test(test_resource_quotas__simulated_workloads_obey),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
