/* test_hooks.c: writes that wait for webhooks. What a real server does with them: test_hooks_recorded.c. */
#include <string.h>

#include "alm/apiserver/waiting.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define GROUP      "admissionregistration.k8s.io/v1"
#define VALIDATING "/apis/" GROUP "/validatingwebhookconfigurations"
#define MUTATING   "/apis/" GROUP "/mutatingwebhookconfigurations"
#define SPACE      "/api/v1/namespaces/default"
#define MAPS       SPACE "/configmaps"
#define MERGE      "application/merge-patch+json"
#define SECOND_NS  (INT64_C(1000) * 1000 * 1000)

#define MAP(name, data)                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"}," \
	"\"data\":{" data "}}"
#define REVIEW(response)                                                                      \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":{" \
	"\"uid\":\"UID\"," response "}}"
#define YES REVIEW("\"allowed\":true")
#define NO  REVIEW("\"allowed\":false,\"status\":{\"message\":\"no\"}")
/* [{"op":"add","path":"/data/made","value":"here"}] */
#define MADE                                                                               \
	REVIEW("\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\"W3sib3AiOiJhZGQi" \
	       "LCJwYXRoIjoiL2RhdGEvbWFkZSIsInZhbHVlIjoiaGVyZSJ9XQ==\"")

static struct apifake *fake_new(bool with_audit, bool simulate)
{
	hook_fake_reset();
	return apifake_new(&(struct apifake_options){
		.with_audit = with_audit, .simulate = simulate, .dial = hook_fake_dial});
}

static void expect_message(struct answer a, const char *text)
{
	const char *message = obj_str(a.json, "message");
	if (!message || !strstr(message, text))
		fail_msg("%s, wanted %s", message ? message : "no message", text);
}

/* One webhook of that name about all writes of configmaps. */
static void configure(struct apifake *f, bool mutating, const char *name, const char *client,
		      const char *rest)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"" GROUP "\",\"kind\":\"%sWebhookConfiguration\","
		    "\"metadata\":{\"name\":\"%s\"},\"webhooks\":[{\"name\":\"%s.example.com\","
		    "\"clientConfig\":{%s},\"sideEffects\":\"None\",\"admissionReviewVersions\":["
		    "\"v1\"],\"rules\":[{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],"
		    "\"operations\":[\"*\"],\"resources\":[\"configmaps\",\"pods/eviction\","
		    "\"serviceaccounts/token\"]}]%s}]}",
		    mutating ? "Mutating" : "Validating", name, name, client, rest);
	apifake_expect(f, "POST", mutating ? MUTATING : VALIDATING, b.buf, 201);
}

#define URL(name) "\"url\":\"https://127.0.0.1:9443/" name "\",\"caBundle\":\"Q0E=\""

/* --- waiting --- */

/* While one waits, others are served; it is answered when the webhook has answered. */
static void test_hooks__a_write_waits_and_others_do_not(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), ",\"timeoutSeconds\":7");
	hook_fake_answer("/v", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL, MAP("a", "\"k\":\"v\""));
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 0);
	assert_int_equal(hook_fake_waiting(), 1);
	apifake_expect(f, "GET", MAPS "/a", NULL, 404);
	apifake_expect(f, "POST", SPACE "/secrets",
		       "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"}}",
		       201);
	hook_fake_release(1);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 201);
	const struct hook_fake_call *c = hook_fake_call(0);
	assert_string_equal(c->base_url, "https://127.0.0.1:9443");
	assert_string_equal(c->path, "/v?timeout=7s");
	assert_string_equal(c->ca_pem, "CA");
	assert_null(c->server_name);
	assert_int_equal(c->timeout_ns, 7 * SECOND_NS);
	assert_string_equal(obj_str(c->review, "request.object.data.k"), "v");
	/* what was asked about is what was stored */
	struct answer stored = apifake_expect(f, "GET", MAPS "/a", NULL, 200);
	assert_string_equal(obj_str(c->review, "request.object.metadata.uid"),
			    obj_str(stored.json, "metadata.uid"));
	assert_string_equal(obj_str(c->review, "request.object.metadata.creationTimestamp"),
			    obj_str(stored.json, "metadata.creationTimestamp"));
	apifake_advance(f, 60 * SECOND_NS); /* its deadline went with it */
	assert_int_equal(apifake_answer(f, a).status, 201);
}

/* Those that are asked at once are asked once each, whichever answers first. */
static void test_hooks__each_is_asked_once(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	configure(f, false, "w", URL("w"), "");
	configure(f, false, "x", URL("x"), "");
	hook_fake_answer("/", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL, MAP("a", ""));
	for (size_t left = 3; left; left--) {
		apifake_run(f);
		assert_int_equal(hook_fake_waiting(), left);
		assert_int_equal(hook_fake_calls(), 3);
		hook_fake_release(1);
	}
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 201);
	assert_int_equal(hook_fake_calls(), 3);
}

/* A name that was drawn is the one that was asked about, and time has not passed for the object. */
static void test_hooks__what_is_drawn_stays(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/v", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL,
				"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				"\"generateName\":\"gen-\"},\"data\":{\"a\":\"b\"}}");
	apifake_run(f);
	apifake_advance(f, 3 * SECOND_NS);
	hook_fake_release(1);
	apifake_run(f);
	struct answer x = apifake_answer(f, a);
	assert_int_equal(x.status, 201);
	assert_int_equal(hook_fake_calls(), 1);
	assert_string_equal(obj_str(hook_fake_call(0)->review, "request.object.metadata.name"),
			    obj_str(x.json, "metadata.name"));
}

/* The object changed while a patch of it was asked about: it is asked about what it is now. */
static void test_hooks__what_changed_is_asked_again(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/v", 200, YES);
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	configure(f, false, "v", URL("v"),
		  ",\"matchConditions\":[{\"name\":\"n\",\"expression\":"
		  "\"!has(request.options.fieldManager) || request.options.fieldManager != "
		  "'free'\"}]");
	hook_fake_hold(true);
	size_t a = apifake_send(f, "PATCH", MAPS "/a", MERGE, "{\"data\":{\"first\":\"x\"}}");
	apifake_run(f);
	apifake_expect(f, "PATCH", MAPS "/a?fieldManager=free", "{\"data\":{\"second\":\"y\"}}",
		       200);
	hook_fake_hold(false);
	hook_fake_release(1);
	apifake_run(f);
	struct answer x = apifake_answer(f, a);
	assert_int_equal(x.status, 200);
	assert_int_equal(hook_fake_calls(), 2);
	assert_null(obj_path(hook_fake_call(0)->review, "request.object.data.second"));
	assert_string_equal(obj_str(hook_fake_call(1)->review, "request.object.data.second"), "y");
	assert_string_equal(obj_str(hook_fake_call(1)->review, "request.oldObject.data.second"),
			    "y");
	assert_string_equal(obj_str(x.json, "data.second"), "y");
	assert_string_equal(obj_str(x.json, "data.first"), "x");
}

/* ... but not for ever, and not at all if the client named the revision it saw. */
static void test_hooks__what_changes_all_the_time_is_a_conflict(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/v", 200, YES);
	struct answer made = apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	configure(f, false, "v", URL("v"),
		  ",\"matchConditions\":[{\"name\":\"n\",\"expression\":"
		  "\"!has(request.options.fieldManager) || request.options.fieldManager != "
		  "'free'\"}]");
	hook_fake_hold(true);
	CLEANUP(strbuf_release) struct strbuf put = STRBUF_INIT(1 << 12);
	strbuf_addf(&put,
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
		    "\"resourceVersion\":\"%s\"},\"data\":{\"put\":\"z\"}}",
		    obj_str(made.json, "metadata.resourceVersion"));
	size_t a = apifake_send(f, "PATCH", MAPS "/a", MERGE, "{\"data\":{\"first\":\"x\"}}");
	size_t b = apifake_send(f, "PUT", MAPS "/a", NULL, put.buf);
	apifake_run(f);
	for (int i = 0; i < 20 && !apifake_answer(f, a).status; i++) {
		CLEANUP(strbuf_release) struct strbuf patch = STRBUF_INIT(128);
		strbuf_addf(&patch, "{\"data\":{\"n\":\"%d\"}}", i);
		apifake_expect(f, "PATCH", MAPS "/a?fieldManager=free", patch.buf, 200);
		hook_fake_release(2);
		apifake_run(f);
	}
	assert_int_equal(apifake_answer(f, a).status, 409);
	assert_int_equal(apifake_answer(f, b).status, 409);
	assert_int_equal(hook_fake_calls(), 2 + WAITING_AGAIN_MAX);
	assert_null(obj_path(apifake_expect(f, "GET", MAPS "/a", NULL, 200).json, "data.first"));
}

/* The client went away: nobody waits for the answer, nothing is stored. */
static void test_hooks__a_client_that_goes(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/v", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL, MAP("a", ""));
	apifake_run(f);
	apifake_close(f, a);
	apifake_run(f);
	assert_int_equal(hook_fake_cancelled(), 1);
	apifake_advance(f, 60 * SECOND_NS);
	apifake_expect(f, "GET", MAPS "/a", NULL, 404);
	/* ... and neither does a server that ends */
	(void)apifake_send(f, "POST", MAPS, NULL, MAP("b", ""));
	apifake_run(f);
	apifake_restart(f);
	assert_int_equal(hook_fake_cancelled(), 2);
	apifake_expect(f, "GET", MAPS "/b", NULL, 404);
}

static void test_hooks__all_of_it_has_an_end(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/v", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL, MAP("a", ""));
	apifake_run(f);
	apifake_advance(f, 33 * SECOND_NS);
	assert_int_equal(apifake_answer(f, a).status, 0);
	apifake_advance(f, 2 * SECOND_NS);
	assert_int_equal(apifake_answer(f, a).status, 504);
	expect_message(apifake_answer(f, a), "did not complete within");
	assert_int_equal(hook_fake_cancelled(), 1);
	apifake_expect(f, "GET", MAPS "/a", NULL, 404);
}

/* A client may want it sooner; what is no duration is refused, but of a watch. */
static void test_hooks__a_client_says_how_long(void **state)
{
	(void)state;
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"x",
		 "invalid timeout specified in the request URL - time: invalid duration \"x\""},
		{"5", "time: missing unit in duration \"5\""},
		{"7d", "time: unknown unit \"d\" in duration \"7d\""},
		{"1m2y", "time: unknown unit \"y\" in duration \"1m2y\""},
		{"1h2", "time: missing unit in duration \"1h2\""},
		{"1.5.3s", "time: missing unit in duration \"1.5.3s\""},
	};
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/v", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS "?timeout=5s", NULL, MAP("a", ""));
	size_t b = apifake_send(f, "POST", MAPS "?timeout=0s", NULL, MAP("b", ""));
	apifake_run(f);
	apifake_advance(f, 6 * SECOND_NS);
	assert_int_equal(apifake_answer(f, a).status, 504);
	assert_int_equal(apifake_answer(f, b).status, 0);
	apifake_advance(f, 30 * SECOND_NS);
	assert_int_equal(apifake_answer(f, b).status, 504);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(256);
		strbuf_addf(&path, MAPS "?timeout=%s", rows[i].text);
		expect_message(apifake_expect(f, "GET", path.buf, NULL, 400), rows[i].fault);
	}
	apifake_expect(f, "GET", MAPS "?timeout=-1s", NULL, 200);
	apifake_expect(f, "GET", "/version?timeout=1h30m", NULL, 200);
	size_t watch = apifake_send(f, "GET", MAPS "?watch=1&timeout=x", NULL, NULL);
	assert_int_equal(apifake_answer(f, watch).status, 200);
	apifake_close(f, watch);
}

/* What is configured counts when the write goes on, too. */
static void test_hooks__configurations_as_they_are_now(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/", 200, NO);
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 400);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "POST", MAPS, NULL, MAP("a", ""));
	apifake_run(f);
	apifake_expect(f, "DELETE", VALIDATING "/v", NULL, 200);
	hook_fake_release(1);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 201);
	hook_fake_hold(false);
	configure(f, false, "v", URL("w"), "");
	apifake_expect(f, "POST", MAPS, MAP("b", ""), 400);
	apifake_expect(f, "PATCH", VALIDATING "/v", "{\"webhooks\":null}", 200);
	apifake_expect(f, "POST", MAPS, MAP("b", ""), 201);
}

/* What was read of configurations that are gone is not heaped up, and not taken away from a write that is asking. */
static void test_hooks__configurations_come_and_go(void **state)
{
	(void)state;
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/", 200, YES);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		configure(f, false, names[i], URL("v"), "");
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_int_equal(hook_fake_calls(), 7);
	for (size_t i = 3; i < ARRAY_LEN(names); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(128);
		strbuf_addf(&path, VALIDATING "/%s", names[i]);
		apifake_expect(f, "DELETE", path.buf, NULL, 200);
	}
	apifake_expect(f, "PATCH", VALIDATING "/b", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}",
		       200);
	apifake_expect(f, "POST", MAPS, MAP("b", ""), 201);
	assert_int_equal(hook_fake_calls(), 10);
}

/* Connections to webhooks are kept, those to the servers that were asked last. */
static void test_hooks__connections_are_kept_and_bounded(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/", 200, YES);
	for (int i = 0; i < HOOK_LINES_MAX + 10; i++) {
		CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(128);
		strbuf_addf(&url, "\"url\":\"https://127.0.0.1:%d/v\"", 1000 + i);
		configure(f, false, "v", url.buf, "");
		apifake_expect(f, "POST", MAPS "?dryRun=All", MAP("a", ""), 201);
		apifake_expect(f, "POST", MAPS "?dryRun=All", MAP("a", ""), 201);
		assert_true(hook_fake_dialled() <= HOOK_LINES_MAX);
		assert_int_equal(hook_fake_dialled(), i < HOOK_LINES_MAX ? i + 1 : HOOK_LINES_MAX);
		apifake_expect(f, "DELETE", VALIDATING "/v", NULL, 200);
	}
}

/* Conditions of webhooks know no namespace, as there. */
static void test_hooks__conditions_have_no_namespace_object(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/", 200, NO);
	configure(f, false, "v", URL("v"),
		  ",\"matchConditions\":[{\"name\":\"n\",\"expression\":"
		  "\"namespaceObject != null\"}]");
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_int_equal(hook_fake_calls(), 0);
}

/* --- what cannot be asked --- */

static void test_hooks__a_failure_is_what_the_policy_says(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(true, false);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error err = ERROR_INIT;
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/", 0, "");
	expect_message(apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		       "Internal error occurred: failed calling webhook \"v.example.com\": failed "
		       "to call webhook: Post \"https://127.0.0.1:9443/v?timeout=10s\": ");
	apifake_expect(f, "DELETE", VALIDATING "/v", NULL, 200);
	configure(f, false, "v", URL("v"), ",\"failurePolicy\":\"Ignore\"");
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_ok(audit_row_get(apifake_audit(f), audit_last_seq(apifake_audit(f)), &row, &err),
		  &err);
	assert_string_equal(
		obj_as_string(
			obj_get(obj_path(row, "body.annotations"),
				"failed-open.validating.webhook.admission.k8s.io/round_0_index_0")),
		"v.example.com");
	assert_non_null(strstr(apifake_do(f, "GET", "/metrics", NULL).body.ptr,
			       "alm_webhook_calls_total{outcome=\"failed\"} 2"));
	/* a server that calls nobody */
	CLEANUP(apifake_freep) struct apifake *g = apifake_new(NULL);
	configure(g, false, "v", URL("v"), "");
	expect_message(apifake_expect(g, "POST", MAPS, MAP("a", ""), 500),
		       "this server calls no webhooks");
}

/* --- deletions of many --- */

/* All are asked about at a time, a few calls each; then they go, up to the first that is kept. */
static void test_hooks__many_deletions(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	for (int i = 0; i < 100; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(256);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			    "\"m-%02d\",\"labels\":{\"many\":\"yes\"}}}",
			    i);
		apifake_expect(f, "POST", MAPS, b.buf, 201);
	}
	configure(f, false, "v", URL("v"), "");
	configure(f, true, "m", URL("m"), "");
	hook_fake_answer("/", 200, YES);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "DELETE", MAPS "?labelSelector=many%3Dyes", NULL, NULL);
	apifake_run(f);
	assert_int_equal(hook_fake_waiting(), WAITING_CALLS);
	apifake_expect(f, "GET", MAPS "/m-00", NULL, 200);
	hook_fake_hold(false);
	hook_fake_release(WAITING_CALLS);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 200);
	assert_int_equal(obj_len(obj_get(apifake_answer(f, a).json, "items")), 100);
	assert_int_equal(hook_fake_calls(), 200);
	apifake_expect(f, "GET", MAPS "/m-00", NULL, 404);
	apifake_expect(f, "GET", MAPS "/m-99", NULL, 404);
	hook_fake_answer("/v", 200, NO);
	apifake_expect(f, "DELETE", MAPS, NULL, 400);
	apifake_expect(f, "GET", MAPS "/kube-root-ca.crt", NULL, 200);
}

/* --- services --- */

#define SERVICE                                                                 \
	"\"service\":{\"namespace\":\"default\",\"name\":\"hook\",\"path\":\"/" \
	"s\"},\"caBundle\":\"Q0E=\""
#define A_SERVICE(spec)                                                                          \
	"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"hook\"},\"spec\":" \
	"{" spec "}}"
#define SLICES "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
#define SLICE(ready)                                                                             \
	"{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{"      \
	"\"name\":\"hook-1\",\"labels\":{\"kubernetes.io/service-name\":\"hook\"}},"             \
	"\"addressType\":\"IPv4\",\"endpoints\":[{\"addresses\":[\"10.9.8.7\"],\"conditions\":{" \
	"\"ready\":" ready "}}],\"ports\":[{\"name\":\"\",\"port\":8443,\"protocol\":\"TCP\"}]}"

static void test_hooks__a_service_is_looked_for(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	hook_fake_answer("/s", 200, YES);
	configure(f, false, "v", SERVICE, "");
	expect_message(
		apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		"failed calling webhook \"v.example.com\": failed to call webhook: Post "
		"\"https://hook.default.svc:443/s?timeout=10s\": service \"hook\" not found");
	apifake_expect(f, "POST", SPACE "/services", A_SERVICE("\"ports\":[{\"port\":80}]"), 201);
	expect_message(apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		       "no service port 443 found for service \"hook\"");
	apifake_expect(f, "PATCH", SPACE "/services/hook",
		       "{\"spec\":{\"ports\":[{\"port\":443,\"targetPort\":8443}]}}", 200);
	expect_message(apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		       "no endpoints available for service \"hook\"");
	apifake_expect(f, "POST", SLICES, SLICE("false"), 201);
	expect_message(apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		       "no endpoints available for service \"hook\"");
	apifake_expect(f, "PUT", SLICES "/hook-1", SLICE("true"), 200);
	apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_int_equal(hook_fake_calls(), 1);
	assert_string_equal(hook_fake_call(0)->base_url, "https://10.9.8.7:8443");
	assert_string_equal(hook_fake_call(0)->server_name, "hook.default.svc");
	assert_string_equal(hook_fake_call(0)->path, "/s?timeout=10s");
	apifake_expect(f, "DELETE", SLICES "/hook-1", NULL, 200);
	apifake_expect(
		f, "POST", SPACE "/endpoints",
		"{\"apiVersion\":\"v1\",\"kind\":\"Endpoints\",\"metadata\":{\"name\":\"hook\"},"
		"\"subsets\":[{\"addresses\":[{\"ip\":\"10.9.8.6\"}],\"ports\":[{\"port\":9443}]}]"
		"}",
		201);
	apifake_expect(f, "POST", MAPS, MAP("b", ""), 201);
	assert_string_equal(hook_fake_call(1)->base_url, "https://10.9.8.6:9443");
	apifake_expect(f, "DELETE", SPACE "/services/hook", NULL, 200);
	apifake_expect(f, "POST", SPACE "/services",
		       A_SERVICE("\"type\":\"ExternalName\",\"externalName\":\"host.example.com\""),
		       201);
	apifake_expect(f, "POST", MAPS, MAP("c", ""), 201);
	assert_string_equal(hook_fake_call(2)->base_url, "https://host.example.com:443");
	assert_string_equal(hook_fake_call(2)->server_name, "hook.default.svc");
}

/* Behind a Service of simulated Pods nobody listens: the write goes on, and says so. */
static void test_hooks__simulated_pods_answer_nothing(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, true);
	apifake_expect(
		f, "POST", SPACE "/services",
		A_SERVICE("\"selector\":{\"app\":\"h\"},\"ports\":[{\"port\":443,\"targetPort\":"
			  "8443}]"),
		201);
	configure(f, false, "v", SERVICE, "");
	expect_message(apifake_expect(f, "POST", MAPS, MAP("a", ""), 500),
		       "no endpoints available");
	apifake_expect(
		f, "POST", SPACE "/pods",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{"
		"\"app\":\"h\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
		201);
	apifake_advance(f, 10 * SECOND_NS);
	struct answer a = apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_int_equal(hook_fake_calls(), 0);
	assert_string_equal(
		http_header(a.headers, "Warning"),
		"299 - \"webhook \\\"v.example.com\\\" was not asked: the Pods behind its "
		"Service are simulated\"");
}

/* --- bodies --- */

static void test_hooks__subresources_with_a_body(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/", 200, NO);
	static const char token[] = "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":"
				    "\"TokenRequest\",\"spec\":{}}";
	apifake_expect(f, "POST", SPACE "/serviceaccounts/default/token", token, 400);
	assert_string_equal(obj_str(hook_fake_call(0)->review, "request.kind.kind"),
			    "TokenRequest");
	assert_string_equal(obj_str(hook_fake_call(0)->review, "request.subResource"), "token");
	hook_fake_answer("/", 200, YES);
	apifake_expect(f, "POST", SPACE "/serviceaccounts/default/token", token, 201);
	configure(f, true, "m", URL("m"), "");
	hook_fake_answer("/m", 200, MADE);
	expect_message(
		apifake_expect(f, "POST", SPACE "/serviceaccounts/default/token", token, 500),
		"attempted to modify the object, which is not supported for this operation");
}

/* A review is created, too: webhooks may refuse it, and cannot change it here; policies are not about it. */
static void test_hooks__reviews(void **state)
{
	(void)state;
#define ACCESS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	static const char review[] =
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\","
		"\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}";
	static const char about_reviews[] =
		"{\"metadata\":{\"name\":\"r\"},\"webhooks\":[{\"name\":\"r.example.com\","
		"\"clientConfig\":{" URL(
			"r") "},\"sideEffects\":\"None\","
			     "\"admissionReviewVersions\":[\"v1\"],\"rules\":[{\"apiGroups\":[\"*"
			     "\"],"
			     "\"apiVersions\":[\"*\"],\"operations\":[\"CREATE\"],\"resources\":["
			     "\"selfsubjectaccessreviews\"]}]}]}";
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	apifake_expect(f, "POST", VALIDATING, about_reviews, 201);
	hook_fake_answer("/r", 200, NO);
	apifake_expect(f, "POST", ACCESS, review, 400);
	assert_string_equal(obj_str(hook_fake_call(0)->review, "request.kind.kind"),
			    "SelfSubjectAccessReview");
	hook_fake_answer("/r", 200, YES);
	struct answer a = apifake_expect(f, "POST", ACCESS, review, 201);
	assert_true(obj_flag(a.json, "status.allowed", false));
#undef ACCESS
}

/* The server's own writers end what was admitted. */
static void test_hooks__the_server_itself_does_not_ask(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	apifake_expect(
		f, "POST", "/api/v1/namespaces",
		"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"}}",
		201);
	apifake_expect(f, "POST", "/api/v1/namespaces/n/configmaps", MAP("a", ""), 201);
	configure(f, false, "v", URL("v"), "");
	hook_fake_answer("/", 200, NO);
	apifake_expect(f, "DELETE", "/api/v1/namespaces/n/configmaps/a", NULL, 400);
	apifake_expect(f, "DELETE", "/api/v1/namespaces/n", NULL, 200);
	apifake_advance(f, 10 * SECOND_NS);
	apifake_expect(f, "GET", "/api/v1/namespaces/n", NULL, 404);
	assert_int_equal(hook_fake_calls(), 1);
}

/* What the server gives an object no webhook gives it: uid, times, generation, a deletion. */
static void test_hooks__what_is_the_servers_stays_so(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(false, false);
	configure(f, true, "m", URL("m"), "");
	/* [{"op":"add","path":"/metadata","value":{"name":"a","namespace":"default","uid":"u","generation":9,
	 * "creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z",
	 * "finalizers":["example.com/x"]}}] */
	hook_fake_answer("/m", 200,
			 REVIEW("\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\""
				"W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhIiwidmFsdWUiOnsibmFtZSI6Im"
				"EiLCJuYW1lc3BhY2Ui"
				"OiJkZWZhdWx0IiwidWlkIjoidSIsImdlbmVyYXRpb24iOjksImNyZWF0aW9uVGltZX"
				"N0YW1wIjoiMjAyMC0w"
				"MS0wMVQwMDowMDowMFoiLCJkZWxldGlvblRpbWVzdGFtcCI6IjIwMjAtMDEtMDFUMD"
				"A6MDA6MDBaIiwiZmlu"
				"YWxpemVycyI6WyJleGFtcGxlLmNvbS94Il19fV0=\""));
	struct answer a = apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_int_equal(obj_len(obj_path(a.json, "metadata.finalizers")), 1);
	assert_null(obj_path(a.json, "metadata.deletionTimestamp"));
	assert_null(obj_path(a.json, "metadata.generation"));
	assert_int_equal(strlen(obj_str(a.json, "metadata.uid")), 36);
	assert_string_not_equal(obj_str(a.json, "metadata.creationTimestamp"),
				"2020-01-01T00:00:00Z");
	struct answer b = apifake_expect(f, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"v\"}}", 200);
	assert_null(obj_path(b.json, "metadata.deletionTimestamp"));
	assert_string_equal(obj_str(a.json, "metadata.uid"), obj_str(b.json, "metadata.uid"));
}

/* What a webhook says goes into the head of the answer and into the log: as text, and bounded. */
static void test_hooks__what_they_say_is_bounded(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(true, false);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	configure(f, false, "v", URL("v"), "");
	strbuf_adds(&b, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
			"\"response\":{\"uid\":\"UID\",\"allowed\":true,\"warnings\":["
			"\"a\\r\\nX: y\\u001b[1m\"],\"auditAnnotations\":{\"long\":\"");
	for (int i = 0; i < 20000; i++)
		strbuf_addc(&b, 'x');
	strbuf_addc(&b, '"');
	for (int i = 0; i < 200; i++)
		strbuf_addf(&b, ",\"k%d\":\"v\"", i);
	strbuf_adds(&b, "}}}");
	hook_fake_answer("/v", 200, b.buf);
	struct answer a = apifake_expect(f, "POST", MAPS, MAP("a", ""), 201);
	assert_null(http_header(a.headers, "Warning")); /* no client takes its control characters */
	assert_ok(audit_row_get(apifake_audit(f), audit_last_seq(apifake_audit(f)), &row, &err),
		  &err);
	const struct obj *notes = obj_path(row, "body.annotations");
	assert_int_equal(obj_len(notes), 64);
	assert_int_equal(obj_as_str(obj_get(notes, "v.example.com/long")).len, 10240);
}

/* What mutating ones did stands in the log, and what they noted. */
static void test_hooks__mutations_are_in_the_log(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new(true, false);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error err = ERROR_INIT;
	configure(f, true, "m", URL("m"), "");
	hook_fake_answer("/m", 200, MADE);
	struct answer a = apifake_expect(f, "POST", MAPS, MAP("a", "\"k\":\"v\""), 201);
	assert_string_equal(obj_str(a.json, "data.made"), "here");
	assert_ok(audit_row_get(apifake_audit(f), audit_last_seq(apifake_audit(f)), &row, &err),
		  &err);
	assert_string_equal(
		obj_as_string(obj_get(obj_path(row, "body.annotations"),
				      "mutation.webhook.admission.k8s.io/round_0_index_0")),
		"{\"configuration\":\"m\",\"webhook\":\"m.example.com\",\"mutated\":true}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hooks__a_write_waits_and_others_do_not),
		cmocka_unit_test(test_hooks__each_is_asked_once),
		cmocka_unit_test(test_hooks__what_is_drawn_stays),
		cmocka_unit_test(test_hooks__what_changed_is_asked_again),
		cmocka_unit_test(test_hooks__what_changes_all_the_time_is_a_conflict),
		cmocka_unit_test(test_hooks__a_client_that_goes),
		cmocka_unit_test(test_hooks__all_of_it_has_an_end),
		cmocka_unit_test(test_hooks__a_client_says_how_long),
		cmocka_unit_test(test_hooks__reviews),
		cmocka_unit_test(test_hooks__configurations_as_they_are_now),
		cmocka_unit_test(test_hooks__configurations_come_and_go),
		cmocka_unit_test(test_hooks__connections_are_kept_and_bounded),
		cmocka_unit_test(test_hooks__conditions_have_no_namespace_object),
		cmocka_unit_test(test_hooks__a_failure_is_what_the_policy_says),
		cmocka_unit_test(test_hooks__many_deletions),
		cmocka_unit_test(test_hooks__a_service_is_looked_for),
		cmocka_unit_test(test_hooks__simulated_pods_answer_nothing),
		cmocka_unit_test(test_hooks__subresources_with_a_body),
		cmocka_unit_test(test_hooks__the_server_itself_does_not_ask),
		cmocka_unit_test(test_hooks__what_is_the_servers_stays_so),
		cmocka_unit_test(test_hooks__what_they_say_is_bounded),
		cmocka_unit_test(test_hooks__mutations_are_in_the_log),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	hook_fake_reset();
	return rc;
}
