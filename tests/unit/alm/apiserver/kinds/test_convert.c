/* test_convert.c: what is stored is shown as its kind is now. */
#include "alm/apiserver/kinds/convert.h"

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WS   "/apis/e.io/v1/namespaces/default/ws"

static void define(struct apifake *f, const char *method, const char *properties, int status)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 14);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
		    "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{"
		    "\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"ws\","
		    "\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":"
		    "true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{"
		    "\"spec\":{\"type\":\"object\",\"properties\":{%s}}}}}}]}}",
		    properties);
	apifake_expect(f, method, method[1] == 'O' ? CRDS : CRDS "/ws.e.io", b.buf, status);
}

static void expect_spec(struct apifake *f, const char *want)
{
	struct answer a = apifake_expect(f, "GET", WS "/w", NULL, 200);
	CLEANUP(xfreep) char *one = json_text(obj_get(a.json, "spec"));
	assert_string_equal(one, want);
	a = apifake_expect(f, "GET", WS, NULL, 200);
	CLEANUP(xfreep) char *listed =
		json_text(obj_get(obj_at(obj_get(a.json, "items"), 0), "spec"));
	assert_string_equal(listed, want);
}

/* A field that the schema has no more is not shown, and a default of it is; both come and go with the schema. */
static void test_convert__a_schema_that_changes(void **state)
{
	(void)state;
#define INT "{\"type\":\"integer\"}"
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	define(f, "POST", "\"a\":" INT ",\"b\":" INT, 201);
	apifake_expect(f, "POST", WS,
		       "{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"w\"},"
		       "\"spec\":{\"a\":1,\"b\":2,\"c\":3}}",
		       201);
	expect_spec(f, "{\"a\":1,\"b\":2}");
	define(f, "PATCH", "\"a\":" INT ",\"d\":{\"type\":\"integer\",\"default\":4}", 200);
	apifake_restart(f); /* as it is stored */
	expect_spec(f, "{\"a\":1,\"d\":4}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_convert__a_schema_that_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
