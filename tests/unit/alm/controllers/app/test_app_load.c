/* app_load.c: what the resolver is asked about an app, of its spec and its status. */
#include "tests/lib/test.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app_load__a_deleted_strategy_comes_from_its_own_catalog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
