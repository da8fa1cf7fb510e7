/* strategy_values.c: changed values are another revision of the same version, and the way back from them. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_values.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define STRATEGY(values)                                                                      \
	"{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\"," \
	"\"uid\":\"u\"},\"spec\":{\"strategy\":{\"values\":" values "}},\"status\":{"         \
	"\"rollbackRevision\":6}}"
#define USER "system:serviceaccount:n:app"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct install_plan install;
	struct strategy_pass s;
};

static void begin(struct world *w, enum phase phase, const char *account)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	struct arena *a = w->f.a;
	w->ref = (struct strategy_ref){.o = view_fake_obj(&w->f, STRATEGY("{\"b\":2}")),
				       .name = "s",
				       .version = "1.0.0",
				       .revision = 4,
				       .phase = phase};
	w->app = (struct app){.name = "etcd",
			      .o = w->ref.o,
			      .values = view_fake_obj(&w->f, "{\"a\":1,\"b\":1}"),
			      .account = {.user = USER},
			      .strategies = &w->ref,
			      .n = 1,
			      .installed = &w->ref};
	w->install = (struct install_plan){
		.values = values_digest(view_fake_obj(&w->f, "{\"a\":1,\"b\":2}"), a),
		.doc = view_fake_obj(&w->f, account ? arena_fmt(a, "{\"account\":\"%s\"}", account)
						    : "{}")};
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = view_fake_plan(&w->f),
				      .app = &w->app,
				      .ref = &w->ref,
				      .was = phase,
				      .phase = phase,
				      .conditions = obj_keep(a, obj_list()),
				      .steps = obj_keep(a, obj_list()),
				      .install = &w->install,
				      .failures = 3,
				      .digest = "d4",
				      .rollback_revision = 6,
				      .failed = obj_keep(a, obj_map()),
				      .revision = 4};
}

static void test_strategy_values__what_differs(void **state)
{
	struct world w;
	(void)state;
	begin(&w, PHASE_SUCCEEDED, USER);
	assert_null(strategy_inputs_changed(&w.s));
	w.install.doc = view_fake_obj(&w.f, "{}"); /* plans of earlier versions name none */
	assert_null(strategy_inputs_changed(&w.s));
	w.app.values = view_fake_obj(&w.f, "{\"a\":2}");
	assert_string_equal(strategy_inputs_changed(&w.s), "the values changed");
	view_fake_release(&w.f);
	begin(&w, PHASE_SUCCEEDED, "system:serviceaccount:n:other");
	assert_string_equal(strategy_inputs_changed(&w.s), "the account changed");
	view_fake_release(&w.f);
}

/* What runs is what a failure goes back to; retries of the same count on. */
static void test_strategy_values__another_revision(void **state)
{
	static const struct {
		enum phase phase;
		bool installed, changed;
		int64_t former_before, former, failures;
	} rows[] = {
		{PHASE_SUCCEEDED, true, true, 0, 4, 0}, {PHASE_SUCCEEDED, true, false, 0, 4, 3},
		{PHASE_BLOCKED, true, false, 2, 2, 3},  {PHASE_FAILED, false, false, 2, 0, 3},
		{PHASE_FAILED, false, true, 2, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].phase, USER);
		if (!rows[i].installed)
			w.app.installed = NULL;
		if (rows[i].changed)
			w.app.values = view_fake_obj(&w.f, "{\"a\":2}");
		w.s.former_revision = rows[i].former_before;
		strategy_condition(&w.s, "OwnershipMoved", "True", "OwnershipMoved", "");
		strategy_condition(&w.s, "Available", "True", "Available", "");
		strategy_condition(&w.s, "Other", "True", "Other", "");
		assert_int_equal(strategy_start_revision(&w.s, "m"), ENDED);
		assert_int_equal(w.s.phase, PHASE_PENDING);
		assert_string_equal(w.s.message, "m");
		assert_int_equal(w.s.revision, 7); /* behind the rollback's */
		assert_int_equal(w.s.rollback_revision, 0);
		assert_int_equal(w.s.former_revision, rows[i].former);
		if (rows[i].phase == PHASE_SUCCEEDED)
			assert_string_equal(w.s.former_digest, "d4");
		assert_int_equal(w.s.failures, rows[i].failures);
		assert_null(w.s.failed);
		assert_null(w.s.install);
		assert_null(condition_find(w.s.conditions, "OwnershipMoved"));
		assert_null(condition_find(w.s.conditions, "Available"));
		assert_non_null(condition_find(w.s.conditions, "Other"));
		view_fake_release(&w.f);
	}
}

static const char *status_of(const struct strategy_pass *s, const char *type)
{
	return obj_str(condition_find(s->conditions, type), "status");
}

static void test_strategy_values__the_way_back(void **state)
{
	struct world w;
	struct install_plan back = {.revision = 2};
	(void)state;
	begin(&w, PHASE_ROLLING_BACK, USER);
	w.s.former_revision = 2;
	w.s.former_digest = "d2";
	w.s.permissions = w.ref.o;
	strategy_condition(&w.s, "Applied", "True", "Applied", "");
	strategy_condition(&w.s, "Verified", "False", "NotReady", "no Pod");
	strategy_condition(&w.s, "OwnershipMoved", "False", "Moving", "");
	assert_int_equal(strategy_values_back(&w.s, &back), ENDED);
	assert_int_equal(w.s.phase, PHASE_SUCCEEDED);
	assert_string_equal(w.s.message, "revision 4 failed: no Pod; revision 2 runs again");
	assert_int_equal(w.s.revision, 2);
	assert_string_equal(w.s.digest, "d2");
	assert_int_equal(w.s.former_revision, 0);
	assert_null(w.s.permissions);
	assert_ptr_equal(w.s.install, &back);
	assert_int_equal(obj_i64(w.s.failed, "revision", 0), 4);
	assert_string_equal(obj_str(w.s.failed, "message"), "no Pod");
	assert_string_equal(status_of(&w.s, "Applied"), "True");
	assert_string_equal(status_of(&w.s, "Verified"), "True");
	assert_string_equal(status_of(&w.s, "OwnershipMoved"), "True");
	view_fake_release(&w.f);
}

static void test_strategy_values__in_the_status(void **state)
{
	struct world w;
	(void)state;
	begin(&w, PHASE_SUCCEEDED, USER);
	struct obj *status = obj_keep(w.f.a, obj_map());
	obj_set_int(w.s.failed, "revision", 4);
	w.s.former_revision = 2;
	w.s.former_digest = "d2";
	strategy_set_values(&w.s, status);
	assert_true(
		obj_equal(status, view_fake_obj(&w.f, "{\"failed\":{\"revision\":4},\"former\":{"
						      "\"revision\":2,\"digest\":\"d2\"}}")));
	w.s.failed = NULL;
	w.s.former_revision = 0;
	strategy_set_values(&w.s, status);
	assert_true(obj_equal(status, view_fake_obj(&w.f, "{}")));
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_values__what_differs),
		cmocka_unit_test(test_strategy_values__another_revision),
		cmocka_unit_test(test_strategy_values__the_way_back),
		cmocka_unit_test(test_strategy_values__in_the_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
