/* test_strategy_back.c: a way back is taken where the account and the server let it be; else it has failed. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "tests/lib/strategy_fake.h"

#define STRATEGY                                                                              \
	"{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\"," \
	"\"uid\":\"u\"}}"
#define CRD                                                                               \
	"{\"kind\":\"CustomResourceDefinition\",\"spec\":{\"group\":\"x.io\",\"names\":{" \
	"\"kind\":\"A\"}}}"
#define LIVE                                                                               \
	"{\"metadata\":{\"generation\":7,\"annotations\":{\"app.coreos.com/crd-version\":" \
	"\"2.0.0\"}}}"
#define INSTANCE                                                                   \
	"{\"apiVersion\":\"x.io/v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\"," \
	"\"namespace\":\"n\"}}"

static const struct resource as = {
	.group = "x.io", .version = "v1", .plural = "as", .kind = "A", .namespaced = true};

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct unit_entry entries[2];
	struct install_plan back;
	struct strategy_pass s;
};

static void pass(struct world *w, bool has_account)
{
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.was = w->s.phase = PHASE_ROLLING_BACK;
	w->s.back = &w->back;
	if (!has_account)
		w->s.plan->as = NULL;
}

/* 1.0.0 is to run again, with an object whose definition 2.0.0 has applied last. */
static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f, STRATEGY), .name = "s", .version = "1.0.0"};
	w->app = (struct app){
		.name = "etcd", .self_ref = "etcd.io.x", .o = w->ref.o, .installed = &w->ref};
	w->app.account.is_default = true;
	w->entries[0] = (struct unit_entry){.object = view_fake_obj(&w->f, CRD),
					    .live = view_fake_obj(&w->f, LIVE),
					    .digest = "c",
					    .kind = "CustomResourceDefinition",
					    .name = "as.x.io",
					    .is_crd = true};
	w->entries[1] = (struct unit_entry){.object = view_fake_obj(&w->f, INSTANCE),
					    .digest = "d",
					    .kind = "A",
					    .name = "a",
					    .ns = "n",
					    .resource = &as};
	w->back = (struct install_plan){
		.release = "etcd", .ns = "n", .version = "1.0.0", .entries = w->entries, .n = 2};
}

static void test_strategy_back__only_where_it_may(void **state)
{
	static const struct {
		const char *ns;     /* of the account that is made first; NULL: there is one */
		const char *answer; /* of the server; NULL: none yet */
		enum ensured want;
		const char *reason, *message; /* NULL: it has not failed */
	} rows[] = {
		{"n", NULL, WAITING, NULL, NULL},
		{"No_Label", NULL, ENDED, "RollbackFailed", "No_Label is no namespace for an app"},
		{NULL, NULL, WAITING, NULL, NULL},
		{NULL, "{\"refused\":[]}", DONE, NULL, NULL},
		{NULL, "{\"refused\":[{\"index\":0,\"message\":\"m\"}]}", ENDED, "RollbackRefused",
		 "A n/a: m"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w);
		w.app.install_namespace = rows[i].ns;
		pass(&w, !rows[i].ns);
		if (rows[i].answer) {
			assert_int_equal(strategy_ensure_back_allowed(&w.s), WAITING);
			view_fake_outcome(&w.f, view_fake_action(&w.f, ACT_WORK, NULL, NULL)->id,
					  rows[i].answer);
			pass(&w, true);
		}
		assert_int_equal(strategy_ensure_back_allowed(&w.s), rows[i].want);
		assert_int_equal(w.s.phase, rows[i].reason ? PHASE_FAILED : PHASE_ROLLING_BACK);
		const struct obj *c = condition_find(w.s.conditions, "RolledBack");
		if (!cstr_eq(obj_str(c, "reason"), rows[i].reason))
			fail_msg("row %zu: %s", i, obj_str(c, "reason"));
		if (rows[i].reason)
			assert_true(cstr_has_prefix(obj_str(c, "message"), rows[i].message));
		bool denied = view_fake_action(&w.f, ACT_ROW, NULL, NULL);
		assert_int_equal(denied, cstr_eq(rows[i].reason, "RollbackRefused"));
		view_fake_release(&w.f);
	}
}

/* What runs is known by its stored plan: none, or none in time, is no way back. */
static void test_strategy_back__without_a_plan_it_has_failed(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	w.app.installed = NULL;
	pass(&w, true);
	w.s.back = NULL;
	assert_int_equal(strategy_load_back(&w.s), ENDED);
	assert_int_equal(w.s.phase, PHASE_FAILED);
	const struct obj *c = condition_find(w.s.conditions, "RolledBack");
	assert_string_equal(obj_str(c, "reason"), "RollbackRefused");
	assert_string_equal(obj_str(c, "message"), "the former plan is gone");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_back__only_where_it_may),
		cmocka_unit_test(test_strategy_back__without_a_plan_it_has_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
