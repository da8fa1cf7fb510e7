#include "tests/lib/test.h"

#include "alm/obj/diff.h"
#include "alm/obj/field_error.h"
#include "alm/obj/json.h"

static void test_diff__paths_in_document_order(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *arena = arena_new(65536);
	struct error err = ERROR_INIT;
	struct obj *a, *b;
	struct diff d;
	assert_ok(json_parse(STR("{\"a\":1,\"l\":[{\"i\":1},2],\"m\":{\"x.y\":1},\"n\":null}"), &a,
			     &err),
		  &err);
	assert_ok(json_parse(STR("{\"z\":1,\"l\":[{\"i\":2}],\"m\":{\"x.y\":2},\"a\":1.0}"), &b,
			     &err),
		  &err);
	diff_objects(a, b, 100, arena, &d);
	static const char *const want[] = {"l[0].i", "l[1]", "m['x.y']", "n", "z"};
	assert_int_equal(d.n, ARRAY_LEN(want));
	for (size_t i = 0; i < d.n; i++)
		assert_string_equal(d.items[i].path, want[i]);
	assert_null(d.items[1].after);
	assert_null(d.items[4].before);
	assert_false(d.cut);
	diff_objects(a, b, 2, arena, &d);
	assert_true(d.n == 2 && d.cut);
	diff_objects(a, a, 2, arena, &d);
	assert_true(d.n == 0 && !d.cut);
	obj_unref(a);
	obj_unref(b);
}

static void test_diff__merge_patch(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *want; /* NULL: equal */
	} cases[] = {
		{"{\"a\":1}", "{\"a\":1}", NULL},
		{"{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", "{\"b\":{\"c\":1,\"e\":[1]}}",
		 "{\"a\":null,\"b\":{\"d\":null,\"e\":[1]}}"},
		{"{\"a\":{\"x\":1}}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"{\"a\":3}", "{\"a\":{\"x\":1}}", "{\"a\":{\"x\":1}}"},
		{"[1]", "[2]", "[2]"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *a = NULL, *b = NULL;
		assert_ok(json_parse(str_of(cases[i].before), &a, &err), &err);
		assert_ok(json_parse(str_of(cases[i].after), &b, &err), &err);
		CLEANUP(obj_unrefp) struct obj *patch = diff_merge_patch(a, b);
		CLEANUP(xfreep) char *text = patch ? json_text(patch) : NULL;
		assert_true(text ? cases[i].want && !strcmp(text, cases[i].want) : !cases[i].want);
	}
	CLEANUP(obj_unrefp) struct obj *gone = diff_merge_patch(NULL, NULL);
	assert_null(gone);
}

static void test_diff__field_errors_text(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
	struct field_errors *e = ARENA_NEW(arena, struct field_errors);
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	field_errors_init(e, arena);
	field_errors_add(e, FIELD_REQUIRED, "spec", "Required value");
	field_errors_text(e, &b);
	assert_str(strbuf_str(&b), "spec: Required value");
	strbuf_clear(&b);
	field_errors_add(e, FIELD_INVALID, "spec.n", "Invalid value: %d", 3);
	field_errors_text(e, &b);
	assert_str(strbuf_str(&b), "[spec: Required value, spec.n: Invalid value: 3]");
	for (int i = 0; i < FIELD_ERRORS_MAX; i++)
		field_errors_add(e, FIELD_INTERNAL, "x", "y");
	assert_int_equal(e->omitted, 2);
	assert_string_equal(field_error_reason(FIELD_INTERNAL), "InternalError");
	strbuf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff__paths_in_document_order),
		cmocka_unit_test(test_diff__merge_patch),
		cmocka_unit_test(test_diff__field_errors_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
