/* test_scale_object.c: what a custom object has where its definition says that its replicas are, in the words of Kubernetes 1.36. */
#include "alm/apiserver/kinds/scale.h"
#include "alm/base/arena.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

#define WORDS(path, so_far, shown, is, want) \
	path ": Invalid value: " shown ": " so_far " accessor error: " is ", expected " want
#define SPEC(v)   "{\"spec\":{\"n\":" v "}}"
#define STATUS(v) "{\"status\":{\"n\":" v "}}"
#define TEXT(v)   "{\"status\":{\"text\":" v "}}"
#define BELOW     "should be a non-negative integer"
#define BEYOND    "should be less than or equal to 2147483647"

static const struct {
	const char *json, *whole,
		*status; /* what is wrong with the object; when its status alone is written */
} rows[] = {
	{"{}", "", ""},
	{SPEC("0"), "", ""},
	{SPEC("2147483647"), "", ""},
	{SPEC("null"), WORDS(".spec.n", ".spec.n", "0", "<nil> is of the type <nil>", "int64"), ""},
	{SPEC("-1"), ".spec.n: Invalid value: -1: " BELOW, ""},
	{SPEC("2147483648"), ".spec.n: Invalid value: 2147483648: " BEYOND, ""},
	{SPEC("\"a\""), WORDS(".spec.n", ".spec.n", "0", "a is of the type string", "int64"), ""},
	{SPEC("true"), WORDS(".spec.n", ".spec.n", "0", "true is of the type bool", "int64"), ""},
	{SPEC("1.5"), WORDS(".spec.n", ".spec.n", "0", "1.5 is of the type float64", "int64"), ""},
	{"{\"spec\":3}",
	 WORDS(".spec.n", ".spec.n", "0", "3 is of the type int64", "map[string]interface{}"), ""},
	{"{\"spec\":null}", "", ""},
	{STATUS("1"), "", ""},
	{STATUS("-1"), ".status.n: Invalid value: -1: " BELOW,
	 ".status.n: Invalid value: -1: " BELOW},
	{TEXT("\"a=b\""), "", ""},
	{TEXT("7"),
	 WORDS(".status.text", ".status.text", "\"\"", "7 is of the type int64", "string"),
	 WORDS(".status.text", ".status.text", "\"\"", "7 is of the type int64", "string")},
};

static void test_scale_object__numbers_and_a_text(void **state)
{
	static const struct kind k = {.spec_replicas_path = ".spec.n",
				      .status_replicas_path = ".status.n",
				      .label_selector_path = ".status.text"};
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
		CLEANUP(obj_unrefp) struct obj *o = told_read(rows[i / 2].json);
		struct field_errors *e = ARENA_NEW(a, struct field_errors);
		field_errors_init(e, a);
		scale_check(&k, o, i % 2, e);
		assert_told(e, i % 2 ? rows[i / 2].status : rows[i / 2].whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale_object__numbers_and_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
