/* The status of the object that a unit is run for: what it says, and that it is written while it says
 * something else. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "tests/lib/unit_fixture.h"

struct world {
	struct unit_fixture u;
	struct unit_pass s;
	struct obj *main;
};

static void begin(struct world *w, const char *record)
{
	unit_fixture_init(&w->u, 1);
	w->main = view_fake_obj(&w->u.f,
				"{\"apiVersion\":\"web.io/v1\",\"kind\":\"Site\",\"metadata\":{"
				"\"name\":\"m\",\"namespace\":\"default\",\"uid\":\"u\","
				"\"resourceVersion\":\"7\",\"generation\":3}}");
	w->u.job.main = w->main;
	w->u.job.touches = true;
	w->s = (struct unit_pass){.v = &w->u.f.view,
				  .plan = view_fake_plan(&w->u.f),
				  .key = UNIT_FIXTURE_KEY,
				  .job = &w->u.job,
				  .unit = w->u.job.unit,
				  .record = view_fake_obj(&w->u.f, record)};
}

/* The status written by this pass; NULL: none is. */
static const struct obj *told(struct world *w)
{
	w->s.plan = view_fake_plan(&w->u.f);
	unit_feedback(&w->s);
	const struct action *x = view_fake_action(&w->u.f, ACT_PATCH, "Site", "m");
	assert_int_equal(w->u.f.plan.n, x != NULL);
	if (x)
		assert_string_equal(x->subresource, "status");
	return x ? obj_get(x->body, "status") : NULL;
}

static void test_unit_main__its_ready_says_how_far_the_unit_is(void **state)
{
	/* clang-format off */
	static const struct { const char *record, *status, *reason, *message; } rows[] = {
		{"{\"state\":\"Succeeded\"}", "True", "RolledOut", ""},
		{"{\"state\":\"Succeeded\",\"reason\":\"R\",\"message\":\"m\"}", "True", "R", "m"},
		{"{\"state\":\"Running\",\"message\":\"m\"}", "Unknown", "Progressing", "m"},
		{"{\"state\":\"RollingBack\",\"reason\":\"R\"}", "Unknown", "RollingBack", ""},
		{"{\"state\":\"RolledBack\",\"reason\":\"R\"}", "False", "RolledBack", ""},
		{"{\"state\":\"Failed\",\"reason\":\"R\",\"message\":\"m\"}", "False", "R", "m"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		struct condition c;
		begin(&w, rows[i].record);
		struct obj *o = obj_keep(w.u.a, obj_map());
		const struct obj *status = told(&w);
		assert_non_null(status);
		obj_set(o, "status", obj_ref(status));
		assert_true(condition_get(o, "Ready", &c));
		assert_string_equal(c.status, rows[i].status);
		assert_string_equal(c.reason, rows[i].reason);
		assert_string_equal(c.message, rows[i].message);
		assert_int_equal(c.observed_generation, 3);
		assert_int_equal(obj_i64(status, "observedGeneration", 0), 3);
		assert_int_equal(obj_len(obj_get(status, "groups")), 1);
		unit_fixture_release(&w.u);
	}
}

/* What holds a deletion is all that there is to say then. */
static void test_unit_main__a_deletion_tells_what_it_waits_for(void **state)
{
	(void)state;
	struct world w;
	struct condition c;
	begin(&w, "{\"state\":\"Running\",\"reason\":\"R\",\"waits\":\"a finalizer\"}");
	w.u.job.deleting = true;
	struct obj *o = obj_keep(w.u.a, obj_map());
	const struct obj *status = told(&w);
	assert_non_null(status);
	obj_set(o, "status", obj_ref(status));
	assert_true(condition_get(o, "Ready", &c));
	assert_string_equal(c.status, "False");
	assert_string_equal(c.reason, "Deleting");
	assert_string_equal(c.message, "a finalizer");
	assert_int_equal(c.observed_generation, 3);
	assert_false(obj_has(status, "groups"));
	w.s.record = view_fake_obj(&w.u.f, "{\"state\":\"Running\"}");
	assert_null(told(&w));
	unit_fixture_release(&w.u);
	begin(&w, "{\"state\":\"Running\"}"); /* it is deleted, and the attempt is one of before */
	obj_set_path(w.main, "metadata.deletionTimestamp", obj_string("2026-01-01T00:00:00Z"));
	assert_null(told(&w));
	unit_fixture_release(&w.u);
	begin(&w, "{\"state\":\"Running\"}");
	w.u.job.touches = false;
	assert_null(told(&w));
	unit_fixture_release(&w.u);
}

/* Once it is there it is not written again, whatever else a schema leaves out; each part that is another
 * is a reason to, three times in all. */
static void test_unit_main__it_is_written_while_it_is_another(void **state)
{
	static const char *const parts[] = {NULL, "status", "reason", "message", "groups"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct world w;
		begin(&w, "{\"state\":\"Failed\",\"reason\":\"R\",\"message\":\"m\"}");
		struct obj *status = obj_keep(w.u.a, obj_copy(told(&w)));
		struct obj *list = obj_get_mut(status, "conditions");
		obj_del(status, "observedGeneration");
		if (parts[i] && !strcmp(parts[i], "groups"))
			obj_set(status, "groups", obj_list());
		else if (parts[i])
			obj_set_str(obj_at_mut(list, 0), parts[i], "other");
		obj_set(w.main, "status", obj_ref(status));
		int n = 1;
		for (int k = 0; k < 5; k++)
			n += told(&w) != NULL;
		if (n != (parts[i] ? 3 : 1))
			fail_msg("%s: %d times", parts[i] ? parts[i] : "the same", n);
		unit_fixture_release(&w.u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_main__its_ready_says_how_far_the_unit_is),
		cmocka_unit_test(test_unit_main__a_deletion_tells_what_it_waits_for),
		cmocka_unit_test(test_unit_main__it_is_written_while_it_is_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
