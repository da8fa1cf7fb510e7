/* What a former run may be deleting still is written once by the run that wants it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

static const char *line_of(struct unit_fixture *x, const char *name)
{
	const char *text = map_get(x->f.live, "ConfigMap/alm-system/inv.b.i");
	const char *lines = text ? obj_str(view_fake_obj(&x->f, text), "data.objects") : NULL;
	return lines ? strstr(lines, arena_fmt(x->a, " default %s ", name)) : NULL;
}

static bool is_doubtful(struct unit_fixture *x, const char *name)
{
	const char *line = line_of(x, name);
	return line &&
	       cstr_has_prefix(line, arena_fmt(x->a, " default %s uid-ConfigMap-%s -", name, name));
}

/* Another attempt, up to its first deletion of the object, which is under way at its end. */
static void run_and_die(struct unit_fixture *x, size_t n, bool deleting, const char *name)
{
	x->job.unit = unit_fixture_unit(x, n);
	x->job.attempt++;
	x->job.record = NULL;
	x->job.deleting = deleting;
	for (int i = 0; i < 20; i++) {
		unit_fixture_pass(x);
		if (view_fake_action(&x->f, ACT_DELETE, "ConfigMap", name))
			break;
		assert_int_equal(view_fake_count(&x->f, ACT_DELETE), 0);
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
	}
	assert_non_null(view_fake_action(&x->f, ACT_DELETE, "ConfigMap", name));
	x->job.deleting = false;
}

/* Returns how often it is written, with how many objects. */
static size_t run_and_count(struct unit_fixture *x, size_t n)
{
	size_t patches = 0;
	const char *how = "Running";
	x->job.unit = unit_fixture_unit(x, n);
	x->job.attempt++;
	x->job.record = NULL;
	for (int i = 0; i < 30 && cstr_eq(how, "Running"); i++) {
		how = unit_fixture_pass(x);
		for (const struct action *w = x->f.plan.head; w; w = w->next)
			if (w->type == ACT_APPLY && meta_annotation(w->body, ANNOTATION_FENCE)) {
				/* what is gone meanwhile is a conflict */
				assert_non_null(w->uid);
				assert_non_null(w->resource_version);
				assert_true(is_doubtful(x, w->name)); /* until it was written */
				patches++;
			}
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
	}
	assert_string_equal(how, "Succeeded");
	return patches;
}

static void test_unit_fence__what_may_be_deleted_still_is_written_once(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 3);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	run_and_die(&x, 2, false, "c2");
	assert_true(is_doubtful(&x, "c2"));
	assert_false(is_doubtful(&x, "c0"));
	assert_int_equal(run_and_count(&x, 3), 1);
	assert_non_null(strstr(unit_fixture_map(&x, "c2"), ANNOTATION_FENCE));
	assert_null(strstr(unit_fixture_map(&x, "c0"), ANNOTATION_FENCE));
	assert_false(is_doubtful(&x, "c2"));
	assert_string_equal(unit_fixture_run(&x, 3), "Succeeded");
	assert_false(plan_has_writes(&x.f.plan));
	unit_fixture_release(&x);
}

/* With n objects, up to the write, which is done. */
static void write_and_die(struct unit_fixture *x, size_t n, const char *name)
{
	x->job.unit = unit_fixture_unit(x, n);
	x->job.attempt++;
	x->job.record = NULL;
	for (int i = 0; i < 9 && !view_fake_action(&x->f, ACT_APPLY, "ConfigMap", name); i++) {
		unit_fixture_pass(x);
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
	}
	assert_non_null(view_fake_action(&x->f, ACT_APPLY, "ConfigMap", name));
	assert_true(is_doubtful(x, name)); /* until a run has succeeded */
	x->f.view.now_ns += NS_PER_S;
}

static void test_unit_fence__runs_that_fail_do_not_write_it_again(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	run_and_die(&x, 1, false, "c1");
	write_and_die(&x, 2, "c1");
	assert_int_equal(run_and_count(&x, 2), 0);
	assert_false(is_doubtful(&x, "c1"));
	unit_fixture_release(&x);
}

/* What was written between two deletions does not fit the second one. */
static void test_unit_fence__each_run_that_deletes_is_another_doubt(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	run_and_die(&x, 1, false, "c1");
	write_and_die(&x, 2, "c1");
	run_and_die(&x, 1, false, "c1");
	assert_int_equal(run_and_count(&x, 2), 1);
	unit_fixture_release(&x);
}

/* prune.mode None deletes nothing: there is nothing to doubt, nor to write. */
static void test_unit_fence__what_is_spared_is_not_doubtful(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	x.job.spares = true;
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_non_null(line_of(&x, "c1"));
	assert_false(is_doubtful(&x, "c1"));
	assert_int_equal(run_and_count(&x, 2), 0);
	unit_fixture_release(&x);
}

/* All of it is doubtful: a unit of the name comes again while the deletions are under way. */
static void test_unit_fence__what_a_deletion_may_delete_still_is_written_once(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	run_and_die(&x, 0, true, "c1");
	assert_true(is_doubtful(&x, "c0") && is_doubtful(&x, "c1"));
	assert_int_equal(run_and_count(&x, 2), 2);
	unit_fixture_release(&x);
}

/* By a late create, and the inventory's "late" names it. */
static void test_unit_fence__what_is_in_no_inventory_is_written_once(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	CLEANUP(xfreep) char *late = xstrdup(unit_fixture_map(&x, "c1"));
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	view_fake_live(&x.f, late);
	assert_int_equal(run_and_count(&x, 2), 1);
	unit_fixture_release(&x);
}

/* What no step writes is marked by a manager of its own: nothing else of the object is applied. */
static void test_unit_fence__what_is_never_changed_is_marked_alone(void **state)
{
	(void)state;
	struct unit_fixture x;
	const struct action *w = NULL;
	unit_fixture_init(&x, 2);
	x.one_off = true;
	assert_string_equal(unit_fixture_run(&x, 2), "Succeeded");
	run_and_die(&x, 1, false, "c1");
	x.job.unit = unit_fixture_unit(&x, 2);
	x.job.attempt++;
	x.job.record = NULL;
	for (int i = 0; i < 9 && !w; i++) {
		unit_fixture_pass(&x);
		w = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c1");
		view_fake_survey(&x.f);
		if (!w)
			view_fake_perform(&x.f);
	}
	assert_non_null(w);
	if (w) {
		assert_string_equal(w->manager, "alm:cli:b:fence");
		assert_non_null(w->resource_version);
		assert_non_null(meta_annotation(w->body, ANNOTATION_FENCE));
		assert_null(meta_annotation(w->body, ANNOTATION_OWNER_ID));
		assert_null(obj_get(w->body, "data"));
	}
	unit_fixture_release(&x);
}

/* The live read has seen it, no informer has; then the deletion of before comes, so that the write over
 * what was read is a conflict: it is looked for again, and made. */
static void deleted_before_it_is_fenced(bool one_off)
{
	struct unit_fixture x;
	size_t conflicts = 0;
	const char *how = "Running";
	unit_fixture_init(&x, 2);
	x.one_off = one_off;
	assert_string_equal(unit_fixture_run(&x, 2), "Succeeded");
	run_and_die(&x, 1, false, "c1");
	CLEANUP(xfreep) char *text = xstrdup(unit_fixture_map(&x, "c1"));
	x.job.unit = unit_fixture_unit(&x, 2);
	x.job.attempt++;
	x.job.record = NULL;
	view_fake_gone(&x.f, "ConfigMap", "default", "c1");
	for (int i = 0; i < 20 && cstr_eq(how, "Running"); i++) {
		how = unit_fixture_pass(&x);
		if (!conflicts)
			view_fake_live(&x.f, text);
		view_fake_survey(&x.f);
		struct action *w = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c1");
		assert_false(conflicts && w &&
			     w->resource_version); /* what is made is not written again */
		if (w && w->resource_version) {
			struct error err = ERROR_INIT;
			error_set(&err, E_CONFLICT, "the object has been modified");
			stash_put(x.f.stash, refusal_id("", "ConfigMap", "default", "c1", x.a),
				  &err, STR_NONE, NULL, x.f.view.now_ns);
			w->type = ACT_RECORD; /* it does nothing */
			conflicts++;
		}
		if (!conflicts || (w && w->type == ACT_RECORD))
			view_fake_gone(&x.f, "ConfigMap", "default", "c1");
		view_fake_perform(&x.f);
		x.f.view.now_ns += NS_PER_S;
	}
	assert_string_equal(how, "Succeeded");
	assert_int_equal(conflicts, 1);
	assert_non_null(unit_fixture_map(&x, "c1"));
	assert_false(is_doubtful(&x, "c1"));
	unit_fixture_release(&x);
}

static void test_unit_fence__a_conflict_is_looked_for_again(void **state)
{
	(void)state;
	deleted_before_it_is_fenced(false);
}

static void test_unit_fence__so_is_one_of_what_is_never_changed(void **state)
{
	(void)state;
	deleted_before_it_is_fenced(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_fence__what_may_be_deleted_still_is_written_once),
		cmocka_unit_test(test_unit_fence__runs_that_fail_do_not_write_it_again),
		cmocka_unit_test(test_unit_fence__each_run_that_deletes_is_another_doubt),
		cmocka_unit_test(test_unit_fence__what_is_spared_is_not_doubtful),
		cmocka_unit_test(test_unit_fence__what_a_deletion_may_delete_still_is_written_once),
		cmocka_unit_test(test_unit_fence__what_is_in_no_inventory_is_written_once),
		cmocka_unit_test(test_unit_fence__what_is_never_changed_is_marked_alone),
		cmocka_unit_test(test_unit_fence__a_conflict_is_looked_for_again),
		cmocka_unit_test(test_unit_fence__so_is_one_of_what_is_never_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
