/* test_review.c: what a webhook is sent, and what of its answers is one. */
#include "alm/apiserver/admission/review.h"

#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define V1(response)                                                       \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/" \
	"v1\",\"response\":" response "}"

static void test_review__is_sent_whole(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *request = NULL, *object = NULL, *sent = NULL;
	CLEANUP(strbuf_release) struct strbuf part = STRBUF_INIT(1024), b = STRBUF_INIT(1024);
	struct error err = ERROR_INIT;
	assert_ok(json_parse(STR("{\"name\":\"a\",\"operation\":\"CREATE\"}"), &request, &err),
		  &err);
	assert_ok(json_parse(STR("{\"x\":\"y\"}"), &object, &err), &err);
	review_print_request(
		&(struct review){.version = "v1", .request = request, .object = object}, &part);
	review_print("v1beta1", "u-1", strbuf_str(&part), &b);
	assert_ok(json_parse(strbuf_str(&b), &sent, &err), &err);
	assert_string_equal(b.buf,
			    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
			    "v1beta1\",\"request\":{\"uid\":\"u-1\",\"name\":\"a\",\"operation\":"
			    "\"CREATE\",\"object\":{\"x\":\"y\"},\"oldObject\":null}}");
}

static const struct {
	const char *version;
	int status;
	const char *body, *wrong; /* NULL: it is an answer */
	bool allowed;
} answer_rows[] = {
	{"v1", 200, V1("{\"uid\":\"u\",\"allowed\":true}"), NULL, true},
	{"v1", 201, V1("{\"uid\":\"u\",\"allowed\":true}"), NULL, true},
	{"v1", 200, V1("{\"uid\":\"u\"}"), NULL, false},
	{"v1", 200, V1("{\"uid\":\"u\",\"allowed\":null}"), NULL, false},
	{"v1", 200, V1("{\"uid\":\"other\",\"allowed\":true}"),
	 "expected response.uid=\"u\", got \"other\"", false},
	{"v1", 200, V1("{\"allowed\":true}"), "expected response.uid=\"u\", got \"\"", false},
	{"v1", 200, V1("null"), "webhook response was absent", false},
	{"v1", 200, V1("7"), "response is no object", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"allowed\":\"true\"}"), "cannot unmarshal string", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"warnings\":\"w\"}"), "of type []string", false},
	{"v1", 200, "{\"response\":{\"uid\":\"u\",\"allowed\":true}}",
	 "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview", false},
	{"v1beta1", 200, "{\"response\":{\"allowed\":true}}", NULL, true},
	{"v1beta1", 200, V1("{\"uid\":\"u\",\"allowed\":true}"),
	 "converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion", false},
	{"v1", 200, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"response\":{}}",
	 "no kind \"Pod\" is registered for version \"v1\"", false},
	{"v1", 200, "[]", "json: cannot unmarshal array into Go value", false},
	{"v1", 200,
	 V1("{\"uid\":\"u\",\"patch\":\"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3gifV0=\","
	    "\"patchType\":\"Merge\"}"),
	 "unsupported patch type \"Merge\"", false},
	{"v1", 200, "", "failed to call webhook: ", false},
	{"v1", 200, "<html>", "failed to call webhook: ", false},
	{"v1", 404, "none", "could not find the requested resource", false},
	{"v1", 500, "broken", "an error on the server (\"unknown\")", false},
	{"v1", 302, "", "failed to call webhook: ", false},
	{"v1", 0, "", "failed to call webhook: ", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"W10=\"}"),
	 "response.patch but not response.patchType", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patchType\":\"JSONPatch\"}"),
	 "response.patchType but not response.patch", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"W10=\",\"patchType\":\"Merge\"}"), NULL, false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"!!\",\"patchType\":\"JSONPatch\"}"),
	 "illegal base64 data at input byte 0", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"aZ+/9!==\",\"patchType\":\"JSONPatch\"}"),
	 "illegal base64 data at input byte 5", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"bm8=\",\"patchType\":\"JSONPatch\"}"),
	 "received undecodable patch in webhook response: ", false},
	{"v1", 200, V1("{\"uid\":\"u\",\"patch\":\"e30=\",\"patchType\":\"JSONPatch\"}"),
	 "cannot unmarshal object into Go value of type jsonpatch.Patch", false},
	{"v1", 200,
	 V1("{\"uid\":\"u\",\"allowed\":true,\"patch\":\"W10=\",\"patchType\":"
	    "\"JSONPatch\"}"),
	 NULL, true},
	{"v1beta1", 200, "{\"response\":{\"allowed\":true,\"patch\":\"W10=\"}}", NULL, true},
};

static void test_review__answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answer_rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct review_answer answer = {0};
		struct error err = ERROR_INIT;
		int rc = review_read(answer_rows[i].version, "u", answer_rows[i].status,
				     str_of(answer_rows[i].body), true, a, &answer, &err);
		if (answer_rows[i].wrong ? rc == 0 || !strstr(err.msg, answer_rows[i].wrong)
					 : rc < 0 || answer.allowed != answer_rows[i].allowed)
			fail_msg("%s: %s", answer_rows[i].body, rc < 0 ? err.msg : "taken");
		assert_null(answer.patch);
	}
}

/* Each member of the answer that is of another type; null is none. */
static void test_review__members_have_their_type(void **state)
{
	static const struct {
		const char *member, *value, *wrong, *go;
	} rows[] = {
		{"uid", "7", "number", "types.UID"},
		{"allowed", "{}", "object", "bool"},
		{"status", "\"x\"", "string", "v1.Status"},
		{"patch", "[]", "array", "[]uint8"},
		{"patchType", "true", "bool", "v1.PatchType"},
		{"auditAnnotations", "[]", "array", "map[string]string"},
		{"warnings", "{}", "object", "[]string"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct review_answer answer = {0};
		struct error err = ERROR_INIT;
		const char *body = arena_fmt(a, V1("{\"%s\":%s}"), rows[i].member, rows[i].value);
		assert_true(review_read("v1", "u", 200, str_of(body), true, a, &answer, &err) < 0);
		assert_string_equal(
			err.msg, arena_fmt(a,
					   "failed to call webhook: json: cannot unmarshal %s "
					   "into Go struct field AdmissionResponse.response.%s of "
					   "type %s",
					   rows[i].wrong, rows[i].member, rows[i].go));
		body = arena_fmt(a, V1("{\"uid\":\"u\",\"allowed\":true,\"%s\":null}"),
				 i > 1 ? rows[i].member : "more");
		err = ERROR_INIT;
		assert_ok(review_read("v1", "u", 200, str_of(body), true, a, &answer, &err), &err);
		assert_true(!answer.status && !answer.warnings && !answer.annotations);
	}
}

static void test_review__what_is_told_is_kept(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct review_answer answer = {0};
	struct error err = ERROR_INIT;
	assert_ok(review_read("v1", "u", 200,
			      STR(V1("{\"uid\":\"u\",\"allowed\":false,\"status\":{\"code\":418},"
				     "\"warnings\":[\"w\"],\"auditAnnotations\":{\"a\":\"b\"}}")),
			      false, a, &answer, &err),
		  &err);
	assert_false(answer.allowed);
	assert_int_equal(obj_i64(answer.status, "code", 0), 418);
	assert_string_equal(obj_as_string(obj_at(answer.warnings, 0)), "w");
	assert_string_equal(obj_str(answer.annotations, "a"), "b");
}

/* client-go's words of a status; 200 to 206 are none. */
static void test_review__what_http_says(void **state)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{199, "status code 199 but"},
		{207, "status code 207 but"},
		{400, "rejected our request for an unknown reason"},
		{401, "asked for the client to provide credentials"},
		{403, "unknown"},
		{404, "could not find"},
		{405, "does not allow this method"},
		{406, "unable to respond with a content type"},
		{413, "the request is too large"},
		{415, "the media type is not supported"},
		{418, "the server responded with the status code 418 but did not return more"},
		{422, "an error in our request"},
		{429, "too many requests"},
		{499, "status code 499 but"},
		{500, "an error on the server (\"unknown\")"},
		{501, "an error on the server (\"unknown\")"},
		{503, "currently unable to handle"},
		{504, "in the time allotted"},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	assert_null(review_http_fault(200, a));
	assert_null(review_http_fault(206, a));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = review_http_fault(rows[i].status, a);
		if (!got || !strstr(got, rows[i].text))
			fail_msg("%d: %s", rows[i].status, got);
	}
}

static void test_review__patches_are_of_mutating_ones(void **state)
{
	(void)state;
	static const char body[] = V1("{\"uid\":\"u\",\"allowed\":true,\"patchType\":\"JSONPatch\","
				      "\"patch\":\"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3gifV0=\"}");
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct review_answer answer = {0};
	struct error err = ERROR_INIT;
	assert_true(review_read("v1", "u", 200, STR(body), false, a, &answer, &err) < 0);
	assert_non_null(strstr(err.msg, "validating webhook may not return response.patch"));
	assert_null(strstr(err.msg, "patchType"));
	assert_true(review_read("v1", "u", 200,
				STR(V1("{\"uid\":\"u\",\"patchType\":\"JSONPatch\"}")), false, a,
				&answer, &err) < 0);
	assert_non_null(strstr(err.msg, "validating webhook may not return response.patchType"));
	assert_ok(review_read("v1", "u", 200, STR(body), true, a, &answer, &err), &err);
	assert_int_equal(obj_len(answer.patch), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_review__is_sent_whole),
		cmocka_unit_test(test_review__answers),
		cmocka_unit_test(test_review__members_have_their_type),
		cmocka_unit_test(test_review__what_is_told_is_kept),
		cmocka_unit_test(test_review__what_http_says),
		cmocka_unit_test(test_review__patches_are_of_mutating_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
