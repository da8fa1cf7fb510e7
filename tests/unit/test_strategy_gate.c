/* test_strategy_gate.c: a plan lives as long as the gate says of its CRDs what it said when it was
 * made. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/strategy.h"
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
	struct plan_entry entry;
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
	w->entry = (struct plan_entry){.object = view_fake_obj(&w->f, "{}"),
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
	return strategy_gate_voids(&w->s);
}

static void test_strategy_gate__a_changed_outcome_voids_the_plan(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	assert_false(strategy_gate_voids(&w.s)); /* not judged again yet */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_gate__a_changed_outcome_voids_the_plan),
		cmocka_unit_test(test_strategy_gate__what_is_written_is_not_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
