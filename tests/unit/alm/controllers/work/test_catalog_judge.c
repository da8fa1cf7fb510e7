#include "tests/lib/test.h"

#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/catalog_judge.h"
#include "alm/obj/json.h"

#define NOW     (INT64_C(1893571200) * NS_PER_S)
#define NEW_REV "n"

struct row {
	const char *what;
	size_t old, new; /* versions; old 0: there was none */
	const char *policy;
	const char *accepted;
	int64_t old_age, new_age; /* of the index; -1: it does not say */
	enum error_reason want;
};

static void set(struct catalog_index *x, const char *revision, const struct row *row, size_t n,
		int64_t age)
{
	(void)snprintf(x->revision, sizeof(x->revision), "%s", revision);
	(void)snprintf(x->policy, sizeof(x->policy), "%s", row->policy);
	x->n = n;
	x->generated_ns = age < 0 ? 0 : NOW - age;
}

static void judge(const struct row *row)
{
	struct catalog_index old = {.n = 0}, new = {.n = 0};
	struct error err = ERROR_INIT;
	const char *bad = NULL;
	CLEANUP(obj_unrefp) struct obj *catalog = obj_map();
	set(&old, "o", row, row->old, row->old_age);
	set(&new, NEW_REV, row, row->new, row->new_age);
	if (*row->policy)
		obj_set_path(catalog, "spec.verify.maxAge", obj_string("24h"));
	obj_set_path(catalog, "metadata.annotations", obj_map());
	if (row->accepted)
		obj_set_str(obj_get_mut(obj_get_mut(catalog, "metadata"), "annotations"),
			    "app.coreos.com/accept-digest", row->accepted);
	int r = catalog_judge(row->old ? &old : NULL, &new, catalog, NOW, &bad, &err);
	if (err.reason != row->want || (r < 0) != (row->want != REASON_NONE))
		fail_msg("%s: %d %s", row->what, r, err.msg);
	if (r < 0)
		assert_string_equal(bad, NEW_REV);
}

static void test_catalog_judge__a_new_revision(void **state)
{
	static const struct row rows[] = {
		{"the first one", 0, 1, "", NULL, -1, -1, REASON_NONE},
		{"half is left", 40, 20, "", NULL, -1, -1, REASON_NONE},
		{"less than half", 40, 19, "", NULL, -1, -1, REASON_SUSPICIOUS_SHRINK},
		{"less than half of few", 10, 1, "", NULL, -1, -1, REASON_NONE},
		{"ten fewer", 11, 1, "", NULL, -1, -1, REASON_SUSPICIOUS_SHRINK},
		{"accepted", 40, 1, "", NEW_REV, -1, -1, REASON_NONE},
		{"another one accepted", 40, 1, "", "x", -1, -1, REASON_SUSPICIOUS_SHRINK},
		{"newer", 5, 5, "p", NULL, NS_PER_HOUR, NS_PER_MIN, REASON_NONE},
		{"older", 5, 5, "p", NULL, NS_PER_MIN, NS_PER_HOUR, REASON_CATALOG_STALE},
		{"older, accepted", 5, 5, "p", NEW_REV, NS_PER_MIN, NS_PER_HOUR, REASON_NONE},
		{"too old", 5, 5, "p", NULL, 50 * NS_PER_HOUR, 25 * NS_PER_HOUR,
		 REASON_CATALOG_STALE},
		{"no age", 5, 5, "p", NULL, -1, -1, REASON_CATALOG_STALE},
		{"nobody asks for an age", 5, 5, "", NULL, NS_PER_MIN, NS_PER_HOUR, REASON_NONE},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		judge(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog_judge__a_new_revision),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
