/* test_retry.c: when what failed is tried again. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/controllers/app/retry.h"
#include "tests/lib/view_fake.h"

#define TURNED                                                                        \
	"[{\"lastTransitionTime\":\"1970-01-01T00:10:00Z\"},{\"lastTransitionTime\":" \
	"\"1970-01-01T00:05:00Z\"}]"

static void test_retry__waits_double_to_an_hour(void **state)
{
	(void)state;
	assert_int_equal(retry_wait_ns(0), NS_PER_MIN);
	assert_int_equal(retry_wait_ns(1), NS_PER_MIN);
	assert_int_equal(retry_wait_ns(2), 2 * NS_PER_MIN);
	assert_int_equal(retry_wait_ns(6), 32 * NS_PER_MIN);
	assert_int_equal(retry_wait_ns(7), NS_PER_HOUR);
	assert_int_equal(retry_wait_ns(INT64_MAX), NS_PER_HOUR);
}

static void test_retry__the_wait_runs_from_the_newest_turn(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	assert_int_equal(retry_at_ns(view_fake_obj(&f, TURNED), 2, 0), 12 * NS_PER_MIN);
	assert_int_equal(retry_at_ns(NULL, 1, NS_PER_MIN), 2 * NS_PER_MIN);
	view_fake_release(&f);
}

static bool repeats_as(struct view_fake *f, const char *account, const char *values,
		       const char *retry)
{
	CLEANUP(obj_unrefp) struct obj *failed =
		obj_stringf("{\"status\":{\"failed\":{\"values\":\"%s\",\"account\":\"a\"}}}",
			    values_digest(view_fake_obj(f, "{\"replicas\":4}"), f->a));
	struct app app = {.values = view_fake_obj(f, values),
			  .account = {.user = account},
			  .o = view_fake_obj(f, retry)};
	struct strategy_ref s = {.version = "1.0.0", .o = view_fake_obj(f, obj_as_string(failed))};
	return retry_would_repeat(&app, &s, f->a);
}

static bool repeats(struct view_fake *f, const char *values, const char *retry)
{
	return repeats_as(f, "a", values, retry);
}

static void test_retry__failed_values_wait_until_they_differ(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	assert_true(repeats(&f, "{\"replicas\":4}", "{}"));
	assert_false(repeats(&f, "{\"replicas\":3}", "{}"));
	assert_false(repeats_as(&f, "b", "{\"replicas\":4}", "{}"));
	assert_false(
		repeats(&f, "{\"replicas\":4}",
			"{\"metadata\":{\"annotations\":{\"app.coreos.com/retry\":\"1.0.0\"}}}"));
	assert_true(
		repeats(&f, "{\"replicas\":4}",
			"{\"metadata\":{\"annotations\":{\"app.coreos.com/retry\":\"2.0.0\"}}}"));
	view_fake_release(&f);
}

/* A way back from another version leads to what runs, and its plan is that revision's. */
static void test_retry__what_runs_while_other_values_are_planned(void **state)
{
	(void)state;
	static const struct {
		const char *status;
		enum phase phase;
		int64_t runs;
	} rows[] = {
		{"{}", PHASE_SUCCEEDED, 7},
		{"{}", PHASE_PENDING, 7},
		{"{\"former\":{\"revision\":5}}", PHASE_PENDING, 5},
		{"{\"former\":{\"revision\":5}}", PHASE_BLOCKED, 5},
		{"{\"former\":{\"revision\":5}}", PHASE_SUCCEEDED, 7},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		const struct strategy_ref s = {
			.o = view_fake_obj(&f, arena_fmt(f.a, "{\"status\":%s}", rows[i].status)),
			.phase = rows[i].phase,
			.revision = 7};
		assert_int_equal(strategy_running_revision(&s), rows[i].runs);
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retry__waits_double_to_an_hour),
		cmocka_unit_test(test_retry__the_wait_runs_from_the_newest_turn),
		cmocka_unit_test(test_retry__failed_values_wait_until_they_differ),
		cmocka_unit_test(test_retry__what_runs_while_other_values_are_planned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
