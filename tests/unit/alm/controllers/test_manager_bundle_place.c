/* Where a repository is that lies on this machine. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_source.h"
#include "alm/controllers/manager_bundles.h"

static int info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	(void)arg;
	if (cstr_eq(path, "/none"))
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	*ret = (struct file_info){.is_dir = cstr_eq(path, "/folder")};
	return 0;
}

/* Nothing is said of what was never read: the source has failed, and is looked at again. */
static void test_manager_bundle_place__a_file_is_no_repository(void **state)
{
	static const struct {
		const char *url, *text; /* NULL: it is read */
	} rows[] = {
		{"file:///folder", NULL},
		{"file:///none", "SourceUnreachable: spec.source.git.url: /none: no such file"},
		{"file:///plain",
		 "SourceUnreachable: spec.source.git.url: /plain is a file, and no repository of "
		 "git: name the folder of one"},
	};
	(void)state;
	const struct source_files files = {.info = info};
	struct manager m = {.c = {.files = &files}};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct bundle_place place;
		const struct bundle_now now = {0};
		if (!rows[i].text) {
			assert_ok(bundle_place_read(&m, rows[i].url, a, &place, &err), &err);
			assert_string_equal(place.url, rows[i].url);
			continue;
		}
		assert_true(bundle_place_read(&m, rows[i].url, a, &place, &err) < 0);
		assert_string_equal(err.msg, rows[i].text);
		const struct outcome r = {
			.code = err.code, .reason = err.reason, .msg = err.msg, .failures = 1};
		assert_int_equal(bundle_source_of(&now, &r, false, false), SOURCE_FAILED);
		assert_string_equal(bundle_source_reason(&r, SOURCE_FAILED), "SourceUnreachable");
	}
}

/* Whatever is wrong with an address is said of the field; one that is no public one is read where that is allowed. */
static void test_manager_bundle_place__an_address_is_judged(void **state)
{
	static const char *const allowed[] = {"10.0.0.7"};
	static const struct {
		const char *url, *origin; /* origin NULL: it is not read */
		int code;
	} rows[] = {
		{"https://Example.com/a.git", "https://example.com", 0},
		{"https://10.0.0.7/a.git", "https://10.0.0.7", 0},
		{"https://10.0.0.8/a.git", NULL, E_NOTALLOWED},
		{"ssh://git@10.0.0.8/a.git", NULL, E_NOTALLOWED},
		{"ftp://example.com/a.git", NULL, E_INVALID},
		{"ssh://", NULL, E_INVALID},
		{"https://", NULL, E_INVALID},
	};
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(address_policy_freep) struct address_policy *policy = NULL;
	assert_ok(address_policy_new(allowed, 1, &policy, &err), &err);
	struct manager m = {.c = {.addresses = policy}};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bundle_place place = {0};
		err = ERROR_INIT;
		int rc = bundle_place_read(&m, rows[i].url, a, &place, &err);
		if (err.code != rows[i].code || (rc < 0) != (rows[i].code != 0))
			fail_msg("%s: %d %s", rows[i].url, err.code, err.msg);
		if (rc < 0)
			assert_true(cstr_has_prefix(err.msg, "spec.source.git.url: "));
		assert_int_equal(place.url != NULL, !rows[i].code);
		if (rows[i].origin)
			assert_true(cstr_eq(place.origin, rows[i].origin));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_bundle_place__a_file_is_no_repository),
		cmocka_unit_test(test_manager_bundle_place__an_address_is_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
