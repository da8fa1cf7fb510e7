/* test_strategy_phases.c: a strategy takes the edges of phases.h, and no other. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/phases.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/lib/view_fake.h"

#define STRATEGY                                                                           \
	"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\"," \
	"\"metadata\":{\"name\":\"s\",\"uid\":\"u\",\"finalizers\":["                      \
	"\"app.coreos.com/strategy\"]},\"spec\":{\"appTypeRef\":{\"name\":\"etcd\"},"      \
	"\"version\":\"1.0.0\"},\"status\":{\"phase\":\"%s\"}}"

static bool is_edge(enum phase from, enum phase to)
{
	const struct phase_edge *e;
	for (size_t i = 0; (e = phase_edge_at(i)); i++)
		if (e->from == from && e->to == to)
			return true;
	return false;
}

static void test_strategy_phases__the_table_is_all_there_is(void **state)
{
	(void)state;
	for (int from = PHASE_PENDING; from <= PHASE_SUPERSEDED; from++)
		for (int to = PHASE_PENDING; to <= PHASE_SUPERSEDED; to++) {
			struct error err = ERROR_INIT;
			bool right = from == to || is_edge((enum phase)from, (enum phase)to);
			int r = phase_check((enum phase)from, (enum phase)to, &err);
			assert_int_equal(r, right ? 0 : -E_INTERNAL);
			assert_true(right || strstr(err.msg, phase_name((enum phase)to)));
		}
}

static void test_strategy_phases__what_is_new_is_pending_at_once(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	assert_int_equal(phase_check(PHASE_NEW, PHASE_PENDING, &err), 0);
	assert_int_equal(phase_check(PHASE_NEW, PHASE_SUPERSEDED, &err), 0);
	assert_int_equal(phase_check(PHASE_NEW, PHASE_SUCCEEDED, &err), -E_INTERNAL);
}

/* Two rows of one edge would say two things of it. */
static void test_strategy_phases__no_edge_is_there_twice(void **state)
{
	(void)state;
	const struct phase_edge *e, *x;
	const struct state_edge *t, *u;
	for (size_t i = 0; (e = phase_edge_at(i)); i++)
		for (size_t k = 0; k < i && (x = phase_edge_at(k)); k++)
			assert_false(e->from == x->from && e->to == x->to);
	for (size_t i = 0; (t = state_edge_at(i)); i++)
		for (size_t k = 0; k < i && (u = state_edge_at(k)); k++)
			assert_false(!strcmp(t->from, u->from) && !strcmp(t->to, u->to));
}

/* States are computed anew: what came between is not seen. Deleted is deleted. */
static void test_strategy_phases__a_state_may_skip_edges_but_not_go_back(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	assert_int_equal(state_check("", "Installed", &err), 0);
	assert_int_equal(state_check("Installed", "Installed", &err), 0);
	assert_int_equal(state_check("Installed", "RollingBack", &err), 0);
	assert_int_equal(state_check("Unresolved", "Deleting", &err), 0);
	assert_int_equal(state_check("Deleting", "Installed", &err), -E_INTERNAL);
	assert_int_equal(state_check("Installed", "", &err), -E_INTERNAL);
	assert_int_equal(state_check("Installed", "Instaled", &err), -E_INTERNAL);
}

/* Whatever it was doing: without its AppType there is nobody to do it for. */
static void test_strategy_phases__without_an_app_it_is_blocked(void **state)
{
	(void)state;
	for (int p = PHASE_PENDING; p <= PHASE_SUPERSEDED; p++) {
		struct view_fake f;
		struct error err = ERROR_INIT;
		char text[1024];
		view_fake_init(&f);
		snprintf(text, sizeof(text), STRATEGY, phase_name((enum phase)p));
		view_fake_put(&f, WATCH_STRATEGY, text);
		assert_int_equal(controller_run(&strategy_controller, &f.view, "s", &f.plan, &err),
				 0);
		const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
		assert_non_null(x);
		assert_string_equal(obj_str(x->body, "phase"), "Blocked");
		assert_int_equal(cstr_eq(x->reason, "Blocked"), p != PHASE_BLOCKED);
		view_fake_release(&f);
	}
}

static step_fn last_step(const struct controller *c)
{
	const struct step *s = c->steps;
	while (s[1].fn)
		s++;
	return s->fn;
}

static void test_strategy_phases__another_edge_fails_the_pass(void **state)
{
	(void)state;
	struct view_fake f;
	struct error err = ERROR_INIT;
	char text[1024];
	view_fake_init(&f);
	snprintf(text, sizeof(text), STRATEGY, "Superseded");
	struct strategy_ref ref = {.o = view_fake_obj(&f, text), .name = "s", .version = "1.0.0"};
	struct strategy_pass s = {.v = &f.view,
				  .plan = &f.plan,
				  .ref = &ref,
				  .was = PHASE_SUPERSEDED,
				  .phase = PHASE_VERIFYING,
				  .conditions = obj_keep(f.a, obj_list())};
	f.pass = &s;
	assert_int_equal(last_step(&strategy_controller)(&f.view, "s", &f.plan, &err), -E_INTERNAL);
	assert_non_null(strstr(err.msg, "Superseded may not become Verifying"));
	assert_int_equal(view_fake_count(&f, ACT_STATUS), 0);
	view_fake_release(&f);
}

/* Of what a pass does not find any more nothing is left in the status. */
static void test_strategy_phases__what_is_past_leaves_the_status(void **state)
{
	static const char *const fields[] = {"approval", "steps", "unmet"};
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct view_fake f;
		struct error err = ERROR_INIT;
		view_fake_init(&f);
		struct strategy_ref ref = {
			.o = view_fake_obj(&f, "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},"
					       "\"status\":{\"phase\":\"Blocked\",\"approval\":{"
					       "\"digest\":\"old\"},\"steps\":[\"old\"],"
					       "\"unmet\":[\"old\"]}}"),
			.name = "s",
			.version = "1.0.0"};
		struct obj *new = view_fake_obj(&f, more ? "[\"new\"]" : "[]");
		struct strategy_pass s = {
			.v = &f.view,
			.plan = view_fake_plan(&f),
			.ref = &ref,
			.was = PHASE_BLOCKED,
			.phase = PHASE_PENDING,
			.approval = more ? view_fake_obj(&f, "{\"digest\":\"new\"}") : NULL,
			.steps = new,
			.unmet = new,
			.conditions = obj_keep(f.a, obj_list())};
		f.pass = &s;
		assert_ok(last_step(&strategy_controller)(&f.view, "s", &f.plan, &err), &err);
		const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
		assert_non_null(x);
		for (size_t i = 0; i < ARRAY_LEN(fields); i++)
			assert_int_equal(obj_has(x->body, fields[i]), more);
		if (more) {
			assert_string_equal(obj_str(x->body, "approval.digest"), "new");
			assert_string_equal(obj_str(x->body, "steps[0]"), "new");
			assert_string_equal(obj_str(x->body, "unmet[0]"), "new");
		}
		view_fake_release(&f);
	}
}

/* What was planned, once there is something to say of it; until then what was said before stays. */
static void test_strategy_phases__the_plan_is_in_the_status(void **state)
{
	static const struct {
		const char *digest, *findings, *permissions, *want;
		bool has_install;
	} rows[] = {
		{"d", "[]", "[]", "{\"digest\":\"old\"}", false},
		{NULL, "[]", "[]", "{\"digest\":\"old\"}", true},
		{"d", "[]", "[]", "{\"digest\":\"d\",\"objects\":3}", true},
		{"d", "[]", "[\"get pods\"]",
		 "{\"digest\":\"d\",\"objects\":3,\"permissions\":[\"get pods\"]}", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		struct error err = ERROR_INIT;
		struct install_plan install = {.n = 3};
		view_fake_init(&f);
		struct strategy_ref ref = {
			.o = view_fake_obj(&f, "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},"
					       "\"status\":{\"phase\":\"Blocked\",\"plan\":{"
					       "\"digest\":\"old\"}}}"),
			.name = "s",
			.version = "1.0.0"};
		struct strategy_pass s = {.v = &f.view,
					  .plan = view_fake_plan(&f),
					  .ref = &ref,
					  .was = PHASE_BLOCKED,
					  .phase = PHASE_PENDING,
					  .install = rows[i].has_install ? &install : NULL,
					  .digest = rows[i].digest,
					  .findings = view_fake_obj(&f, rows[i].findings),
					  .permissions = view_fake_obj(&f, rows[i].permissions),
					  .conditions = obj_keep(f.a, obj_list())};
		f.pass = &s;
		assert_ok(last_step(&strategy_controller)(&f.view, "s", &f.plan, &err), &err);
		const struct action *x = view_fake_action(&f, ACT_STATUS, NULL, NULL);
		assert_non_null(x);
		if (!obj_equal(obj_get(x->body, "plan"), view_fake_obj(&f, rows[i].want)))
			fail_msg("row %zu: %s", i, json_text(obj_get(x->body, "plan")));
		view_fake_release(&f);
	}
}

static bool is_over(enum phase p)
{
	return p == PHASE_NEW || !phase_is_unfinished(p) || p == PHASE_AWAITING;
}

/* What is unfinished ends: but for what waits for a person, it has a deadline, and an edge that it
 * leads to. */
static void test_strategy_phases__what_is_unfinished_has_a_deadline(void **state)
{
	(void)state;
	for (int p = PHASE_NEW; p <= PHASE_SUPERSEDED; p++) {
		const struct phase_deadline *d = phase_deadline((enum phase)p);
		assert_int_equal(d != NULL, !is_over((enum phase)p));
		if (!d)
			continue;
		assert_true(d->ns > 0);
		assert_true(is_edge((enum phase)p, d->then));
	}
}

#define APP                                                                                       \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"a\"},\"spec\":{\"type\":\"io.ops\",\"upgrade\":{%s}}}"
#define PENDING                                                                                  \
	"{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},\"spec\":{\"version\":\"1.0.0\"},"         \
	"\"status\":{\"phase\":\"%s\",\"phaseSince\":\"1970-01-01T00:10:00Z\",\"conditions\":[{" \
	"\"type\":\"PlanReady\",\"status\":\"False\",\"reason\":\"%s\"}]}}"

/* The step that ends planning, for a strategy that waits for its archive. */
static struct strategy_pass plan_at(struct view_fake *f, enum phase was, const char *reason,
				    const char *upgrade, int64_t after_ns)
{
	char text[1024];
	view_fake_init(f);
	f->view.now_ns = 10 * NS_PER_MIN + after_ns;
	struct app *app = ARENA_NEW(f->a, struct app);
	struct strategy_ref *ref = ARENA_NEW(f->a, struct strategy_ref);
	snprintf(text, sizeof(text), APP, upgrade);
	app->o = view_fake_obj(f, text);
	snprintf(text, sizeof(text), PENDING, phase_name(was), reason);
	*ref = (struct strategy_ref){.o = view_fake_obj(f, text), .name = "s", .version = "1.0.0"};
	struct strategy_pass s = {.v = &f->view,
				  .plan = view_fake_plan(f),
				  .app = app,
				  .ref = ref,
				  .was = was,
				  .phase = PHASE_PENDING,
				  .conditions = obj_keep(f->a, obj_list())};
	plan_work(s.plan, &fetch_work, NULL);
	strategy_end_planning(&s);
	return s;
}

static void test_strategy_phases__planning_ends(void **state)
{
	(void)state;
	struct view_fake f;
	struct strategy_pass s = plan_at(&f, PHASE_PENDING, "", "", 15 * NS_PER_MIN - 1);
	assert_int_equal(s.phase, PHASE_PENDING);
	assert_int_equal(f.plan.requeue_after_ns, 1);
	view_fake_release(&f);
	s = plan_at(&f, PHASE_PENDING, "", "", 15 * NS_PER_MIN);
	assert_int_equal(s.phase, PHASE_BLOCKED);
	assert_string_equal(s.reason, "ProgressDeadline");
	assert_string_equal(s.message, "the plan is not ready in time: the archive is fetched");
	view_fake_release(&f);
	s = plan_at(&f, PHASE_PENDING, "", "\"deadlines\":{\"pending\":\"1m\"}", NS_PER_MIN);
	assert_int_equal(s.phase, PHASE_BLOCKED);
	view_fake_release(&f);
}

/* It goes on being planned, and stays Blocked until there is an answer: no two rows a quarter of an
 * hour. */
static void test_strategy_phases__what_was_not_planned_in_time_is_judged_anew(void **state)
{
	(void)state;
	struct view_fake f;
	struct strategy_pass s =
		plan_at(&f, PHASE_BLOCKED, "ProgressDeadline", "", 15 * NS_PER_MIN);
	assert_true(s.judged_anew);
	view_fake_release(&f);
	s = plan_at(&f, PHASE_BLOCKED, "FetchFailed", "", 15 * NS_PER_MIN);
	assert_false(s.judged_anew);
	assert_int_equal(s.phase, PHASE_PENDING); /* it begins now */
	view_fake_release(&f);
}

#define INSTALLING                                                                       \
	"{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"},\"spec\":{\"version\":\"1.0.0\"}," \
	"\"status\":{\"phase\":\"Installing\",\"phaseSince\":\"1970-01-01T00:10:00Z\"}}"
#define APPLIED                                                                                  \
	"[{\"type\":\"Applied\",\"status\":\"False\",\"lastTransitionTime\":\"1970-01-01T00:10:" \
	"00Z\"}]"

/* The phase of a first install, so long after it began, of which so much is finished. */
static enum phase install_at(const char *finished, const char *upgrade, int64_t after_ns)
{
	struct view_fake f;
	char text[512];
	struct install_plan plan = {0};
	view_fake_init(&f);
	f.view.now_ns = 10 * NS_PER_MIN + after_ns;
	snprintf(text, sizeof(text), APP, upgrade);
	struct app app = {.o = view_fake_obj(&f, text)};
	struct strategy_ref ref = {.o = view_fake_obj(&f, INSTALLING), .version = "1.0.0"};
	struct strategy_pass s = {
		.v = &f.view,
		.plan = view_fake_plan(&f),
		.app = &app,
		.ref = &ref,
		.was = PHASE_INSTALLING,
		.phase = PHASE_INSTALLING,
		.install = &plan,
		.hooks = obj_keep(f.a, obj_copy_list(view_fake_obj(&f, finished))),
		.conditions = obj_keep(f.a, obj_copy_list(view_fake_obj(&f, APPLIED)))};
	(void)strategy_keep_install_deadline(&s);
	view_fake_release(&f);
	return s.phase;
}

/* Ten minutes without anything finished, or an hour. */
static void test_strategy_phases__installing_ends(void **state)
{
	(void)state;
	assert_int_equal(install_at("[]", "", 10 * NS_PER_MIN - 1), PHASE_INSTALLING);
	assert_int_equal(install_at("[]", "", 10 * NS_PER_MIN), PHASE_FAILED);
	assert_int_equal(install_at("[{}]", "", 59 * NS_PER_MIN), PHASE_INSTALLING);
	assert_int_equal(install_at("[{}]", "", 60 * NS_PER_MIN), PHASE_FAILED);
	assert_int_equal(
		install_at("[{}]", "\"deadlines\":{\"installing\":\"2h\"}", 100 * NS_PER_MIN),
		PHASE_INSTALLING);
	assert_int_equal(
		install_at("[{}]", "\"deadlines\":{\"installing\":\"2h\"}", 120 * NS_PER_MIN),
		PHASE_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_phases__the_table_is_all_there_is),
		cmocka_unit_test(test_strategy_phases__what_is_new_is_pending_at_once),
		cmocka_unit_test(test_strategy_phases__no_edge_is_there_twice),
		cmocka_unit_test(test_strategy_phases__a_state_may_skip_edges_but_not_go_back),
		cmocka_unit_test(test_strategy_phases__without_an_app_it_is_blocked),
		cmocka_unit_test(test_strategy_phases__what_is_unfinished_has_a_deadline),
		cmocka_unit_test(test_strategy_phases__planning_ends),
		cmocka_unit_test(test_strategy_phases__installing_ends),
		cmocka_unit_test(test_strategy_phases__what_was_not_planned_in_time_is_judged_anew),
		cmocka_unit_test(test_strategy_phases__another_edge_fails_the_pass),
		cmocka_unit_test(test_strategy_phases__the_plan_is_in_the_status),
		cmocka_unit_test(test_strategy_phases__what_is_past_leaves_the_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
