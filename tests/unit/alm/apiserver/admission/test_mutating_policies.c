/* test_mutating_policies.c: writes under MutatingAdmissionPolicies, and what a real kube-apiserver 1.36 made of them
 * (tests/golden/kube-api/mutate.py). */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/converter_fake.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/replay.h"
#include "tests/lib/test.h"

#define RECORDED "tests/golden/kube-api/mutate.jsonl"

static void test_mutating_policies__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	replay_with(&(struct apifake_options){.dial = hook_fake_dial}, RECORDED, 700,
		    hook_fake_as_recorded, NULL);
}

#define GROUP    "admissionregistration.k8s.io/v1"
#define POLICIES "/apis/" GROUP "/mutatingadmissionpolicies"
#define BINDINGS "/apis/" GROUP "/mutatingadmissionpolicybindings"
#define MAPS     "/api/v1/namespaces/default/configmaps"
#define ALL_MAPS                                                                        \
	"{\"apiGroups\":[\"\"],\"apiVersions\":[\"*\"],\"resources\":[\"configmaps\"]," \
	"\"operations\":["                                                              \
	"\"*\"]}"

/* A policy with a binding of its name; apply: what it applies. */
static void enforce(struct apifake *f, const char *name, const char *apply, const char *again)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_addf(&b,
		    "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"matchConstraints\":{"
		    "\"resourceRules\":[" ALL_MAPS "]},\"reinvocationPolicy\":\"%s\","
		    "\"mutations\":[{\"patchType\":\"ApplyConfiguration\","
		    "\"applyConfiguration\":{\"expression\":\"%s\"}}]}}",
		    name, again, apply);
	apifake_expect(f, "POST", POLICIES, b.buf, 201);
	strbuf_truncate(&b, 0);
	strbuf_addf(&b, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"policyName\":\"%s\"}}", name,
		    name);
	apifake_expect(f, "POST", BINDINGS, b.buf, 201);
}

static void expect_log(struct apifake *f, const char *want)
{
	struct answer a = apifake_expect(f, "POST", MAPS "?dryRun=All",
					 "{\"metadata\":{\"name\":\"m\"}}", 201);
	assert_string_equal(obj_str(a.json, "data.log"), want);
	apifake_forget(f);
}

#define LOG(letter) \
	"Object{data: {'log': (has(object.data) ? object.data.log : '') + '" letter "'}}"

/* By name; and whom something behind it changed once more, if it wants that. */
static void test_mutating_policies__order(void **state)
{
	(void)state;
	static const struct {
		const char *c, *a, *b, *log;
	} rows[] = {
		{"Never", "Never", "Never", "abc"},
		{"IfNeeded", "IfNeeded", "IfNeeded", "abcabc"},
		{"Never", "IfNeeded", "Never", "abca"},
		{"IfNeeded", "Never", "Never", "abcc"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		enforce(f, "c", LOG("c"), rows[i].c);
		enforce(f, "a", LOG("a"), rows[i].a);
		enforce(f, "b", LOG("b"), rows[i].b);
		expect_log(f, rows[i].log);
	}
}

/* A policy that is changed, gone, or there before a restart is obeyed as it is now. */
static void test_mutating_policies__as_they_are_now(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", LOG("x"), "Never");
	expect_log(f, "x");
	apifake_expect(f, "PATCH", POLICIES "/p",
		       "{\"spec\":{\"mutations\":[{\"patchType\":\"JSONPatch\",\"jsonPatch\":{"
		       "\"expression\":\"[JSONPatch{op: 'add', path: '/data', value: {'log': "
		       "'y'}}]\"}}]}}",
		       200);
	expect_log(f, "y");
	apifake_restart(f);
	expect_log(f, "y");
	apifake_expect(f, "DELETE", POLICIES "/p", NULL, 200);
	struct answer a = apifake_expect(f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"}}", 201);
	assert_null(obj_str(a.json, "data.log"));
}

static void bind_params(struct apifake *f, const char *mutation)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_addf(&b,
		    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"matchConstraints\":{"
		    "\"resourceRules\":[" ALL_MAPS
		    "]},\"reinvocationPolicy\":\"Never\",\"paramKind\":"
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"},\"mutations\":[%s]}}",
		    mutation);
	apifake_expect(f, "POST", POLICIES, b.buf, 201);
	apifake_expect(
		f, "POST", BINDINGS,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\",\"paramRef\":"
		"{\"namespace\":\"default\",\"selector\":{\"matchLabels\":{\"param\":\"yes\"}},"
		"\"parameterNotFoundAction\":\"Deny\"}}}",
		201);
}

static void make_params(struct apifake *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b,
			    "{\"metadata\":{\"name\":\"p%zu\",\"labels\":{\"param\":\"yes\"}},"
			    "\"data\":{\"letter\":\"%zu\"}}",
			    i, i);
		apifake_expect(f, "POST", MAPS, b.buf, 201);
	}
}

/* Once with each of its parameters, as they are named; and one with which it fails fails the write. */
static void test_mutating_policies__every_parameter(void **state)
{
	static const char *const logs[] = {NULL, "0", "01", "012"};
	(void)state;
	for (size_t n = 1; n < ARRAY_LEN(logs); n++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		make_params(f, n);
		bind_params(f, "{\"patchType\":\"ApplyConfiguration\",\"applyConfiguration\":{"
			       "\"expression\":\"Object{data: {'log': (has(object.data) ? "
			       "object.data.log : '') + params.data.letter}}\"}}");
		expect_log(f, logs[n]);
	}
	for (size_t n = 1; n < ARRAY_LEN(logs); n++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		make_params(f, n);
		bind_params(f, "{\"patchType\":\"JSONPatch\",\"jsonPatch\":{\"expression\":"
			       "\"[JSONPatch{op: 'add', path: '/data', value: {'n': 7}}]\"}}");
		apifake_expect(f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"}}", 500);
		assert_int_equal(apifake_do(f, "GET", MAPS "/m", NULL).status, 404);
	}
}

/* What they add belongs to nobody, and what an update of the client takes away they add again. */
static void test_mutating_policies__nobody_owns_it(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", "Object{metadata: Object.metadata{labels: {'made': 'here'}}}", "Never");
	struct answer a = apifake_expect(
		f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"b\"}}", 201);
	assert_string_equal(obj_str(a.json, "metadata.labels.made"), "here");
	CLEANUP(xfreep) char *managers = json_text(obj_path(a.json, "metadata.managedFields"));
	assert_null(strstr(managers, "f:made"));
	a = apifake_expect(f, "PUT", MAPS "/m", "{\"metadata\":{\"name\":\"m\"}}", 200);
	assert_string_equal(obj_str(a.json, "metadata.labels.made"), "here");
}

/* An expression may take as many steps as there, and no more; a patch of many operations is bounded. */
static void test_mutating_policies__budgets(void **state)
{
	(void)state;
#define TEN "[1,2,3,4,5,6,7,8,9,10]"
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p",
		"Object{data: {'n': string(" TEN ".map(a," TEN ".map(b," TEN ".map(c," TEN
		".map(d," TEN ".map(e," TEN ".map(f, a+b+c+d+e+f)))))).size())}}",
		"Never");
	struct answer a = apifake_expect(f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"}}", 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "cost limit exceeded"));
	assert_string_equal(obj_str(a.json, "reason"), "Invalid");
#undef TEN
	/* one text, named ten thousand times */
	apifake_expect(
		f, "PATCH", POLICIES "/p",
		"{\"spec\":{\"mutations\":[{\"patchType\":\"JSONPatch\",\"jsonPatch\":{"
		"\"expression\":"
		"\"object.data.many.split('').map(c, JSONPatch{op: 'add', path: '/data/x', value: "
		"object.data.many})\"}}]}}",
		200);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"many\":\"");
	strbuf_pad(&b, 'x', 9000);
	strbuf_adds(&b, "\"}}");
	a = apifake_expect(f, "POST", MAPS, b.buf, 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "too large"));
}

/* n variables, each made of the one before it (format, twice its number at most), and what is made of the last. */
static void build_on(struct apifake *f, size_t n, const char *first, const char *format,
		     const char *patch)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	strbuf_addf(&b, "{\"spec\":{\"variables\":[{\"name\":\"v0\",\"expression\":\"%s\"}", first);
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(&b, ",{\"name\":\"v%zu\",\"expression\":\"", i + 1);
		for (const char *p = format; *p; p++)
			if (*p == '#')
				strbuf_addf(&b, "variables.v%zu", i);
			else
				strbuf_addc(&b, *p);
		strbuf_adds(&b, "\"}");
	}
	strbuf_addf(&b,
		    "],\"mutations\":[{\"patchType\":\"JSONPatch\",\"jsonPatch\":{\"expression\":"
		    "\"[JSONPatch{op: 'add', path: '/data', value: %s}]\"}}]}}",
		    patch);
	apifake_expect(f, "PATCH", POLICIES "/p", b.buf, 200);
}

/* A value of few pieces may be as large as one likes, and as deep; it costs what its JSON would. */
static void test_mutating_policies__what_is_built_is_bounded(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	enforce(f, "p", LOG("x"), "Never");
	build_on(f, 40, "[1]", "[#, #]", "Object{n: variables.v40}");
	struct answer a = apifake_expect(f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"}}", 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "too large"));
	build_on(f, 100, "{'a': 1}", "{'a': {'a': {'a': #}}}", "variables.v100");
	a = apifake_expect(f, "POST", MAPS, "{\"metadata\":{\"name\":\"m\"}}", 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "deeper than 256"));
	build_on(f, 1, "object.data.many", "#", "variables.v1.split('').map(c, {variables.v1: c})");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"m\"},\"data\":{\"many\":\"");
	strbuf_pad(&b, 'x', 9000);
	strbuf_adds(&b, "\"}}");
	a = apifake_expect(f, "POST", MAPS, b.buf, 403);
	assert_non_null(strstr(obj_str(a.json, "message"), "too large"));
}

#define GEARS "/apis/conv.example.com/v1/namespaces/default/gears"
#define SCHEMA                                                                            \
	"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{" \
	"\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"integer\"},\"count\":{" \
	"\"type\":\"integer\"}}}}}}"

/* A policy of v2, which alone has a count, sees those of v1 as such. */
static void define_gears(struct apifake *f)
{
	apifake_expect(
		f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"{\"metadata\":{\"name\":\"gears.conv.example.com\"},\"spec\":{\"group\":"
		"\"conv.example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"gears\","
		"\"kind\":\"Gear\"},\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":{"
		"\"conversionReviewVersions\":[\"v1\"],\"clientConfig\":{\"url\":"
		"\"https://127.0.0.1:9443/convert\"}}},\"versions\":["
		"{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA "},"
		"{\"name\":\"v2\",\"served\":true,\"storage\":false," SCHEMA "}]}}",
		201);
	apifake_expect(
		f, "POST", POLICIES,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"matchConstraints\":{\"resourceRules\":["
		"{"
		"\"apiGroups\":[\"conv.example.com\"],\"apiVersions\":[\"v2\"],\"resources\":["
		"\"gears\"],\"operations\":[\"*\"]}]},\"reinvocationPolicy\":\"Never\","
		"\"matchConditions\":[{\"name\":\"seven\",\"expression\":\"has(object.spec.count) "
		"&& object.spec.count == "
		"7\"}],\"mutations\":[{\"patchType\":\"ApplyConfiguration\","
		"\"applyConfiguration\":{\"expression\":\"Object{metadata: Object.metadata{labels: "
		"{'seven': 'yes'}}}\"}}]}}",
		201);
	apifake_expect(f, "POST", BINDINGS,
		       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\"}}", 201);
}

/* Nobody says whether it is governed: it is not written. */
static void test_mutating_policies__of_what_no_converter_makes(void **state)
{
	static const struct {
		const char *how;
		int size, status;
		const char *label;
	} rows[] = {
		{"{}", 7, 201, "yes"},
		{"{}", 3, 201, NULL},
		{"{\"response\":{\"result\":{\"status\":\"Failed\",\"message\":\"no\"}}}", 3, 500,
		 NULL},
		{"{\"response\":{\"result\":{\"status\":\"Failed\",\"message\":\"no\"}}}", 7, 500,
		 NULL},
	};
	(void)state;
	hook_fake_reset();
	hook_fake_answer_by(converter_fake_answer);
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.dial = hook_fake_dial});
	define_gears(f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		converter_fake_how(rows[i].how);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"conv.example.com/v1\",\"kind\":\"Gear\","
			    "\"metadata\":{\"name\":\"g%zu\"},\"spec\":{\"size\":%d}}",
			    i, rows[i].size);
		struct answer a = apifake_expect(f, "POST", GEARS, b.buf, rows[i].status);
		assert_true(cstr_eq(obj_str(a.json, "metadata.labels.seven"), rows[i].label));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutating_policies__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_mutating_policies__order),
		cmocka_unit_test(test_mutating_policies__as_they_are_now),
		cmocka_unit_test(test_mutating_policies__every_parameter),
		cmocka_unit_test(test_mutating_policies__nobody_owns_it),
		cmocka_unit_test(test_mutating_policies__budgets),
		cmocka_unit_test(test_mutating_policies__what_is_built_is_bounded),
		cmocka_unit_test(test_mutating_policies__of_what_no_converter_makes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
