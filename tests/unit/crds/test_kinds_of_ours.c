/* Whose group is it: ours, kept for Kubernetes, or anybody's. */
#include "tests/lib/test.h"

#include "crds/kinds.h"

static const struct {
	const char *group;
	bool is_ours, is_reserved;
} rows[] = {
	{"app.coreos.com", true, true},
	{"opinstaller.coreos.com", true, true},
	{"store.app.coreos.com", true, true},
	{"audit.app.coreos.com", true, true},
	{"a.b.app.coreos.com", true, true},
	{"myapp.coreos.com", false, false},
	{"coreos.com", false, false},
	{"x.opinstaller.coreos.com", false, false},
	{"etcd.coreos.com", false, false},
	{"app.coreos.com.example", false, false},
	{"", false, true},
	{"apps", false, true},
	{"k8s.io", false, true},
	{"x.k8s.io", false, true},
	{"kubernetes.io", false, true},
	{"a.b.kubernetes.io", false, true},
	{"ak8s.io", false, false},
	{"k8s.io.example", false, false},
};

static void test_kinds_of_ours__groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (crd_group_is_ours(rows[i].group) != rows[i].is_ours)
			fail_msg("%s: ours", rows[i].group);
		if (crd_group_is_reserved(rows[i].group) != rows[i].is_reserved)
			fail_msg("%s: reserved", rows[i].group);
	}
	for (size_t i = 0; i < n_crd_kinds; i++)
		assert_true(crd_group_is_ours(crd_kinds[i]->group));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_ours__groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
