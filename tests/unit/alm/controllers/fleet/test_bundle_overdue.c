/* Deletes that last too long are told, at their time and not before. */
#include "tests/lib/test.h"

#include "alm/controllers/fleet/bundle_overdue.h"
#include "alm/obj/yaml.h"

static struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

#define DELETING  "{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}"
#define WAITS(ns) "{waits: 'finalizer f', waitsSinceNs: " ns "}"

/* clang-format off */
static const struct {
	const char *bundle, *record;
	int64_t after_ns; /* since 2026-01-01T00:00:00Z */
	const char *deletes;
	bool is_blocked;
	int64_t again_ns;
} rows[] = {
	{"{metadata: {}}", NULL, NS_PER_HOUR, NULL, false, 0},
	{"{metadata: {}}", "{waits: 'finalizer f'}", NS_PER_HOUR, NULL, false, 0},
	{"{metadata: {}}", WAITS("1767225600000000000"), NS_PER_MIN, NULL, false, 9 * NS_PER_MIN},
	{"{metadata: {}}", WAITS("1767225600000000000"), 10 * NS_PER_MIN, "finalizer f", false, 0},
	/* the Bundle's own have longer, and what a revision's waited for counts no more */
	{DELETING, WAITS("1767225600000000000"), 10 * NS_PER_MIN, NULL, false, 20 * NS_PER_MIN},
	{DELETING, NULL, 30 * NS_PER_MIN - 1, NULL, false, 1},
	{DELETING, NULL, 30 * NS_PER_MIN, NULL, true, 0},
};
/* clang-format on */

static void test_bundle_overdue__at_its_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct bundle_overdue got;
		int64_t begin;
		assert_true(clock_parse(STR("2026-01-01T00:00:00Z"), &begin));
		bundle_overdue_judge(read(a, rows[i].bundle),
				     rows[i].record ? read(a, rows[i].record) : NULL,
				     begin + rows[i].after_ns, &got);
		if (rows[i].deletes)
			assert_string_equal(got.deletes, rows[i].deletes);
		else
			assert_null(got.deletes);
		assert_int_equal(got.is_blocked, rows[i].is_blocked);
		assert_int_equal(got.again_ns, rows[i].again_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bundle_overdue__at_its_time)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
