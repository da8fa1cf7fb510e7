/* test_strategy_plans.c: a stored plan that a list from the past lacks is read live before it
 * counts as gone. */
#include "tests/lib/test.h"

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/apptype/uninstall.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "tests/lib/view_fake.h"

#define APP                                                                                       \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"a\",\"finalizers\":[\"app.coreos.com/"                                \
	"apptype\"]%s},\"spec\":{\"type\":"                                                       \
	"\"io.ops\"},\"status\":{\"installedVersion\":\"1.0.0\"}}"
#define STRATEGY                                                                                \
	"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","      \
	"\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"finalizers\":["                         \
	"\"app.coreos.com/strategy\"],\"ownerReferences\":[{\"apiVersion\":"                    \
	"\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"name\":\"etcd\",\"uid\":\"a\"}]%s}," \
	"\"spec\":{\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"%s\"},\"status\":{"         \
	"\"phase\":\"%s\",\"revision\":%d}}"
#define DELETED ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""

struct world {
	struct view_fake f;
	struct error err;
};

static void put(struct world *w, unsigned kind, const char *text)
{
	view_fake_put(&w->f, kind, text);
}

static void begin(struct world *w, const char *app)
{
	*w = (struct world){.err = ERROR_INIT};
	view_fake_init(&w->f);
	put(w, WATCH_APPTYPE, arena_fmt(w->f.a, APP, app));
}

static void has_strategy(struct world *w, const char *name, const char *more, const char *version,
			 const char *phase, int revision)
{
	put(w, WATCH_STRATEGY,
	    arena_fmt(w->f.a, STRATEGY, name, name, more, version, phase, revision));
}

static void run(struct world *w, const struct controller *c, const char *key)
{
	assert_int_equal(controller_run(c, &w->f.view, key, view_fake_plan(&w->f), &w->err), 0);
}

/* What was asked is answered: it is not there. */
static void is_not_there(struct world *w)
{
	const struct action *x = view_fake_work(&w->f, &survey_work);
	assert_non_null(x);
	view_fake_outcome(&w->f, x->id, "{}");
}

static void test_strategy_plans__the_way_back_is_not_given_up_for_a_stale_list(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	has_strategy(&w, "one", "", "1.0.0", "Succeeded", 1);
	has_strategy(&w, "two", "", "2.0.0", "RollingBack", 2);
	run(&w, &strategy_controller, "two");
	const struct action *x = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
	assert_true(!x || cstr_eq(obj_str(x->body, "phase"), "RollingBack"));
	is_not_there(&w);
	run(&w, &strategy_controller, "two");
	x = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
	assert_non_null(x);
	assert_string_equal(obj_str(x->body, "phase"), "Failed");
	view_fake_release(&w.f);
}

static void test_strategy_plans__no_finalizer_goes_for_a_stale_list(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	has_strategy(&w, "one", DELETED, "1.0.0", "Succeeded", 1);
	run(&w, &strategy_controller, "one");
	assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 0);
	is_not_there(&w);
	run(&w, &strategy_controller, "one");
	assert_int_equal(view_fake_count(&w.f, ACT_PATCH), 1);
	view_fake_release(&w.f);
}

static void test_strategy_plans__leftovers_are_not_none_for_a_stale_list(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	has_strategy(&w, "one", "", "1.0.0", "Succeeded", 1);
	has_strategy(&w, "two", "", "2.0.0", "Verifying", 2);
	struct strategy_pass s = {.v = &w.f.view, .plan = view_fake_plan(&w.f)};
	struct install_plan keep = {.n = 0};
	s.app = app_load(&w.f.view, "etcd");
	s.ref = app_strategy(s.app, "2.0.0");
	assert_int_equal(strategy_delete_leftovers_of(&s, &keep, app_strategy(s.app, "1.0.0")),
			 WAITING);
	is_not_there(&w);
	assert_int_equal(strategy_delete_leftovers_of(&s, &keep, app_strategy(s.app, "1.0.0")),
			 DONE);
	view_fake_release(&w.f);
}

static void test_strategy_plans__nothing_is_left_behind_for_a_stale_list(void **state)
{
	(void)state;
	struct world w;
	begin(&w, DELETED);
	has_strategy(&w, "one", "", "1.0.0", "Succeeded", 1);
	struct uninstall u = {.v = &w.f.view, .plan = view_fake_plan(&w.f)};
	u.app = app_load(&w.f.view, "etcd");
	assert_int_equal(uninstall_ensure(&u), WAITING);
	is_not_there(&w);
	assert_int_equal(uninstall_ensure(&u), DONE);
	view_fake_release(&w.f);
}

/* With the Secrets of alm-system, say: nothing else tells what is installed. */
static void test_strategy_plans__one_that_was_deleted_is_made_anew(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "");
	has_strategy(&w, "one", "", "1.0.0", "Succeeded", 1);
	run(&w, &strategy_controller, "one");
	const struct action *x = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
	assert_true(!x || cstr_eq(obj_str(x->body, "phase"), "Succeeded"));
	is_not_there(&w);
	run(&w, &strategy_controller, "one");
	x = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
	assert_non_null(x);
	assert_string_equal(obj_str(x->body, "phase"), "Pending");
	assert_int_equal(obj_i64(x->body, "revision", 0), 2);
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_strategy_plans__the_way_back_is_not_given_up_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__no_finalizer_goes_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__leftovers_are_not_none_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__nothing_is_left_behind_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__one_that_was_deleted_is_made_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
