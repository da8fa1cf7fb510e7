/* Columns and scale of definitions. The messages are those of kube-apiserver 1.36. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define GS   "/apis/x.io/v1/namespaces/default/gs"

/* A definition whose versions have what is given; NULL: there is one version. */
static struct answer define(struct apifake *f, const char *first, const char *second)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b,
		    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		    "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"gs.x.io\"},\"spec\":{"
		    "\"group\":\"x.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"gs\","
		    "\"kind\":\"G\"},\"versions\":[");
	const char *const versions[] = {first, second};
	for (int i = 0; i < 2 && versions[i]; i++)
		strbuf_addf(&b,
			    "%s{\"name\":\"v%d\",\"served\":true,\"storage\":%s,\"schema\":{"
			    "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-"
			    "unknown-fields\":true}},%s}",
			    i ? "," : "", i + 1, i ? "false" : "true", versions[i]);
	strbuf_adds(&b, "]}}");
	return apifake_do(f, "POST", CRDS, b.buf);
}

#define SCALE(paths)    "\"subresources\":{\"status\":{},\"scale\":{" paths "}}"
#define SPEC(path)      "\"specReplicasPath\":\"" path "\""
#define STATUS(path)    "\"statusReplicasPath\":\"" path "\""
#define SELECTOR(path)  "\"labelSelectorPath\":\"" path "\""
#define COLUMN(members) "\"additionalPrinterColumns\":[{" members "}]"
#define TYPES           "must be one of boolean,date,integer,number,string"
#define SIMPLE          "must be a simple json path starting with ."

static const struct {
	const char *first, *second, *message;
} refused[] = {
	{SCALE(""), NULL,
	 "[spec.subresources.scale.specReplicasPath: Required value, "
	 "spec.subresources.scale.statusReplicasPath: Required value]"},
	{SCALE(SPEC(".spec.n")), NULL,
	 "spec.subresources.scale.statusReplicasPath: Required value"},
	{SCALE(SPEC(".metadata.labels") "," STATUS(".spec.x")), NULL,
	 "[spec.subresources.scale.specReplicasPath: Invalid value: \".metadata.labels\": should "
	 "be "
	 "a json path under .spec, spec.subresources.scale.statusReplicasPath: Invalid value: "
	 "\".spec.x\": should be a json path under .status]"},
	{SCALE(SPEC("spec.n") "," STATUS(".status.n") "," SELECTOR("status.s")), NULL,
	 "[spec.subresources.scale.specReplicasPath: Invalid value: \"spec.n\": " SIMPLE
	 ", spec.subresources.scale.labelSelectorPath: Invalid value: \"status.s\": " SIMPLE "]"},
	{SCALE(SPEC(".spec.n") "," STATUS(".status.n") "," SELECTOR(".metadata.s")), NULL,
	 "spec.subresources.scale.labelSelectorPath: Invalid value: \".metadata.s\": should be a "
	 "json path under either .spec or .status"},
	{SCALE(SPEC(".spec.n") "," STATUS(".status.n")),
	 SCALE(SPEC(".spe.n") "," STATUS(".status.n")),
	 "spec.versions[1].subresources.scale.specReplicasPath: Invalid value: \".spe.n\": should "
	 "be "
	 "a json path under .spec"},
	{SCALE(SPEC(".spe.n") "," STATUS(".status.n")),
	 SCALE(SPEC(".spe.n") "," STATUS(".status.n")),
	 "spec.subresources.scale.specReplicasPath: Invalid value: \".spe.n\": should be a json "
	 "path under .spec"},
	{COLUMN(""), NULL,
	 "[spec.additionalPrinterColumns[0].name: Required value, "
	 "spec.additionalPrinterColumns[0].type: Required value: " TYPES
	 ", spec.additionalPrinterColumns[0].JSONPath: Required value]"},
	{COLUMN("\"name\":\"A\",\"type\":\"text\",\"jsonPath\":\"spec.x\",\"format\":\"int16\""),
	 NULL,
	 "[spec.additionalPrinterColumns[0].type: Invalid value: \"text\": " TYPES
	 ", spec.additionalPrinterColumns[0].format: Invalid value: \"int16\": must be one of "
	 "byte,date,date-time,double,float,int32,int64,password, "
	 "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"spec.x\": " SIMPLE "]"},
	{COLUMN("\"name\":\"A\",\"type\":\"string\",\"jsonPath\":\".spec.x\""),
	 COLUMN("\"name\":\"A\",\"type\":\"str\",\"jsonPath\":\".spec.x\""),
	 "spec.versions[1].additionalPrinterColumns[0].type: Invalid value: \"str\": " TYPES},
};

static void test_crd_check__paths_and_columns_lead_where_they_may(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const char begin[] =
		"CustomResourceDefinition.apiextensions.k8s.io \"gs.x.io\" is invalid: ";
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct answer a = define(f, refused[i].first, refused[i].second);
		const char *message = obj_str(a.json, "message");
		assert_int_equal(a.status, 422);
		assert_memory_equal(message, begin, strlen(begin));
		assert_string_equal(message + strlen(begin), refused[i].message);
	}
}

/* Steps are names, also "" and "a[0]"; nothing that is not there ends the server. */
static void test_crd_check__odd_paths_are_names(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const char merge[] = "application/merge-patch+json";
	assert_int_equal(define(f, SCALE(SPEC(".spec..a[0]") "," STATUS(".status.n")), NULL).status,
			 201);
	assert_int_equal(apifake_do(f, "POST", GS,
				    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"G\",\"metadata\":{"
				    "\"name\":\"a\"},\"spec\":{}}")
				 .status,
			 201);
	struct answer a = apifake_do(f, "GET", GS "/a/scale", NULL);
	assert_int_equal(a.status, 500);
	assert_string_equal(obj_str(a.json, "message"),
			    "Internal error occurred: the spec replicas field \".spec..a[0]\" does "
			    "not exist");
	a = apifake_do_type(f, "PATCH", GS "/a/scale", merge, "{\"spec\":{\"replicas\":3}}");
	assert_int_equal(a.status, 200);
	a = apifake_do(f, "GET", GS "/a", NULL);
	assert_non_null(strstr(a.body.ptr, "\"spec\":{\"\":{\"a[0]\":3}}"));
	a = apifake_do_type(f, "PATCH", GS "/a", merge, "{\"spec\":{\"\":\"x\"}}");
	assert_int_equal(a.status, 422);
	assert_non_null(strstr(a.body.ptr, ".spec..a[0] accessor error: x is of the type string, "
					   "expected map[string]interface{}"));
}

static void test_scale__replicas_that_are_no_int32_are_refused(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const struct {
		const char *spec, *message;
	} bad[] = {
		{"{\"replicas\":\"3\"}", "string into Go struct field ScaleSpec.spec.replicas of"},
		{"{\"replicas\":true}", "bool into Go struct field ScaleSpec.spec.replicas of"},
		{"{\"replicas\":{}}", "object into Go struct field ScaleSpec.spec.replicas of"},
		{"{\"replicas\":1.5}", "number 1.5 into Go struct field ScaleSpec.spec.replicas"},
		{"{\"replicas\":2147483648}", "number 2147483648 into Go struct field ScaleSpec."},
		{"{\"replicas\":9223372036854775808}", "number 9223372036854775808 into Go struct"},
		{"3", "number 3 into Go struct field Scale.spec of type v1.ScaleSpec"},
	};
	assert_int_equal(define(f, SCALE(SPEC(".spec.n") "," STATUS(".status.n")), NULL).status,
			 201);
	assert_int_equal(apifake_do(f, "POST", GS,
				    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"G\",\"metadata\":{"
				    "\"name\":\"a\"},\"spec\":{\"n\":4}}")
				 .status,
			 201);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char body[256];
		snprintf(body, sizeof(body),
			 "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{"
			 "\"name\":\"a\"},\"spec\":%s}",
			 bad[i].spec);
		struct answer a = apifake_do(f, "PUT", GS "/a/scale", body);
		assert_int_equal(a.status, 400);
		assert_non_null(strstr(obj_str(a.json, "message"), bad[i].message));
	}
	struct answer a = apifake_do(f, "GET", GS "/a", NULL);
	assert_non_null(strstr(a.body.ptr, "\"spec\":{\"n\":4}"));
}

/* Answered as the real server's decoder does: 400. */
static void test_crd_check__members_have_their_types(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const char *const wrong[][2] = {
		{"\"additionalPrinterColumns\":\"x\"", "spec.versions.additionalPrinterColumns"},
		{COLUMN("\"name\":\"A\",\"priority\":\"1\""),
		 "spec.versions.additionalPrinterColumns.priority"},
		{"\"additionalPrinterColumns\":[1]", "spec.versions.additionalPrinterColumns"},
		{"\"subresources\":{\"scale\":1}", "spec.versions.subresources.scale"},
		{"\"subresources\":[]", "spec.versions.subresources"},
		{"\"deprecated\":\"yes\"", "spec.versions.deprecated"},
		{"\"selectableFields\":[{\"jsonPath\":7}]",
		 "spec.versions.selectableFields.jsonPath"},
	};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct answer a = define(f, wrong[i][0], NULL);
		assert_int_equal(a.status, 400);
		if (!strstr(obj_str(a.json, "message"), wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], obj_str(a.json, "message"));
	}
	assert_int_equal(define(f, "\"deprecated\":null,\"subresources\":null", NULL).status, 201);
}

/* Recorded on 1.36, but for the tail of each text, which is that of every DNS-1035 label. */
static void test_crd_check__names(void **state)
{
	(void)state;
#define LABEL "a DNS-1035 label must consist of"
#define MIXED "may have mixed case, but should otherwise match: " LABEL
	static const struct {
		const char *names, *fields[4];
	} cases[] = {
		{"\"kind\":\"my kind\"",
		 {"spec.names.singular: Invalid value: \"my kind\": " LABEL,
		  "spec.names.kind: Invalid value: \"my kind\": " MIXED,
		  "spec.names.listKind: Invalid value: \"my kindList\": " MIXED}},
		{"\"kind\":\"A\",\"listKind\":\"A List\"",
		 {"spec.names.listKind: Invalid value: \"A List\": " MIXED}},
		{"\"kind\":\"A\",\"singular\":\"A b\"",
		 {"spec.names.singular: Invalid value: \"A b\": " LABEL}},
		{"\"kind\":\"A\",\"shortNames\":[\"X Y\"]",
		 {"spec.names.shortNames[0]: Invalid value: \"X Y\": " LABEL}},
		{"\"kind\":\"A\",\"categories\":[\"X Y\"]",
		 {"spec.names.categories[0]: Invalid value: \"X Y\": " LABEL}},
		{"\"kind\":\"A\",\"listKind\":\"A\"",
		 {"spec.names.listKind: Invalid value: \"A\": kind and listKind may not be the "
		  "same"}},
	};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
			    "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"as.x.io\"},"
			    "\"spec\":{\"group\":\"x.io\",\"scope\":\"Namespaced\",\"names\":{"
			    "\"plural\":\"as\",%s},\"versions\":[{\"name\":\"v1\",\"served\":true,"
			    "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
			    "\"object\"}}}]}}",
			    cases[i].names);
		struct answer r = apifake_do(f, "POST", CRDS, b.buf);
		const char *said = obj_str(r.json, "message"), *at = said;
		assert_int_equal(r.status, 422);
		for (size_t k = 0; k < 4 && cases[i].fields[k]; k++) {
			at = at ? strstr(at, cases[i].fields[k]) : NULL;
			if (!at)
				fail_msg("%s: %s", cases[i].fields[k], said);
		}
		apifake_forget(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crd_check__paths_and_columns_lead_where_they_may),
		cmocka_unit_test(test_crd_check__odd_paths_are_names),
		cmocka_unit_test(test_crd_check__members_have_their_types),
		cmocka_unit_test(test_crd_check__names),
		cmocka_unit_test(test_scale__replicas_that_are_no_int32_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
