/* test_options.c: query parameters and DeleteOptions, in the words of a real 1.36. */
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define NS    "/namespaces/default/"
#define CMS   "/api/v1" NS "configmaps"
#define LIST  "ListOptions.meta.k8s.io \"\" is invalid: "
#define GONE  "DeleteOptions.meta.k8s.io \"\" is invalid: "
#define MADE  "CreateOptions.meta.k8s.io \"\" is invalid: "
#define PATCH "PatchOptions.meta.k8s.io \"\" is invalid: "
#define X64   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define POD   "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"
#define SETS                                                                                   \
	"\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":" \
	"{\"a\":\"b\"}}," POD "}}"

static struct apifake *f;

static int setup(void **state)
{
	(void)state;
	f = apifake_new(NULL);
	apifake_expect(f, "POST", CMS, "{\"metadata\":{\"name\":\"c\",\"labels\":{\"a\":\"b\"}}}",
		       201);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	apifake_free(f);
	return 0;
}

static const struct {
	const char *method, *target, *body;
	int status;
	const char *message; /* NULL: whatever */
} faults[] = {
	{"DELETE", CMS "/c?dryRun=Nope", NULL, 422,
	 GONE "dryRun: Unsupported value: []string{\"Nope\"}: supported values: \"All\""},
	{"DELETE", CMS "/c", "{\"dryRun\":[\"Nope\"]}", 422,
	 GONE "dryRun: Unsupported value: []string{\"Nope\"}: supported values: \"All\""},
	{"DELETE", CMS "/c?propagationPolicy=Nope", NULL, 422,
	 GONE "propagationPolicy: Unsupported value: \"Nope\": supported values: "
	      "\"Foreground\", \"Background\", \"Orphan\", \"nil\""},
	{"DELETE", CMS "/c", "{\"propagationPolicy\":\"Background\",\"orphanDependents\":true}",
	 422,
	 GONE "propagationPolicy: Invalid value: \"Background\": orphanDependents and "
	      "deletionPropagation cannot be both set"},
	{"DELETE", CMS "/c?propagationPolicy=Orphan&orphanDependents=false", NULL, 422,
	 GONE "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and "
	      "deletionPropagation cannot be both set"},
	{"DELETE", CMS "/c",
	 "{\"propagationPolicy\":\"Background\",\"orphanDependents\":null,\"dryRun\":[\"All\"]}",
	 200, NULL},
	/* of a body that there is the query is not looked at */
	{"DELETE", CMS "/c?propagationPolicy=Orphan&orphanDependents=true",
	 "{\"dryRun\":[\"All\"]}", 200, NULL},
	{"DELETE", CMS "/c?dryRun=Nope&propagationPolicy=Nope", "{\"dryRun\":[\"All\"]}", 200,
	 NULL},
	{"POST", CMS "?dryRun=All&fieldValidation=Nope", "{\"metadata\":{\"name\":\"d\"}}", 422,
	 MADE "fieldValidation: Unsupported value: \"Nope\": supported values: \"\", "
	      "\"Ignore\", \"Strict\", \"Warn\""},
	{"POST", CMS "?dryRun=All&fieldManager=" X64 X64, "{\"metadata\":{\"name\":\"d\"}}", 201,
	 NULL},
	{"POST", CMS "?dryRun=All&fieldManager=" X64 X64 "x", "{\"metadata\":{\"name\":\"d\"}}",
	 422, MADE "fieldManager: Too long: may not be more than 128 bytes"},
	{"POST", CMS "?dryRun=All&fieldManager=a%1fb", "{\"metadata\":{\"name\":\"d\"}}", 422,
	 NULL},
	{"POST", CMS "?dryRun=All&fieldManager=a%7fb", "{\"metadata\":{\"name\":\"d\"}}", 422,
	 NULL},
	{"POST", CMS "?dryRun=All&fieldManager=a%20b", "{\"metadata\":{\"name\":\"d\"}}", 201,
	 NULL},
	{"PATCH", CMS "/c?force=true", "{}", 422,
	 PATCH "force: Forbidden: may not be specified for non-apply patch"},
	{"GET", CMS "?sendInitialEvents=true", NULL, 422,
	 LIST "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
	{"GET", CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", NULL, 422,
	 LIST "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
	      "resourceVersionMatch to NotOlderThan"},
	{"GET", CMS "?resourceVersionMatch=Exact", NULL, 422,
	 LIST "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
	      "resourceVersion is provided"},
	{"GET", CMS "?resourceVersionMatch=NotOlderThan&resourceVersion=0&continue=x", NULL, 422,
	 LIST "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
	      "continue is provided"},
	{"GET", CMS "?resourceVersionMatch=Nope&resourceVersion=1", NULL, 422,
	 LIST "resourceVersionMatch: Unsupported value: \"Nope\": supported values: "
	      "\"Exact\", \"NotOlderThan\", \"\""},
	{"GET", CMS "?resourceVersionMatch=Exact&resourceVersion=0", NULL, 422,
	 LIST "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden "
	      "for resourceVersion \"0\""},
	{"GET", CMS "?resourceVersionMatch=NotOlderThan&resourceVersion=0", NULL, 200, NULL},
	{"GET", CMS "?continue=x&resourceVersion=1", NULL, 400,
	 "specifying resource version is not allowed when using continue"},
	{"GET", CMS "?limit=x", NULL, 400, "strconv.ParseInt: parsing \"x\": invalid syntax"},
	{"GET", CMS "?resourceVersion=x", NULL, 400,
	 "invalid resource version: resourceVersion: Invalid value: \"x\": "
	 "strconv.ParseUint: parsing \"x\": invalid syntax"},
	{"GET", CMS "?resourceVersion=9223372036854775808", NULL, 400, NULL},
	{"GET", CMS "?fieldSelector=data.a%3Db", NULL, 400, NULL},
	{"GET", "/api/v1/watch" NS "configmaps/c?fieldSelector=metadata.name%3Dd", NULL, 400,
	 "fieldSelector metadata.name doesn't match requested name"},
};

static void test_options__what_is_no_option_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		bool patch = cstr_eq(faults[i].method, "PATCH");
		struct answer a =
			apifake_do_type(f, faults[i].method, faults[i].target,
					patch ? "application/merge-patch+json" : "application/json",
					faults[i].body);
		const char *said = obj_str(a.json, "message");
		if (a.status != faults[i].status ||
		    (faults[i].message && !cstr_eq(said, faults[i].message)))
			fail_msg("%s: %d %s", faults[i].target, a.status, said ? said : "");
	}
}

/* The old form of a propagation, in the body or the query. */
static void test_options__what_becomes_of_dependents(void **state)
{
	static const struct {
		const char *query, *body, *finalizer; /* NULL: it is gone */
	} rows[] = {
		{"", NULL, NULL},
		{"?orphanDependents=true", NULL, "orphan"},
		{"?orphanDependents=1", NULL, "orphan"},
		{"?orphanDependents=false", NULL, NULL},
		{"?orphanDependents=0", NULL, NULL},
		{"", "{\"orphanDependents\":true}", "orphan"},
		{"", "{\"orphanDependents\":false}", NULL},
		{"?propagationPolicy=Orphan", NULL, "orphan"},
		{"?propagationPolicy=Orphan", "{\"propagationPolicy\":\"Foreground\"}",
		 "foregroundDeletion"},
		{"?propagationPolicy=Background", NULL, NULL},
		{"?propagationPolicy=Orphan", "{}", NULL},
		{"?orphanDependents=true", "{\"gracePeriodSeconds\":0}", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char name[16], body[120], target[160];
		(void)snprintf(name, sizeof(name), "of-%zu", i);
		(void)snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"}}", name);
		(void)snprintf(target, sizeof(target), CMS "/%s%s", name, rows[i].query);
		apifake_expect(f, "POST", CMS, body, 201);
		size_t n = apifake_send(f, "DELETE", target, "application/json", rows[i].body);
		struct answer a = apifake_answer(f, n); /* before the collector comes */
		const char *has = obj_as_string(obj_at(obj_path(a.json, "metadata.finalizers"), 0));
		if (a.status == 0) {
			apifake_run(f);
			a = apifake_answer(f, n);
			has = obj_as_string(obj_at(obj_path(a.json, "metadata.finalizers"), 0));
		}
		assert_int_equal(a.status, 200);
		if (rows[i].finalizer ? !cstr_eq(has, rows[i].finalizer) : has != NULL)
			fail_msg("row %zu: %.*s", i, STR_ARG(a.body));
	}
}

/* As a real server: what the query says of it is not looked at. */
static void test_options__a_body_that_asks_for_no_trial_deletes(void **state)
{
	(void)state;
	apifake_expect(f, "POST", CMS, "{\"metadata\":{\"name\":\"tried\"}}", 201);
	apifake_expect(f, "DELETE", CMS "/tried?dryRun=All", NULL, 200);
	apifake_expect(f, "GET", CMS "/tried", NULL, 200);
	apifake_expect(f, "DELETE", CMS "/tried?dryRun=All", "{}", 200);
	apifake_expect(f, "GET", CMS "/tried", NULL, 404);
}

/* A deletion that is under way takes what a later one asks for. */
static void test_options__a_second_deletion_may_ask_for_more(void **state)
{
	static const char one[] = CMS "/held";
	(void)state;
	apifake_expect(f, "POST", CMS,
		       "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"a.b/c\"]}}", 201);
	struct answer a = apifake_expect(f, "DELETE", one, NULL, 200);
	CLEANUP(xfreep) char *first = xstrdup(obj_str(a.json, "metadata.resourceVersion"));
	a = apifake_expect(f, "DELETE", one, NULL, 200); /* nothing more: nothing is written */
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"), first);
	apifake_expect(f, "DELETE", one, "{\"propagationPolicy\":\"Orphan\"}", 200);
	a = apifake_expect(f, "GET", one, NULL, 200);
	assert_string_not_equal(obj_str(a.json, "metadata.resourceVersion"), first);
}

static const struct {
	const char *list, *body;
} selected_from[] = {
	{"/api/v1" NS "pods", "{\"metadata\":{\"name\":\"p\"}," POD ",\"nodeName\":\"n\"}}"},
	{"/api/v1" NS "pods", "{\"metadata\":{\"name\":\"q\"}," POD ",\"hostNetwork\":true}}"},
	{"/api/v1/nodes", "{\"metadata\":{\"name\":\"n\"}}"},
	{"/api/v1/nodes", "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"unschedulable\":true}}"},
	{"/apis/apps/v1" NS "replicasets", "{\"metadata\":{\"name\":\"s\"},\"spec\":{" SETS "}}"},
	{"/apis/batch/v1" NS "jobs", "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{" POD
				     ",\"restartPolicy\":\"Never\"}}}}"},
	{"/api/v1" NS "secrets", "{\"metadata\":{\"name\":\"x\"},\"type\":\"a/b\"}"},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests",
	 "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"request\":"
	 "\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=\",\"signerName\":\"a.b/c\","
	 "\"usages\":[\"client auth\"]}}"},
	{"/apis/resource.k8s.io/v1/resourceslices",
	 "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"driver\":\"d.io\",\"nodeName\":\"n\","
	 "\"pool\":{\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":1},"
	 "\"devices\":[{\"name\":\"v\"}]}}"},
	{"/api/v1" NS "services",
	 "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"clusterIP\":\"None\",\"ports\":[{"
	 "\"port\":80}]}}"},
	{"/api/v1" NS "events",
	 "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Pod\","
	 "\"namespace\":"
	 "\"default\",\"name\":\"p\"},\"reason\":\"R\",\"type\":\"Normal\",\"source\":{"
	 "\"component\":\"k\"}}"},
};

static const struct {
	const char *list, *selector, *names;
} selections[] = {
	{"/api/v1" NS "pods", "spec.nodeName%3Dn", "p"},
	{"/api/v1" NS "pods", "spec.host%3Dn", "p"},
	{"/api/v1" NS "pods", "spec.nodeName!%3Dn", "q"},
	{"/api/v1" NS "pods", "spec.hostNetwork%3Dtrue", "q"},
	{"/api/v1" NS "pods", "spec.hostNetwork%3Dfalse", "p"},
	{"/api/v1" NS "pods", "status.phase%3DPending", "p q"},
	{"/api/v1" NS "pods", "spec.restartPolicy%3DNever", ""},
	{"/api/v1/nodes", "spec.unschedulable%3Dfalse", "n"},
	{"/api/v1/nodes", "spec.unschedulable%3Dtrue", "o"},
	{"/apis/apps/v1" NS "replicasets", "status.replicas%3D0", "s"},
	{"/apis/apps/v1" NS "replicasets", "status.replicas%3D1", ""},
	{"/apis/batch/v1" NS "jobs", "status.successful%3D2", "j"},
	{"/apis/batch/v1" NS "jobs", "status.successful%3D0", ""},
	{"/api/v1" NS "secrets", "type%3Da/b", "x"},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName%3Da.b/c", "c"},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName!%3Da.b/c", ""},
	{"/apis/resource.k8s.io/v1/resourceslices", "spec.nodeName%3Dn,spec.driver%3Dd.io", "r"},
	{"/apis/resource.k8s.io/v1/resourceslices", "spec.driver%3De.io", ""},
	{"/api/v1" NS "services", "spec.clusterIP%3DNone,spec.type%3DClusterIP", "v"},
	{"/api/v1" NS "events", "involvedObject.name%3Dp,source%3Dk", "e"},
	{"/api/v1" NS "events", "source%3Dl", ""},
	{"/api/v1" NS "events", "reason%3DR,type!%3DNormal", ""},
};

/* Fields of built-in kinds that may be asked for, also where they are absent or stand elsewhere. */
static void test_options__fields_are_selected(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(selected_from); i++)
		apifake_expect(f, "POST", selected_from[i].list, selected_from[i].body, 201);
	apifake_expect(f, "PATCH", "/apis/batch/v1" NS "jobs/j/status",
		       "{\"status\":{\"succeeded\":2}}", 200);
	for (size_t i = 0; i < ARRAY_LEN(selections); i++) {
		struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		char target[200];
		(void)snprintf(target, sizeof(target), "%s?fieldSelector=%s", selections[i].list,
			       selections[i].selector);
		struct answer a = apifake_expect(f, "GET", target, NULL, 200);
		const struct obj *items = obj_get(a.json, "items");
		for (size_t k = 0; k < obj_len(items); k++)
			strbuf_addf(&b, "%s%s", k ? " " : "",
				    obj_str(obj_at(items, k), "metadata.name"));
		if (strcmp(b.buf, selections[i].names) != 0)
			fail_msg("%s: %s", target, b.buf);
		strbuf_release(&b);
	}
}

/* What an apply says of the object is what its path says. */
static void test_options__an_apply_is_of_its_path(void **state)
{
	static const struct {
		const char *body;
		int status;
	} rows[] = {
		{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}",
		 200},
		{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"d\"}}",
		 400},
		{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","
		 "\"namespace\":\"other\"}}",
		 400},
		{"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"c\"}}", 400},
		{"{\"apiVersion\":\"v2\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}",
		 400},
		{"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}", 400},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct answer a = apifake_do_type(f, "PATCH", CMS "/c?fieldManager=m",
						  "application/apply-patch+yaml", rows[i].body);
		if (a.status != rows[i].status)
			fail_msg("%s: %d %.*s", rows[i].body, a.status, STR_ARG(a.body));
	}
}

/* An owner that is named often is kept once: neither time nor memory for each pair of them. */
static void test_options__an_owner_named_often_is_one(void **state)
{
	(void)state;
	static const char owner[] = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\","
				    "\"uid\":\"u\"}";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"owned\",\"ownerReferences\":[");
	for (int i = 0; i < 15000; i++)
		strbuf_addf(&b, "%s,", owner);
	strbuf_addf(&b, "%s]}}", owner);
	struct answer a = apifake_do_type(f, "POST", CMS, "application/json", b.buf);
	assert_int_equal(a.status, 201);
	assert_int_equal(obj_len(obj_path(a.json, "metadata.ownerReferences")), 1);
}

/* Each field that an apply may not have is told, however many there are. */
static void test_options__an_apply_is_refused_with_all_reasons(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b,
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}");
	for (int i = 0; i < 60; i++)
		strbuf_addf(&b, ",\"none%d\":1", i);
	strbuf_addc(&b, '}');
	struct answer a = apifake_do_type(f, "PATCH", CMS "/c?fieldManager=m",
					  "application/apply-patch+yaml", b.buf);
	assert_int_equal(a.status, 400);
	for (int i = 0; i < 60; i++) {
		char line[64];
		snprintf(line, sizeof(line), "\n  .none%d: field not declared in schema", i);
		if (!strstr(obj_str(a.json, "message"), line))
			fail_msg("none%d is not told: %s", i, obj_str(a.json, "message"));
	}
}

/* Without ?fieldManager= it is what the program calls itself, up to its version. */
static void test_options__a_manager_is_the_program(void **state)
{
	(void)state;
	static const struct {
		const char *agent, *manager;
	} rows[] = {
		{NULL, "test"},
		{"", "unknown"},
		{"kubectl/v1.36 (linux/amd64)", "kubectl"},
		{"curl", "curl"},
		{X64 X64 "yy/1", X64 X64},
		{X64 X64 "/1", X64 X64},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].agent)
			apifake_header(f, "User-Agent", rows[i].agent);
		struct answer a = apifake_expect(
			f, "POST", CMS,
			"{\"metadata\":{\"generateName\":\"m-\"},\"data\":{\"a\":\"b\"}}", 201);
		const struct obj *managed = obj_path(a.json, "metadata.managedFields");
		assert_int_equal(obj_len(managed), 1);
		assert_string_equal(obj_str(obj_at(managed, 0), "manager"), rows[i].manager);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_options__what_is_no_option_is_told),
		T(test_options__what_becomes_of_dependents),
		T(test_options__a_body_that_asks_for_no_trial_deletes),
		T(test_options__a_second_deletion_may_ask_for_more),
		T(test_options__fields_are_selected),
		T(test_options__an_apply_is_of_its_path),
		T(test_options__an_apply_is_refused_with_all_reasons),
		T(test_options__an_owner_named_often_is_one),
		T(test_options__a_manager_is_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
