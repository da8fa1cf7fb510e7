/* test_strategy_plans.c: a stored plan that a list from the past lacks is read live before it
 * counts as gone. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/apptype/uninstall.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
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
	const struct obj *row = obj_at(x->body, 0); /* a Secret of ALM's own, by its name */
	assert_int_equal(obj_len(x->body), 1);
	assert_true(cstr_has_prefix(x->id, "survey:"));
	assert_string_equal(obj_str(row, "key"), x->id + strlen("survey:"));
	assert_string_equal(obj_str(row, "name"), obj_str(row, "key"));
	assert_string_equal(obj_str(row, "kind"), "Secret");
	assert_string_equal(obj_str(row, "version"), "v1");
	assert_string_equal(obj_str(row, "group"), "");
	assert_string_equal(obj_str(row, "namespace"), "alm-system");
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

/* --- a strategy that is deleted while its app lives --- */

#define DOC                                                                                        \
	"{\"namespace\":\"n\",\"release\":\"etcd\",\"objects\":[{\"stage\":3,\"digest\":\"d1\","   \
	"\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"one\"," \
	"\"namespace\":\"n\"}}},{\"stage\":3,\"digest\":\"d2\",\"object\":{\"apiVersion\":"        \
	"\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"two\",\"namespace\":\"n\"}}}]}"
#define LIVE                                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","      \
	"\"namespace\":\"n\",\"uid\":\"l\",\"labels\":{\"app.coreos.com/app\":\"etcd\"},"   \
	"\"ownerReferences\":[{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":" \
	"\"InstallStrategy\",\"name\":\"one\",\"uid\":\"%s\"}]}}"

static void store(struct world *w, const char *strategy)
{
	struct strategy_ref ref = {
		.o = w->f.view.ops->get(w->f.view.ops_arg, WATCH_STRATEGY, strategy),
		.name = strategy};
	obj_keep(w->f.a, mem_unconst(ref.o));
	struct plan *p = view_fake_plan(&w->f);
	assert_int_equal(install_plan_store(p, &ref, 1, "inputs", view_fake_obj(&w->f, DOC)), DONE);
	for (const struct action *x = p->head; x; x = x->next) {
		CLEANUP(xfreep) char *secret = json_text(x->body);
		put(w, WATCH_PLAN_SECRET, secret);
	}
}

/* What it owns becomes the app's, and then its finalizer goes: with it the objects would, too. */
static void test_strategy_plans__what_it_owns_moves_before_it_goes(void **state)
{
	static const char *const owners[] = {NULL, "one", "another", "unknown"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(owners) * ARRAY_LEN(owners); i++) {
		const char *of[] = {owners[i % 4], owners[i / 4]};
		static const char *const names[] = {"one", "two"};
		struct world w;
		begin(&w, "");
		has_strategy(&w, "one", DELETED, "1.0.0", "Succeeded", 1);
		store(&w, "one");
		bool unknown = cstr_eq(of[0], "unknown") || cstr_eq(of[1], "unknown");
		w.f.blind = unknown; /* no informer has told */
		for (size_t k = 0; k < 2 && !unknown; k++)
			if (of[k])
				view_fake_live(&w.f, arena_fmt(w.f.a, LIVE, names[k], of[k]));
		run(&w, &strategy_controller, "one");
		bool stays = unknown;
		for (size_t k = 0; k < 2; k++) {
			bool moves = cstr_eq(of[k], "one") && !unknown;
			const struct action *x =
				view_fake_action(&w.f, ACT_APPLY, "ConfigMap", names[k]);
			assert_int_equal(x != NULL, moves);
			stays = stays || moves;
			if (x) {
				assert_true(meta_is_owned_by(x->body, "a"));
				assert_false(meta_is_owned_by(x->body, "one"));
				assert_true(x->force);
			}
		}
		const struct action *goes =
			view_fake_action(&w.f, ACT_PATCH, "InstallStrategy", "one");
		const struct action *told = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
		assert_int_equal(goes != NULL, !stays);
		assert_int_equal(told != NULL, !stays);
		if (told) {
			assert_string_equal(told->reason, "Deleted");
			assert_true(told->row_only);
			assert_string_equal(told->chain, "etcd");
		}
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_plans__what_it_owns_moves_before_it_goes),
		cmocka_unit_test(
			test_strategy_plans__the_way_back_is_not_given_up_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__no_finalizer_goes_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__leftovers_are_not_none_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__nothing_is_left_behind_for_a_stale_list),
		cmocka_unit_test(test_strategy_plans__one_that_was_deleted_is_made_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
