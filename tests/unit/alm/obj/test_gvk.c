#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

static void test_gvk__of_an_object(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	struct gvk g, h;
	struct obj *o = meta_skeleton("apps/v1", "Deployment", "ns", "x");
	assert_true(gvk_of(o, a, &g));
	assert_string_equal(g.group, "apps");
	assert_string_equal(g.version, "v1");
	obj_set_str(o, "apiVersion", "v1");
	assert_true(gvk_of(o, a, &h));
	assert_string_equal(h.group, "");
	assert_string_equal(h.version, "v1");
	obj_set_str(o, "apiVersion", "a/b/c");
	assert_false(gvk_of(o, a, &g));
	obj_set_str(o, "apiVersion", "a/");
	assert_false(gvk_of(o, a, &g));
	obj_set_str(o, "apiVersion", "");
	assert_false(gvk_of(o, a, &g));
	obj_unref(o);
}

static void test_gvk__resource_refs(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want; /* NULL: refused */
	} cases[] = {
		{"etcds.etcd.coreos.com/v1", "etcds.etcd.coreos.com/v1"},
		{"etcds.1.etcd.coreos.com", "etcds.etcd.coreos.com/v1"},
		{"etcds.v1alpha1.etcd.coreos.com", "etcds.etcd.coreos.com/v1alpha1"},
		{"etcds.etcd.coreos.com", "etcds.etcd.coreos.com"},
		{"etcds.volumes.com", "etcds.volumes.com"},
		{"etcds", NULL},
		{".g/v1", NULL},
		{"a.b/", NULL},
		{"a.b/v1/x", NULL},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct resource_ref r;
		bool ok = resource_ref_parse(cases[i].text, a, &r);
		if (ok != (cases[i].want != NULL))
			fail_msg("%s", cases[i].text);
		if (ok)
			assert_string_equal(resource_ref_fmt(&r, a), cases[i].want);
	}
}

static int by_version(const void *a, const void *b)
{
	return kube_version_cmp(*(const char *const *)a, *(const char *const *)b);
}

static void test_gvk__kube_versions_sort(void **state)
{
	(void)state;
	static const char *const want[] = {"v10",      "v2",      "v1",        "v11beta2",
					   "v10beta3", "v3beta1", "v12alpha1", "v11alpha2",
					   "foo1",     "foo10"};
	const char *got[] = {"foo10",     "v1", "v11alpha2", "v3beta1",  "v10",
			     "v12alpha1", "v2", "foo1",      "v10beta3", "v11beta2"};
	qsort(got, ARRAY_LEN(got), sizeof(*got), by_version);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(got[i], want[i]);
}

static void test_gvk__names(void **state)
{
	(void)state;
	char long_name[255];
	memset(long_name, 'a', sizeof(long_name));
	assert_true(name_is_dns_subdomain(STR("a-1.b")));
	assert_false(name_is_dns_subdomain(STR("a..b")));
	assert_false(name_is_dns_subdomain(STR("")));
	assert_false(name_is_dns_subdomain(STR("A")));
	assert_true(name_is_dns_subdomain(str_n(long_name, 253)));
	assert_false(name_is_dns_subdomain(str_n(long_name, 254)));
	assert_true(name_is_dns_label(str_n(long_name, 63)));
	assert_false(name_is_dns_label(str_n(long_name, 64)));
	assert_false(name_is_dns_label(STR("-a")));
	assert_null(name_fault(NAME_DNS1035_LABEL, STR("a-1")));
	assert_non_null(name_fault(NAME_DNS1035_LABEL, STR("1-a")));
	assert_null(name_fault(NAME_QUALIFIED, STR("a.b/C_d")));
	assert_non_null(name_fault(NAME_QUALIFIED, STR("/a")));
	assert_non_null(name_fault(NAME_QUALIFIED, STR("a/")));
	assert_null(name_fault(NAME_LABEL_VALUE, STR("")));
	assert_non_null(name_fault(NAME_LABEL_VALUE, STR("a b")));
	assert_false(name_is_path_segment(STR("..")));
	assert_false(name_is_path_segment(STR("a%b")));
	assert_non_null(strstr(name_fault(NAME_QUALIFIED, STR("A_/b")),
			       "prefix part a lowercase RFC 1123 subdomain"));
}

static void test_gvk__a_name_is_cut_where_it_can_go_on(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	assert_string_equal(name_cut("ab.cd", 9, a), "ab.cd");
	assert_string_equal(name_cut("ab.cd", 4, a), "ab.c");
	assert_string_equal(name_cut("ab.cd", 3, a), "ab");
	assert_string_equal(name_cut("ab-.cd", 4, a), "ab");
	assert_string_equal(name_cut("..", 2, a), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gvk__of_an_object),
		cmocka_unit_test(test_gvk__resource_refs),
		cmocka_unit_test(test_gvk__kube_versions_sort),
		cmocka_unit_test(test_gvk__names),
		cmocka_unit_test(test_gvk__a_name_is_cut_where_it_can_go_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
