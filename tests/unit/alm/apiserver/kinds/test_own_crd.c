/* The definitions of ALM itself are as this program brings them where its controllers run. */
#include "alm/apiserver/kinds/own_crd.h"
#include "alm/base/carried.h"

#include "crds/kinds.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define CRDS    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CATALOG CRDS "/catalogs.app.coreos.com"
#define OLDER                                                                                  \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","   \
	"\"metadata\":{\"name\":\"catalogs.app.coreos.com\"},\"spec\":{\"group\":"             \
	"\"app.coreos.com\",\"scope\":\"%s\",\"names\":{\"plural\":\"catalogs\",\"singular\":" \
	"\"catalog\",\"kind\":\"Catalog\"},\"versions\":[{\"name\":\"v1alpha1\",\"served\":"   \
	"true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"

static struct apifake *server(bool own)
{
	const struct apifake_options o = {.own_controllers = own};
	struct apifake *f = apifake_new(&o);
	for (size_t i = 0; i < n_crd_kinds; i++) {
		CLEANUP(xfreep) char *yaml = carried_read(crd_kinds[i]->yaml);
		struct answer a = apifake_do_type(f, "POST", CRDS, "application/yaml", yaml);
		assert_int_equal(a.status, 201);
	}
	return f;
}

static const char *warning(struct answer a)
{
	const char *w = http_header(a.headers, "Warning");
	return w ? w : "";
}

static struct answer write_older(struct apifake *f, const char *how, const char *scope)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, OLDER, scope);
	if (cstr_eq(how, "apply"))
		return apifake_do_type(f, "PATCH", CATALOG "?fieldManager=old&force=true",
				       "application/apply-patch+yaml", b.buf);
	return apifake_do_type(f, "PATCH", CATALOG, "application/merge-patch+json", b.buf);
}

static const struct obj *status_fields(struct answer a)
{
	const struct obj *v = obj_at(obj_path(a.json, "spec.versions"), 0);
	return obj_path(v, "schema.openAPIV3Schema.properties.status.properties.digest");
}

static void test_own_crd__an_older_one_is_not_taken(void **state)
{
	(void)state;
	static const char *const ways[] = {"apply", "merge"}, *const scopes[] = {"Cluster",
										 "Namespaced"};
	CLEANUP(apifake_freep) struct apifake *f = server(true);
	for (size_t i = 0; i < 4; i++) {
		struct answer a = write_older(f, ways[i / 2], scopes[i % 2]);
		assert_int_equal(a.status, 200);
		assert_non_null(
			strstr(warning(a), "catalogs.app.coreos.com is a definition of ALM"));
		assert_non_null(status_fields(a));
		assert_string_equal(obj_str(a.json, "spec.scope"), "Cluster");
		assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 1);
	}
	CLEANUP(xfreep) char *yaml = carried_read(crd_kinds[2]->yaml);
	struct answer own = apifake_do_type(f, "PATCH", CATALOG "?fieldManager=me&force=true",
					    "application/apply-patch+yaml", yaml);
	assert_int_equal(own.status, 200);
	assert_string_equal(warning(own), "");
}

static void test_own_crd__none_is_deleted(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server(true);
	struct answer a = apifake_do(f, "DELETE", CATALOG, NULL);
	assert_int_equal(a.status, 403);
	assert_true(str_find(a.body, STR("kubectl delete catalogs.app.coreos.com --all")) >= 0);
	assert_int_equal(apifake_do(f, "DELETE", CRDS, NULL).status, 403);
	for (size_t i = 0; i < n_crd_kinds; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, CRDS "/%s.%s", crd_kinds[i]->plural, crd_kinds[i]->group);
		assert_int_equal(apifake_do(f, "GET", b.buf, NULL).status, 200);
	}
}

static void test_own_crd__a_kind_without_a_controller_is_told(void **state)
{
	(void)state;
	static const char clusters[] =
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"clusters.app.coreos.com\"},\"spec\":{\"group\":"
		"\"app.coreos.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"clusters\","
		"\"singular\":\"cluster\",\"kind\":\"Cluster\"},\"versions\":[{\"name\":"
		"\"v1alpha1\","
		"\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
		"\"object\"}}}]}}";
	CLEANUP(apifake_freep) struct apifake *f = server(true);
	struct answer a = apifake_do(f, "POST", CRDS, clusters);
	assert_int_equal(a.status, 201);
	assert_non_null(strstr(warning(a), "acts on this kind"));
}

/* A server whose controllers are elsewhere is Kubernetes: alm controller puts them back. */
static void test_own_crd__elsewhere_they_are_anybodys(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = server(false);
	struct answer a = write_older(f, "merge", "Cluster");
	assert_int_equal(a.status, 200);
	assert_string_equal(warning(a), "");
	assert_null(status_fields(a));
	assert_int_equal(apifake_do(f, "DELETE", CATALOG, NULL).status, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_crd__an_older_one_is_not_taken),
		cmocka_unit_test(test_own_crd__none_is_deleted),
		cmocka_unit_test(test_own_crd__a_kind_without_a_controller_is_told),
		cmocka_unit_test(test_own_crd__elsewhere_they_are_anybodys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
