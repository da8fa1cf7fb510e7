#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/patch/patch.h"

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

struct vector {
	const char *doc, *patch, *want; /* want NULL: refused with code */
	int code;
};

typedef int apply_fn(const struct obj *doc, const struct obj *patch, struct obj **ret,
		     struct error *err);

static void run(const struct vector *v, apply_fn *apply)
{
	struct error err = ERROR_INIT;
	struct obj *doc = parsed(v->doc), *patch = parsed(v->patch), *got = NULL;
	int r = apply(doc, patch, &got, &err);
	char *before = json_text(doc);
	assert_string_equal(before, v->doc);
	xfree(before);
	if (!v->want) {
		if (r != -v->code)
			fail_msg("%s + %s: %d %s", v->doc, v->patch, r, err.msg);
		assert_null(got);
	} else {
		if (r < 0)
			fail_msg("%s + %s: %s", v->doc, v->patch, err.msg);
		char *text = json_text(got);
		assert_string_equal(text, v->want);
		xfree(text);
	}
	obj_unref(got);
	obj_unref(doc);
	obj_unref(patch);
}

static void test_patch__merge(void **state)
{
	(void)state;
	static const struct vector v[] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}", 0},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}", 0},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}", 0},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}", 0},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		 "{\"a\":{\"b\":\"d\"}}", 0},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}", 0},
		{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]", 0},
		{"{\"a\":\"foo\"}", "null", "null", 0},
		{"{\"a\":\"foo\"}", "\"bar\"", "\"bar\"", 0},
		{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}", 0},
		{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}", 0},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		run(&v[i], patch_merge);
}

static void test_patch__json(void **state)
{
	(void)state;
	static const struct vector v[] = {
		{"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		 "{\"foo\":\"bar\",\"baz\":\"qux\"}", 0},
		{"{\"foo\":[1,2]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":9}]",
		 "{\"foo\":[1,9,2]}", 0},
		{"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[2]}]",
		 "{\"foo\":[1,[2]]}", 0},
		{"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":null}]",
		 "{\"foo\":[1,null]}", 0},
		{"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/2\",\"value\":1}]", NULL,
		 E_INVALID},
		{"{\"foo\":[1]}", "[{\"op\":\"add\",\"path\":\"/foo/01\",\"value\":1}]", NULL,
		 E_INVALID},
		{"{\"foo\":1}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", NULL,
		 E_INVALID},
		{"{\"baz\":1,\"foo\":2}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]", "{\"foo\":2}",
		 0},
		{"{\"foo\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
		 "{\"foo\":[1,3]}", 0},
		{"{\"foo\":1}", "[{\"op\":\"remove\",\"path\":\"/spec/nope\"}]", NULL, E_INVALID},
		{"{\"foo\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, E_INVALID},
		{"{\"baz\":1,\"foo\":2}", "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":3}]",
		 "{\"baz\":3,\"foo\":2}", 0},
		{"{\"baz\":1}", "[{\"op\":\"replace\",\"path\":\"/x/y\",\"value\":3}]", NULL,
		 E_INVALID},
		{"{\"baz\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[3]}]", "[3]", 0},
		{"{\"foo\":{\"bar\":1,\"w\":2},\"q\":{\"c\":3}}",
		 "[{\"op\":\"move\",\"from\":\"/foo/w\",\"path\":\"/q/t\"}]",
		 "{\"foo\":{\"bar\":1},\"q\":{\"c\":3,\"t\":2}}", 0},
		{"{\"foo\":[1,2,3,4]}",
		 "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		 "{\"foo\":[1,3,4,2]}", 0},
		{"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/c\"}]", NULL,
		 E_INVALID},
		{"{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"}]",
		 "{\"a\":{\"b\":1},\"c\":{\"b\":1}}", 0},
		{"{\"a\":[1,\"x\"]}",
		 "[{\"op\":\"test\",\"path\":\"/a/1\",\"value\":\"x\"},"
		 "{\"op\":\"test\",\"path\":\"/a/0\",\"value\":1.0}]",
		 "{\"a\":[1,\"x\"]}", 0},
		{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", NULL, E_INVALID},
		{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/b\",\"value\":null}]", "{\"a\":1}", 0},
		{"{\"/\":9,\"~1\":10}",
		 "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10},"
		 "{\"op\":\"remove\",\"path\":\"/~1\"}]",
		 "{\"~1\":10}", 0},
		{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/~2\",\"value\":10}]", NULL,
		 E_BADREQUEST},
		{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"b\",\"value\":10}]", NULL, E_BADREQUEST},
		{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\"}]", "{\"a\":1,\"b\":null}", 0},
		{"{\"a\":1}", "[{\"op\":\"spam\",\"path\":\"/b\"}]", NULL, E_INVALID},
		{"{\"a\":1}", "{\"op\":\"add\"}", NULL, E_BADREQUEST},
		{"{\"a\":1}", "[]", "{\"a\":1}", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		run(&v[i], patch_json);
}

static void test_patch__json_copies_are_bounded(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *doc = parsed("{\"a\":[\"xxxxxxxxxxxxxxxx\"]}"), *ops = obj_list(), *got;
	for (int i = 0; i < 64; i++)
		obj_append(ops, parsed("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}"));
	assert_int_equal(patch_json(doc, ops, &got, &err), -E_TOOLARGE);
	for (int i = 0; i < PATCH_OPERATIONS_MAX; i++)
		obj_append(ops, obj_map());
	assert_int_equal(patch_json(doc, ops, &got, &err), -E_TOOLARGE);
	obj_unref(doc);
	obj_unref(ops);
}

static void assert_diffs_lead(const char *from, const char *to)
{
	struct error err = ERROR_INIT;
	struct obj *a = parsed(from), *b = parsed(to), *got;
	struct obj *ops = patch_json_diff(a, b);
	assert_ok(patch_json(a, ops, &got, &err), &err);
	assert_true(obj_equal(got, b));
	obj_unref(got);
	obj_unref(ops);
	obj_unref(a);
	obj_unref(b);
}

static void test_patch__diffs_lead_there(void **state)
{
	(void)state;
	static const char *const docs[] = {
		"{}",
		"{\"a\":1}",
		"{\"a\":{\"b\":[1,2,{\"c\":null}],\"d~/\":2}}",
		"{\"a\":{\"b\":[1,{\"c\":3}],\"x\":{}},\"y\":\"z\"}",
		"{\"a\":{\"b\":[],\"d~/\":[0,0,0]}}",
	};
	for (size_t i = 0; i < ARRAY_LEN(docs); i++)
		for (size_t j = 0; j < ARRAY_LEN(docs); j++)
			assert_diffs_lead(docs[i], docs[j]);
}

static const char *merge_key(const void *arg, const char *path)
{
	assert_string_equal(arg, "Deployment");
	if (strcmp(path, "c") == 0)
		return "name";
	if (strcmp(path, "c.ports") == 0)
		return "port";
	return strcmp(path, "f") == 0 ? "" : NULL;
}

static int strategic(const struct obj *doc, const struct obj *patch, struct obj **ret,
		     struct error *err)
{
	return patch_strategic(doc, patch, merge_key, "Deployment", ret, err);
}

static const struct vector strategics[] = {
	{"{\"m\":{\"a\":1,\"b\":2},\"r\":[1]}", "{\"m\":{\"b\":null,\"c\":{\"x\":null}},\"r\":[2]}",
	 "{\"m\":{\"a\":1,\"c\":{}},\"r\":[2]}", 0},
	{"{\"c\":[{\"name\":\"a\",\"v\":1},{\"name\":\"b\",\"v\":2}]}",
	 "{\"c\":[{\"name\":\"b\",\"v\":3},{\"name\":\"n\"}]}",
	 "{\"c\":[{\"name\":\"a\",\"v\":1},{\"name\":\"b\",\"v\":3},{\"name\":\"n\"}]}", 0},
	{"{\"c\":[{\"name\":\"a\",\"ports\":[{\"port\":1},{\"port\":2}]}]}",
	 "{\"c\":[{\"name\":\"a\",\"ports\":[{\"port\":2,\"p\":\"T\"}]}]}",
	 "{\"c\":[{\"name\":\"a\",\"ports\":[{\"port\":1},{\"port\":2,\"p\":\"T\"}]}]}", 0},
	{"{\"c\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	 "{\"c\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}", "{\"c\":[{\"name\":\"b\"}]}", 0},
	{"{\"c\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	 "{\"c\":[{\"$patch\":\"replace\"},{\"name\":\"x\"}]}", "{\"c\":[{\"name\":\"x\"}]}", 0},
	{"{\"c\":[{\"name\":\"a\"}]}", "{\"c\":[{\"v\":1}]}", NULL, E_BADREQUEST},
	{"{\"c\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"s\"}]}",
	 "{\"$setElementOrder/c\":[{\"name\":\"b\"},{\"name\":\"a\"}],"
	 "\"c\":[{\"name\":\"a\",\"v\":1}]}",
	 "{\"c\":[{\"name\":\"b\"},{\"name\":\"a\",\"v\":1},{\"name\":\"s\"}]}", 0},
	{"{\"c\":[{\"name\":\"s\"},{\"name\":\"b\"},{\"name\":\"a\"}]}",
	 "{\"$setElementOrder/c\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	 "{\"c\":[{\"name\":\"s\"},{\"name\":\"a\"},{\"name\":\"b\"}]}", 0},
	{"{\"f\":[\"a\",\"b\"]}", "{\"f\":[\"c\",\"a\"]}", "{\"f\":[\"c\",\"a\",\"b\"]}", 0},
	{"{\"f\":[\"a\",\"b\"]}",
	 "{\"$deleteFromPrimitiveList/f\":[\"a\"],\"$setElementOrder/f\":[\"b\",\"c\"],"
	 "\"f\":[\"c\"]}",
	 "{\"f\":[\"b\",\"c\"]}", 0},
	{"{\"s\":{\"type\":\"R\",\"ru\":{\"x\":1}}}",
	 "{\"s\":{\"$retainKeys\":[\"type\"],\"type\":\"C\"}}", "{\"s\":{\"type\":\"C\"}}", 0},
	{"{\"s\":{\"a\":1}}", "{\"s\":{\"$retainKeys\":[\"b\"],\"a\":2}}", NULL, E_BADREQUEST},
	{"{\"s\":{\"a\":1}}", "{\"s\":{\"$patch\":\"replace\",\"b\":2}}", "{\"s\":{\"b\":2}}", 0},
	{"{\"s\":{\"a\":1}}", "{\"s\":{\"$patch\":\"delete\"}}", "{\"s\":{}}", 0},
	{"{\"s\":{\"a\":1}}", "{\"s\":{\"$patch\":\"nope\"}}", NULL, E_BADREQUEST},
	{"{}", "{\"c\":[{\"name\":\"a\",\"$retainKeys\":[\"name\"]}],\"n\":{\"x\":null}}",
	 "{\"c\":[{\"name\":\"a\"}],\"n\":{}}", 0},
	{"{\"s\":1}",
	 "{\"t\":{\"$patch\":\"replace\",\"a\":1},\"u\":{\"$patch\":\"delete\"},\"s\":{\"$"
	 "patch\":\"merge\"},\"v\":{\"w\":{\"$patch\":\"replace\"},\"x\":1}}",
	 "{\"v\":{\"x\":1}}", 0},
	{"{}", "{\"c\":[{\"name\":\"a\",\"$patch\":\"merge\"},{\"name\":\"b\"}]}",
	 "{\"c\":[{\"name\":\"b\"}]}", 0},
	{"{\"c\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	 "{\"$setElementOrder/"
	 "c\":[{\"name\":\"b\"},{\"name\":\"a\"}],\"c\":[{\"name\":\"a\"},{\"name\":\"b\"}]"
	 "}",
	 NULL, E_BADREQUEST},
	{"{\"c\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	 "{\"$setElementOrder/"
	 "c\":[{\"name\":\"b\"},{\"name\":\"x\"},{\"name\":\"a\"}],\"c\":[{\"name\":\"b\","
	 "\"v\":1},{\"name\":\"q\",\"$patch\":\"delete\"},{\"name\":\"a\"}]}",
	 "{\"c\":[{\"name\":\"b\",\"v\":1},{\"name\":\"a\"}]}", 0},
	{"{\"c\":[{\"name\":\"a\"}]}", "{\"$setElementOrder/c\":[\"a\"]}", NULL, E_BADREQUEST},
	{"{\"c\":[{\"name\":\"a\"}]}", "{\"$setElementOrder/c\":[{\"v\":\"a\"}]}", NULL,
	 E_BADREQUEST},
	{"{\"c\":[{\"name\":\"a\"}]}", "{\"$setElementOrder/c\":\"a\"}", NULL, E_BADREQUEST},
	{"{\"f\":[\"a\"]}", "{\"$setElementOrder/f\":[\"b\"],\"f\":[\"c\"]}", NULL, E_BADREQUEST},
	{"{\"a\":1}", "[]", NULL, E_BADREQUEST},
};

static void test_patch__strategic(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(strategics); i++)
		run(&strategics[i], strategic);
}

/* A step of a pointer may be so long and no longer: nothing is cut off. */
static void test_patch__a_long_step(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct error err = ERROR_INIT;
		char path[PATCH_TOKEN_MAX + 3] = "/";
		memset(path + 1, 'a', PATCH_TOKEN_MAX + more);
		CLEANUP(obj_unrefp) struct obj *doc = obj_map(), *ops = obj_list(), *op = obj_map();
		CLEANUP(obj_unrefp) struct obj *got = NULL;
		obj_set_str(op, "op", "add");
		obj_set_str(op, "path", path);
		obj_set_int(op, "value", 1);
		obj_append(ops, obj_ref(op));
		assert_int_equal(patch_json(doc, ops, &got, &err), more ? -E_BADREQUEST : 0);
		if (!more)
			assert_true(obj_has(got, path + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patch__merge),
		cmocka_unit_test(test_patch__json),
		cmocka_unit_test(test_patch__json_copies_are_bounded),
		cmocka_unit_test(test_patch__diffs_lead_there),
		cmocka_unit_test(test_patch__a_long_step),
		cmocka_unit_test(test_patch__strategic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
