/* test_strategy_phases.c: a strategy takes the edges of phases.h, and no other. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/app/phases.h"
#include "alm/controllers/strategy/strategy.h"
#include "alm/obj/condition.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_phases__the_table_is_all_there_is),
		cmocka_unit_test(test_strategy_phases__what_is_new_is_pending_at_once),
		cmocka_unit_test(test_strategy_phases__no_edge_is_there_twice),
		cmocka_unit_test(test_strategy_phases__a_state_may_skip_edges_but_not_go_back),
		cmocka_unit_test(test_strategy_phases__without_an_app_it_is_blocked),
		cmocka_unit_test(test_strategy_phases__another_edge_fails_the_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
