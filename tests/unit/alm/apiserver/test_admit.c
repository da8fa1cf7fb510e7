/* admit: what becomes of single kinds when they are written: texts of Secrets, keys without a certificate, owners, documents of the log. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/db_failing.h"

#define NS      "/api/v1/namespaces/default/"
#define SECRETS NS "secrets"

static const char *warning(const struct answer *a)
{
	for (size_t i = 0; a->headers && i < a->headers->n; i++)
		if (strcmp(a->headers->items[i].name, "Warning") == 0)
			return a->headers->items[i].value;
	return NULL;
}

static void test_admit__keys_without_a_certificate_are_told(void **state)
{
	static const struct {
		const char *type, *cert; /* cert NULL: none at all */
		bool told;
	} rows[] = {
		{"kubernetes.io/tls", "-----BEGIN CERTIFICATE-----", true}, /* and no end */
		{"kubernetes.io/tls", " -----BEGIN x", true},
		{"kubernetes.io/tls", "-----BEGIN", true},
		{"kubernetes.io/tls", "x", true},
		{"kubernetes.io/tls", "", true},
		{"Opaque", "x", false},
		{"Opaque", NULL, false},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "{\"metadata\":{\"name\":\"s%zu\"},\"type\":\"%s\",\"data\":{", i,
			    rows[i].type);
		if (rows[i].cert) {
			strbuf_adds(&b, "\"tls.crt\":\"");
			base64_encode(str_of(rows[i].cert), &b);
			strbuf_adds(&b, "\",");
		}
		strbuf_adds(&b, "\"tls.key\":\"eA==\"}}");
		struct answer a = apifake_expect(f, "POST", SECRETS, b.buf, 201);
		if ((warning(&a) != NULL) != rows[i].told)
			fail_msg("row %zu: %s", i, warning(&a));
		if (rows[i].told)
			assert_non_null(strstr(warning(&a), "tls: failed to find any PEM data in "
							    "certificate input"));
	}
}

static void test_admit__texts_of_a_secret(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a =
		apifake_expect(f, "POST", SECRETS,
			       "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"eA==\","
			       "\"b\":\"eA==\"},\"stringData\":{\"b\":\"yy\",\"c\":\"\"}}",
			       201);
	assert_string_equal(obj_str(a.json, "data.a"), "eA==");
	assert_string_equal(obj_str(a.json, "data.b"), "eXk=");
	assert_string_equal(obj_str(a.json, "data.c"), "");
	assert_string_equal(obj_str(a.json, "type"), "Opaque");
	assert_false(obj_has(a.json, "stringData"));
	a = apifake_expect(f, "POST", SECRETS,
			   "{\"metadata\":{\"name\":\"t\"},\"type\":\"x.io/y\",\"stringData\":{"
			   "\"c\":\"d\"}}",
			   201);
	assert_string_equal(obj_str(a.json, "data.c"), "ZA==");
	assert_string_equal(obj_str(a.json, "type"), "x.io/y");
}

/* Two that say that they alone control it: all are shown, as they are, once for each but the first. */
static void test_admit__owners_that_control(void **state)
{
#define OWNER(name, more) \
	"{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"" name "\",\"uid\":\"u" name "\"" more "}"
#define IS ",\"controller\":true"
	static const struct {
		const char *owners, *want; /* want NULL: it is taken */
	} rows[] = {
		{OWNER("a", IS), NULL},
		{OWNER("a", IS) "," OWNER("b", ""), NULL},
		{OWNER("a", ",\"controller\":false") "," OWNER("b", IS), NULL},
		{OWNER("a", IS) "," OWNER("b", IS),
		 "metadata.ownerReferences: Invalid value: [" OWNER("a", IS) "," OWNER(
			 "b", IS) "]: Only one reference can have Controller set to true. Found "
				  "\"true\" in "
				  "references for K/a and K/b"},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "{\"metadata\":{\"name\":\"m%zu\",\"ownerReferences\":[%s]}}", i,
			    rows[i].owners);
		struct answer a = apifake_expect(f, "POST", NS "configmaps?dryRun=All", b.buf,
						 rows[i].want ? 422 : 201);
		if (rows[i].want)
			assert_non_null(strstr(obj_str(a.json, "message"), rows[i].want));
	}
}

/* A plural is not a kind: LimitRanges and quotas of Pods are about those of the core alone. */
static void test_admit__pods_of_another_group(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_expect(
		f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"{\"metadata\":{\"name\":\"pods.x.example.com\"},\"spec\":{\"group\":"
		"\"x.example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"pods\","
		"\"kind\":\"Pod\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":"
		"true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-"
		"preserve-unknown-fields\":true}}}]}}",
		201);
	apifake_expect(
		f, "POST", NS "limitranges",
		"{\"metadata\":{\"name\":\"l\"},\"spec\":{\"limits\":[{\"type\":\"Container\","
		"\"max\":{\"cpu\":\"1\"},\"default\":{\"cpu\":\"1\"}}]}}",
		201);
	apifake_expect(f, "POST", NS "resourcequotas",
		       "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"0\"}}}", 201);
	struct answer a =
		apifake_expect(f, "POST", "/apis/x.example.com/v1/namespaces/default/pods",
			       "{\"apiVersion\":\"x.example.com/"
			       "v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
			       "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
			       "\"resources\":{\"limits\":{"
			       "\"cpu\":\"9\"}}}]}}",
			       201);
	assert_string_equal(obj_str(a.json, "spec.containers[0].resources.limits.cpu"), "9");
	assert_null(obj_path(a.json, "spec.containers[0].resources.requests"));
}

/* --- the log beside the objects --- */

/* A database that fails at any call: it is told, and the request has an answer. */
static void test_admit__an_export_that_cannot_be_noted(void **state)
{
	(void)state;
	int n = 1;
	for (int at = 0; at <= n; at++) {
		CLEANUP(apifake_freep) struct apifake *f =
			apifake_new(&(struct apifake_options){.with_audit = true});
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "{\"origin\":\"%s\",\"format\":\"jsonl\"}",
			    audit_origin(apifake_audit(f)));
		db_failing_watch(apifake_db(f));
		db_failing_begin(apifake_db(f), at, false);
		struct answer a = apifake_do(f, "POST", "/audit/exported", b.buf);
		int calls = db_failing_end();
		n = at ? n : calls;
		assert_true(a.ended);
		assert_int_equal(a.status, at ? 500 : 200);
	}
	assert_true(n > 1);
}

static void test_admit__an_export_is_noted(void **state)
{
	static const struct {
		const char *body;
		int want;
	} rows[] = {
		{"{\"origin\":\"ORIGIN\",\"format\":\"jsonl\",\"fromSeq\":2}", 200},
		{"{\"origin\":\"ORIGIN\",\"format\":\"12345678901234567890123456789012\"}", 200},
		{"{\"origin\":\"ORIGIN\",\"format\":\"123456789012345678901234567890123\"}", 400},
		{"{\"origin\":\"other\",\"format\":\"jsonl\"}", 400},
		{"{\"format\":\"jsonl\"}", 400},
		{"{\"origin\":\"ORIGIN\"}", 400},
		{"{\"origin\":", 400},
	};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f =
		apifake_new(&(struct apifake_options){.with_audit = true});
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		int64_t before = audit_last_seq(apifake_audit(f));
		const char *at = strstr(rows[i].body, "ORIGIN");
		if (at)
			strbuf_addf(&b, "%.*s%s%s", (int)(at - rows[i].body), rows[i].body,
				    audit_origin(apifake_audit(f)), at + strlen("ORIGIN"));
		else
			strbuf_adds(&b, rows[i].body);
		apifake_expect(f, "POST", "/audit/exported", b.buf, rows[i].want);
		assert_int_equal(audit_last_seq(apifake_audit(f)) - before, rows[i].want == 200);
		if (i > 0)
			continue;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(apifake_audit(f), before + 1, &row, &err), &err);
		assert_string_equal(obj_str(row, "actor"), "admin");
		assert_string_equal(obj_str(row, "body.format"), "jsonl");
		assert_int_equal(obj_i64(row, "body.fromSeq", -1), 2);
	}
	apifake_expect(f, "PUT", "/audit/exported", "{}", 405);
	apifake_expect(f, "GET", "/audit/none", NULL, 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_admit__keys_without_a_certificate_are_told),
		cmocka_unit_test(test_admit__texts_of_a_secret),
		cmocka_unit_test(test_admit__owners_that_control),
		cmocka_unit_test(test_admit__pods_of_another_group),
		cmocka_unit_test(test_admit__an_export_is_noted),
		cmocka_unit_test(test_admit__an_export_that_cannot_be_noted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
