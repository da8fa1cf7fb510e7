/* What is required is installed with it: which version, and the range that its app is made with. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "catalog/resolve/resolve.h"

static void publish(struct catalog_index *x, const char *name, const char *version, const char *own)
{
	char digest[SHA256_HEX];
	const char *chart = arena_fmt(x->arena, "{name: %s, version: %s}", name, version);
	sha256_hex(str_of(chart), digest);
	struct package_source s = {.chart_yaml = str_of(chart),
				   .descriptor = str_of(own),
				   .digest = digest,
				   .locator = version};
	size_t n = x->n;
	index_add(x, &s);
	if (x->n == n)
		fail_msg("%s", x->rejected[0]);
	struct package_version *p = x->versions[n];
	p->own_crds = (const char **)p->provides;
	p->n_own_crds = p->n_provides;
}

static void add(struct catalog_index *x, const char *name, const char *version, const char *more)
{
	publish(x, name, version,
		arena_fmt(x->arena, "appType: %s.x.io\nprovides: [%s.x.io/v1]\n%s", name, name,
			  more));
}

#define DB(range) "{resource: db.x.io/v1" range "}"
#define LOG       "{resource: log.x.io/v1}"

/* web requires db, and log, which may require db too (its older version did otherwise); db is there in 1.0.0, 1.5.0 and 2.0.0. */
static const struct {
	const char *web, *log;
	const char *version, *range; /* of db; NULL: web cannot be installed, no range */
} rows[] = {
	{DB(""), NULL, "2.0.0", NULL},
	{DB(", versions: '>=1.0.0'"), NULL, "2.0.0", ">=1.0.0"},
	{DB(", versions: '<2.0.0'"), NULL, "1.5.0", "<2.0.0"},
	{DB(", versions: '<1.5.0'"), NULL, "1.0.0", "<1.5.0"},
	{DB(", versions: '<3'") ", " LOG, DB(", versions: '<2'"), "1.5.0", "<3, <2"},
	{DB("") ", " LOG, DB(", versions: '<1.5.0'"), "1.0.0", "<1.5.0"},
	{DB(", versions: '>=1.5.0'") ", " LOG, DB(""), "2.0.0", ">=1.5.0"},
	{DB(", versions: '>=1.5.0'") ", {resource: log.x.io/v1, versions: '<9'}", DB(""), "2.0.0",
	 ">=1.5.0"},
	/* two ranges in one do not go into one with others: the version itself, where it is not the first */
	{DB(", versions: '<1.2.0 || >=2.0.0'"), NULL, "2.0.0", NULL},
	{DB(", versions: '<1.2.0 || >=3.0.0'"), NULL, "1.0.0", "=1.0.0"},
	{DB(", versions: '>=3'"), NULL, NULL, NULL},
};

static void test_resolve_deps__the_range_says_who_requires_what(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
		const struct catalog_index *const indexes[] = {x};
		const struct resolve_input in = {
			.app = "web", .self_ref = "web.x.io", .indexes = indexes, .n_indexes = 1};
		struct error err = ERROR_INIT;
		struct resolution r;
		add(x, "web", "1.0.0", arena_fmt(a, "requires: [%s]\n", rows[i].web));
		add(x, "log", "4.0.0",
		    rows[i].log ? arena_fmt(a, "requires: [%s]\n", rows[i].log) : "");
		add(x, "log", "3.0.0", "requires: [" DB(", versions: '<1.1.0'") "]\n");
		add(x, "db", "1.0.0", "");
		add(x, "db", "1.5.0", "");
		add(x, "db", "2.0.0", "");
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		resolve_run(&in, a, &r);
		assert_int_equal(r.chosen != NULL, rows[i].version != NULL);
		if (!r.chosen) {
			assert_string_equal(r.candidates[0].reason, "DependencyUnresolved");
			continue;
		}
		const struct dependency *d = &r.chosen->dependencies[0]; /* the first to install */
		assert_int_equal(r.chosen->n_dependencies, rows[i].log ? 2 : 1);
		for (size_t k = 0; strcmp(d->package, "db") != 0; k++)
			d = &r.chosen->dependencies[k];
		if (!cstr_eq(d->version, rows[i].version) || !cstr_eq(d->range, rows[i].range))
			fail_msg("row %zu: %s %s", i, d->version, d->range ? d->range : "(none)");
		assert_true(d->add);
		assert_false(d->upgrade);
		assert_string_equal(d->self_ref, "db.x.io");
		assert_string_equal(d->catalog, "c");
		assert_string_equal(d->entry->package, "db");
		assert_true(str_is(d->entry->version.text, d->version));
	}
}

/* Why not: what is said, line by line. A line that follows from two names them, and the last, which has no number, is the end. */
static const struct {
	const char *web, *log;
	const char *lines[6];
	int n; /* of how many versions that is what log requires, 4.0.0 first */
} whys[] = {
	{DB(", versions: '>=3'"),
	 NULL,
	 {"1. web 1.0.0 requires db.x.io/v1 from db >=3, and there is only db 2.0.0 and 1.0.0"},
	 1},
	{"{resource: none.x.io/v1}",
	 NULL,
	 {"1. web 1.0.0 requires none.x.io/v1, and no known package provides it (asked: c)"},
	 1},
	{DB(", versions: '<2'") ", {resource: log.x.io/v1, versions: '>=4'}",
	 DB(", versions: '>=2'"),
	 {"1. log 4.0.0 requires db.x.io/v1 from db >=2",
	  "2. web 1.0.0 requires log.x.io/v1 from log >=4",
	  "3. web 1.0.0 requires db.x.io/v1 from db <2", "4. so (1, 2) web 1.0.0 needs db 2.0.0",
	  "so (4, 3) web 1.0.0 cannot be installed"},
	 1},
	{DB("") ", {resource: log.x.io/v1, versions: '>=4'}",
	 "{resource: none.x.io/v1}",
	 {"1. web 1.0.0 requires log.x.io/v1 from log >=4",
	  "2. log 4.0.0 requires none.x.io/v1, and no known package provides it (asked: c)",
	  "so (1, 2) web 1.0.0 cannot be installed"},
	 1},
	{LOG,
	 DB(", versions: '>=3'"),
	 {"1. every version of log requires db.x.io/v1 from db >=3, and there is only db 2.0.0 and "
	  "1.0.0",
	  "2. web 1.0.0 requires log.x.io/v1 from log", "so (1, 2) web 1.0.0 cannot be installed"},
	 3},
	{"{resource: log.x.io/v1, versions: '>=3'}",
	 DB(", versions: '>=3'"),
	 {"1. log 4.0.0 and 3.0.0 require db.x.io/v1 from db >=3, and there is only db 2.0.0 and "
	  "1.0.0",
	  "2. web 1.0.0 requires log.x.io/v1 from log >=3",
	  "so (1, 2) web 1.0.0 cannot be installed"},
	 2},
};

static void test_resolve_deps__why_not_is_told_in_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whys); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
		const struct catalog_index *const indexes[] = {x};
		const struct resolve_input in = {
			.app = "web", .self_ref = "web.x.io", .indexes = indexes, .n_indexes = 1};
		struct error err = ERROR_INIT;
		struct resolution r;
		add(x, "web", "1.0.0", arena_fmt(a, "requires: [%s]\n", whys[i].web));
		const char *its = whys[i].log ? arena_fmt(a, "requires: [%s]\n", whys[i].log) : "";
		add(x, "log", "4.0.0", its);
		add(x, "log", "3.0.0", whys[i].n > 1 ? its : "");
		add(x, "log", "2.0.0", whys[i].n > 2 ? its : "");
		add(x, "db", "1.0.0", "");
		add(x, "db", "2.0.0", "");
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		resolve_run(&in, a, &r);
		assert_null(r.chosen);
		const struct candidate *c = &r.candidates[0];
		assert_string_equal(c->reason, "DependencyUnresolved");
		for (size_t k = 0; k < c->n_explanation || whys[i].lines[k]; k++) {
			const char *is = k < c->n_explanation ? c->explanation[k] : NULL;
			if (!cstr_eq(is, whys[i].lines[k]))
				fail_msg("row %zu: %s", i, is ? is : "(no more)");
		}
		assert_string_equal(c->message, whys[i].lines[0] + strlen("1. "));
	}
}

/* An app is one package: what another package would bring to it nobody has while this one is it. */
static void test_resolve_deps__an_app_is_not_two_packages(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		CLEANUP(index_freep) struct catalog_index *x = index_new("c", 0);
		const struct catalog_index *const indexes[] = {x};
		const struct resolve_input in = {.app = "web",
						 .self_ref = "web.x.io",
						 .package = "web",
						 .indexes = indexes,
						 .n_indexes = 1};
		struct error err = ERROR_INIT;
		struct resolution r;
		add(x, "web", "1.0.0", "requires: [" DB("") "]\n");
		add(x, "db", "1.0.0", "requires: [{resource: next.x.io/v1}]\n");
		publish(x, "next", "1.0.0",
			same ? "appType: web.x.io\nprovides: [next.x.io/v1]\n"
			     : "appType: next.x.io\nprovides: [next.x.io/v1]\n");
		assert_ok(index_finish(x, STR_NONE, &err), &err);
		resolve_run(&in, a, &r);
		assert_int_equal(r.chosen != NULL, !same);
		if (same)
			assert_string_equal(r.candidates[0].reason, "DependencyUnresolved");
		else
			assert_int_equal(r.chosen->n_dependencies, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve_deps__the_range_says_who_requires_what),
		cmocka_unit_test(test_resolve_deps__why_not_is_told_in_lines),
		cmocka_unit_test(test_resolve_deps__an_app_is_not_two_packages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
