/* What a reconcile did, as text: which step planned what, and where it ended. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/engine/pass_text.h"

static int adopt(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)v;
	(void)err;
	struct action *x = plan_add(plan, ACT_PATCH);
	x->resource.kind = "AppType";
	x->name = key;
	return strcmp(key, "new") ? STEP_CONTINUE : STEP_STOP;
}

static int quiet(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)v;
	(void)plan;
	return strcmp(key, "bad") ? STEP_CONTINUE : error_set(err, E_INVALID, "it is bad");
}

static int status(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)v;
	(void)err;
	struct action *x = plan_add(plan, ACT_ROW);
	x->row_type = "Decision";
	x->reason = "Resolved";
	plan_add(plan, ACT_STATUS)->reason = "Installing";
	for (int i = 0; !strcmp(key, "many") && i < PASS_TEXT_ACTIONS_MAX; i++) {
		x = plan_add(plan, ACT_APPLY);
		x->resource.kind = "Secret";
		x->ns = "etcd";
		x->name = "s";
		x->as = i < 2 ? "system:serviceaccount:etcd:app" : NULL;
	}
	return STEP_CONTINUE;
}

static const struct step steps[] = {{"adopt", adopt}, {"quiet", quiet}, {"status", status}, {0}};
static const struct step idle_steps[] = {{"quiet", quiet}, {0}};

static void want(const struct step *table, const char *key, const char *text)
{
	const struct controller c = {.name = "apptype", .steps = table};
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PASS_TEXT_MAX);
	const struct view v = {.a = a};
	struct error err = ERROR_INIT;
	struct plan plan;
	plan_init(&plan, a);
	(void)controller_run(&c, &v, key, &plan, &err);
	pass_text(&c, &plan, &b);
	assert_string_equal(b.buf, text);
}

static void test_pass_text__steps_and_what_they_planned(void **state)
{
	(void)state;
	want(steps, "etcd",
	     "adopt{patch AppType etcd} status{entry Decision Resolved, status Installing}");
	want(steps, "new", "adopt{patch AppType new} adopt ends");
	want(steps, "bad", "adopt{patch AppType bad} quiet ends");
	want(idle_steps, "etcd", "nothing");
}

static void test_pass_text__many_actions_are_counted(void **state)
{
	(void)state;
	want(steps, "many",
	     "adopt{patch AppType many} status{entry Decision Resolved, status Installing,"
	     " apply Secret etcd, apply Secret etcd, apply Secret etcd/s, apply Secret etcd/s,"
	     " apply Secret etcd/s, apply Secret etcd/s, apply Secret etcd/s, apply Secret etcd/s,"
	     " apply Secret etcd/s, apply Secret etcd/s, 2 more}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass_text__steps_and_what_they_planned),
		cmocka_unit_test(test_pass_text__many_actions_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
