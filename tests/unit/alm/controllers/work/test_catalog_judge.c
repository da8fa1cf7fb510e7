#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

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

/* By package, then highest version first, as an index has them. */
static void fill(struct catalog_index *x, struct package_version **list, const char *const *texts,
		 struct package_version *room)
{
	x->versions = list;
	for (x->n = 0; texts[x->n]; x->n++) {
		struct str package, version;
		struct error err = ERROR_INIT;
		struct package_version *p = &room[x->n];
		(void)str_cut(str_of(texts[x->n]), ' ', &package, &version);
		*p = (struct package_version){.package = package.ptr[0] == 'a' ? "a" : "b",
					      .digest = ""};
		assert_ok(version_parse(version, VERSION_STRICT, &p->version, &err), &err);
		list[x->n] = p;
	}
}

/* What the entry says: of the first revision all is new. */
static void test_catalog_judge__what_a_change_adds_and_removes(void **state)
{
	static const struct {
		const char *old[4], *new[4]; /* old NULL: there was no revision */
		const char *from, *added, *removed;
	} rows[] = {
		{{NULL},
		 {"a 1.1.0", "a 1.0.0", "b 1.0.0"},
		 NULL,
		 "[\"a 1.1.0\",\"a 1.0.0\",\"b 1.0.0\"]",
		 "[]"},
		{{"a 1.0.0"}, {"a 1.1.0", "a 1.0.0"}, "oooo", "[\"a 1.1.0\"]", "[]"},
		{{"a 1.1.0", "b 1.0.0"}, {"a 1.1.0"}, "oooo", "[]", "[\"b 1.0.0\"]"},
		{{"a 1.0.0"}, {"b 1.0.0"}, "oooo", "[\"b 1.0.0\"]", "[\"a 1.0.0\"]"},
		{{"a 1.0.0"}, {"a 1.0.0"}, "oooo", "[]", "[]"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct package_version *lists[2][4], room[2][4];
		struct catalog_index old = {.revision = "oooo"}, new = {.revision = "nnnn"};
		fill(&old, lists[0], rows[i].old, room[0]);
		fill(&new, lists[1], rows[i].new, room[1]);
		CLEANUP(obj_unrefp) struct obj *body =
			catalog_change("c", rows[i].old[0] ? &old : NULL, &new);
		CLEANUP(xfreep) char *added = json_text(obj_get(body, "added"));
		CLEANUP(xfreep) char *removed = json_text(obj_get(body, "removed"));
		assert_string_equal(added, rows[i].added);
		assert_string_equal(removed, rows[i].removed);
		assert_true(cstr_eq(obj_str(body, "catalog.from"), rows[i].from));
		assert_string_equal(obj_str(body, "catalog.to"), "nnnn");
		assert_string_equal(obj_str(body, "catalog.name"), "c");
		assert_string_equal(obj_str(body, "key"), "nnnn");
		assert_string_equal(obj_str(body, "what"), "CatalogChanged");
		assert_string_equal(obj_str(body, "message"),
				    rows[i].from ? "c oooo -> nnnn" : "c none -> nnnn");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog_judge__a_new_revision),
		cmocka_unit_test(test_catalog_judge__what_a_change_adds_and_removes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
