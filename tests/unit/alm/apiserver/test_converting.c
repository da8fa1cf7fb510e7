/* test_converting.c: objects that a definition's converter makes other versions of. What a real server makes of its answers:
 * test_converting_recorded.c. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alm/apiserver/converting.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/converter_fake.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/test.h"

#define CRDS      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define V1        "/apis/conv.example.com/v1/namespaces/default/gears"
#define V2        "/apis/conv.example.com/v2/namespaces/default/gears"
#define SECOND_NS (INT64_C(1000) * 1000 * 1000)
#define FAILS     "{\"response\":{\"result\":{\"status\":\"Failed\",\"message\":\"no such form\"}}}"
#define URL       "\"url\":\"https://127.0.0.1:9443/convert\""

static const char definition[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/"
	"v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{"
	"\"name\":\"gears.conv.example.com\"},\"spec\":{\"group\":\"conv.example.com\",\"scope\":"
	"\"Namespaced\",\"names\":{\"plural\":\"gears\",\"kind\":\"Gear\"},\"conversion\":{"
	"\"strategy\":"
	"\"Webhook\",\"webhook\":{\"conversionReviewVersions\":[\"v1\"],\"clientConfig\":{%s}}},"
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
	"\"openAPIV3Schema\":{"
	"\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
	"\"size\":{"
	"\"type\":\"integer\"}}}}}}},{\"name\":\"v2\",\"served\":true,\"storage\":false,"
	"\"selectableFields\":[{\"jsonPath\":\".spec.count\"}],\"schema\":{"
	"\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
	"\"properties\":{\"count\":{\"type\":\"integer\"}}}}}}}]}}";

static void define(struct apifake *f, const char *client)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 14);
	struct str before, after;
	assert_true(str_cut(str_of(definition), '%', &before, &after));
	strbuf_addstr(&b, before);
	strbuf_adds(&b, client);
	strbuf_addstr(&b, str_skip(after, 1));
	apifake_expect(f, "POST", CRDS, b.buf, 201);
}

static struct apifake *fake_new(void)
{
	hook_fake_reset();
	hook_fake_answer_by(converter_fake_answer);
	converter_fake_how("{}");
	struct apifake *f =
		apifake_new(&(struct apifake_options){.with_audit = true, .dial = hook_fake_dial});
	define(f, URL);
	return f;
}

/* A gear of v1, or of v2 in its own words. */
static void create(struct apifake *f, const char *name, int n, bool is_new)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
	strbuf_addf(
		&b,
		"{\"apiVersion\":\"conv.example.com/%s\",\"kind\":\"Gear\",\"metadata\":{\"name\":"
		"\"%s\"},\"spec\":{\"%s\":%d}}",
		is_new ? "v2" : "v1", name, is_new ? "count" : "size", n);
	apifake_expect(f, "POST", is_new ? V2 : V1, b.buf, 201);
}

/* A read waits for the converter, others do not; a client that goes away ends it, and so does time. */
static void test_converting__a_read_waits(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	create(f, "a", 3, false);
	assert_int_equal(hook_fake_calls(), 0);
	hook_fake_hold(true);
	size_t a = apifake_send(f, "GET", V2 "/a", NULL, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 0);
	apifake_expect(f, "GET", V1 "/a", NULL, 200);
	assert_int_equal(hook_fake_waiting(), 1);
	assert_int_equal(hook_fake_call(0)->timeout_ns, CONVERTING_TIMEOUT_S * SECOND_NS);
	assert_string_equal(hook_fake_call(0)->path, "/convert?timeout=30s");
	hook_fake_release(1);
	apifake_run(f);
	assert_int_equal(obj_i64(obj_path(apifake_answer(f, a).json, "spec"), "count", 0), 3);
	a = apifake_send(f, "GET", V2 "/a", NULL, NULL);
	apifake_run(f);
	apifake_close(f, a);
	assert_int_equal(hook_fake_cancelled(), 1);
	a = apifake_send(f, "GET", V2 "/a", NULL, NULL);
	apifake_run(f);
	apifake_advance(f, 60 * SECOND_NS);
	assert_int_equal(apifake_answer(f, a).status, 504);
}

/* A list is several reviews; what its selectors are about is what is shown. */
static void test_converting__lists(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	for (int i = 0; i < CONVERTING_OBJECTS + 50; i++) {
		char name[16];
		snprintf(name, sizeof(name), "g-%03d", i);
		create(f, name, i, false);
	}
	struct answer a = apifake_expect(f, "GET", V2, NULL, 200);
	const struct obj *items = obj_get(a.json, "items");
	assert_int_equal(obj_len(items), CONVERTING_OBJECTS + 50);
	for (size_t i = 0; i < obj_len(items); i++) {
		assert_string_equal(obj_str(obj_at(items, i), "apiVersion"), "conv.example.com/v2");
		assert_int_equal(obj_i64(obj_path(obj_at(items, i), "spec"), "count", -1), i);
	}
	assert_int_equal(hook_fake_calls(), 2);
	a = apifake_expect(f, "GET", V2 "?limit=10", NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 10);
	assert_int_equal(obj_len(obj_path(hook_fake_call(2)->review, "request.objects")), 10);
	a = apifake_expect(f, "GET", V2 "?fieldSelector=spec.count%3D17", NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 1);
	a = apifake_expect(f, "GET", V2 "?labelSelector=form%3Dv2&limit=5", NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 5);
	a = apifake_expect(f, "GET", V1 "?labelSelector=form%3Dv2", NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 0);
	converter_fake_how(FAILS);
	a = apifake_expect(f, "GET", V2, NULL, 500);
	assert_string_equal(
		obj_str(a.json, "message"),
		"conversion webhook for conv.example.com/v1, Kind=Gear failed: no such form");
	apifake_expect(f, "DELETE", V2, NULL, 500); /* nobody knows what they are there */
	a = apifake_expect(f, "GET", V1, NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), CONVERTING_OBJECTS + 50);
	converter_fake_how("{}");
	a = apifake_expect(f, "DELETE", V2 "?fieldSelector=spec.count%3D17", NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 1);
	assert_string_equal(obj_str(a.json, "apiVersion"), "conv.example.com/v2");
	apifake_expect(f, "DELETE", V2, NULL, 200); /* the others, one after the other */
	a = apifake_expect(f, "GET", V1, NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 0);
}

/* What is stored is in the version that is stored, whoever wrote it; a converter that fails stops the write before. */
static void test_converting__writes(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	create(f, "a", 3, true);
	struct answer a = apifake_expect(f, "GET", V1 "/a", NULL, 200);
	assert_int_equal(obj_i64(obj_path(a.json, "spec"), "size", 0), 3);
	assert_null(obj_path(a.json, "spec.count"));
	a = apifake_expect(f, "PATCH", V2 "/a", "{\"spec\":{\"count\":4}}", 200);
	assert_int_equal(obj_i64(obj_path(a.json, "spec"), "count", 0), 4);
	const char *rv = obj_str(a.json, "metadata.resourceVersion");
	a = apifake_expect(f, "PATCH", V2 "/a", "{\"spec\":{\"count\":4}}", 200);
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"), rv); /* nothing changed */
	converter_fake_how(FAILS);
	apifake_expect(f, "PATCH", V2 "/a", "{\"spec\":{\"count\":5}}", 500);
	apifake_expect(f, "POST", V2,
		       "{\"apiVersion\":\"conv.example.com/"
		       "v2\",\"kind\":\"Gear\",\"metadata\":{\"name\":\"b\"}}",
		       500);
	apifake_expect(f, "DELETE", V2 "/a", NULL, 500);
	a = apifake_expect(f, "GET", V1, NULL, 200);
	assert_int_equal(obj_len(obj_get(a.json, "items")), 1);
	a = apifake_expect(f, "GET", V1 "/a", NULL, 200);
	assert_int_equal(obj_i64(obj_path(a.json, "spec"), "size", 0), 4);
	apifake_expect(f, "PATCH", V1 "/a", "{\"spec\":{\"size\":6}}", 200);
	apifake_expect(f, "DELETE", V1 "/a", NULL, 200);
}

static void expect_event(struct apifake *f, size_t watch, size_t *at, const char *type,
			 const char *version, const char *field, int value)
{
	struct str rest = str_skip(apifake_answer(f, watch).body, *at), line;
	CLEANUP(obj_unrefp) struct obj *e = NULL;
	struct error err = ERROR_INIT;
	assert_true(str_next(&rest, '\n', &line));
	*at += line.len + 1;
	assert_ok(json_parse(line, &e, &err), &err);
	assert_string_equal(obj_str(e, "type"), type);
	if (!version)
		return;
	assert_string_equal(obj_str(e, "object.apiVersion"), version);
	assert_int_equal(obj_i64(obj_path(e, "object.spec"), field, -1), value);
}

/* Each watch is told in its version, whoever writes in which; a client that cannot be told lists again. */
static void test_converting__watches(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	static const char v1[] = "conv.example.com/v1", v2[] = "conv.example.com/v2";
	size_t at1 = 0, at2 = 0;
	create(f, "a", 1, false);
	size_t w1 = apifake_send(f, "GET", V1 "?watch=1", NULL, NULL);
	size_t w2 = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
	apifake_run(f);
	expect_event(f, w1, &at1, "ADDED", v1, "size", 1);
	expect_event(f, w2, &at2, "ADDED", v2, "count", 1);
	create(f, "b", 2, true);
	expect_event(f, w1, &at1, "ADDED", v1, "size", 2);
	expect_event(f, w2, &at2, "ADDED", v2, "count", 2);
	apifake_expect(f, "PATCH", V1 "/a", "{\"spec\":{\"size\":3}}", 200);
	expect_event(f, w1, &at1, "MODIFIED", v1, "size", 3);
	expect_event(f, w2, &at2, "MODIFIED", v2, "count", 3);
	apifake_expect(f, "DELETE", V1 "/a", NULL, 200);
	expect_event(f, w1, &at1, "DELETED", v1, "size", 3);
	expect_event(f, w2, &at2, "DELETED", v2, "count", 3);
	apifake_expect(f, "DELETE", V2 "/b", NULL, 200);
	expect_event(f, w1, &at1, "DELETED", v1, "size", 2);
	expect_event(f, w2, &at2, "DELETED", v2, "count", 2);
	converter_fake_how(FAILS);
	create(f, "c", 4, false);
	expect_event(f, w1, &at1, "ADDED", v1, "size", 4);
	expect_event(f, w2, &at2, "ERROR", NULL, NULL, 0);
	assert_false(apifake_answer(f, w1).ended);
	assert_true(apifake_answer(f, w2).ended);
	w2 = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, w2).status, 500);
	apifake_close(f, w1);
}

/* Nobody asks the converter of one definition about the objects of another, whoever watches. */
static void test_converting__each_definition_has_its_own(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 14);
	struct str rest = str_of(definition), before;
	for (int64_t at; (at = str_find(rest, STR("conv.example.com"))) >= 0;) {
		before = str_sub(rest, 0, (size_t)at);
		strbuf_addstr(&b, before);
		strbuf_adds(&b, "other.example.com");
		rest = str_skip(rest, (size_t)at + strlen("conv.example.com"));
	}
	strbuf_addstr(&b, rest);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 14);
	struct str first, last;
	assert_true(str_cut(strbuf_str(&b), '%', &first, &last));
	strbuf_addstr(&text, first);
	strbuf_adds(&text, URL);
	strbuf_addstr(&text, str_skip(last, 1));
	apifake_expect(f, "POST", CRDS, text.buf, 201);
	size_t w = apifake_send(f, "GET",
				"/apis/other.example.com/v2/namespaces/default/gears?watch=1", NULL,
				NULL);
	apifake_run(f);
	create(f, "a", 1, false);
	assert_int_equal(hook_fake_calls(), 0);
	assert_int_equal(apifake_answer(f, w).body.len, 0);
	apifake_close(f, w);
}

/* A webhook for another version is shown that one, and what it makes of it is made the other again. */
static void test_converting__webhooks_see_their_version(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	/* [{"op":"replace","path":"/spec/count","value":9}] */
	hook_fake_answer(
		"/mutate", 200,
		"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
		"v1\",\"response\":{\"uid\":"
		"\"UID\",\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":"
		"\"W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9zcGVjL2NvdW50IiwidmFsdWUiOjl9XQ==\"}}");
	apifake_expect(
		f, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
		"{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"
		"\"MutatingWebhookConfiguration\",\"metadata\":{\"name\":\"m\"},\"webhooks\":[{"
		"\"name\":"
		"\"m.example.com\",\"clientConfig\":{\"url\":\"https://127.0.0.1:9443/mutate\"},"
		"\"sideEffects\":\"None\",\"admissionReviewVersions\":[\"v1\"],\"rules\":[{"
		"\"apiGroups\":["
		"\"conv.example.com\"],\"apiVersions\":[\"v2\"],\"operations\":[\"CREATE\"],"
		"\"resources\":["
		"\"gears\"]}]}]}",
		201);
	create(f, "a", 1, false);
	struct answer a = apifake_expect(f, "GET", V1 "/a", NULL, 200);
	assert_int_equal(obj_i64(obj_path(a.json, "spec"), "size", 0), 9);
	size_t n = 0;
	for (size_t i = 0; i < hook_fake_calls(); i++) {
		const struct hook_fake_call *c = hook_fake_call(i);
		if (strncmp(c->path, "/mutate", 7) != 0)
			continue;
		n++;
		assert_string_equal(obj_str(c->review, "request.object.apiVersion"),
				    "conv.example.com/v2");
		assert_int_equal(obj_i64(obj_path(c->review, "request.object.spec"), "count", 0),
				 1);
	}
	assert_int_equal(n, 1);
	converter_fake_how(FAILS);
	apifake_expect(f, "POST", V1,
		       "{\"apiVersion\":\"conv.example.com/"
		       "v1\",\"kind\":\"Gear\",\"metadata\":{\"name\":\"b\"}}",
		       500);
}

/* What is compared with no recording, as it differs by run. */
static void test_converting__an_answer_to_something_else_is_none(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	create(f, "a", 1, false);
	converter_fake_how("{\"response\":{\"uid\":\"other\"}}");
	const char *message = obj_str(apifake_expect(f, "GET", V2 "/a", NULL, 500).json, "message");
	assert_non_null(strstr(message, "failed: expected response.uid="));
	converter_fake_how("{\"set\":{\"metadata/uid\":\"u\"}}");
	message = obj_str(apifake_expect(f, "GET", V2 "/a", NULL, 500).json, "message");
	assert_non_null(strstr(message, "must have the same UID: "));
	converter_fake_how("{\"raw\":\"\",\"status\":0}");
	message = obj_str(apifake_expect(f, "GET", V2 "/a", NULL, 500).json, "message");
	assert_non_null(
		strstr(message, "failed: Post \"https://127.0.0.1:9443/convert?timeout=30s\": "));
}

/* A Service that nothing stands behind is no converter; with another definition, there is none to ask. */
static void test_converting__a_definition_changes(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	create(f, "a", 1, true);
	struct answer a = apifake_expect(
		f, "PATCH", CRDS "/gears.conv.example.com",
		"{\"spec\":{\"conversion\":{\"webhook\":{\"clientConfig\":{\"url\":null,"
		"\"service\":{\"namespace\":\"default\",\"name\":\"none\"}}}}}}",
		200);
	a = apifake_expect(f, "GET", V2 "/a", NULL, 500);
	assert_string_equal(
		obj_str(a.json, "message"),
		"conversion webhook for conv.example.com/v1, Kind=Gear failed: Post "
		"\"https://none.default.svc:443/?timeout=30s\": service \"none\" not found");
	apifake_expect(f, "PATCH", CRDS "/gears.conv.example.com",
		       "{\"spec\":{\"conversion\":{\"strategy\":\"None\",\"webhook\":null}}}", 200);
	a = apifake_expect(f, "GET", V2 "/a", NULL, 200);
	assert_string_equal(obj_str(a.json, "apiVersion"), "conv.example.com/v2");
}

/* What the server edits itself is judged by the version it is stored in, be it served or not: the
 * collector comes to an end. */
static void test_converting__the_collector_edits_an_old_version(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	static const char *const definitions[] = {
		/* v2 is stored from now on, and wants a count */
		"[{\"op\":\"replace\",\"path\":\"/spec/versions/0/storage\",\"value\":false},"
		"{\"op\":\"replace\",\"path\":\"/spec/versions/1/storage\",\"value\":true},"
		"{\"op\":\"add\",\"path\":\"/spec/versions/1/schema/openAPIV3Schema/properties/"
		"spec/"
		"required\",\"value\":[\"count\"]}]",
		/* and v1 is not served any more */
		"[{\"op\":\"replace\",\"path\":\"/spec/versions/0/served\",\"value\":false}]",
		/* nor what is stored */
		"[{\"op\":\"replace\",\"path\":\"/spec/versions/0/served\",\"value\":true},"
		"{\"op\":\"replace\",\"path\":\"/spec/versions/1/served\",\"value\":false}]",
	};
	static const char *const names[] = {"a", "b", "c"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		create(f, names[i], 1, false);
	for (size_t i = 0; i < ARRAY_LEN(definitions); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(1 << 10);
		struct answer a = apifake_do_type(f, "PATCH", CRDS "/gears.conv.example.com",
						  "application/json-patch+json", definitions[i]);
		assert_int_equal(a.status, 200);
		strbuf_addf(&path, "%s/%s", i == 1 ? V2 : V1, names[i]);
		apifake_expect(f, "DELETE", path.buf, "{\"propagationPolicy\":\"Foreground\"}",
			       200);
		apifake_run(f);
		apifake_expect(f, "GET", path.buf, NULL, 404);
	}
}

/* A watch that comes with writes begins after them, whatever has to be asked then. */
static void test_converting__a_watch_in_the_turn_of_a_write(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	size_t at = 0;
	size_t first = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
	apifake_run(f);
	hook_fake_hold(true);
	(void)apifake_send(
		f, "POST", V1, NULL,
		"{\"apiVersion\":\"conv.example.com/v1\",\"kind\":\"Gear\",\"metadata\":{"
		"\"name\":\"a\"},\"spec\":{\"size\":2}}");
	apifake_run(f);
	assert_int_equal(hook_fake_waiting(), 1); /* as the first watch is told in v2 */
	hook_fake_hold(false);
	hook_fake_release(1);
	loop_run_due(apifake_loop(f)); /* it is answered, and handled in the next turn */
	(void)apifake_send(f, "POST", "/api/v1/namespaces", NULL,
			   "{\"metadata\":{\"name\":\"other\"}}");
	size_t w = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, w).status, 200);
	expect_event(f, w, &at, "ADDED", "conv.example.com/v2", "count", 2);
	create(f, "b", 3, false);
	expect_event(f, w, &at, "ADDED", "conv.example.com/v2", "count", 3);
	assert_int_equal(apifake_answer(f, w).charged[QUOTA_WATCHES], 1);
	apifake_close(f, w);
	apifake_close(f, first);
}

/* Who selects is told what an object no longer is; the collector's deletes are told as well. */
static void test_converting__watches_that_select(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	static const char v2[] = "conv.example.com/v2";
	size_t at = 0, all = 0;
	create(f, "a", 1, false);
	apifake_restart(f); /* nothing is known of it */
	struct answer a = apifake_expect(f, "GET", V1, NULL, 200);
	char target[256];
	snprintf(target, sizeof(target),
		 V2 "?watch=1&fieldSelector=spec.count%%3D1&resourceVersion=%s",
		 obj_str(a.json, "metadata.resourceVersion"));
	size_t w = apifake_send(f, "GET", target, NULL, NULL);
	apifake_run(f);
	apifake_expect(f, "PATCH", V1 "/a", "{\"spec\":{\"size\":2}}", 200);
	expect_event(f, w, &at, "DELETED", v2, "count", 1);
	apifake_expect(f, "PATCH", V1 "/a", "{\"spec\":{\"size\":1}}", 200);
	expect_event(f, w, &at, "ADDED", v2, "count", 1);
	apifake_close(f, w);
	w = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
	apifake_run(f);
	expect_event(f, w, &all, "ADDED", v2, "count", 1);
	apifake_expect(f, "DELETE", V1 "/a", "{\"propagationPolicy\":\"Foreground\"}", 200);
	apifake_run(f);
	expect_event(f, w, &all, "MODIFIED", v2, "count", 1);
	expect_event(f, w, &all, "DELETED", v2, "count", 1);
	apifake_close(f, w);
}

/* The processor time of a change, the least of some: what runs beside this makes it only longer. */
static clock_t change_of(struct apifake *f, struct strbuf *patch, size_t letter)
{
	clock_t least = 0;
	for (size_t i = 0; i < 5; i++) {
		patch->buf[letter] = patch->buf[letter] == 'y' ? 'z' : 'y';
		clock_t begun = clock();
		apifake_expect(f, "PATCH", V1 "/a", patch->buf, 200);
		clock_t took = clock() - begun;
		least = i == 0 || took < least ? took : least;
	}
	return least;
}

/* A change is converted once, and its line made once, however many watch. */
static void test_converting__many_watches(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	clock_t took[2] = {0, 0};
	size_t w[200], asked[2];
	create(f, "a", 1, false);
	strbuf_adds(&b, "{\"metadata\":{\"annotations\":{\"n\":\"");
	size_t letter = b.len;
	strbuf_adds(&b, "x\"");
	for (size_t i = 0; i < 4000; i++) /* to make the line costs more than to send it */
		strbuf_addf(&b, ",\"k%zu\":\"0123456789\"", i);
	strbuf_adds(&b, "}}}");
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = round; i < (round ? ARRAY_LEN(w) : 1); i++)
			w[i] = apifake_send(f, "GET", V2 "?watch=1", NULL, NULL);
		apifake_run(f);
		size_t before = hook_fake_calls();
		took[round] = change_of(f, &b, letter);
		asked[round] = hook_fake_calls() - before;
	}
	assert_int_equal(asked[0], 5); /* of one that watches, a change each */
	assert_int_equal(asked[1], asked[0]);
	for (size_t i = 0; i < ARRAY_LEN(w); i++) {
		assert_false(apifake_answer(f, w[i]).ended);
		assert_true(apifake_bytes(f, w[i]) > 5 * 80000);
		apifake_close(f, w[i]);
	}
	if (took[1] > took[0] * 8)
		fail_msg("%zu watches: %ld ticks, one %ld", ARRAY_LEN(w), (long)took[1],
			 (long)took[0]);
}

/* Of the allocator; 0 under a sanitizer, which has another. What the converter saw is not counted. */
static size_t in_use(void)
{
	hook_fake_reset();
	hook_fake_answer_by(converter_fake_answer);
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* What a watch was made of is charged while it is, and given back when it has begun. */
static void test_converting__a_watch_lets_go(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"annotations\":{\"n\":\"");
	for (size_t i = 0; i < 200000; i++)
		strbuf_addc(&b, 'x');
	strbuf_adds(&b, "\"}}}");
	for (size_t i = 0; i < 8; i++) {
		char name[] = {(char)('a' + i), '\0'}, path[256];
		create(f, name, 1, false);
		snprintf(path, sizeof(path), V1 "/%s", name);
		apifake_expect(f, "PATCH", path, b.buf, 200);
	}
	hook_fake_hold(true);
	size_t w = apifake_send_lazy(f, "GET", V2 "?watch=1");
	apifake_run(f);
	assert_int_equal(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES], 0);
	hook_fake_release(1);
	apifake_run(f);
	assert_true(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES] >= 600000);
	hook_fake_hold(false);
	hook_fake_release(1);
	apifake_run(f);
	assert_true(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES] >= 1600000);
	while (apifake_drain(f, w))
		apifake_run(f);
	assert_int_equal(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES], 0);
	assert_true(apifake_bytes(f, w) > 1600000);
	apifake_close(f, w);
	size_t before = in_use();
	w = apifake_send(f, "GET", V2 "?watch=1&labelSelector=none%3Dx", NULL, NULL);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, w).status, 200);
	size_t after = in_use();
	if (after > before + 200000)
		fail_msg("the watch holds %zu bytes", after - before);
	apifake_close(f, w);
}

/* What is stored need not be served: it is written in that version all the same. */
static void test_converting__a_stored_version_that_is_not_served(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = fake_new();
	static const char served[] =
		"[{\"op\":\"replace\",\"path\":\"/spec/versions/0/served\",\"value\":%s}]";
	char patch[128];
	for (int i = 0; i < 2; i++) {
		snprintf(patch, sizeof(patch), served, i ? "true" : "false");
		struct answer a = apifake_do_type(f, "PATCH", CRDS "/gears.conv.example.com",
						  "application/json-patch+json", patch);
		assert_int_equal(a.status, 200);
		if (i == 0)
			create(f, "a", 5, true);
	}
	converter_fake_how(FAILS); /* it is not asked */
	struct answer a = apifake_expect(f, "GET", V1 "/a", NULL, 200);
	assert_int_equal(obj_i64(obj_path(a.json, "spec"), "size", 0), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converting__a_read_waits),
		cmocka_unit_test(test_converting__lists),
		cmocka_unit_test(test_converting__writes),
		cmocka_unit_test(test_converting__watches),
		cmocka_unit_test(test_converting__each_definition_has_its_own),
		cmocka_unit_test(test_converting__webhooks_see_their_version),
		cmocka_unit_test(test_converting__an_answer_to_something_else_is_none),
		cmocka_unit_test(test_converting__a_definition_changes),
		cmocka_unit_test(test_converting__the_collector_edits_an_old_version),
		cmocka_unit_test(test_converting__a_watch_in_the_turn_of_a_write),
		cmocka_unit_test(test_converting__watches_that_select),
		cmocka_unit_test(test_converting__many_watches),
		cmocka_unit_test(test_converting__a_watch_lets_go),
		cmocka_unit_test(test_converting__a_stored_version_that_is_not_served),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
