/* test_warn.c: where what is told of an object ends; what a real 1.36 tells is in tests/golden/kube-api/told.jsonl. */
#include <string.h>

#include "alm/apiserver/kinds/warn.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

static size_t told_of(const char *group, const char *plural, const char *text,
		      struct field_errors *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	warn_of(w, group, plural, o, NULL);
	return w->n;
}

static void test_warn__a_pod_of_many_ports(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	struct field_errors w;
	field_errors_init(&w, a);
	strbuf_adds(&b, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
			"\"ports\":[");
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&b, "%s{\"containerPort\":80,\"protocol\":\"TCP\"}", i ? "," : "");
	strbuf_adds(&b, "]}]}}");
	assert_int_equal(told_of("", "pods", b.buf, &w), FIELD_ERRORS_MAX);
	assert_string_equal(w.items[0].path, "spec.containers[0].ports[1]");
}

/* Whatever was sent: nothing has the type that it should have. */
static void test_warn__of_other_types(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{}",
		"{\"spec\":[]}",
		"{\"spec\":{\"containers\":7,\"volumes\":\"x\",\"affinity\":[{}],"
		"\"nodeSelector\":[1],\"versions\":{}}}",
		"{\"spec\":{\"containers\":[null,7,{\"env\":[1,[]],\"ports\":[true],\"resources\":"
		"[]}],\"imagePullSecrets\":{},\"hostAliases\":[[]],\"versions\":[[],{\"schema\":"
		"{\"openAPIV3Schema\":[{\"format\":{}}]}}]}}",
	};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct field_errors w;
	field_errors_init(&w, a);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		told_of("", "pods", texts[i], &w);
		told_of("", "services", texts[i], &w);
		told_of("apiextensions.k8s.io", "customresourcedefinitions", texts[i], &w);
	}
	for (size_t i = 0; i < w.n; i++)
		assert_null(strstr(w.items[i].message, "format"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warn__a_pod_of_many_ports),
		cmocka_unit_test(test_warn__of_other_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
