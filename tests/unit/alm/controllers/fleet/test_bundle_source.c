/* What people read of a Bundle's source. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_source.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static void test_bundle_source__who_holds_the_commit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	static const struct {
		const char *commit, *held_by, *want;
	} rows[] = {
		{NULL, NULL, ""},
		{"c", BUNDLE_PIN,
		 "; " BUNDLE_PIN " holds it there: alm rollback bundle/b --to head ends that"},
		{"c", "spec.pins[1].commit", "; spec.pins[1].commit holds it there"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct bundle_spec b = {
			.name = "b", .commit = rows[i].commit, .held_by = rows[i].held_by};
		assert_string_equal(bundle_source_held(&b, a), rows[i].want);
	}
}

static void test_bundle_source__a_commit_is_told_in_short(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = obj_keep(a, obj_map());
	assert_string_equal(bundle_source_text(NULL, a), "");
	assert_string_equal(bundle_source_text(o, a), "");
	obj_set_str(o, "commit", "0123456789abcdef");
	assert_string_equal(bundle_source_text(o, a), "0123456789ab : ");
	obj_set_str(o, "author", "ann");
	obj_set_str(o, "subject", "more");
	assert_string_equal(bundle_source_text(o, a), "0123456789ab ann: more");
}

/* That a former spec was read says nothing of another url: its first failure is told. */
static void test_bundle_source__what_the_status_says_of_it(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	static const struct {
		const char *text;
		bool told;
	} rows[] = {
		{"{\"metadata\":{\"generation\":2}}", false},
		{"{\"metadata\":{\"generation\":2},\"status\":{\"conditions\":[{\"type\":"
		 "\"SourceReady\",\"status\":\"True\",\"observedGeneration\":2}]}}",
		 false},
		{"{\"metadata\":{\"generation\":2},\"status\":{\"conditions\":[{\"type\":"
		 "\"SourceReady\",\"status\":\"True\",\"observedGeneration\":1}]}}",
		 true},
		{"{\"metadata\":{\"generation\":2},\"status\":{\"conditions\":[{\"type\":"
		 "\"SourceReady\",\"status\":\"False\",\"observedGeneration\":2}]}}",
		 true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		assert_ok(json_parse(str_of(rows[i].text), &o, &err), &err);
		if (bundle_source_is_told(obj_keep(a, o)) != rows[i].told)
			fail_msg("row %zu", i);
	}
}

/* Which commit is wrong, as the status has the one before it. */
static void test_bundle_source__an_invalid_commit_is_named(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = obj_keep(a, obj_map());
	const struct bundle_now now = {.head = "0123456789abcdef", .fetched = true},
				none = {.head = "0123456789abcdef"};
	assert_string_equal(bundle_source_notes(o, &now, BUNDLE_INVALID, false, a),
			    " (commit 0123456789ab)");
	assert_string_equal(bundle_source_notes(o, &now, BUNDLE_INVALID, true, a), "");
	assert_string_equal(bundle_source_notes(o, &now, BUNDLE_BLOCKED, false, a), "");
	assert_string_equal(bundle_source_notes(o, &none, BUNDLE_INVALID, false, a), "");
}

/* Said of one that waits for another revision, and had one, where nobody knows what that is to be like. */
static void test_bundle_source__what_is_not_kept_is_told(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *had = obj_keep(a, obj_map()), *never = obj_keep(a, obj_map());
	obj_set_path(had, "status.history", obj_list());
	struct obj *last = obj_map();
	obj_set_str(last, "commit", "0123456789abcdef");
	obj_append(obj_get_mut(obj_get_mut(had, "status"), "history"), last);
	const struct unit_job knows = {.former = (const struct unit *)had}, forgot = {0};
	for (int i = 0; i < BUNDLE_STATES; i++) {
		enum bundle_state s = (enum bundle_state)i;
		bool waits = s == BUNDLE_SOURCE_FAILED || s == BUNDLE_INVALID ||
			     s == BUNDLE_BLOCKED || s == BUNDLE_AWAITING_APPROVAL;
		const struct bundle_now none = {0}, kept = {.job = &knows}, lost = {.job = &forgot};
		assert_int_equal(*bundle_source_notes(had, &none, s, false, a) != '\0', waits);
		assert_int_equal(*bundle_source_notes(had, &lost, s, false, a) != '\0', waits);
		assert_int_equal(strstr(bundle_source_notes(had, &lost, s, false, a),
					" --to 0123456789ab --reason ") != NULL,
				 waits && s != BUNDLE_SOURCE_FAILED);
		assert_string_equal(bundle_source_notes(had, &kept, s, false, a), "");
		assert_string_equal(bundle_source_notes(never, &none, s, false, a), "");
	}
}

/* Names of inventories, and a label, begin with the Bundle's. */
static void test_bundle_source__a_name_has_a_limit(void **state)
{
	(void)state;
	static const struct {
		int len;
		const char *end;
		bool ok;
	} rows[] = {{BUNDLE_NAME_MAX, "", true},
		    {BUNDLE_NAME_MAX + 1, "", false},
		    {3, "-b", true},
		    {3, ".b", false}};
	char name[BUNDLE_NAME_MAX + 2];
	memset(name, 'a', sizeof(name));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct bundle_spec b;
		struct obj *o = obj_keep(
			a, meta_skeleton("app.coreos.com/v1alpha1", "Bundle", NULL,
					 arena_fmt(a, "%.*s%s", rows[i].len, name, rows[i].end)));
		obj_set_path(o, "spec.source.git.url", obj_string("file:///srv/x"));
		int r = bundle_spec_read(o, a, &b, &err);
		if (r != (rows[i].ok ? 0 : -E_INVALID))
			fail_msg("row %zu: %s", i, err.msg);
		if (r < 0)
			assert_true(cstr_has_prefix(err.msg, "metadata.name: at most 50 of"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_source__who_holds_the_commit),
		cmocka_unit_test(test_bundle_source__a_commit_is_told_in_short),
		cmocka_unit_test(test_bundle_source__what_the_status_says_of_it),
		cmocka_unit_test(test_bundle_source__an_invalid_commit_is_named),
		cmocka_unit_test(test_bundle_source__what_is_not_kept_is_told),
		cmocka_unit_test(test_bundle_source__a_name_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
