/* app_load.c: what the resolver is asked about an app, of its spec and its status. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/app.h"
#include "tests/lib/view_fake.h"

/* A catalog that has etcd 0.9.5 alone, in an archive of its own. */
static struct catalog_index *catalog(const char *name, int priority, const char *digest)
{
	struct error err = ERROR_INIT;
	struct catalog_index *x = index_new(name, priority);
	const struct package_source s = {
		.chart_yaml = STR("apiVersion: v2\nname: etcd\nversion: 0.9.5\n"),
		.descriptor = STR("appType: etcd.com.tectonic.storage\n"),
		.digest = digest,
		.locator = "x"};
	index_add(x, &s);
	assert_int_equal(x->n, 1);
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

/* Its strategy was deleted, and a catalog that comes first has that version too by now: the same one
 * is made again (lifecycle.md 8). */
static void test_app_load__a_deleted_strategy_comes_from_its_own_catalog(void **state)
{
	struct view_fake f;
	char ours[SHA256_HEX], theirs[SHA256_HEX];
	(void)state;
	view_fake_init(&f);
	sha256_hex(STR("a"), ours);
	sha256_hex(STR("b"), theirs);
	struct catalog_index *first = catalog("first", 10, theirs), *own = catalog("own", 0, ours);
	const struct catalog_index *indexes[] = {first, own};
	f.shared.indexes = indexes;
	f.shared.n_indexes = ARRAY_LEN(indexes);
	view_fake_put(
		&f, WATCH_APPTYPE,
		arena_fmt(f.a,
			  "{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\",\"uid\":\"a\"},"
			  "\"spec\":{\"type\":\"com.tectonic.storage\"},\"status\":{\"source\":{"
			  "\"package\":\"etcd\",\"catalog\":\"own\",\"version\":\"0.9.5\","
			  "\"digest\":\"%s\"}}}",
			  ours));
	const struct app *app = app_load(&f.view, "etcd");
	assert_non_null(app);
	assert_string_equal(app->next, "0.9.5");
	assert_string_equal(app->resolution.chosen->catalog, "own");
	assert_string_equal(app->resolution.chosen->entry->digest, ours);
	f.shared.n_indexes = 1; /* its catalog is gone: another archive is not what ran */
	app = app_load(&f.view, "etcd");
	assert_null(app->next);
	assert_string_equal(app->resolution.candidates[0].reason, "NotRequested");
	index_free(first);
	index_free(own);
	view_fake_release(&f);
}

#define APP(spec, status)                                                                       \
	"{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\",\"uid\":\"a\",\"annotations\":{" \
	"\"app.coreos.com/retry\":\"1.0.1\"}},\"spec\":{\"type\":\"io.x\"" spec                 \
	"},\"status\":{" status "}}"

static const struct app *load(struct view_fake *f, const char *app)
{
	view_fake_put(f, WATCH_APPTYPE, app);
	const struct app *ret = app_load(&f->view, "etcd");
	assert_non_null(ret);
	return ret;
}

/* A strategy of the app; by_alm: made by ALM. fields of spec and status follow. */
static void put_strategy(struct view_fake *f, const char *name, bool by_alm, const char *version,
			 const char *spec, const char *status)
{
	view_fake_put(
		f, WATCH_STRATEGY,
		arena_fmt(f->a,
			  "{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%"
			  "s\"%s},"
			  "\"spec\":{\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"%s\"%s},"
			  "\"status\":{%s}}",
			  name, name,
			  by_alm ? ",\"annotations\":{\"app.coreos.com/made-by\":\"alm\"}" : "",
			  version, spec, status));
}

static void test_app_load__the_resolver_is_asked_what_the_spec_says(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	f.shared.n_unsynced = 3;
	const struct app *app = load(
		&f,
		APP(",\"package\":\"p\",\"catalog\":\"c\",\"channel\":\"stable\",\"version\":\">="
		    "1\","
		    "\"paused\":true,\"installNamespace\":\"n\",\"values\":{\"a\":1},\"upgrade\":{"
		    "\"to\":"
		    "\"1.2.0\",\"mode\":\"Manual\",\"soak\":\"1h\",\"windows\":[{\"days\":[\"Sat\"]"
		    ","
		    "\"from\":\"22:00\",\"to\":\"04:30\"},{\"from\":\"00:00\",\"to\":\"24:00\"}],"
		    "\"waivers\":[{\"rule\":\"r\",\"resource\":\"as.x/"
		    "v1\",\"path\":\"p\",\"reason\":\"w\","
		    "\"expires\":\"1970-01-01T00:00:05Z\"},{\"rule\":\"s\"},{\"expires\":\"soon\"}]"
		    "}",
		    ""));
	const struct resolve_input *in = &app->in;
	assert_string_equal(in->app, "etcd");
	assert_string_equal(in->self_ref, "etcd.io.x");
	assert_string_equal(in->package, "p");
	assert_string_equal(in->catalog, "c");
	assert_string_equal(in->channel, "stable");
	assert_string_equal(in->range, ">=1");
	assert_string_equal(in->to, "1.2.0");
	assert_null(in->restore);
	assert_string_equal(in->kube_version, "v1.33.1");
	assert_int_equal(in->n_unsynced, 3);
	assert_true(in->now_ns == f.view.now_ns);
	assert_string_equal(in->values_digest, values_digest(view_fake_obj(&f, "{\"a\":1}"), f.a));
	assert_string_equal(in->mode, "Manual");
	assert_true(in->paused && app->paused);
	assert_string_equal(app->install_namespace, "n");
	assert_null(in->unreadable);
	assert_null(in->unsupported);
	assert_true(in->soak_ns == 3600 * INT64_C(1000000000));
	assert_int_equal(in->n_windows, 2);
	assert_int_equal(in->windows[0].days, 1U << 6);
	assert_int_equal(in->windows[0].from, 22 * 60);
	assert_int_equal(in->windows[0].to, 4 * 60 + 30);
	assert_int_equal(in->windows[1].days, 0);
	assert_int_equal(in->windows[1].to, 24 * 60);
	assert_int_equal(in->n_waivers, 3);
	assert_string_equal(in->waivers[0].rule, "r");
	assert_string_equal(in->waivers[0].resource, "as.x/v1");
	assert_string_equal(in->waivers[0].path, "p");
	assert_string_equal(in->waivers[0].reason, "w");
	assert_true(in->waivers[0].expires_ns == 5 * INT64_C(1000000000));
	assert_string_equal(in->waivers[1].rule, "s");
	assert_true(in->waivers[1].expires_ns == 0);
	assert_true(in->waivers[2].expires_ns == 1); /* it is over: nobody can read it */
	assert_null(in->installed_version);
	assert_null(in->installed_package);
	assert_null(in->installed_catalog);
	assert_null(in->installed_digest);
	assert_non_null(in->claims);
	view_fake_release(&f);
}

static void test_app_load__what_it_does_not_say(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	const struct app *app = load(&f, APP("", ""));
	assert_null(app->in.package);
	assert_null(app->in.catalog);
	assert_null(app->in.to);
	assert_string_equal(app->in.mode, "Automatic");
	assert_string_equal(app->install_namespace, "etcd");
	assert_false(app->paused);
	assert_int_equal(obj_type(app->values), OBJ_MAP);
	assert_int_equal(app->in.n_windows + app->in.n_waivers + app->in.n_manual, 0);
	assert_null(app->in.failed[0]);
	assert_null(app->next);
	assert_null(app_load(&f.view, "nobody"));
	assert_null(app_input(&f.view, "nobody", NULL));
	const struct resolve_input *in = app_input_new(&f.view, "new.io.x", "p");
	assert_string_equal(in->app, "new");
	assert_string_equal(in->self_ref, "new.io.x");
	assert_string_equal(in->package, "p");
	assert_string_equal(in->mode, "Automatic");
	assert_string_equal(in->values_digest, values_digest(app->values, f.a));
	view_fake_release(&f);
}

/* What would be taken for its default closes instead. */
static void test_app_load__what_cannot_be_read(void **state)
{
	static const struct {
		const char *upgrade, *want; /* want NULL: all is well */
	} rows[] = {
		{"\"soak\":\"0s\"", NULL},
		{"\"soak\":\"-1h\"", "spec.upgrade.soak: -1h is negative"},
		{"\"soak\":\"x\"", "spec.upgrade.soak: "},
		{"\"approveVersion\":\"\"", NULL},
		{"\"approveVersion\":\">=1.0\"", NULL},
		{"\"approveVersion\":\">=\"", "spec.upgrade.approveVersion: "},
		{"\"approvalTTL\":\"1h\"", NULL},
		{"\"approvalTTL\":\"x\"", "spec.upgrade.approvalTTL: "},
		{"\"deadlines\":{\"pending\":\"1h\",\"installing\":\"1h\",\"verifying\":\"1h\"}",
		 NULL},
		{"\"deadlines\":{\"pending\":\"x\"}", "spec.upgrade.deadlines.pending: "},
		{"\"deadlines\":{\"installing\":\"x\"}", "spec.upgrade.deadlines.installing: "},
		{"\"deadlines\":{\"verifying\":\"x\"}", "spec.upgrade.deadlines.verifying: "},
		{"\"windows\":[{\"from\":\"00:00\",\"to\":\"01:00\"},{\"from\":\"00:00\"}]",
		 "spec.upgrade.windows[1]: "},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *text =
			obj_stringf(APP(",\"upgrade\":{%s}", ""), rows[i].upgrade);
		const char *got = load(&f, obj_as_string(text))->in.unreadable;
		const char *want = rows[i].want;
		if (!got != !want || (got && strncmp(got, want, strlen(want)) != 0))
			fail_msg("%s: %s", rows[i].upgrade, got ? got : "nothing");
		view_fake_release(&f);
	}
}

static void test_app_load__what_is_installed(void **state)
{
	static const struct {
		const char *a, *b; /* statuses of 1.0.0 and 1.0.1 */
		const char *installed, *busy;
	} rows[] = {
		{"", "", NULL, NULL},
		{"\"phase\":\"Succeeded\",\"revision\":1", "", "1.0.0", NULL},
		{"\"phase\":\"Succeeded\",\"revision\":1", "\"phase\":\"Succeeded\",\"revision\":2",
		 "1.0.1", NULL},
		{"\"phase\":\"Succeeded\",\"revision\":3", "\"phase\":\"Succeeded\",\"revision\":2",
		 "1.0.0", NULL},
		{"\"phase\":\"Succeeded\",\"revision\":1",
		 "\"phase\":\"Installing\",\"revision\":2", "1.0.0", "1.0.1"},
		{"\"phase\":\"Superseded\",\"revision\":1", "\"phase\":\"Failed\",\"revision\":2",
		 NULL, NULL},
		/* planned anew for other values: what the app says is installed, or its own word */
		{"\"phase\":\"Pending\",\"revision\":1", "", "1.0.0", NULL},
		{"\"phase\":\"Pending\"", "", NULL, NULL},
		{"\"phase\":\"Blocked\",\"revision\":1", "", "1.0.0", NULL},
		{"\"phase\":\"Failed\",\"revision\":1", "", NULL, NULL},
		{"\"phase\":\"Failed\",\"revision\":2,\"former\":{\"revision\":1}", "", "1.0.0",
		 NULL},
		{"", "\"phase\":\"Verifying\",\"revision\":2", NULL, "1.0.1"},
		{"", "\"phase\":\"Verifying\",\"revision\":2,\"former\":{\"revision\":1}", "1.0.1",
		 "1.0.1"},
		{"", "\"phase\":\"Superseded\",\"former\":{\"revision\":1}", NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		put_strategy(&f, "a", true, "1.0.0", ",\"resources\":[\"as.x/v1\"]", rows[i].a);
		put_strategy(&f, "b", true, "1.0.1", "", rows[i].b);
		const struct app *app =
			load(&f, APP("", "\"installedVersion\":\"1.0.0\",\"source\":{"
					 "\"package\":\"p\",\"catalog\":\"c\"}"));
		const char *got = app->installed ? app->installed->version : NULL;
		if (!cstr_eq(got, rows[i].installed))
			fail_msg("row %zu: %s is installed", i, got ? got : "nothing");
		assert_true(cstr_eq(app->busy ? app->busy->version : NULL, rows[i].busy));
		assert_true(cstr_eq(app->in.installed_version, rows[i].installed));
		assert_true(cstr_eq(app->in.installed_package, got ? "p" : NULL));
		assert_true(cstr_eq(app->in.installed_catalog, got ? "c" : NULL));
		assert_int_equal(app->in.installed_managed != NULL, got != NULL);
		if (cstr_eq(got, "1.0.0"))
			assert_string_equal(app->in.installed_managed[0], "as.x/v1");
		view_fake_release(&f);
	}
}

/* The source of a version made by hand is its author's, not the catalog's that the app was of before. */
static void test_app_load__one_made_by_hand_is_of_no_catalog(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_strategy(&f, "a", false, "1.0.0", ",\"strategy\":{\"sha256\":\"0123abc\"}",
		     "\"phase\":\"Succeeded\",\"revision\":1");
	const struct app *app = load(
		&f, APP("", "\"source\":{\"package\":\"p\",\"catalog\":\"c\",\"digest\":\"d\"}"));
	assert_string_equal(app->in.installed_version, "1.0.0");
	assert_string_equal(app->in.installed_digest, "0123abc");
	assert_null(app->in.installed_package);
	assert_null(app->in.installed_catalog);
	view_fake_release(&f);
}

#define NOT(type, reason)                                                                  \
	"\"conditions\":[{\"type\":\"" type "\",\"status\":\"False\",\"reason\":\"" reason \
	"\",\"message\":\"m\"}]"

static void test_app_load__strategies_made_by_hand(void **state)
{
	static const struct {
		const char *status, *blocked;
	} rows[] = {
		{"\"phase\":\"Blocked\"," NOT("PlanReady", "FetchFailed"), "FetchFailed"},
		{"\"phase\":\"Blocked\"," NOT("RequirementsMet", "RequirementUnmet"),
		 "RequirementUnmet"},
		{"\"phase\":\"Blocked\"," NOT("RequirementsMet", "Other"), NULL},
		{"\"phase\":\"Blocked\"," NOT("PlanReady", "OtherInProgress"), NULL},
		{"\"phase\":\"Pending\"," NOT("PlanReady", "FetchFailed"), NULL},
		{"\"phase\":\"Blocked\",\"conditions\":[{\"type\":\"PlanReady\",\"status\":"
		 "\"True\",\"reason\":"
		 "\"FetchFailed\"}]",
		 NULL},
		{"\"phase\":\"Blocked\"", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		put_strategy(&f, "alms", true, "1.0.0", "", rows[i].status);
		put_strategy(&f, "own", false, "1.0.1",
			     ",\"resources\":[\"as.x/v1\"],\"strategy\":{\"sha256\":\"0123abc\"}",
			     rows[i].status);
		const struct app *app = load(&f, APP("", ""));
		assert_int_equal(app->in.n_manual, 1);
		const struct resolve_manual *m = app->in.manual;
		assert_false(m->stored);
		assert_string_equal(m->strategy, "own");
		assert_string_equal(m->version, "1.0.1");
		assert_string_equal(m->sha256, "0123abc");
		assert_string_equal(m->resources[0], "as.x/v1");
		if (!cstr_eq(m->blocked, rows[i].blocked))
			fail_msg("%s: %s", rows[i].status, m->blocked ? m->blocked : "nothing");
		assert_true(cstr_eq(m->message, rows[i].blocked ? "m" : NULL));
		view_fake_release(&f);
	}
}

/* What ended without its version is not tried again by itself, with these values. */
static void test_app_load__what_has_failed(void **state)
{
	static const struct {
		const char *status, *want; /* of 1.0.2; NULL: nothing */
	} rows[] = {
		{"\"phase\":\"Failed\",\"revision\":2", "1.0.2@0123abc+%s"},
		{"\"phase\":\"RolledBack\",\"revision\":2", "1.0.2@0123abc+%s"},
		{"\"phase\":\"RollingBack\",\"revision\":2", "1.0.2@0123abc+%s"},
		{"\"phase\":\"Superseded\",\"failed\":{\"values\":\"v\"}", "1.0.2@0123abc+v"},
		{"\"phase\":\"Installing\",\"revision\":2", NULL},
		{"\"phase\":\"Blocked\"", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		put_strategy(&f, "a", true, "1.0.0", "", "\"phase\":\"Succeeded\",\"revision\":1");
		put_strategy(&f, "b", true, "1.0.2", ",\"strategy\":{\"sha256\":\"0123abc\"}",
			     rows[i].status);
		const struct app *app = load(
			&f, APP("", "\"failedVersions\":[\"0.9.0@d+v\",\"1.0.1@d+v\",\"0.9.0@d+v\","
				    "\"1.0.10@d+v\"]"));
		const char *const *m = app->in.failed;
		assert_string_equal(m[0], "0.9.0@d+v");
		assert_string_equal(m[1], "1.0.10@d+v"); /* 1.0.1 is tried again */
		if (rows[i].want) {
			CLEANUP(obj_unrefp) struct obj *want = obj_stringf(
				"1.0.2@0123abc+%s",
				strchr(rows[i].want, '%') ? app->in.values_digest : "v");
			assert_string_equal(m[2], obj_as_string(want));
			assert_null(m[3]);
		} else {
			assert_null(m[2]);
		}
		view_fake_release(&f);
	}
}

/* Nothing ran before: a first install that fails is tried again. */
static void test_app_load__a_first_install_has_not_failed(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	put_strategy(&f, "b", true, "1.0.2", "", "\"phase\":\"Failed\",\"revision\":2");
	assert_null(load(&f, APP("", ""))->in.failed[0]);
	view_fake_release(&f);
}

static void test_app_load__what_comes_back(void **state)
{
	static const struct {
		const char *spec, *restore;
	} rows[] = {
		{"", "0.9.5"},
		{",\"package\":\"p\"", "0.9.5"},
		{",\"package\":\"other\"", NULL},
		{",\"resources\":[{\"name\":\"as.x\"}]", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *text = obj_stringf(
			APP("%s", "\"source\":{\"package\":\"p\",\"catalog\":\"c\",\"version\":"
				  "\"0.9.5\",\"digest\":\"d\"}"),
			rows[i].spec);
		const struct resolve_input *in = &load(&f, obj_as_string(text))->in;
		const char *restore = rows[i].restore;
		assert_true(cstr_eq(in->restore, restore));
		assert_true(cstr_eq(in->installed_digest, restore ? "d" : NULL));
		assert_true(cstr_eq(in->installed_package, restore ? "p" : NULL));
		assert_true(cstr_eq(in->installed_catalog, restore ? "c" : NULL));
		assert_null(in->installed_version);
		view_fake_release(&f);
	}
}

/* ALM keeps a Catalog under that name, and takes nobody's. */
static void test_app_load__the_catalog_of_a_package_in_place(void **state)
{
	static const char *const marks[] = {
		"", ",\"annotations\":{\"app.coreos.com/made-by\":\"alm\"}"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		struct view_fake f;
		view_fake_init(&f);
		view_fake_put(
			&f, WATCH_CATALOG,
			arena_fmt(
				f.a,
				"{\"kind\":\"Catalog\",\"metadata\":{\"name\":\"apptype-etcd\"%s}}",
				marks[i]));
		const struct resolve_input *in =
			&load(&f, APP(",\"resources\":[{\"name\":\"as.x.io\",\"spec\":{\"group\":"
				      "\"x.io\",\"version\":\"v1\","
				      "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"as\","
				      "\"singular\":\"a\",\"kind\":\"A\"}}}]",
				      ""))
				 ->in;
		assert_string_equal(in->catalog, "apptype-etcd");
		bool ours = i == 1;
		if (!ours)
			assert_non_null(
				strstr(in->unsupported, "Catalog apptype-etcd is not ALM's"));
		else
			assert_null(in->unsupported);
		view_fake_release(&f);
	}
}

static void test_app_load__nothing_is_chosen_for_one_that_goes(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_APPTYPE,
		      "{\"kind\":\"AppType\",\"metadata\":{\"name\":\"etcd\",\"uid\":\"a\","
		      "\"deletionTimestamp\":"
		      "\"2023-01-02T03:04:05Z\"},\"spec\":{\"type\":\"io.x\"}}");
	const struct app *app = app_load(&f.view, "etcd");
	assert_true(app->deleting);
	assert_null(app->in.app);
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app_load__a_deleted_strategy_comes_from_its_own_catalog),
		cmocka_unit_test(test_app_load__the_resolver_is_asked_what_the_spec_says),
		cmocka_unit_test(test_app_load__what_it_does_not_say),
		cmocka_unit_test(test_app_load__what_cannot_be_read),
		cmocka_unit_test(test_app_load__what_is_installed),
		cmocka_unit_test(test_app_load__one_made_by_hand_is_of_no_catalog),
		cmocka_unit_test(test_app_load__strategies_made_by_hand),
		cmocka_unit_test(test_app_load__what_has_failed),
		cmocka_unit_test(test_app_load__a_first_install_has_not_failed),
		cmocka_unit_test(test_app_load__what_comes_back),
		cmocka_unit_test(test_app_load__the_catalog_of_a_package_in_place),
		cmocka_unit_test(test_app_load__nothing_is_chosen_for_one_that_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
