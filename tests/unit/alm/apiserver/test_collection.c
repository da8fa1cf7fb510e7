/* test_collection.c: deletecollection in turns. */
#include "alm/apiserver/collection.h"

#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define CMS  "/api/v1/namespaces/default/configmaps"
#define OURS CMS "?labelSelector=x"
#define JSON "application/json"

enum { N = 3 * COLLECTION_TURN + 10 };

static void add(struct apifake *f, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"x\":\"y\"}}}", name);
	assert_int_equal(apifake_do(f, "POST", CMS, b.buf).status, 201);
	apifake_forget(f);
}

static struct apifake *filled(void)
{
	struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < N; i++) {
		CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&name, "n%03d", i);
		add(f, name.buf);
	}
	return f;
}

/* Those that are there now, whatever is under way. */
static size_t n_now(struct apifake *f)
{
	const struct store_table *t = store_resource(apifake_server(f)->store, "", "configmaps");
	size_t n = 0;
	for (size_t i = 0; i < t->n_heads; i++)
		n += t->heads[i]->name[0] == 'n';
	return n;
}

static size_t n_items(struct answer a)
{
	return obj_len(obj_get(a.json, "items"));
}

static void test_collection__goes_in_turns(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = filled();
	size_t sent = apifake_send(f, "DELETE", OURS, JSON, NULL);
	assert_int_equal(n_now(f), N - COLLECTION_TURN);
	/* what comes meanwhile is served, and is not part of it */
	size_t more = apifake_send(f, "POST", CMS, JSON,
				   "{\"metadata\":{\"name\":\"new\",\"labels\":{\"x\":\"y\"}}}");
	size_t last = apifake_send(f, "DELETE", CMS "/n201", JSON, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, more).status, 201);
	assert_int_equal(apifake_answer(f, last).status, 200);
	struct answer a = apifake_answer(f, sent);
	assert_int_equal(a.status, 200);
	assert_int_equal(n_items(a), N);
	assert_string_equal(obj_str(obj_at(obj_get(a.json, "items"), N - 1), "metadata.name"),
			    "n201");
	assert_int_equal(n_items(apifake_do(f, "GET", OURS, NULL)), 1);
}

struct sampler {
	struct apifake *f;
	struct task task;
	size_t most;
};

static void sample(void *arg)
{
	struct sampler *s = arg;
	size_t now = obj_bytes();
	s->most = now > s->most ? now : s->most;
	if (n_now(s->f) > 0)
		loop_post(apifake_loop(s->f), &s->task);
}

/* Of what it takes away one turn's is held, not all of it. */
static void test_collection__holds_a_turn(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf data = STRBUF_INIT(1 << 16);
	for (int i = 0; i < 200; i++)
		strbuf_addf(&data, "%s\"k%d\":\"v\"", i ? "," : "", i);
	for (int i = 0; i < 2 * N; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		strbuf_addf(&b,
			    "{\"metadata\":{\"name\":\"n%03d\",\"labels\":{\"x\":\"y\"}},\"data\":{"
			    "%s}}",
			    i, data.buf);
		assert_int_equal(apifake_do(f, "POST", CMS, b.buf).status, 201);
		apifake_forget(f);
	}
	size_t before = obj_bytes();
	size_t sent = apifake_send(f, "DELETE", OURS, JSON, NULL);
	size_t turn = obj_bytes() - before;
	struct sampler s = {.f = f, .task = {.fn = sample, .arg = &s}};
	loop_post(apifake_loop(f), &s.task);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, sent).status, 200);
	assert_true(turn > 0 && s.most - before < 3 * turn);
}

/* A dry run takes its turns, too, and takes nothing. */
static void test_collection__dry_run(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = filled();
	struct answer a = apifake_do(f, "DELETE", OURS "&dryRun=All", NULL);
	assert_int_equal(a.status, 200);
	assert_int_equal(n_items(a), N);
	assert_int_equal(n_now(f), N);
}

/* Who goes away ends it; so does a server that ends. */
static void test_collection__is_left(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = filled();
	size_t sent = apifake_send(f, "DELETE", OURS, JSON, NULL);
	apifake_close(f, sent);
	apifake_run(f);
	assert_int_equal(n_now(f), N - COLLECTION_TURN);
	apifake_send(f, "DELETE", OURS, JSON, NULL);
	apifake_restart(f);
	size_t left = n_now(f);
	assert_true(left == N - COLLECTION_TURN || left == N - 2 * COLLECTION_TURN);
	assert_int_equal(apifake_do(f, "DELETE", OURS, NULL).status, 200);
	assert_int_equal(n_now(f), 0);
}

/* What is refused ends it, and what is gone stays gone. */
static void test_collection__one_is_refused(void **state)
{
	(void)state;
#define GROUP "admissionregistration.k8s.io/v1"
	CLEANUP(apifake_freep) struct apifake *f = filled();
	struct answer a = apifake_do(
		f, "POST", "/apis/" GROUP "/validatingadmissionpolicies",
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"matchConstraints\":{\"resourceRules\":["
		"{"
		"\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"operations\":[\"DELETE\"],"
		"\"resources\":[\"configmaps\"]}]},\"validations\":[{\"expression\":"
		"\"oldObject.metadata.name != 'n150'\"}]}}");
	assert_int_equal(a.status, 201);
	a = apifake_do(f, "POST", "/apis/" GROUP "/validatingadmissionpolicybindings",
		       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\","
		       "\"validationActions\":[\"Deny\"]}}");
	assert_int_equal(a.status, 201);
	a = apifake_do(f, "DELETE", OURS, NULL);
	assert_int_equal(a.status, 422);
	assert_non_null(strstr(obj_str(a.json, "message"), "oldObject.metadata.name != 'n150'"));
	assert_int_equal(n_now(f), N - 150);
#undef GROUP
}

/* A definition is changed between two turns, and with it the kind; one that goes takes the rest along. */
static void test_collection__its_definition_changes(void **state)
{
	(void)state;
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define TOYS "/apis/x.io/v1/namespaces/default/toys"
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", CRDS,
		"{\"metadata\":{\"name\":\"toys.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":"
		"\"Namespaced\",\"names\":{\"plural\":\"toys\",\"kind\":\"Toy\"},\"versions\":[{"
		"\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
		"\"type\":\"object\"}}}]}}");
	assert_int_equal(a.status, 201);
	apifake_run(f);
	for (int i = 0; i < N; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Toy\",\"metadata\":{\"name\":"
			    "\"t%03d\"}}",
			    i);
		assert_int_equal(apifake_do(f, "POST", TOYS, b.buf).status, 201);
		apifake_forget(f);
	}
	size_t sent = apifake_send(f, "DELETE", TOYS, JSON, NULL);
	size_t changed = apifake_send(f, "PATCH", CRDS "/toys.x.io", "application/merge-patch+json",
				      "{\"spec\":{\"names\":{\"shortNames\":[\"ty\"]}}}");
	apifake_run(f);
	assert_int_equal(apifake_answer(f, changed).status, 200);
	assert_int_equal(apifake_answer(f, sent).status, 200);
	assert_int_equal(n_items(apifake_do(f, "GET", TOYS, NULL)), 0);
#undef CRDS
#undef TOYS
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collection__goes_in_turns),
		cmocka_unit_test(test_collection__holds_a_turn),
		cmocka_unit_test(test_collection__dry_run),
		cmocka_unit_test(test_collection__is_left),
		cmocka_unit_test(test_collection__one_is_refused),
		cmocka_unit_test(test_collection__its_definition_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
