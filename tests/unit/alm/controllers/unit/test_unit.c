/* The unit controller on a view of plain tables: what it plans, pass after pass. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/run.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define KEY "b/i"

struct fixture {
	struct view_fake f;
	struct arena *a;
	struct unit_job job;
	struct unit_side side;
};

static const struct unit_job *side_job(void *arg, const char *key)
{
	const struct fixture *x = arg;
	return cstr_eq(key, KEY) ? &x->job : NULL;
}

static void setup(struct fixture *x, size_t n)
{
	struct error err = ERROR_INIT;
	struct flat flat;
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .digest = run_digest};
	view_fake_init(&x->f);
	x->a = arena_new((size_t)16 << 20);
	flat_init(&flat, x->a);
	for (size_t i = 0; i < n; i++) {
		const char *name = arena_fmt(x->a, "c%zu", i);
		const struct flat_place p = {.name = name, .file = name, .alone = true};
		struct obj *cm = meta_skeleton("v1", "ConfigMap", NULL, name);
		obj_set_path(cm, "data.v", obj_string("1"));
		assert_ok(flat_add(&flat, &p, cm, &err), &err);
	}
	struct unit *u;
	assert_ok(flat_sort(&flat, "default", &err), &err);
	assert_ok(unit_make(&flat, &o, &u, &err), &err);
	x->job = (struct unit_job){
		.unit = u, .attempt = 1, .inventory_ns = "alm-system", .max_deletes = 10};
	x->side = (struct unit_side){.job = side_job, .arg = x};
	x->f.shared.units = &x->side;
}

static void teardown(struct fixture *x)
{
	arena_free(x->a);
	view_fake_release(&x->f);
}

/* One reconcile; its record is what the next one begins with. */
static const char *pass(struct fixture *x)
{
	struct error err = ERROR_INIT;
	struct plan *p = view_fake_plan(&x->f);
	p->as = NULL;
	x->f.view.pass = &x->f.pass;
	assert_ok(controller_run(&unit_controller, &x->f.view, KEY, p, &err), &err);
	const struct action *record = p->head;
	if (record && record->type == ACT_RECORD)
		x->job.record = obj_keep(x->a, obj_copy(record->body));
	else /* it is told before anything else, or not at all */
		assert_int_equal(view_fake_count(&x->f, ACT_RECORD), 0);
	return obj_str(x->job.record, "state");
}

/* Nothing is there yet, as the live reads tell it. */
static void answer_reads(struct fixture *x)
{
	view_fake_outcome(&x->f, "unit:" KEY ":1:books", "{\"namespace\": {}, \"system\": {}}");
	view_fake_outcome(&x->f, "unit:" KEY ":1:absent", "{}");
}

static void test_unit__the_inventory_is_written_before_the_objects(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	pass(&x);
	assert_int_equal(view_fake_works(&x.f, &survey_work), 1);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	answer_reads(&x);
	pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 1);
	const struct action *inventory = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "inv.b.i");
	assert_non_null(inventory);
	const char *lines = obj_str(obj_get(inventory->body, "data"), "objects");
	assert_non_null(strstr(lines, "v1 ConfigMap default c0 - "));
	assert_non_null(strstr(lines, "v1 ConfigMap default c1 - "));
	view_fake_perform(&x.f);
	pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 2);
	const struct action *a = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0");
	assert_non_null(a);
	assert_false(a->force); /* somebody who was faster meets a conflict */
	assert_string_equal(a->manager, "alm:cli:b");
	assert_null(a->as);
	assert_string_equal(meta_annotation(a->body, ANNOTATION_OWNER_ID), "cli.b.i");
	teardown(&x);
}

static void test_unit__it_ends_and_writes_nothing_more(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	answer_reads(&x);
	const char *how = NULL;
	for (int i = 0; i < 10 && !cstr_eq(how, "Succeeded"); i++) {
		how = pass(&x);
		view_fake_perform(&x.f);
	}
	assert_string_equal(how, "Succeeded");
	pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	/* another attempt: all is there */
	x.job.attempt = 2;
	view_fake_outcome(&x.f, "unit:" KEY ":2:books", "{\"namespace\": {}, \"system\": {}}");
	assert_string_equal(pass(&x), "Succeeded");
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
	teardown(&x);
}

static void test_unit__what_is_somebody_elses_is_refused_before_a_write(void **state)
{
	(void)state;
	static const char theirs[] = "{\"o1\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
				     "\"metadata\": {\"name\": "
				     "\"c1\", \"namespace\": \"default\"%s}}}";
	static const char other[] = ", \"labels\": {\"app.coreos.com/bundle\": \"web\"}";
	static const struct {
		const char *labels, *want;
		bool adopts, takes;
	} rows[] = {
		{"", "ConfigMap default/c1 is there and not managed by ALM", false, true},
		{other, "ConfigMap default/c1 belongs to bundle web", true, false},
		{"", NULL, true, false},
		{other, NULL, false, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		setup(&x, 2);
		x.job.adopts = rows[i].adopts;
		x.job.takes = rows[i].takes;
		answer_reads(&x);
		view_fake_outcome(&x.f, "unit:" KEY ":1:absent",
				  arena_fmt(x.a, theirs, rows[i].labels));
		const char *how = pass(&x), *why = obj_str(x.job.record, "message");
		if (rows[i].want) {
			assert_string_equal(how, "Failed");
			assert_true(obj_flag(x.job.record, "refused", false));
			assert_non_null(strstr(why, rows[i].want));
			assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
		} else {
			assert_string_equal(how, "Running");
			assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 1);
		}
		teardown(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit__the_inventory_is_written_before_the_objects),
		cmocka_unit_test(test_unit__it_ends_and_writes_nothing_more),
		cmocka_unit_test(test_unit__what_is_somebody_elses_is_refused_before_a_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
