/* strategy_pass.c: the ways a reconcile of a strategy ends, and what each leaves in status and log. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_pass.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "tests/lib/strategy_fake.h"

#define SINCE "2023-11-14T22:00:00Z"
#define NOW   "2023-11-14T22:13:20Z"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref, former;
	struct install_plan install;
	struct strategy_pass s;
};

static void begin(struct world *w, const char *app, const char *status)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(
			&w->f, arena_fmt(w->f.a,
					 "{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":"
					 "\"s\",\"uid\":\"u\",\"generation\":3},\"status\":{%s}}",
					 status)),
		.name = "s",
		.version = "2.0.0"};
	w->former = (struct strategy_ref){.o = w->ref.o, .name = "f", .version = "1.0.0"};
	w->app = (struct app){.name = "etcd", .o = view_fake_obj(&w->f, app)};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.revision = 4;
}

static const char *part(const struct world *w, const char *type, const char *field)
{
	return obj_str(condition_find(w->s.conditions, type), field);
}

static void test_strategy_pass__a_phase_has_its_condition(void **state)
{
	static const char bad[] = "Blocked Failed AwaitingApproval RollingBack RolledBack";
	(void)state;
	for (int p = PHASE_PENDING; p <= PHASE_SUPERSEDED; p++) {
		struct world w;
		begin(&w, "{}", "");
		assert_int_equal(strategy_enter(&w.s, (enum phase)p, "C", "R", "m"), ENDED);
		assert_int_equal(w.s.phase, p);
		assert_string_equal(w.s.reason, "R");
		assert_string_equal(w.s.message, "m");
		assert_string_equal(part(&w, "C", "status"),
				    strstr(bad, phase_name((enum phase)p)) ? "False" : "True");
		assert_string_equal(part(&w, "C", "reason"), "R");
		assert_string_equal(part(&w, "C", "message"), "m");
		assert_int_equal(
			obj_i64(condition_find(w.s.conditions, "C"), "observedGeneration", 0), 3);
		view_fake_release(&w.f);
	}
	struct world w;
	begin(&w, "{}", "");
	(void)strategy_enter(&w.s, PHASE_BLOCKED, NULL, "R", "m");
	assert_int_equal(obj_len(w.s.conditions), 0);
	view_fake_release(&w.f);
}

#define WAS(status)                                                                   \
	"\"conditions\":[{\"type\":\"C\",\"status\":\"" status "\",\"reason\":\"R\"," \
	"\"message\":\"m\",\"lastTransitionTime\":\"" SINCE "\"}]"

/* Only a turn is a transition, though planning takes conditions away and sets them anew. */
static void test_strategy_pass__since_when(void **state)
{
	static const struct {
		const char *was, *is, *since;
	} rows[] = {
		{"", "True", NOW},
		{WAS("True"), "True", SINCE},
		{WAS("True"), "False", NOW},
		{WAS("False"), "False", SINCE},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "{}", rows[i].was);
		strategy_condition(&w.s, "Other", "True", "R", NULL);
		strategy_condition(&w.s, "C", rows[i].is, "R", "n");
		assert_string_equal(part(&w, "C", "lastTransitionTime"), rows[i].since);
		assert_string_equal(strategy_turned_at(&w.s, "C"), rows[i].since);
		assert_string_equal(part(&w, "Other", "lastTransitionTime"), NOW);
		assert_string_equal(part(&w, "Other", "message"), "");
		assert_true(strategy_has_condition(&w.s, "C"));
		assert_false(strategy_has_condition(&w.s, "D"));
		view_fake_release(&w.f);
	}
	struct world w;
	begin(&w, "{}", WAS("False"));
	assert_int_equal(strategy_block(&w.s, "C", "R", "m"), ENDED);
	assert_string_equal(part(&w, "C", "lastTransitionTime"), SINCE);
	view_fake_release(&w.f);
}

/* A judgement that says no is an entry of its own; a failure is none. */
static void test_strategy_pass__what_is_refused_is_decided(void **state)
{
	static const char *const rows[][2] = {
		{"RollbackRefused", "RollbackRefused"},
		{"RequirementUnmet", "RequirementRefused"},
		{"ObjectNotOwned", "OwnershipRefused"},
		{"DigestMismatch", "DigestRefused"},
		{"DescriptorMismatch", "DigestRefused"},
		{"SignatureInvalid", "SignatureRefused"},
		{"FetchFailed", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "{}", "");
		w.app.installed = i ? &w.former : NULL;
		assert_int_equal(strategy_block(&w.s, "PlanReady", rows[i][0], "two\nlines"),
				 ENDED);
		assert_int_equal(w.s.phase, PHASE_BLOCKED);
		assert_string_equal(part(&w, "PlanReady", "status"), "False");
		const struct action *x = view_fake_action(&w.f, ACT_ROW, NULL, NULL);
		assert_int_equal(w.f.plan.n, rows[i][1] != NULL);
		if (rows[i][1]) {
			assert_string_equal(x->row_type, "Decision");
			assert_string_equal(x->reason, rows[i][1]);
			assert_string_equal(x->chain, "etcd");
			assert_string_equal(x->key,
					    arena_fmt(w.f.a, "%s r4 two lines", rows[i][1]));
			assert_string_equal(obj_str(x->body, "verdict"), "deny");
			assert_string_equal(obj_str(obj_at(obj_get(x->body, "rules"), 0), "id"),
					    rows[i][0]);
			assert_string_equal(obj_str(x->body, "version.to"), "2.0.0");
			assert_true(cstr_eq(obj_str(x->body, "version.from"), i ? "1.0.0" : NULL));
		}
		view_fake_release(&w.f);
	}
}

/* The next reconcile decides the same: each has the keys of those before it. */
static void test_strategy_pass__decisions_of_one_reconcile(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "{}", "");
	strategy_decide(&w.s, "A", "wait", "rule", "detail", "k");
	strategy_decide(&w.s, "B", "allow", "rule", "detail", "l");
	const struct action *x = w.f.plan.head;
	assert_string_equal(x->key, "A k");
	assert_string_equal(obj_str(x->body, "verdict"), "wait");
	assert_string_equal(obj_str(x->body, "message"), "detail");
	assert_string_equal(x->next->key, "A k\nB l");
	w.s.app = NULL;
	struct obj *more = obj_map();
	obj_set_str(more, "findings", "f");
	strategy_deny(&w.s, "C", "rule", "detail", "m", more);
	assert_string_equal(obj_str(x->next->next->body, "findings"), "f");
	assert_null(x->next->next->chain);
	view_fake_release(&w.f);
}

static void test_strategy_pass__failed_or_back(void **state)
{
	enum { NOTHING, THE_FORMER, ITSELF, ITSELF_TRYING };
	static const struct {
		int installed;
		const char *app, *rollout;
		bool back;
	} rows[] = {
		{NOTHING, "{}", "{}", false},
		{THE_FORMER, "{}", "{}", true},
		{ITSELF, "{}", "{}", false},
		{ITSELF_TRYING, "{}", "{}", true},
		{THE_FORMER, "{\"spec\":{\"upgrade\":{\"onFailure\":\"Stay\"}}}", "{}", false},
		{THE_FORMER, "{\"spec\":{\"upgrade\":{\"onFailure\":\"RollBack\"}}}", "{}", true},
		{THE_FORMER, "{}",
		 "{\"rollout\":{\"spec\":{\"rollback\":{\"onFailure\":\"None\"}}}}", false},
		{THE_FORMER, "{}",
		 "{\"rollout\":{\"spec\":{\"rollback\":{\"onFailure\":\"All\"}}}}", true},
		{THE_FORMER, "{}", NULL, true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].app, "");
		w.app.installed = rows[i].installed == NOTHING      ? NULL
				  : rows[i].installed == THE_FORMER ? &w.former
								    : &w.ref;
		w.s.former_revision = rows[i].installed == ITSELF_TRYING ? 3 : 0;
		if (rows[i].rollout) {
			w.install.doc = view_fake_obj(&w.f, rows[i].rollout);
			w.s.install = &w.install;
		}
		strategy_condition(&w.s, "RolledBack", "True", "of the last one", "");
		assert_int_equal(strategy_give_up(&w.s, "Applied", "R", "m"), ENDED);
		if (w.s.phase != (rows[i].back ? PHASE_ROLLING_BACK : PHASE_FAILED))
			fail_msg("row %zu: %s", i, phase_name(w.s.phase));
		assert_string_equal(part(&w, "Applied", "status"), "False");
		assert_true(cstr_eq(part(&w, "RolledBack", "reason"),
				    rows[i].back ? "RollingBack" : NULL));
		assert_true(
			cstr_eq(part(&w, "RolledBack", "status"), rows[i].back ? "False" : NULL));
		view_fake_release(&w.f);
	}
}

/* What a person reads stays until there is another answer. */
static void test_strategy_pass__waiting(void **state)
{
	(void)state;
	for (int p = PHASE_PENDING; p <= PHASE_SUPERSEDED; p++) {
		struct world w;
		bool kept = p == PHASE_BLOCKED || p == PHASE_AWAITING;
		begin(&w, "{}", "");
		w.s.was = w.s.phase = (enum phase)p;
		assert_int_equal(strategy_wait(&w.s), WAITING);
		assert_int_equal(w.s.keep_status, kept);
		assert_int_equal(w.s.phase, kept ? p : PHASE_PENDING);
		view_fake_release(&w.f);
	}
}

static void test_strategy_pass__which_condition_failed(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "{}", "");
	assert_null(strategy_failure(&w.s));
	strategy_condition(&w.s, "Applied", "True", "A", "a");
	assert_null(strategy_failure(&w.s));
	strategy_condition(&w.s, "Verified", "False", "V", "v");
	assert_string_equal(obj_str(strategy_failure(&w.s), "message"), "v");
	strategy_condition(&w.s, "Applied", "False", "A", "a");
	assert_string_equal(obj_str(strategy_failure(&w.s), "message"), "a");
	view_fake_release(&w.f);
}

static void test_strategy_pass__asked_once_while_it_is_young(void **state)
{
	struct world w;
	struct error err = ERROR_INIT;
	(void)state;
	begin(&w, "{}", "");
	assert_null(strategy_ask(&w.s, "i", obj_list(), NS_PER_S));
	const struct action *x = view_fake_work(&w.f, &ask_work);
	assert_string_equal(x->id, "i");
	assert_int_equal(obj_type(x->body), OBJ_LIST);
	view_fake_outcome(&w.f, "i", "[]");
	w.s.plan = view_fake_plan(&w.f);
	assert_non_null(strategy_ask(&w.s, "i", obj_list(), NS_PER_S));
	w.f.view.now_ns += NS_PER_S;
	assert_non_null(strategy_ask(&w.s, "i", obj_list(), 0));
	assert_int_equal(w.f.plan.n, 0);
	assert_null(strategy_ask(&w.s, "i", obj_list(), NS_PER_S));
	error_set(&err, E_UNAVAILABLE, "no");
	stash_put(w.f.stash, "i", &err, STR_NONE, NULL, w.f.view.now_ns);
	assert_null(strategy_ask(&w.s, "i", obj_list(), 0));
	const struct outcome bad = {.code = E_INVALID}, lost = {.code = E_IO, .failures = 1};
	assert_int_equal(strategy_await_retry(&w.s, &bad), ENDED);
	assert_int_equal(strategy_await_retry(&w.s, &lost), DONE); /* of 1970 */
	view_fake_release(&w.f);
}

/* What a resolver finds installable is never blocked for its sake, whoever made it. */
static void test_strategy_pass__the_turn_of_what_is_installable(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct world w;
		struct candidate c = {.version = "2.0.0", .installable = true, .safety = i & 1};
		begin(&w, "{}", "");
		w.ref.by_alm = i & 2;
		w.app.resolution.candidates = &c;
		w.app.resolution.n = 1;
		w.app.next = "2.0.0";
		assert_int_equal(strategy_ensure_turn(&w.s), DONE);
		assert_int_equal(w.s.phase, PHASE_PENDING);
		assert_int_equal(obj_len(w.s.conditions), 0);
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_pass__the_turn_of_what_is_installable),
		cmocka_unit_test(test_strategy_pass__a_phase_has_its_condition),
		cmocka_unit_test(test_strategy_pass__since_when),
		cmocka_unit_test(test_strategy_pass__what_is_refused_is_decided),
		cmocka_unit_test(test_strategy_pass__decisions_of_one_reconcile),
		cmocka_unit_test(test_strategy_pass__failed_or_back),
		cmocka_unit_test(test_strategy_pass__waiting),
		cmocka_unit_test(test_strategy_pass__which_condition_failed),
		cmocka_unit_test(test_strategy_pass__asked_once_while_it_is_young),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
