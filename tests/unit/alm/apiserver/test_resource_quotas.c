/* test_resource_quotas.c: writes under ResourceQuotas, and what a real kube-apiserver 1.36 made of them
 * (tests/golden/kube-api/quota.py). */
#include <string.h>

#include "alm/apiserver/kinds/resource_quota.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/http.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RECORDED  "tests/golden/kube-api/quota.jsonl"
#define BYTES_MAX ((size_t)1 << 20)
#define SPACE     "/api/v1/namespaces/default"
#define QUOTA     SPACE "/resourcequotas/q"
#define JSON      "application/json"

static size_t n_failed;

static void differs(const struct obj *c, const char *what, const char *want, const char *got)
{
	n_failed++;
	print_error("%s %s %.300s\n  %s: want %.700s\n  got %.700s\n", obj_str(c, "method"),
		    obj_str(c, "path"), obj_str(c, "body"), what, want, got);
}

static void check_fields(const struct obj *c, const struct obj *answer)
{
	OBJ_EACH (it, obj_get(c, "fields")) {
		const struct obj *have = obj_path(answer, it.key);
		if (obj_equal(it.value, have))
			continue;
		CLEANUP(xfreep) char *want = json_text(it.value);
		CLEANUP(xfreep) char *got = have ? json_text(have) : NULL;
		differs(c, it.key, want, got ? got : "nothing");
	}
}

static void check_line(struct apifake *f, struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	struct answer a = apifake_do_type(f, obj_str(c, "method"), obj_str(c, "path"),
					  obj_str(c, "type"), obj_str(c, "body"));
	const char *message = obj_str(a.json, "message"), *want = obj_str(c, "message");
	if (a.status != (int)obj_i64(c, "code", 0) ||
	    (want && (!message || strcmp(want, message) != 0)))
		differs(c, "answer", want ? want : "success", message ? message : "success");
	else
		check_fields(c, a.json);
	if (http_header(a.headers, "Warning"))
		differs(c, "Warning", "none", http_header(a.headers, "Warning"));
}

/* The recorder deletes what it has made of the wrong ones without a line of it. */
static void sweep(struct apifake *f)
{
	apifake_do(f, "DELETE", "/api/v1/namespaces/q-wrong/resourcequotas/q", NULL);
}

static void test_resource_quotas__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	assert_ok(file_read(RECORDED, &text, &err), &err);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct str rest = strbuf_str(&text), line;
	size_t n = 0;
	while (str_next(&rest, '\n', &line))
		if (line.len) {
			if (str_contains(line, STR("POST")) && str_contains(line, STR("q-wrong/")))
				sweep(f);
			check_line(f, line);
			apifake_forget(f);
			n++;
		}
	assert_true(n > 150);
	if (n_failed)
		fail_msg("%zu differences in %zu answers", n_failed, n);
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
		cmocka_unit_test(test_resource_quotas__a_batch_that_fails_takes_nothing),
		cmocka_unit_test(test_resource_quotas__names_of_nothing),
		cmocka_unit_test(test_resource_quotas__simulated_workloads_obey),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
