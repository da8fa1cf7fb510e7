/* test_trouble.c: what is wrong with an app, and when it is told. */
#include "tests/lib/test.h"

#include "alm/controllers/apptype/trouble.h"
#include "tests/lib/view_fake.h"

#define SINCE "\"lastTransitionTime\":\"1970-01-01T00:10:00Z\""
#define CONDITION(type, status, reason)                                               \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason "\"," \
	"\"message\":\"why\"," SINCE "}"
#define OBJECT(uid, conditions)                        \
	"{\"metadata\":{\"name\":\"n\",\"uid\":\"" uid \
	"\"},\"status\":{\"conditions\":[" conditions "]}}"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref s;
	struct trouble t;
};

/* The strategy s is installed, the time is 10 minutes and some. */
static void look(struct world *w, const char *app, const char *strategy, int64_t after_ns)
{
	view_fake_init(&w->f);
	w->f.view.now_ns = 10 * NS_PER_MIN + after_ns;
	w->s = (struct strategy_ref){.o = view_fake_obj(&w->f, strategy), .phase = PHASE_SUCCEEDED};
	w->app = (struct app){.o = view_fake_obj(&w->f, app), .installed = &w->s};
	trouble_of(&w->f.view, &w->app, view_fake_plan(&w->f), &w->t);
}

static void test_trouble__a_workload_that_is_not_back_in_time(void **state)
{
	(void)state;
	struct world w;
	const char *s = OBJECT("u", CONDITION("Available", "False", "WorkloadUnavailable"));
	look(&w, OBJECT("a", ""), s, NS_PER_MIN);
	assert_null(w.t.degraded);
	assert_int_equal(w.f.plan.requeue_after_ns, NS_PER_MIN);
	view_fake_release(&w.f);
	look(&w, OBJECT("a", ""), s, UNAVAILABLE_NS);
	assert_string_equal(w.t.degraded, "WorkloadUnavailable");
	assert_string_equal(w.t.why, "why");
	view_fake_release(&w.f);
}

/* After a restart with another clock the wait would begin anew. */
static void test_trouble__what_was_told_stays_until_its_cause_is_gone(void **state)
{
	(void)state;
	struct world w;
	const char *app = OBJECT("a", CONDITION("Degraded", "True", "WorkloadUnavailable"));
	look(&w, app, OBJECT("u", CONDITION("Available", "False", "WorkloadUnavailable")), 0);
	assert_string_equal(w.t.degraded, "WorkloadUnavailable");
	view_fake_release(&w.f);
	look(&w, app, OBJECT("u", CONDITION("Available", "True", "Available")), 0);
	assert_null(w.t.degraded);
	view_fake_release(&w.f);
}

static void test_trouble__what_nobody_brings_back_is_told_at_once(void **state)
{
	(void)state;
	struct world w;
	const char *s = OBJECT("u", CONDITION("Available", "False", "ObjectMissing") "," CONDITION(
					    "Drifted", "True", "ObjectMissing"));
	look(&w, "{\"metadata\":{\"uid\":\"a\"},\"spec\":{\"drift\":\"Report\"}}", s, 0);
	assert_string_equal(w.t.degraded, "ObjectMissing");
	assert_string_equal(w.t.drifted, "ObjectMissing");
	view_fake_release(&w.f);
	look(&w, OBJECT("a", ""), s, 0); /* Repair: it is being written */
	assert_null(w.t.degraded);
	assert_null(w.t.drifted);
	view_fake_release(&w.f);
	look(&w, OBJECT("a", ""), OBJECT("u", CONDITION("Drifted", "True", "DriftNotRepaired")), 0);
	assert_string_equal(w.t.degraded, "DriftNotRepaired");
	view_fake_release(&w.f);
}

static void resolve_for(struct world *w, const char *ready, int64_t after_ns)
{
	view_fake_init(&w->f);
	view_fake_put(
		&w->f, WATCH_CATALOG,
		"{\"metadata\":{\"name\":\"community\"},\"status\":{\"conditions\":[" CONDITION(
			"Synced", "False", "SourceUnreachable") "]}}");
	w->f.view.now_ns = 10 * NS_PER_MIN + after_ns;
	w->app = (struct app){.o = view_fake_obj(&w->f, ready), .resolution = {.not_ready = true}};
	trouble_of(&w->f.view, &w->app, view_fake_plan(&w->f), &w->t);
}

static void test_trouble__resolving_ends(void **state)
{
	(void)state;
	struct world w;
	resolve_for(&w, "{\"metadata\":{\"uid\":\"a\"}}", 0);
	assert_null(w.t.overdue);
	assert_int_equal(w.f.plan.requeue_after_ns, RESOLVING_NS);
	view_fake_release(&w.f);
	resolve_for(&w, OBJECT("a", CONDITION("Ready", "Unknown", "Resolving")), NS_PER_MIN);
	assert_null(w.t.overdue);
	assert_int_equal(w.f.plan.requeue_after_ns, NS_PER_MIN);
	view_fake_release(&w.f);
	resolve_for(&w, OBJECT("a", CONDITION("Ready", "Unknown", "Resolving")), RESOLVING_NS);
	assert_string_equal(w.t.overdue, "Resolving");
	assert_string_equal(w.t.blocker,
			    "catalog community was never read: SourceUnreachable: why");
	view_fake_release(&w.f);
	resolve_for(&w, OBJECT("a", CONDITION("Ready", "False", "Unresolved")), 0);
	assert_string_equal(w.t.overdue, "Resolving"); /* stays, until the catalog is there */
	w.app.resolution.not_ready = false;
	trouble_of(&w.f.view, &w.app, view_fake_plan(&w.f), &w.t);
	assert_null(w.t.overdue);
	view_fake_release(&w.f);
}

static void test_trouble__a_handoff_that_lasts(void **state)
{
	(void)state;
	struct world w;
	const char *s = OBJECT("u", CONDITION("OwnershipMoved", "False", "Forbidden"));
	for (int i = 0; i < 2; i++) {
		view_fake_init(&w.f);
		w.f.view.now_ns = 10 * NS_PER_MIN + HANDOFF_NS - 1 + i;
		w.s = (struct strategy_ref){
			.o = view_fake_obj(&w.f, s), .version = "2.0.0", .phase = PHASE_VERIFYING};
		w.app = (struct app){.o = view_fake_obj(&w.f, OBJECT("a", "")), .busy = &w.s};
		trouble_of(&w.f.view, &w.app, view_fake_plan(&w.f), &w.t);
		if (!i)
			assert_null(w.t.overdue);
		else
			assert_string_equal(w.t.overdue, "Verifying");
		view_fake_release(&w.f);
	}
}

static void test_trouble__a_version_that_nobody_approves(void **state)
{
	(void)state;
	struct world w;
	for (int i = 0; i < 2; i++) {
		view_fake_init(&w.f);
		w.f.view.now_ns = 10 * NS_PER_MIN + AWAITING_NS - 1 + i;
		w.s = (struct strategy_ref){
			.o = view_fake_obj(&w.f, "{\"metadata\":{\"uid\":\"u\"},\"status\":{"
						 "\"phaseSince\":\"1970-01-01T00:10:00Z\"}}"),
			.version = "2.0.0",
			.phase = PHASE_AWAITING};
		w.app = (struct app){
			.o = view_fake_obj(&w.f, OBJECT("a", "")), .strategies = &w.s, .n = 1};
		trouble_of(&w.f.view, &w.app, view_fake_plan(&w.f), &w.t);
		if (!i)
			assert_null(w.t.unapproved);
		else
			assert_string_equal(w.t.unapproved, "2.0.0");
		view_fake_release(&w.f);
	}
}

static void test_trouble__a_removal_that_lasts(void **state)
{
	(void)state;
	struct world w;
	view_fake_init(&w.f);
	w.app = (struct app){.o = view_fake_obj(&w.f, "{\"metadata\":{\"uid\":\"a\","
						      "\"deletionTimestamp\":"
						      "\"1970-01-01T00:10:00Z\"}}")};
	w.f.view.now_ns = 10 * NS_PER_MIN + DELETING_NS - 1;
	assert_int_equal(trouble_await_deletion(&w.f.view, &w.app, view_fake_plan(&w.f)), WAITING);
	assert_int_equal(w.f.plan.requeue_after_ns, 1);
	w.f.view.now_ns++;
	assert_int_equal(trouble_await_deletion(&w.f.view, &w.app, view_fake_plan(&w.f)), DONE);
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trouble__a_workload_that_is_not_back_in_time),
		cmocka_unit_test(test_trouble__what_was_told_stays_until_its_cause_is_gone),
		cmocka_unit_test(test_trouble__what_nobody_brings_back_is_told_at_once),
		cmocka_unit_test(test_trouble__resolving_ends),
		cmocka_unit_test(test_trouble__a_handoff_that_lasts),
		cmocka_unit_test(test_trouble__a_version_that_nobody_approves),
		cmocka_unit_test(test_trouble__a_removal_that_lasts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
