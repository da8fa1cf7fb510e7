/* What was made by documents of 2017 is there by their names, too: kubectl apply, get, replace, delete. */
#include "alm/apiserver/modern.h"

#include "crds/marks.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define OLD_CRDS "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
#define OLD_CRD  OLD_CRDS "/etcds.1.etcd.coreos.com"
#define CRD      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/etcds.etcd.coreos.com"
#define OLD_ONE  "/apis/v1alpha1.etcd.coreos.com/v1alpha1/namespaces/default/etcds"
#define ONE      "/apis/etcd.coreos.com/v1/namespaces/default/etcds/a"
#define MERGE    "application/merge-patch+json"

static const char definition[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1beta1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"etcds.1.etcd.coreos.com\"},\"spec\":{\"group\":"
	"\"1.etcd.coreos.com\",\"version\":1,\"scope\":\"Namespaced\",\"names\":{\"plural\":"
	"\"etcds\",\"singular\":\"etcd\",\"kind\":\"EtcdCluster\"},\"validation\":{\"openAPIv3\":"
	"\"{\\\"size\\\": \\\"int\\\"%s}\"}}}";

static const char instance[] =
	"{\"apiVersion\":\"v1alpha1.etcd.coreos.com/v1alpha1\",\"kind\":\"EtcdCluster\","
	"\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"},\"spec\":{\"size\":%s}}";

static struct answer send(struct apifake *f, const char *method, const char *target,
			  const char *format, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str rest = str_of(format), head, tail;
	if (str_find(rest, STR("%s")) < 0) {
		strbuf_adds(&b, format);
	} else {
		head = str_n(rest.ptr, (size_t)str_find(rest, STR("%s")));
		tail = str_skip(rest, head.len + 2);
		strbuf_addstr(&b, head);
		strbuf_adds(&b, text);
		strbuf_addstr(&b, tail);
	}
	return apifake_do_type(f, method, target,
			       strcmp(method, "PATCH") == 0 ? MERGE : "application/json", b.buf);
}

static struct apifake *server(void)
{
	struct apifake *f = apifake_new(NULL);
	assert_int_equal(send(f, "POST", OLD_CRDS, definition, "").status, 201);
	return f;
}

static const struct obj *fields(struct answer a, size_t version)
{
	const struct obj *v = obj_at(obj_path(a.json, "spec.versions"), version);
	return obj_path(v, "schema.openAPIV3Schema.properties.spec.properties");
}

static void add_v2(struct apifake *f)
{
	assert_int_equal(
		apifake_do_type(f, "PATCH", CRD, "application/json-patch+json",
				"[{\"op\":\"add\",\"path\":\"/spec/versions/-\",\"value\":{"
				"\"name\":\"v2\",\"served\":true,\"storage\":false,\"schema\":{"
				"\"openAPIV3Schema\":{\"type\":\"object\"}}}}]")
			.status,
		200);
}

static void test_modern__a_definition_is_there_by_its_old_name(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server();
	struct answer a = apifake_do(f, "GET", OLD_CRD, NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(obj_str(a.json, "metadata.name"), "etcds.1.etcd.coreos.com");
	assert_string_equal(obj_str(a.json, "apiVersion"), "apiextensions.k8s.io/v1beta1");
	assert_string_equal(obj_str(a.json, "spec.group"), "1.etcd.coreos.com");
	/* of nobody else's definition */
	assert_int_equal(apifake_do(f, "GET", OLD_CRDS "/etcds.2.etcd.coreos.com", NULL).status,
			 404);
	assert_int_equal(apifake_do(f, "DELETE", OLD_CRDS "/etcds.2.etcd.coreos.com", NULL).status,
			 404);
	assert_int_equal(apifake_do(f, "DELETE", OLD_CRD, NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", CRD, NULL).status, 404);
	assert_int_equal(apifake_do(f, "GET", OLD_CRD, NULL).status, 404);
}

/* As kubectl apply has it: what of the file is not what it was shown. */
static void test_modern__a_definition_is_changed_by_its_file(void **state)
{
	(void)state;
	static const char *const patch = "{\"spec\":{\"version\":1,\"validation\":{\"openAPIv3\":"
					 "\"{\\\"size\\\": \\\"int\\\"%s}\"}}}";
	CLEANUP(apifake_freep) struct apifake *f = server();
	add_v2(f);
	struct answer a = send(f, "PATCH", OLD_CRD, patch, "");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 2); /* as it is */
	a = send(f, "PATCH", OLD_CRD, patch, ", \\\"more\\\": \\\"string\\\"");
	assert_int_equal(a.status, 200);
	assert_string_equal(obj_str(a.json, "metadata.name"), "etcds.etcd.coreos.com");
	assert_true(obj_has(fields(a, 0), "more"));
	assert_int_equal(obj_len(obj_path(a.json, "spec.versions")), 2);
	a = send(f, "PUT", OLD_CRD, definition, "");
	assert_int_equal(a.status, 422); /* no resourceVersion, as of any definition */
}

/* What the definition of another version says of the whole is not lost: labels, names, conversion. */
static void test_modern__another_version_brings_what_it_says(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server();
	static const char second[] =
		"{\"apiVersion\":\"apiextensions.k8s.io/v1beta1\",\"kind\":"
		"\"CustomResourceDefinition\",\"metadata\":{\"name\":\"etcds.2.etcd.coreos.com\","
		"\"labels\":{\"team\":\"db\"}},\"spec\":{\"group\":\"2.etcd.coreos.com\","
		"\"version\":2,\"scope\":\"Namespaced\",\"names\":{\"plural\":\"etcds\","
		"\"singular\":\"etcd\",\"kind\":\"EtcdCluster\",\"shortNames\":[\"ec\"]}}}";
	struct answer a = apifake_do(f, "POST", OLD_CRDS, second);
	assert_int_equal(a.status, 200);
	a = apifake_do(f, "GET", CRD, NULL);
	assert_int_equal(obj_len(obj_path(a.json, "spec.versions")), 2);
	assert_string_equal(obj_str(a.json, "metadata.labels.team"), "db");
	assert_string_equal(obj_as_string(obj_at(obj_path(a.json, "spec.names.shortNames"), 0)),
			    "ec");
}

static void test_modern__a_put_keeps_the_other_versions(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server();
	add_v2(f);
	struct answer a = apifake_do(f, "GET", OLD_CRD, NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, definition);
	CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(STRBUF_SMALL);
	ptrdiff_t at = str_find(strbuf_str(&b), STR("\"metadata\":{"));
	strbuf_add(&whole, b.buf, (size_t)at + 12);
	strbuf_addf(&whole, "\"resourceVersion\":\"%s\",",
		    obj_str(a.json, "metadata.resourceVersion"));
	strbuf_adds(&whole, b.buf + at + 12);
	a = send(f, "PUT", OLD_CRD, whole.buf, ", \\\"more\\\": \\\"string\\\"");
	assert_int_equal(a.status, 200);
	assert_true(obj_has(fields(a, 0), "more"));
	assert_int_equal(obj_len(obj_path(a.json, "spec.versions")), 2);
	const struct obj *first = obj_at(obj_path(a.json, "spec.versions"), 0);
	assert_true(obj_flag(first, "storage", false));
}

/* v1beta1 of 2018 to 2021: the same names as today. */
static void test_modern__a_definition_of_v1beta1_is_changed(void **state)
{
	(void)state;
	static const char old[] =
		"{\"apiVersion\":\"apiextensions.k8s.io/v1beta1\",\"kind\":"
		"\"CustomResourceDefinition\",\"metadata\":{\"name\":\"cups.example.com\"},"
		"\"spec\":{\"group\":\"example.com\",\"version\":\"v1\",\"scope\":\"Namespaced\","
		"\"names\":{\"plural\":\"cups\",\"kind\":\"Cup\"},\"preserveUnknownFields\":false,"
		"\"validation\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":"
		"{"
		"\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"integer\"}}}}}}}}";
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	assert_int_equal(apifake_do(f, "POST", OLD_CRDS, old).status, 201);
	struct answer a = apifake_do_type(
		f, "PATCH", OLD_CRDS "/cups.example.com", MERGE,
		"{\"spec\":{\"validation\":{\"openAPIV3Schema\":{\"properties\":{\"spec\":{"
		"\"properties\":{\"more\":{\"type\":\"string\"}}}}}}}}");
	assert_int_equal(a.status, 200);
	assert_true(obj_has(fields(a, 0), "more") && obj_has(fields(a, 0), "size"));
	/* what says nothing of it changes nothing of it */
	a = apifake_do_type(f, "PATCH", OLD_CRDS "/cups.example.com", MERGE,
			    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
	assert_int_equal(a.status, 200);
	assert_true(obj_has(fields(a, 0), "more"));
	assert_int_equal(apifake_do(f, "DELETE", OLD_CRDS "/cups.example.com", NULL).status, 200);
}

/* Thousands of groups in the annotation are looked at once, and open no door more than there are versions. */
static void test_modern__groups_without_end(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_adds(
		&b,
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"cups.example.com\",\"annotations\":{"
		"\"" ANNOTATION_LEGACY_GROUP "\":\"1.example.com");
	for (int i = 0; i < 15000; i++)
		strbuf_addf(&b, ",%d.example.com", i);
	strbuf_adds(&b,
		    "\"}},\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"names\":{"
		    "\"plural\":"
		    "\"cups\",\"singular\":\"cup\",\"kind\":\"Cup\"},\"versions\":[{\"name\":"
		    "\"v1\",\"served\":true,"
		    "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
	const char *at = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
	assert_int_equal(apifake_do(f, "POST", at, b.buf).status, 201);
	static const char cup[] =
		"{\"apiVersion\":\"v1alpha1.example.com/v1alpha1\",\"kind\":\"Cup\","
		"\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"}}";
	assert_int_equal(apifake_do(f, "POST",
				    "/apis/v1alpha1.example.com/v1alpha1/namespaces/default/cups",
				    cup)
				 .status,
			 201);
}

static void test_modern__an_instance_is_there_by_its_old_group(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server();
	assert_int_equal(send(f, "POST", OLD_ONE, instance, "3").status, 201);
	struct answer a = apifake_do(f, "GET", OLD_ONE "/a", NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(obj_str(a.json, "apiVersion"), "v1alpha1.etcd.coreos.com/v1alpha1");
	a = apifake_do_type(f, "PATCH", OLD_ONE "/a", MERGE, "{\"spec\":{\"size\":5}}");
	assert_int_equal(a.status, 200);
	assert_string_equal(obj_str(a.json, "apiVersion"), "etcd.coreos.com/v1");
	a = apifake_do(f, "GET", ONE, NULL);
	assert_int_equal(obj_i64(a.json, "spec.size", 0), 5);
	a = apifake_do_type(f, "PATCH", OLD_ONE "/a?dryRun=All", MERGE, "{\"spec\":{\"size\":6}}");
	assert_string_equal(obj_str(a.json, "apiVersion"), "v1alpha1.etcd.coreos.com/v1alpha1");
	a = apifake_do_type(f, "PATCH", OLD_ONE "/a", MERGE, "{\"spec\":{\"size\":\"x\"}}");
	assert_int_equal(a.status, 422);
	assert_int_equal(apifake_do(f, "DELETE", OLD_ONE "/a", NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", ONE, NULL).status, 404);
	assert_int_equal(apifake_do(f, "GET", OLD_ONE "/a", NULL).status, 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modern__a_definition_is_there_by_its_old_name),
		cmocka_unit_test(test_modern__a_definition_is_changed_by_its_file),
		cmocka_unit_test(test_modern__another_version_brings_what_it_says),
		cmocka_unit_test(test_modern__a_put_keeps_the_other_versions),
		cmocka_unit_test(test_modern__a_definition_of_v1beta1_is_changed),
		cmocka_unit_test(test_modern__groups_without_end),
		cmocka_unit_test(test_modern__an_instance_is_there_by_its_old_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
