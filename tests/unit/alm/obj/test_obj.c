#include "tests/lib/test.h"

#include <float.h>
#include <stdio.h>

#include "alm/obj/json.h"

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void assert_json(const struct obj *o, const char *want)
{
	char *text = json_text(o);
	assert_string_equal(text, want);
	xfree(text);
}

static void test_obj__null_differs_from_absent(void **state)
{
	(void)state;
	struct obj *o = parsed("{\"a\":null,\"l\":[null]}");
	assert_int_equal(obj_type(obj_get(o, "a")), OBJ_NULL);
	assert_int_equal(obj_type(obj_get(o, "b")), OBJ_ABSENT);
	assert_null(obj_get(o, "b"));
	assert_true(obj_has(o, "a"));
	assert_int_equal(obj_type(obj_path(o, "l[0]")), OBJ_NULL);
	assert_null(obj_path(o, "l[1]"));
	assert_null(obj_path(o, "a.b"));
	struct obj *null = obj_ref(obj_get(o, "a"));
	obj_unref(o);
	assert_int_equal(obj_type(null), OBJ_NULL);
	struct obj *copy = obj_copy(null);
	assert_true(obj_equal(copy, null));
	assert_false(obj_equal(copy, NULL));
	obj_unref(copy);
	obj_unref(null);
	obj_unref(NULL);
}

static void test_obj__copies_are_deep(void **state)
{
	(void)state;
	struct obj *o = parsed("{\"a\":{\"n\":1.50,\"x\":null},\"l\":[1,\"s\"]}");
	struct obj *c = obj_copy(o);
	obj_set_path(c, "a.n", obj_int(2));
	obj_append(obj_get_mut(c, "l"), obj_bool(true));
	assert_json(o, "{\"a\":{\"n\":1.50,\"x\":null},\"l\":[1,\"s\"]}");
	assert_json(c, "{\"a\":{\"n\":2,\"x\":null},\"l\":[1,\"s\",true]}");
	obj_unref(c);
	c = obj_copy(o);
	assert_json(c, "{\"a\":{\"n\":1.50,\"x\":null},\"l\":[1,\"s\"]}");
	obj_unref(c);
	obj_unref(o);
}

static void test_obj__numbers(void **state)
{
	(void)state;
	struct obj *o = parsed("[1,1.0,1e3,1.5,9223372036854775808,-9223372036854775808,1e30]");
	int64_t v = 7;
	assert_true(obj_as_i64(obj_at(o, 1), &v) && v == 1);
	assert_true(obj_as_i64(obj_at(o, 2), &v) && v == 1000);
	assert_false(obj_as_i64(obj_at(o, 3), &v));
	assert_false(obj_as_i64(obj_at(o, 4), &v));
	assert_true(obj_as_i64(obj_at(o, 5), &v) && v == INT64_MIN);
	assert_false(obj_as_i64(obj_at(o, 6), &v));
	assert_int_equal(obj_type(obj_at(o, 4)), OBJ_INT);
	assert_int_equal(obj_type(obj_at(o, 1)), OBJ_DOUBLE);
	assert_str(obj_number_text(obj_at(o, 4)), "9223372036854775808");
	assert_true(obj_equal(obj_at(o, 0), obj_at(o, 1)));
	assert_false(obj_equal(obj_at(o, 0), obj_at(o, 3)));
	assert_false(obj_equal(obj_at(o, 5), obj_at(o, 4)));
	assert_false(obj_equal(obj_at(o, 4), obj_at(o, 6)));
	obj_unref(o);
}

static void test_obj__doubles_print_shortest(void **state)
{
	(void)state;
	static const struct {
		double v;
		const char *text;
	} cases[] = {{0.1, "0.1"},
		     {1, "1"},
		     {-0.0, "-0"},
		     {100, "100"},
		     {1e20, "100000000000000000000"},
		     {1e21, "1e+21"},
		     {1e-6, "0.000001"},
		     {1.5e-7, "1.5e-7"},
		     {123.456, "123.456"},
		     {1.0 / 3, "0.3333333333333333"},
		     {DBL_MAX, "1.7976931348623157e+308"},
		     {5e-324, "5e-324"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct obj *o = obj_double(cases[i].v);
		assert_json(o, cases[i].text);
		obj_unref(o);
	}
}

static void test_obj__maps_keep_order(void **state)
{
	(void)state;
	struct obj *o = obj_map();
	obj_set_str(o, "z", "1");
	obj_set_str(o, "a", "2");
	obj_set_str(o, "gone", NULL);
	obj_set_int(o, "z", 3);
	assert_json(o, "{\"z\":3,\"a\":\"2\"}");
	obj_del(o, "z");
	obj_set_bool(o, "z", true);
	assert_json(o, "{\"a\":\"2\",\"z\":true}");
	size_t n = 0;
	OBJ_EACH (it, o)
		n += obj_equal(it.value, obj_get(o, it.key));
	assert_int_equal(n, 2);
	obj_unref(o);
}

/* Beyond the size that is searched without an index; members go and come. */
static void test_obj__wide_maps(void **state)
{
	(void)state;
	struct obj *o = obj_map();
	char key[16];
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		obj_set_new(o, key, obj_int(i));
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		if (i % 10)
			obj_del(o, key);
	}
	obj_del(o, "k1");
	assert_int_equal(obj_len(o), 100);
	struct obj *c = obj_copy(o);
	for (int round = 0; round < 3000; round++) {
		obj_set(o, "again", obj_int(round));
		assert_int_equal(obj_i64(o, "again", -1), round);
		obj_del(o, "again");
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(obj_i64(o, key, -1), i % 10 ? -1 : i);
		assert_int_equal(obj_i64(c, key, -1), i % 10 ? -1 : i);
	}
	int64_t expected = 0;
	OBJ_EACH (it, o) {
		int64_t v = -1;
		assert_true(obj_as_i64(it.value, &v) && v == expected);
		expected += 10;
		obj_del(o, it.key); /* the member at hand may go */
	}
	assert_int_equal(expected, 1000);
	assert_int_equal(obj_len(o), 0);
	obj_set_int(o, "a", 1);
	assert_json(o, "{\"a\":1}");
	assert_int_equal(obj_len(c), 100);
	obj_unref(o);
	obj_unref(c);
}

/* What a reader makes of hostile text is bounded by the text. */
static void test_obj__a_tree_takes_less_than_20_times_its_text(void **state)
{
	(void)state;
	static const char *const items[] = {"{}",
					    "[]",
					    "1",
					    "\"\"",
					    "null",
					    "[[],[]]",
					    "[[],[],[]]",
					    "[[[[[[[[[[]]]]]]]]]]",
					    "{\"\":{}}",
					    "{\"\":[]}",
					    "{\"a\":1}",
					    "{\"a\":[1,2]}",
					    "[1,2,3,4,5]",
					    "-1.5",
					    "12345",
					    "{\"\":{\"\":{\"\":{}}}}",
					    "{\"a\":{},\"b\":{},\"c\":{}}",
					    "\"abcdefghijkl\"",
					    "[[[],[]],[[],[]]]"};
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
		strbuf_addc(&b, '[');
		for (int n = 0; n < 3000; n++)
			strbuf_addf(&b, "%s%s", n ? "," : "", items[i]);
		strbuf_addc(&b, ']');
		size_t before = obj_bytes();
		struct obj *o = parsed(b.buf);
		size_t tree = obj_bytes() - before;
		if (tree >= 20 * b.len)
			fail_msg("%s: %zu bytes of text, %zu of memory", items[i], b.len, tree);
		struct obj *c = obj_copy(o);
		assert_true(obj_bytes() - before <= 2 * tree);
		assert_true(obj_equal(o, c));
		obj_unref(c);
		obj_unref(o);
		assert_true(obj_bytes() - before <= 1024); /* keys that are kept for the next */
	}
}

static void test_obj__copies_share_texts(void **state)
{
	(void)state;
	struct obj *o = obj_map();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_pad(&b, 'x', 1 << 19);
	obj_set_str(o, "s", b.buf);
	size_t before = obj_bytes();
	struct obj *c = obj_copy(o);
	assert_true(obj_bytes() - before < 200);
	obj_set_str(c, "s", "y");
	assert_int_equal(obj_as_str(obj_get(o, "s")).len, 1 << 19);
	obj_unref(c);
	obj_unref(o);
}

static void test_obj__lists_insert_and_delete(void **state)
{
	(void)state;
	struct obj *o = parsed("[1,2,3]");
	obj_insert_at(o, 0, obj_string("a"));
	obj_insert_at(o, 4, obj_null());
	obj_insert_at(o, 2, obj_map());
	assert_json(o, "[\"a\",1,{},2,3,null]");
	obj_del_at(o, 2);
	obj_set_at(o, 0, obj_int(0));
	assert_json(o, "[0,1,2,3,null]");
	obj_unref(o);
}

static void test_obj__paths(void **state)
{
	(void)state;
	struct obj *o = parsed("{\"metadata\":{\"annotations\":{\"a.b/c\":\"x\"}},"
			       "\"l\":[{\"t\":\"T\"},[5]],\"f\":true}");
	assert_string_equal(obj_str(o, "metadata.annotations['a.b/c']"), "x");
	assert_string_equal(obj_str(o, "l[0].t"), "T");
	assert_int_equal(obj_i64(o, "l[1][0]", 0), 5);
	assert_true(obj_flag(o, "f", false));
	assert_true(obj_flag(o, "l", true));
	assert_null(obj_str(o, "l[0]"));
	assert_null(obj_path(o, "l[x]"));
	assert_null(obj_path(o, "l[0"));
	assert_null(obj_path(o, "l.."));
	assert_true(obj_path(o, "") == o);
	obj_set_path(o, "s.t.u", obj_int(1));
	obj_set_path(o, "l[0].t", obj_int(2));
	obj_set_path(o, "metadata.annotations['d.e']", obj_int(3));
	obj_del_path(o, "metadata.annotations['a.b/c']");
	obj_del_path(o, "f");
	obj_del_path(o, "nope.x");
	assert_json(o, "{\"metadata\":{\"annotations\":{\"d.e\":3}},\"l\":[{\"t\":2},[5]],"
		       "\"s\":{\"t\":{\"u\":1}}}");
	obj_unref(o);
}

static void test_obj__equality_ignores_order_of_members(void **state)
{
	(void)state;
	struct obj *a = parsed("{\"a\":1,\"b\":[{\"x\":null}]}");
	struct obj *b = parsed("{\"b\":[{\"x\":null}],\"a\":1.0}");
	struct obj *c = parsed("{\"b\":[{\"y\":null}],\"a\":1}");
	assert_true(obj_equal(a, b));
	assert_false(obj_equal(a, c));
	obj_unref(a);
	obj_unref(b);
	obj_unref(c);
}

static void test_obj__strings_may_hold_nul(void **state)
{
	(void)state;
	struct obj *o = parsed("\"a\\u0000b\"");
	assert_int_equal(obj_as_str(o).len, 3);
	assert_json(o, "\"a\\u0000b\"");
	obj_unref(o);
	o = obj_stringf("%d-%s", 5, "x");
	assert_string_equal(obj_as_string(o), "5-x");
	obj_unref(o);
}

static void test_obj__keep_ties_to_the_arena(void **state)
{
	(void)state;
	struct arena *a = arena_new(4096);
	const struct obj *o = obj_keep(a, parsed("{\"a\":1}"));
	assert_int_equal(obj_i64(o, "a", 0), 1);
	arena_free(a);
}

/* Each name is kept for the next map, until it is asked to go; maps that have it keep it. */
static void test_obj__keys_that_are_kept_go(void **state)
{
	(void)state;
	obj_forget_keys();
	size_t before = obj_bytes();
	CLEANUP(obj_unrefp) struct obj *lives = obj_map();
	obj_set_str(lives, "key17", "v");
	size_t with = obj_bytes();
	for (int i = 0; i < 500; i++) {
		char key[16];
		snprintf(key, sizeof(key), "key%d", i);
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		obj_set_str(o, key, "v");
	}
	assert_true(obj_bytes() > with);
	obj_forget_keys();
	assert_int_equal(obj_bytes(), with);
	assert_string_equal(obj_str(lives, "key17"), "v");
	obj_unref(lives);
	lives = NULL;
	assert_int_equal(obj_bytes(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_obj__null_differs_from_absent),
		cmocka_unit_test(test_obj__copies_are_deep),
		cmocka_unit_test(test_obj__numbers),
		cmocka_unit_test(test_obj__doubles_print_shortest),
		cmocka_unit_test(test_obj__maps_keep_order),
		cmocka_unit_test(test_obj__wide_maps),
		cmocka_unit_test(test_obj__a_tree_takes_less_than_20_times_its_text),
		cmocka_unit_test(test_obj__copies_share_texts),
		cmocka_unit_test(test_obj__lists_insert_and_delete),
		cmocka_unit_test(test_obj__paths),
		cmocka_unit_test(test_obj__equality_ignores_order_of_members),
		cmocka_unit_test(test_obj__strings_may_hold_nul),
		cmocka_unit_test(test_obj__keep_ties_to_the_arena),
		cmocka_unit_test(test_obj__keys_that_are_kept_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
