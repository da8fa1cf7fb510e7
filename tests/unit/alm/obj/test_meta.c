#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static void assert_json(const struct obj *o, const char *want)
{
	char *text = json_text(o);
	assert_string_equal(text, want);
	xfree(text);
}

static void test_meta__skeleton_and_names(void **state)
{
	(void)state;
	struct obj *o = meta_skeleton("app.coreos.com/v1", "AppType", "", "etcd");
	assert_json(o, "{\"apiVersion\":\"app.coreos.com/v1\",\"kind\":\"AppType\","
		       "\"metadata\":{\"name\":\"etcd\"}}");
	assert_null(meta_namespace(o));
	assert_null(meta_uid(o));
	assert_false(meta_is_deleting(o));
	assert_int_equal(meta_generation(o), 0);
	meta_set_label(o, "a", "b");
	meta_set_annotation(o, "app.coreos.com/owner", "x");
	assert_string_equal(meta_label(o, "a"), "b");
	assert_string_equal(meta_annotation(o, "app.coreos.com/owner"), "x");
	meta_set_label(o, "a", NULL);
	meta_set_label(o, "zz", NULL);
	assert_null(obj_path(o, "metadata.labels"));
	obj_unref(o);
}

static void test_meta__finalizers_are_a_set(void **state)
{
	(void)state;
	struct obj *o = meta_skeleton("v1", "ConfigMap", "ns", "x");
	meta_add_finalizer(o, "a/b");
	meta_add_finalizer(o, "a/b");
	assert_int_equal(obj_len(obj_path(o, "metadata.finalizers")), 1);
	assert_true(meta_has_finalizer(o, "a/b"));
	meta_remove_finalizer(o, "no");
	meta_remove_finalizer(o, "a/b");
	assert_null(obj_path(o, "metadata.finalizers"));
	obj_unref(o);
}

static void test_meta__owners_by_uid(void **state)
{
	(void)state;
	struct obj *o = meta_skeleton("v1", "ConfigMap", "ns", "x");
	struct owner_ref ref = {"v1", "A", "n", "u1", true, false}, got;
	meta_add_owner(o, &ref);
	ref.name = "m";
	meta_add_owner(o, &ref);
	ref.uid = "u2";
	meta_add_owner(o, &ref);
	assert_int_equal(meta_owner_count(o), 2);
	assert_true(meta_owner(o, 0, &got));
	assert_string_equal(got.name, "m");
	assert_true(got.controller);
	assert_true(meta_is_owned_by(o, "u2"));
	meta_remove_owner(o, "u1");
	meta_remove_owner(o, "u2");
	assert_null(obj_path(o, "metadata.ownerReferences"));
	assert_false(meta_owner(o, 0, &got));
	obj_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meta__skeleton_and_names),
		cmocka_unit_test(test_meta__finalizers_are_a_set),
		cmocka_unit_test(test_meta__owners_by_uid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
