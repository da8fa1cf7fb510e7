/* Lists: long ones are written as they are taken. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/apiserver/list.h"
#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"

#define CMS  "/api/v1/namespaces/default/configmaps"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WS   "/apis/e.io/v1/namespaces/default/ws"

static const char crd[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\","
	"\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\",\"served\":"
	"true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
	"\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

enum { N = 40, ITEM_BYTES = 20000 };

/* N objects of ITEM_BYTES, every tenth with the label x. */
static void fill(struct apifake *f, const char *path, const char *api, const char *kind)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (int i = 0; i < N; i++) {
		strbuf_clear(&b);
		strbuf_addf(
			&b,
			"{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"n%02d\","
			"\"labels\":{\"x\":\"%d\"}},\"data\":{\"k\":\"",
			api, kind, i, i % 10);
		strbuf_pad(&b, 'd', ITEM_BYTES);
		strbuf_adds(&b, "\"}}");
		assert_int_equal(apifake_do(f, "POST", path, b.buf).status, 201);
	}
}

static size_t n_items(struct answer a, const char *member)
{
	return obj_len(obj_get(a.json, member));
}

static void test_list__a_long_list_is_the_same_in_portions(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	fill(f, CMS, "v1", "ConfigMap");
	struct answer a = apifake_do(f, "GET", CMS "?labelSelector=x", NULL);
	assert_int_equal(a.status, 200);
	/* kube-root-ca.crt has no label */
	assert_int_equal(n_items(a, "items"), N);
	assert_string_equal(obj_str(obj_at(obj_get(a.json, "items"), N - 1), "metadata.name"),
			    "n39");
	assert_string_equal(obj_str(a.json, "kind"), "ConfigMapList");
	a = apifake_do(f, "GET", CMS "?labelSelector=x%3D3", NULL);
	assert_int_equal(n_items(a, "items"), N / 10);
	a = apifake_do(f, "GET", CMS "?labelSelector=x%3Dnone", NULL);
	assert_int_equal(n_items(a, "items"), 0);
	a = apifake_do(f, "GET", CMS "?limit=7&labelSelector=x", NULL);
	assert_int_equal(n_items(a, "items"), 7);
	assert_true(strlen(obj_str(a.json, "metadata.continue")) > 0);
	apifake_header(f, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
	a = apifake_do(f, "GET", CMS, NULL);
	assert_int_equal(n_items(a, "rows"), N + 1);
	apifake_header(f, "Accept",
		       "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
	a = apifake_do(f, "GET", CMS "?labelSelector=x", NULL);
	assert_int_equal(n_items(a, "items"), N);
	apifake_header(f, "Accept", "application/yaml");
	a = apifake_do(f, "GET", CMS "?labelSelector=x", NULL);
	assert_true(a.status == 200 && a.body.len > (size_t)N * ITEM_BYTES);
	a = apifake_do(f, "DELETE", CMS "?labelSelector=x", NULL);
	assert_int_equal(n_items(a, "items"), N);
}

/* A list whose reader takes nothing after the first portion. */
static size_t start_lazy(struct apifake *f, const char *path)
{
	size_t n = apifake_send_lazy(f, "GET", path);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, n).status, 200);
	assert_false(apifake_answer(f, n).ended);
	assert_true(apifake_bytes(f, n) < 2 * SERVER_QUEUE_HIGH);
	return n;
}

static void test_list__a_reader_that_takes_nothing_holds_one_portion(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	fill(f, CMS, "v1", "ConfigMap");
	size_t n = start_lazy(f, CMS "?labelSelector=x");
	struct answer a = apifake_answer(f, n);
	assert_true(a.charged[QUOTA_ANSWER_BYTES] >= (size_t)N * ITEM_BYTES);
	/* What is deleted meanwhile is in it all the same: it is a list of its revision. */
	assert_int_equal(apifake_do(f, "DELETE", CMS "/n39", NULL).status, 200);
	while (apifake_drain(f, n))
		apifake_run(f);
	a = apifake_answer(f, n);
	assert_true(a.ended && !a.cut);
	assert_int_equal(n_items(a, "items"), N);
}

static void test_list__a_client_may_leave_at_any_time(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	fill(f, CMS, "v1", "ConfigMap");
	apifake_close(f, start_lazy(f, CMS));
	apifake_run(f);
	/* While it waits for the commit of a write before it; between two portions. */
	apifake_send(f, "DELETE", CMS "/n00", NULL, NULL);
	size_t n = apifake_send(f, "GET", CMS, NULL, NULL);
	assert_int_equal(apifake_answer(f, n).status, 0);
	apifake_close(f, n);
	apifake_run(f);
	n = apifake_send(f, "GET", CMS, NULL, NULL);
	assert_false(apifake_answer(f, n).ended);
	apifake_close(f, n);
	apifake_run(f);
	/* And the server before its client. */
	start_lazy(f, CMS);
}

static void test_list__a_list_behind_a_write_shows_it(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	fill(f, CMS, "v1", "ConfigMap");
	apifake_send(f, "DELETE", CMS "/n00", NULL, NULL);
	struct answer a = apifake_do(f, "GET", CMS "?labelSelector=x", NULL);
	assert_int_equal(a.status, 200);
	assert_int_equal(n_items(a, "items"), N - 1);
}

static void test_list__a_definition_that_goes_cuts_the_list(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", CRDS, crd);
	fill(f, WS, "e.io/v1", "W");
	size_t n = start_lazy(f, WS);
	assert_int_equal(apifake_do(f, "DELETE", CRDS "/ws.e.io", NULL).status, 200);
	apifake_drain(f, n);
	apifake_run(f);
	assert_true(apifake_answer(f, n).cut);
}

/* It is another one by the commit that the list waits for: the answer is whole, and its exchange is nobody's. */
static void test_list__a_definition_that_changes_before_the_first_portion(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", CRDS, crd);
	fill(f, WS, "e.io/v1", "W");
	size_t other = apifake_send(f, "PATCH", CRDS "/ws.e.io", "application/merge-patch+json",
				    "{\"spec\":{\"names\":{\"shortNames\":[\"x\"]}}}");
	size_t n = apifake_send(f, "GET", WS, NULL, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, other).status, 200);
	struct answer a = apifake_answer(f, n);
	assert_true(a.ended);
	assert_int_equal(a.status, 404);
	apifake_close(f, n);
	apifake_run(f);
}

static void test_list__over_the_budget_is_429(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	fill(f, CMS, "v1", "ConfigMap");
	apifake_fill(f, QUOTA_ANSWER_BYTES, true);
	struct answer a = apifake_do(f, "GET", CMS, NULL);
	assert_int_equal(a.status, 429);
	assert_string_equal(obj_str(a.json, "reason"), "TooManyRequests");
	assert_string_equal(http_header(a.headers, "Retry-After"), "1");
	/* Before anything is deleted; a short list needs none of it. */
	assert_int_equal(apifake_do(f, "DELETE", CMS, NULL).status, 429);
	assert_int_equal(apifake_do(f, "GET", CMS "/n00", NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", CMS "?limit=1", NULL).status, 200);
	apifake_fill(f, QUOTA_ANSWER_BYTES, false);
	apifake_fill(f, QUOTA_WATCHES, true);
	a = apifake_do(f, "GET", CMS "?watch=1", NULL);
	assert_int_equal(a.status, 429);
	assert_string_equal(obj_str(a.json, "reason"), "TooManyRequests");
}

static void test_list__yaml_of_a_long_list_is_refused(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < 6; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			    "\"b%d\"},\"data\":{\"k\":\"",
			    i);
		strbuf_pad(&b, 'd', 1040000);
		strbuf_adds(&b, "\"}}");
		assert_int_equal(apifake_do(f, "POST", CMS, b.buf).status, 201);
	}
	apifake_header(f, "Accept", "application/yaml");
	struct answer a = apifake_do(f, "GET", CMS, NULL);
	assert_int_equal(a.status, 413);
	apifake_header(f, "Accept", "application/yaml");
	assert_int_equal(apifake_do(f, "GET", CMS "/b0", NULL).status, 200);
}

/* Nothing that is asked has rows; metadata it has. */
static void test_list__what_is_asked_is_no_table(void **state)
{
	static const char *const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
	static const char *const body = "{\"spec\":{\"nonResourceAttributes\":{\"path\":\"/\","
					"\"verb\":\"get\"}}}";
	(void)state;
	CLEANUP(apifake_freep) struct apifake *g = apifake_new(NULL);
	apifake_header(g, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
	struct answer a = apifake_do(g, "POST", path, body);
	assert_int_equal(a.status, 406);
	assert_string_equal(obj_str(a.json, "reason"), "NotAcceptable");
	assert_int_equal(apifake_do(g, "POST", path, body).status, 201);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list__a_long_list_is_the_same_in_portions),
		cmocka_unit_test(test_list__a_reader_that_takes_nothing_holds_one_portion),
		cmocka_unit_test(test_list__a_client_may_leave_at_any_time),
		cmocka_unit_test(test_list__a_list_behind_a_write_shows_it),
		cmocka_unit_test(test_list__a_definition_that_goes_cuts_the_list),
		cmocka_unit_test(test_list__a_definition_that_changes_before_the_first_portion),
		cmocka_unit_test(test_list__over_the_budget_is_429),
		cmocka_unit_test(test_list__yaml_of_a_long_list_is_refused),
		cmocka_unit_test(test_list__what_is_asked_is_no_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
