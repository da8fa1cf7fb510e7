/* test_strategy_gate.c: a plan lives as long as the gate says of its CRDs what it said when it was
 * made. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/live/live_gate.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define ID "gate:u:r1:ws.e.io"
#define FOUND(outcome, n)                                      \
	"{\"rule\":\"BoundTightened\",\"resource\":\"ws.e.io/" \
	"v1\",\"path\":\"spec.x\",\"outcome\":"                \
	"\"" outcome "\",\"objects\":{\"seen\":" n "}}"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct unit_entry entry;
	struct install_plan install;
	struct strategy_pass s;
};

static void setup(struct world *w)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->ref.o = view_fake_obj(
		&w->f, "{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\",\"metadata\":{"
		       "\"name\":\"s\",\"uid\":\"u\"},\"status\":{\"plan\":{\"findings\":[" FOUND(
			       "warn", "3") "]}}}");
	w->ref.name = "s";
	w->ref.version = "2.0.0";
	w->entry = (struct unit_entry){.object = view_fake_obj(&w->f, "{}"),
				       .digest = "d",
				       .kind = "CustomResourceDefinition",
				       .name = "ws.e.io",
				       .is_crd = true};
	w->install = (struct install_plan){.entries = &w->entry, .n = 1};
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = &w->f.plan,
				      .app = &w->app,
				      .ref = &w->ref,
				      .phase = PHASE_INSTALLING,
				      .conditions = obj_keep(w->f.a, obj_list()),
				      .install = &w->install,
				      .revision = 1};
}

static bool voids(struct world *w, const char *outcome)
{
	w->s.phase = PHASE_INSTALLING;
	view_fake_outcome(&w->f, ID, outcome);
	return strategy_keep_judgement(&w->s) == ENDED;
}

static void test_strategy_gate__a_changed_outcome_voids_the_plan(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	assert_int_equal(strategy_keep_judgement(&w.s), DONE); /* not judged again yet */
	assert_false(voids(&w, "{\"outcome\":\"warn\",\"findings\":[" FOUND("warn", "9") "]}"));
	assert_int_equal(w.s.phase, PHASE_INSTALLING);
	assert_true(voids(&w, "{\"outcome\":\"refuse\",\"text\":\"no\",\"findings\":[" FOUND(
				      "refuse", "9") "]}"));
	assert_int_equal(w.s.phase, PHASE_PENDING);
	assert_string_equal(w.s.message, "ws.e.io is judged otherwise now: no");
	assert_true(voids(&w, "{\"outcome\":\"allow\",\"findings\":[]}"));
	view_fake_release(&w.f);
}

static void test_strategy_gate__what_is_written_is_not_judged(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.entry.live = view_fake_obj(
		&w.f, "{\"metadata\":{\"annotations\":{\"app.coreos.com/applied\":\"d\"}}}");
	assert_false(voids(&w, "{\"outcome\":\"allow\",\"findings\":[]}"));
	w.entry.live = view_fake_obj(
		&w.f, "{\"metadata\":{\"annotations\":{\"app.coreos.com/applied\":\"d.expand\"}}}");
	assert_false(voids(&w, "{\"outcome\":\"allow\",\"findings\":[]}"));
	w.entry.live = view_fake_obj(&w.f, "{\"metadata\":{\"annotations\":{\"app.coreos.com/"
					   "crd-version\":\"2.0.1\"}}}");
	assert_false(voids(&w, "{\"outcome\":\"allow\",\"findings\":[]}")); /* a newer one's */
	view_fake_release(&w.f);
}

/* One over what the status lists: the weightiest are there, the rest is counted, and the plan that
 * was made with all of them is not void. */
static void test_strategy_gate__one_finding_over_the_bound(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	struct obj *all = obj_keep(w.f.a, obj_list()), *judged = obj_keep(w.f.a, obj_list());
	struct obj *plan = obj_keep(w.f.a, obj_map()), *j = obj_map();
	for (int i = 0; i < 101; i++)
		obj_append(all, obj_ref(view_fake_obj(&w.f, i < 100 ? FOUND("allow", "1")
								    : FOUND("refuse", "1"))));
	obj_set_str(j, "crd", "ws.e.io");
	obj_set_str(j, "digest", live_gate_key(all, w.f.a));
	obj_append(judged, j);
	w.s.findings = all;
	w.s.judged = judged;
	w.s.n_unlisted = 5;
	strategy_set_findings(&w.s, plan);
	const struct obj *list = obj_get(plan, "findings");
	assert_int_equal(obj_len(list), 100);
	assert_string_equal(obj_str(obj_at(list, 0), "outcome"), "refuse");
	assert_int_equal(obj_i64(plan, "findingsOmitted", 0), 6);
	struct obj *strategy = obj_keep(w.f.a, obj_copy(w.ref.o)), *value = obj_map();
	obj_set_path(strategy, "status.plan", obj_ref(plan));
	w.ref.o = strategy;
	obj_set(value, "findings", obj_ref(all));
	obj_set_str(value, "outcome", "allow");
	stash_put(w.f.stash, ID, NULL, STR_NONE, value, 0);
	w.s.phase = PHASE_INSTALLING;
	assert_int_equal(strategy_keep_judgement(&w.s), DONE);
	view_fake_release(&w.f);
}

static void test_strategy_gate__large_findings_are_few(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	struct obj *all = obj_keep(w.f.a, obj_list()), *plan = obj_keep(w.f.a, obj_map());
	for (int i = 0; i < 20; i++) {
		CLEANUP(xfreep) char *text = xcalloc(1, 10001);
		memset(text, 'x', 10000);
		struct obj *f = obj_copy(view_fake_obj(&w.f, FOUND("warn", "1")));
		obj_set_str(f, "message", text);
		obj_append(all, f);
	}
	w.s.findings = all;
	strategy_set_findings(&w.s, plan);
	assert_int_equal(obj_len(obj_get(plan, "findings")), 6); /* of 64 KiB */
	assert_int_equal(obj_i64(plan, "findingsOmitted", 0), 14);
	view_fake_release(&w.f);
}

static size_t gates(struct world *w, int64_t now_ns)
{
	view_fake_plan(&w->f);
	w->f.view.now_ns = now_ns;
	w->s.phase = w->s.was = PHASE_BLOCKED;
	w->s.keep_status = false;
	(void)strategy_judge_crds(&w->s);
	return view_fake_works(&w->f, &gate_work);
}

/* A definition that is there, and is to be written. */
static void begin_judging(struct world *w)
{
	w->app.o =
		view_fake_obj(&w->f, "{\"apiVersion\":\"a/v1\",\"kind\":\"AppType\",\"metadata\":"
				     "{\"name\":\"a\",\"uid\":\"ua\"}}");
	w->app.name = "a";
	w->app.self_ref = "a.io";
	w->s.steps = obj_keep(w->f.a, obj_list());
	w->entry.object = w->entry.live = view_fake_obj(
		&w->f, "{\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"ws.e.io\"},"
		       "\"spec\":{\"group\":\"e.io\",\"names\":{\"plural\":\"ws\"}}}");
}

/* To what was asked last, at time 0. */
static void answer(struct world *w, const char *members)
{
	const struct obj *asked = view_fake_work(&w->f, &gate_work)->body;
	w->f.view.now_ns = 0;
	view_fake_outcome(&w->f, ID,
			  arena_fmt(w->f.a, "{\"inputs\":\"%s\",\"objectsVersion\":%lld,%s}",
				    obj_str(asked, "inputs"),
				    (long long)obj_i64(asked, "objectsVersion", 0), members));
}

static uint64_t no_change(void *arg, const char *group, const char *plural)
{
	(void)arg;
	(void)group;
	(void)plural;
	return 7;
}

/* A list that ended early may be read to its end another time, though no object changes. */
static void test_strategy_gate__an_incomplete_check_is_made_again(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	struct view_ops ops = *w.f.view.ops;
	ops.instances_version = no_change;
	w.f.view.ops = &ops;
	begin_judging(&w);
	assert_int_equal(gates(&w, 0), 1);
	answer(&w, "\"outcome\":\"refuse\",\"text\":\"no\",\"durationMs\":600000,\"findings\":[{"
		   "\"rule\":\"LiveCheckIncomplete\",\"outcome\":\"refuse\"}]");
	assert_int_equal(gates(&w, NS_PER_HOUR - 1), 0);
	assert_int_equal(w.f.plan.requeue_after_ns, 1);
	assert_int_equal(gates(&w, NS_PER_HOUR), 1);
	view_fake_release(&w.f);
}

static uint64_t not_known(void *arg, const char *group, const char *plural)
{
	(void)arg;
	(void)group;
	(void)plural;
	return 0;
}

/* Where no informer tells of a change, a refusal is looked at again after a while, however short the check was. */
static void test_strategy_gate__a_refusal_is_looked_at_again(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	struct view_ops ops = *w.f.view.ops;
	ops.instances_version = not_known;
	w.f.view.ops = &ops;
	begin_judging(&w);
	assert_int_equal(gates(&w, 0), 1);
	answer(&w, "\"outcome\":\"refuse\",\"text\":\"no\",\"durationMs\":1,\"findings\":[{"
		   "\"rule\":\"R\",\"outcome\":\"refuse\"}]");
	assert_int_equal(gates(&w, NS_PER_MIN - 1), 0);
	assert_int_equal(w.f.plan.requeue_after_ns, 1);
	const struct action *row = view_fake_action(&w.f, ACT_ROW, NULL, NULL);
	assert_string_equal(row->reason, "GateRefused");
	assert_int_equal(gates(&w, NS_PER_MIN), 1);
	view_fake_release(&w.f);
}

/* One entry per outcome in which something was found: of nothing there is none. */
static void test_strategy_gate__nothing_found_is_no_entry(void **state)
{
	(void)state;
	for (size_t n = 0; n < 2; n++) {
		struct world w;
		setup(&w);
		begin_judging(&w);
		assert_int_equal(gates(&w, 0), 1);
		answer(&w, n ? "\"outcome\":\"allow\",\"findings\":[{\"rule\":\"R\",\"outcome\":"
			       "\"allow\"}]"
			     : "\"outcome\":\"allow\",\"findings\":[]");
		assert_int_equal(gates(&w, 0), 0);
		assert_int_equal(view_fake_count(&w.f, ACT_ROW), n);
		assert_string_equal(
			obj_str(condition_find(w.s.conditions, "CRDCompatible"), "status"), "True");
		view_fake_release(&w.f);
	}
}

/* What passes goes on, unless something else was chosen because it did not: then it is chosen anew. */
static void test_strategy_gate__what_passes(void **state)
{
	(void)state;
	static const struct {
		const char *outcome, *reason;
	} rows[] = {
		{"\"outcome\":\"allow\",\"findings\":[]", "Compatible"},
		{"\"outcome\":\"warn\",\"findings\":[{\"rule\":\"R\",\"outcome\":\"warn\"}]",
		 "Warnings"},
		{"\"outcome\":\"allow\",\"findings\":[{\"rule\":\"R\",\"outcome\":\"waived\"}]",
		 "Waived"},
	};
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		struct world w;
		bool anew = i % 2;
		setup(&w);
		begin_judging(&w);
		assert_int_equal(gates(&w, 0), 1);
		answer(&w, rows[i / 2].outcome);
		w.s.judged_anew = anew;
		assert_int_equal(gates(&w, 0), 0);
		assert_int_equal(w.s.phase, anew ? PHASE_PENDING : PHASE_BLOCKED);
		const struct obj *c = condition_find(w.s.conditions, "CRDCompatible");
		assert_string_equal(obj_str(c, "status"), "True");
		assert_string_equal(obj_str(c, "reason"), rows[i / 2].reason);
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_gate__a_refusal_is_looked_at_again),
		cmocka_unit_test(test_strategy_gate__nothing_found_is_no_entry),
		cmocka_unit_test(test_strategy_gate__a_changed_outcome_voids_the_plan),
		cmocka_unit_test(test_strategy_gate__what_passes),
		cmocka_unit_test(test_strategy_gate__what_is_written_is_not_judged),
		cmocka_unit_test(test_strategy_gate__one_finding_over_the_bound),
		cmocka_unit_test(test_strategy_gate__large_findings_are_few),
		cmocka_unit_test(test_strategy_gate__an_incomplete_check_is_made_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
