/* test_unit_metric.c: figures by Prometheus in the record of a step: each answer counts once, each scope has its own, and what is not asked is not begun. */
#include "tests/lib/test.h"

#include "alm/controllers/unit/unit_canary.h"
#include "alm/controllers/unit/unit_metric.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/yaml.h"
#include "tests/lib/view_fake.h"

#define ANSWER                                                                          \
	"{\"text\":\"{\\\"status\\\":\\\"success\\\",\\\"data\\\":{\\\"resultType\\\":" \
	"\\\"scalar\\\",\\\"result\\\":[1,\\\"0.01\\\"]}}\"}"

struct fixture {
	struct view_fake f;
	struct unit_job job;
	struct unit_pass s;
	const struct rollout_step *rule;
	struct obj *record;
};

static struct obj *read(struct fixture *x, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(x->f.a, o);
}

static int setup(void **state)
{
	static const char text[] =
		"{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: r}, spec: "
		"{groups: [{steps: [{object: web.yaml, action: CreateOrUpdate, success: "
		"[{prometheus: {address: 'https://p', query: q, interval: 10s, count: 3, "
		"successCondition: result < 0.1}}]}]}]}}";
	struct fixture *x = xcalloc(1, sizeof(*x));
	struct error err = ERROR_INIT;
	struct rollout *r = NULL;
	view_fake_init(&x->f);
	assert_ok(rollout_parse(read(x, text), &(struct rollout_options){0}, x->f.a, &r, &err),
		  &err);
	x->rule = &r->groups[0].steps[0];
	x->job.attempt = 1;
	x->s = (struct unit_pass){
		.v = &x->f.view, .plan = view_fake_plan(&x->f), .key = "b/i", .job = &x->job};
	x->record = read(x, "{}");
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;
	view_fake_release(&x->f);
	xfree(x);
	return 0;
}

/* A pass; the questions that it asks. */
static size_t ask(struct fixture *x, const char *scope)
{
	x->s.plan = view_fake_plan(&x->f);
	assert_non_null(unit_metrics(&x->s, x->rule, scope, x->record, true));
	return view_fake_works(&x->f, &prometheus_work);
}

static void answer(struct fixture *x)
{
	view_fake_outcome(&x->f, view_fake_work(&x->f, &prometheus_work)->id, ANSWER);
}

static int64_t n_of(struct fixture *x, const char *scope)
{
	const struct obj *state =
		obj_get(obj_get(x->record, "metrics"), arena_fmt(x->f.a, "%s/0", scope));
	return obj_i64(state, "n", 0);
}

/* The answer is still there when the next question is due: a process may end before it is forgotten. */
static void test_unit_metric__an_answer_counts_once(void **state)
{
	struct fixture *x = *state;
	assert_int_equal(ask(x, "web"), 1);
	answer(x);
	assert_int_equal(ask(x, "web"), 0);
	assert_int_equal(n_of(x, "web"), 1);
	assert_int_equal(ask(x, "web"), 0); /* not yet */
	assert_in_range(x->f.plan.requeue_after_ns, 1, 10 * NS_PER_S);
	x->f.view.now_ns += 10 * NS_PER_S;
	assert_int_equal(ask(x, "web"), 1);
	assert_int_equal(n_of(x, "web"), 1);
}

static void test_unit_metric__each_object_of_a_step_has_its_own(void **state)
{
	struct fixture *x = *state;
	assert_int_equal(ask(x, "a"), 1);
	answer(x);
	assert_int_equal(ask(x, "a"), 0);
	assert_int_equal(ask(x, "b"), 1); /* what a has says nothing of b */
	assert_int_equal(n_of(x, "a"), 1);
	assert_int_equal(n_of(x, "b"), 0);
}

static void test_unit_metric__what_is_not_asked_is_not_begun(void **state)
{
	struct fixture *x = *state;
	assert_null(unit_metrics(&x->s, x->rule, "web", x->record, false));
	assert_false(obj_has(x->record, "metrics"));
	assert_int_equal(ask(x, "web"), 1);
	x->s.plan = view_fake_plan(&x->f);
	assert_non_null(unit_metrics(&x->s, x->rule, "web", x->record, false));
	assert_int_equal(view_fake_works(&x->f, &prometheus_work), 0);
}

/* The longest time counts, and of the step only what came since its last canary moved on. */
static void test_unit_metric__how_long_it_was_held(void **state)
{
	struct fixture *x = *state;
	static const struct {
		const char *record;
		int64_t held_ns;
	} rows[] = {
		{"{}", 0},
		{"{heldNs: 50, heldBeforeNs: 20}", 30},
		{"{heldNs: 50, heldBeforeNs: 20, canary: {'0': {heldNs: 40}, '1': {heldNs: 35}}}",
		 40},
		{"{heldNs: 90, heldBeforeNs: 20, canary: {'0': {heldNs: 40}}}", 70},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(unit_held_ns(&x->s, read(x, rows[i].record)), rows[i].held_ns);
}

static void test_unit_metric__a_canary_that_ended_keeps_its_reason(void **state)
{
	struct fixture *x = *state;
	struct obj *record = read(x, "{canary: {'0': {end: abort, reason: AnalysisFailed, message: "
				     "bad}, '1': {at: 0}}}");
	assert_int_equal(unit_canary_stop(&x->s, record, "ProgressDeadline", "late"), WAITING);
	const struct obj *all = obj_get(record, "canary");
	assert_string_equal(obj_str(obj_get(all, "0"), "reason"), "AnalysisFailed");
	assert_string_equal(obj_str(obj_get(all, "0"), "message"), "bad");
	assert_string_equal(obj_str(obj_get(all, "1"), "end"), "abort");
	assert_string_equal(obj_str(obj_get(all, "1"), "reason"), "ProgressDeadline");
	assert_string_equal(obj_str(obj_get(all, "1"), "message"), "late");
	assert_int_equal(unit_canary_stop(&x->s, read(x, "{}"), "ProgressDeadline", "late"), DONE);
}

static void test_unit_metric__a_failure_of_the_live_one_ends_the_canary(void **state)
{
	struct fixture *x = *state;
	struct canary_pass c = {.s = &x->s, .row = 2, .record = x->record};
	unit_canary_fail(&c, "no room");
	const struct obj *one = obj_get(obj_get(x->record, "canary"), "2");
	assert_string_equal(obj_str(one, "end"), "abort");
	assert_string_equal(obj_str(one, "message"), "no room");
	assert_in_range(x->s.plan->requeue_after_ns, 1,
			NS_PER_S); /* the next reconcile takes it away */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_unit_metric__an_answer_counts_once),
		TEST(test_unit_metric__each_object_of_a_step_has_its_own),
		TEST(test_unit_metric__what_is_not_asked_is_not_begun),
		TEST(test_unit_metric__how_long_it_was_held),
		TEST(test_unit_metric__a_canary_that_ended_keeps_its_reason),
		TEST(test_unit_metric__a_failure_of_the_live_one_ends_the_canary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
