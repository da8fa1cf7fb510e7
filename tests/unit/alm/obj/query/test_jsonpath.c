#include "alm/obj/query/jsonpath.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"

static const char document[] =
	"{\"spec\":{\"size\":4,\"names\":[\"a\",\"b\",\"c\"],\"a.b\":\"dotted\","
	"\"ports\":[{\"name\":\"x\",\"port\":80},{\"name\":\"y\",\"port\":81}]},"
	"\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"
	"{\"type\":\"Old\",\"status\":\"False\"}],\"none\":null}}";

/* The values at the path, each as JSON, joined by blanks. */
static void expect(const char *path, const char *expected)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	struct jsonpath *p;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {0};
	assert_ok(json_parse(str_of(document), &o, &err), &err);
	assert_ok(jsonpath_parse(str_of(path), &p, &err), &err);
	jsonpath_eval(p, o, &v);
	for (size_t i = 0; i < v.n; i++) {
		if (i)
			strbuf_addc(&b, ' ');
		json_print(v.items[i], &b);
	}
	assert_string_equal(b.buf, expected);
	jsonpath_free(p);
	obj_unref(o);
}

static void test_jsonpath__fields_and_indexes(void **state)
{
	(void)state;
	expect(".spec.size", "4");
	expect("$.spec.size", "4");
	expect("spec.size", "4");
	expect(".spec['a.b']", "\"dotted\"");
	expect(".spec.a\\.b", "\"dotted\"");
	expect(".spec.names[0]", "\"a\"");
	expect(".spec.names[-1]", "\"c\"");
	expect(".spec.names[0,2]", "\"a\" \"c\"");
	expect(".spec.names[1:]", "\"b\" \"c\"");
	expect(".spec.names[:2]", "\"a\" \"b\"");
	expect(".spec.names[*]", "\"a\" \"b\" \"c\"");
	expect(".spec.ports[*].port", "80 81");
	expect(".status.none", "null");
	expect(".spec.nope.deeper", "");
	expect(".spec.names[9]", "");
	expect(".spec.size[0]", "");
	expect("..port", "80 81");
}

static void test_jsonpath__filters(void **state)
{
	(void)state;
	expect(".status.conditions[?(@.type==\"Ready\")].status", "\"True\"");
	expect(".status.conditions[?(@.type=='Old')].status", "\"False\"");
	expect(".status.conditions[?(@.type != \"Ready\")].type", "\"Old\"");
	expect(".spec.ports[?(@.port>80)].name", "\"y\"");
	expect(".spec.ports[?(@.port>=80)].name", "\"x\" \"y\"");
	expect(".spec.ports[?(@.nope)].name", "");
	expect(".spec.ports[?(@.name)].name", "\"x\" \"y\"");
}

static void test_jsonpath__refuses_what_it_cannot_read(void **state)
{
	(void)state;
	static const char *const bad[] = {".a[",
					  ".a[x]",
					  ".a['b]",
					  ".a[?(b)]",
					  ".a[?(@.b==)]",
					  ".a[?(@.b==1]",
					  ".a[?(@.b==oops)]",
					  ".a[1",
					  ".a]",
					  ".a..",
					  ".a[99999999999999999999]"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = ERROR_INIT;
		struct jsonpath *p = NULL;
		assert_int_equal(jsonpath_parse(str_of(bad[i]), &p, &err), -E_BADREQUEST);
		assert_null(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonpath__fields_and_indexes),
		cmocka_unit_test(test_jsonpath__filters),
		cmocka_unit_test(test_jsonpath__refuses_what_it_cannot_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
