/* What a Catalog demands of its archives (policy.h): keys, what may be installed, and its age. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/policy.h"
#include "tests/lib/view_fake.h"

#define HEX "a8cd774d8b4522236417380ac353cf81a4acfa50473e335e31164ecd8c53ec39"

#define CATALOG(name, spec) \
	"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "}}"
#define VERIFY "\"verify\":{\"mode\":\"Required\",\"keysRef\":{\"name\":\"k\"}}"

static struct catalog_index *index_with(const char *name, const char *policy, const char *by,
					int64_t until_s)
{
	struct catalog_index *x = index_new(name, 0);
	CLEANUP(obj_unrefp) struct obj *chart = obj_map();
	struct error err = ERROR_INIT;
	obj_set_str(chart, "name", "etcd");
	obj_set_str(chart, "version", "0.9.4");
	struct package_source s = {.chart = chart,
				   .digest = HEX,
				   .locator = "etcd-0.9.4.tgz",
				   .verified_by = by,
				   .verified_until_s = until_s};
	index_add(x, &s);
	memcpy(x->policy, policy, strlen(policy) + 1);
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

/* The archive lies in the index of "c". */
static bool refused(const char *catalog, struct catalog_index *x)
{
	struct view_fake f;
	const struct catalog_index *list[] = {x};
	view_fake_init(&f);
	view_fake_put(&f, WATCH_CATALOG, catalog);
	f.view.now_ns = 1000 * NS_PER_S;
	f.shared.indexes = list;
	f.shared.n_indexes = x ? 1 : 0;
	bool r = policy_refuses(&f.view, HEX) != NULL;
	view_fake_release(&f);
	index_free(x);
	return r;
}

static void test_policy__what_may_be_installed(void **state)
{
	(void)state;
	assert_false(refused(CATALOG("c", ""), index_with("c", "", NULL, 0)));
	assert_false(refused(CATALOG("c", ""), NULL)); /* the stored plan may do without it */
	assert_false(refused(CATALOG("c", VERIFY), index_with("c", "p", "p", 0)));
	assert_false(refused(CATALOG("c", VERIFY), index_with("c", "p", "p", 1001)));
	assert_true(refused(CATALOG("c", VERIFY), index_with("c", "p", "p", 1000)));
	assert_true(refused(CATALOG("c", VERIFY), index_with("c", "", NULL, 0)));
	assert_true(refused(CATALOG("c", VERIFY), index_with("c", "", "", 0)));
	assert_true(refused(CATALOG("c", VERIFY), index_with("c", "p", NULL, 0)));
	assert_true(refused(CATALOG("c", VERIFY), index_with("c", "p", "q", 0)));
	assert_true(refused(CATALOG("c", VERIFY), NULL));
	assert_true(refused(CATALOG("d", VERIFY), NULL));
	assert_false(refused(CATALOG("d", VERIFY), index_with("c", "", NULL, 0)));
}

static void test_policy__keys_change_its_digest(void **state)
{
	(void)state;
	struct view_fake f;
	struct error err = ERROR_INIT;
	char one[SHA256_HEX], two[SHA256_HEX];
	const struct obj *keys, *c;
	view_fake_init(&f);
	c = view_fake_obj(&f, CATALOG("c", "\"source\":{\"url\":\"dir:///x\"}," VERIFY));
	const struct obj *d =
		view_fake_obj(&f, CATALOG("c", "\"source\":{\"url\":\"dir:///y\"}," VERIFY));
	const struct obj *m = view_fake_obj(&f, "{\"data\":{\"a\":\"1\"}}");
	assert_ok(policy_keys(c, m, &keys, one, &err), &err);
	assert_int_equal(obj_len(keys), 1);
	assert_ok(policy_keys(d, m, &keys, two, &err), &err);
	assert_string_not_equal(one, two);
	m = view_fake_obj(&f, "{\"data\":{\"a\":\"2\"}}");
	assert_ok(policy_keys(c, m, &keys, two, &err), &err);
	assert_string_not_equal(one, two);
	m = view_fake_obj(&f, "{\"data\":{}}");
	assert_true(policy_keys(c, m, &keys, two, &err) < 0);
	assert_true(cstr_has_prefix(err.msg, "SignatureInvalid: "));
	view_fake_release(&f);
}

static void test_policy__what_cannot_be_obeyed(void **state)
{
	static const char *const bad[] = {
		CATALOG("c", "\"verify\":{}"),
		CATALOG("c", "\"verify\":true"),
		CATALOG("c", "\"verify\":{\"mode\":\"Optional\",\"keysRef\":{\"name\":\"k\"}}"),
		CATALOG("c", "\"verify\":{\"keysRef\":{\"name\":\"k\",\"namespace\":\"default\"}}"),
	};
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct error err = ERROR_INIT;
		const char *name;
		const struct obj *c = view_fake_obj(&f, bad[i]);
		assert_true(policy_wanted(c));
		assert_true(policy_keys_name(c, &name, &err) < 0);
		assert_true(cstr_has_prefix(err.msg, "SignatureInvalid: spec.verify."));
	}
	view_fake_release(&f);
}

static void test_policy__an_index_does_not_go_back(void **state)
{
	static const int64_t day = NS_PER_DAY, now = 100 * NS_PER_DAY;
	static const struct {
		const char *spec;
		int64_t old_ns, new_ns;
		bool accepted;
		const char *why; /* NULL: it is taken */
	} cases[] = {
		{"", 5 * day, 4 * day, false, NULL},
		{VERIFY, 0, 0, false, NULL},
		{VERIFY, 0, 4 * day, false, NULL},
		{VERIFY, 4 * day, 4 * day, false, NULL},
		{VERIFY, 4 * day, 5 * day, false, NULL},
		{VERIFY, 5 * day, 4 * day, false, "before the revision in use"},
		{VERIFY, 5 * day, 4 * day, true, NULL},
		{VERIFY, 5 * day, 0, false, "does not say when"},
		{VERIFY, 0, 102 * day, false, "in the future"},
		{VERIFY, 0, 101 * day, false, NULL},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 99 * day, false, NULL},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 98 * day, false, NULL},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 98 * day - 1, false,
		 "spec.verify.maxAge ago"},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 97 * day, false, "spec.verify.maxAge ago"},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 97 * day, true, "spec.verify.maxAge ago"},
		{"\"verify\":{\"maxAge\":\"48h\"}", 0, 0, false, "does not say when"},
		{"\"verify\":{\"maxAge\":\"soon\"}", 0, 99 * day, false, "is no duration"},
	};
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		const struct policy_ages g = {.old_ns = cases[i].old_ns,
					      .new_ns = cases[i].new_ns,
					      .now_ns = now,
					      .accepted = cases[i].accepted};
		const struct obj *c =
			view_fake_obj(&f, arena_fmt(f.a, "{\"spec\":{%s}}", cases[i].spec));
		int r = policy_check_age(c, &g, &err);
		if ((r < 0) != (cases[i].why != NULL) || (r < 0 && !strstr(err.msg, cases[i].why)))
			fail_msg("case %zu: %s", i, r < 0 ? err.msg : "is taken");
	}
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy__what_may_be_installed),
		cmocka_unit_test(test_policy__keys_change_its_digest),
		cmocka_unit_test(test_policy__what_cannot_be_obeyed),
		cmocka_unit_test(test_policy__an_index_does_not_go_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
