/* An object that a server refuses, which may not know the definition of its kind yet. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "tests/lib/unit_fixture.h"

static void begin(struct unit_fixture *x, bool defines, bool one_off)
{
	unit_fixture_init(x, 1);
	x->defines = defines;
	x->one_off = one_off;
	x->job.unit = unit_fixture_unit(x, 1);
	for (int i = 0; i < 9 && !obj_len(obj_get(x->job.record, "steps")); i++) {
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
		unit_fixture_pass(x);
	}
	assert_int_equal(obj_len(obj_get(x->job.record, "steps")), 1);
}

static void refuse(struct unit_fixture *x, int code)
{
	struct error err = ERROR_INIT;
	error_set(&err, code, ".spec.new: field not declared in schema");
	stash_put(x->f.stash, "refused:/ConfigMap/default/c0", &err, STR_NONE, NULL,
		  x->f.view.now_ns);
}

static bool writes(struct unit_fixture *x)
{
	return view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c0") ||
	       view_fake_action(&x->f, ACT_CREATE, "ConfigMap", "c0");
}

static void test_unit_schema__is_awaited_where_the_unit_brings_it(void **state)
{
	(void)state;
	static const struct {
		bool defines, one_off, waits;
		int code;
	} rows[] = {
		{true, false, true, E_INVALID},
		{true, true, true, E_BADREQUEST},
		{false, false, false, E_INVALID},
		{true, false, false, E_FORBIDDEN}, /* no schema says that */
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		begin(&x, rows[i].defines, rows[i].one_off);
		refuse(&x, rows[i].code);
		x.f.view.now_ns += NS_PER_MS;
		assert_string_equal(unit_fixture_pass(&x), rows[i].waits ? "Running" : "Failed");
		assert_false(writes(&x)); /* it would end its reconcile, and nothing is told */
		CLEANUP(xfreep) char *text = json_text(x.job.record);
		assert_non_null(strstr(text, "not declared in schema"));
		x.f.view.now_ns += NS_PER_S;
		unit_fixture_pass(&x);
		assert_int_equal(writes(&x), rows[i].waits);
		unit_fixture_release(&x);
	}
}

static void test_unit_schema__is_not_awaited_for_long(void **state)
{
	(void)state;
	struct unit_fixture x;
	begin(&x, true, false);
	for (int i = 0; i < 5; i++) {
		assert_string_equal(unit_fixture_pass(&x), "Running");
		refuse(&x, E_INVALID);
		x.f.view.now_ns += NS_PER_S;
	}
	assert_string_equal(unit_fixture_pass(&x), "Failed");
	assert_non_null(strstr(obj_str(x.job.record, "message"), "not declared in schema"));
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_schema__is_awaited_where_the_unit_brings_it),
		cmocka_unit_test(test_unit_schema__is_not_awaited_for_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
