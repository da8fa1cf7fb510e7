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

static struct unit *unit_of(struct fixture *x, size_t n)
{
	struct error err = ERROR_INIT;
	struct flat flat;
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .digest = run_digest};
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
	return u;
}

static void setup(struct fixture *x, size_t n)
{
	view_fake_init(&x->f);
	x->a = arena_new((size_t)16 << 20);
	x->job = (struct unit_job){.unit = unit_of(x, n),
				   .attempt = 1,
				   .inventory_ns = "alm-system",
				   .max_deletes = 10};
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
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	const struct action *inventory = view_fake_action(&x.f, ACT_CREATE, "ConfigMap", "inv.b.i");
	assert_non_null(inventory);
	const char *lines = obj_str(obj_get(inventory->body, "data"), "objects");
	assert_non_null(strstr(lines, "v1 ConfigMap default c0 - "));
	assert_non_null(strstr(lines, "v1 ConfigMap default c1 - "));
	view_fake_perform(&x.f);
	pass(&x); /* the unit itself, for a rollback, goes with the inventory */
	const struct action *stored = view_fake_action(&x.f, ACT_APPLY, "Secret", "unit.b.i.0.0");
	assert_non_null(stored);
	inventory = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "inv.b.i");
	assert_non_null(inventory);
	assert_true(stored->stage < inventory->stage);
	assert_non_null(inventory->resource_version); /* another side's lines are not lost */
	assert_non_null(inventory->uid);              /* and it is not made anew when it is gone */
	assert_non_null(meta_annotation(inventory->body, ANNOTATION_UNIT));
	assert_null(meta_annotation(inventory->body, ANNOTATION_APPLIED));
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 2);
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
			assert_int_equal(view_fake_count(&x.f, ACT_CREATE), 1);
		}
		teardown(&x);
	}
}

/* Passes until two plan nothing, or one reports an end; two at least. */
static const char *settle(struct fixture *x)
{
	const char *how = "Running";
	int idle = 0;
	for (int i = 0; i < 30 && idle < 2 && (i < 2 || cstr_eq(how, "Running")); i++) {
		how = pass(x);
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
		bool reads = view_fake_works(&x->f, &survey_work) > 0;
		idle = reads || plan_has_writes(&x->f.plan) ? 0 : idle + 1;
		if (!reads) /* what was read live is old */
			x->f.view.now_ns += 2 * NS_PER_S;
	}
	return how;
}

static const char *inventory_text(struct fixture *x, const char *part)
{
	const char *text = map_get(x->f.live, "ConfigMap/alm-system/inv.b.i");
	return text ? obj_str(obj_get(view_fake_obj(&x->f, text), "data"), part) : NULL;
}

static const char *map_of(const struct fixture *x, const char *name)
{
	return map_get(x->f.live, arena_fmt(x->a, "ConfigMap/default/%s", name));
}

/* The unit has n objects now: another attempt. */
static const char *run_again(struct fixture *x, size_t n)
{
	x->job.unit = unit_of(x, n);
	x->job.attempt++;
	x->job.record = NULL;
	return settle(x);
}

static void forget(struct fixture *x, const char *name)
{
	map_del(x->f.live, arena_fmt(x->a, "ConfigMap/default/%s", name));
}

/* As the first list of a server that is behind tells it. */
static void test_unit__what_is_not_there_after_all_is_made_again(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	answer_reads(&x);
	for (int i = 0; i < 3; i++) { /* inventory, unit, objects */
		pass(&x);
		view_fake_perform(&x.f);
	}
	x.job.ends = true;
	CLEANUP(xfreep) char *c0 = xstrdup(map_get(x.f.live, "ConfigMap/default/c0"));
	forget(&x, "c1");
	assert_string_equal(pass(&x), "Running"); /* c0 is there: its step waits for c1 alone */
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c1"));
	view_fake_perform(&x.f);
	x.job.record = obj_keep(x.a, obj_copy(x.job.record));
	/* its step was through when the next list comes: the verdict does not outlive the object */
	struct obj *record = obj_keep(x.a, obj_copy(x.job.record));
	OBJ_EACH (it, obj_get(record, "steps"))
		obj_set_str(obj_get_mut(obj_get_mut(record, "steps"), it.key), "state", "Finished");
	x.job.record = record;
	forget(&x, "c0");
	assert_string_equal(pass(&x), "Running");
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
	view_fake_live(&x.f, c0);
	assert_string_equal(settle(&x), "Succeeded");
	teardown(&x);
}

static void test_unit__a_create_that_comes_after_the_prune_is_pruned_again(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	assert_string_equal(settle(&x), "Succeeded");
	CLEANUP(xfreep) char *late = xstrdup(map_of(&x, "c1"));
	assert_string_equal(run_again(&x, 1), "Succeeded");
	assert_null(map_of(&x, "c1"));
	assert_null(strstr(inventory_text(&x, "objects"), " c1 "));
	assert_non_null(strstr(inventory_text(&x, "late"), "v1 ConfigMap default c1 - 2023-"));
	settle(&x);
	assert_false(plan_has_writes(&x.f.plan)); /* nothing is left but to wait */
	assert_true(x.f.plan.requeue_after_ns > 0);

	view_fake_live(&x.f, late);
	x.f.view.now_ns += 30 * NS_PER_S;
	pass(&x);
	view_fake_survey(&x.f);
	pass(&x);
	const struct action *gone = view_fake_action(&x.f, ACT_DELETE, "ConfigMap", "c1");
	assert_non_null(gone);
	assert_string_equal(gone->uid, "uid-ConfigMap-c1");
	assert_non_null(strstr(obj_as_string(obj_at(obj_get(x.job.record, "returned"), 0)),
			       "ConfigMap default/c1 (uid-ConfigMap-c1) was made anew"));
	view_fake_perform(&x.f);

	x.f.view.now_ns += 90 * NS_PER_S;
	settle(&x);
	assert_null(map_of(&x, "c1"));
	assert_null(inventory_text(&x, "late")); /* nothing can come any more */
	assert_non_null(inventory_text(&x, "objects"));
	teardown(&x);
}

/* Where the server ends with us, no write comes late. */
static void test_unit__nothing_is_waited_for_where_nothing_comes_late(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	x.f.settings.late_write_ns = 0;
	assert_string_equal(settle(&x), "Succeeded");
	assert_string_equal(run_again(&x, 1), "Succeeded");
	assert_null(map_of(&x, "c1"));
	settle(&x);
	assert_null(inventory_text(&x, "late"));
	assert_int_equal(x.f.plan.requeue_after_ns, 0);
	teardown(&x);
}

static void test_unit__what_somebody_keeps_is_not_pruned_when_it_comes_back(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	settle(&x);
	CLEANUP(obj_unrefp) struct obj *late = obj_copy(view_fake_obj(&x.f, map_of(&x, "c1")));
	assert_string_equal(run_again(&x, 1), "Succeeded");
	meta_set_annotation(late, ANNOTATION_OWNER_ID, "cli.other.i");
	view_fake_live_obj(&x.f, late);
	x.f.view.now_ns += 30 * NS_PER_S;
	for (int i = 0; i < 4; i++) {
		pass(&x);
		assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
		view_fake_survey(&x.f);
	}
	teardown(&x);
}

/* Its create may be on its way still. */
static void test_unit__a_run_that_ends_waits_for_what_nobody_has_seen(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	x.job.ends = true;
	assert_string_equal(settle(&x), "Succeeded");
	CLEANUP(obj_unrefp) struct obj *inv =
		view_fake_obj(&x.f, map_get(x.f.live, "ConfigMap/alm-system/inv.b.i"));
	inv = obj_copy(inv);
	obj_set_path(inv, "data.objects",
		     obj_string("v1 ConfigMap default c0 uid-ConfigMap-c0 d c0\n"
				"v1 ConfigMap default c9 - d c9\n"));
	view_fake_live_obj(&x.f, inv);
	assert_string_equal(run_again(&x, 2), "Running");
	assert_true(x.f.plan.requeue_after_ns > 30 * NS_PER_S);
	assert_non_null(strstr(inventory_text(&x, "late"), " c9 "));
	x.f.view.now_ns += 61 * NS_PER_S;
	assert_string_equal(settle(&x), "Succeeded");
	teardown(&x);
}

static void test_unit__the_inventory_stays_until_nothing_can_come(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	settle(&x);
	x.job.deleting = true;
	assert_string_equal(run_again(&x, 0), "Running");
	assert_null(map_of(&x, "c0"));
	assert_non_null(strstr(inventory_text(&x, "objects"), " c0 "));
	x.f.view.now_ns += 61 * NS_PER_S;
	assert_string_equal(settle(&x), "Succeeded");
	assert_null(inventory_text(&x, "objects"));
	teardown(&x);
}

static void test_unit__nothing_rendered_is_no_wish_to_delete_all(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	x.job.never_empty = true;
	assert_string_equal(settle(&x), "Succeeded");
	assert_string_equal(run_again(&x, 0), "Failed");
	assert_string_equal(obj_str(x.job.record, "reason"), "SourceEmpty");
	assert_true(obj_flag(x.job.record, "refused", false));
	assert_non_null(strstr(obj_str(x.job.record, "message"), "2 objects would be deleted"));
	assert_non_null(map_of(&x, "c0"));
	assert_non_null(strstr(inventory_text(&x, "objects"), " c0 "));
	x.job.never_empty = false;
	assert_string_equal(run_again(&x, 0), "Succeeded");
	assert_null(map_of(&x, "c0"));
	/* nor has it anything left to lose */
	x.job.never_empty = true;
	assert_string_equal(run_again(&x, 0), "Succeeded");
	teardown(&x);
}

/* A late apply gives the marks to whoever has the name by then. */
static void test_unit__what_has_taken_the_name_stays_when_it_gets_the_marks(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 2);
	settle(&x);
	CLEANUP(obj_unrefp) struct obj *theirs = meta_skeleton("v1", "ConfigMap", "default", "c1");
	obj_set_path(theirs, "metadata.uid", obj_string("theirs"));
	view_fake_live_obj(&x.f, theirs);
	assert_string_equal(run_again(&x, 1), "Succeeded");
	assert_non_null(strstr(inventory_text(&x, "late"), "v1 ConfigMap default c1 theirs 2023-"));
	CLEANUP(obj_unrefp) struct obj *marked = obj_copy(theirs);
	meta_set_label(marked, LABEL_BUNDLE, "b");
	meta_set_annotation(marked, ANNOTATION_OWNER_ID, "cli.b.i");
	view_fake_live_obj(&x.f, marked);
	settle(&x);
	assert_non_null(map_of(&x, "c1"));
	obj_set_path(marked, "metadata.uid", obj_string("another")); /* made by a late create */
	view_fake_live_obj(&x.f, marked);
	settle(&x);
	assert_null(map_of(&x, "c1"));
	teardown(&x);
}

/* What has the marks, but was written by somebody, or made by a controller, is not the unit's. */
#define MARKED(name, manager, more)                                                                \
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"" name       \
	"\", \"namespace\": \"default\", \"uid\": \"uid-ConfigMap-" name "\", \"annotations\": "   \
	"{\"app.coreos.com/owner-id\": \"cli.b.i\"}, \"managedFields\": [{\"manager\": \"" manager \
	"\"}]" more "}}"
static const char marked[] =
	"[" MARKED("c0", "alm:cli:b", "") ", " MARKED("c1", "alm:cli:b", "") ", " MARKED(
		"copy", "kubectl", "") ", " MARKED("child", "alm:cli:b",
						   ", \"ownerReferences\": [{\"uid\": \"x\"}]") "]";

static void lose_inventory(struct fixture *x)
{
	setup(x, 2);
	settle(x);
	view_fake_gone(&x->f, "ConfigMap", "alm-system", "inv.b.i");
	x->job.unit = unit_of(x, 1);
	x->job.attempt = 2;
	x->job.record = NULL;
	for (int i = 0; i < 9; i++) {
		pass(x);
		view_fake_survey(&x->f);
		if (view_fake_work(&x->f, &gather_work))
			break;
		assert_false(plan_has_writes(&x->f.plan));
	}
	const struct action *asked = view_fake_work(&x->f, &gather_work);
	assert_non_null(asked);
	assert_string_equal(obj_str(asked->body, "selector"),
			    "app.coreos.com/bundle=b,app.coreos.com/instance=i");
}

static void test_unit__a_lost_inventory_is_rebuilt_by_marks(void **state)
{
	(void)state;
	struct fixture x;
	lose_inventory(&x);
	view_fake_outcome(&x.f, "unit:" KEY ":2:marked", marked);
	assert_string_equal(settle(&x), "Succeeded");
	assert_non_null(map_of(&x, "c0"));
	assert_null(map_of(&x, "c1")); /* it is wanted no more */
	assert_null(strstr(inventory_text(&x, "objects"), "c1"));
	assert_null(obj_get(x.job.record, "kept"));
	teardown(&x);
}

static void test_unit__nothing_is_pruned_after_a_failed_list(void **state)
{
	(void)state;
	static const struct {
		int code;
		bool again; /* by the next attempt */
	} rows[] = {{E_UNAVAILABLE, true}, {E_FORBIDDEN, false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		struct error err = ERROR_INIT;
		lose_inventory(&x);
		error_set(&err, rows[i].code, "no list of Secrets");
		stash_put(x.f.stash, "unit:" KEY ":2:marked", &err, STR_NONE, NULL,
			  x.f.view.now_ns);
		assert_string_equal(settle(&x), "Succeeded");
		assert_non_null(map_of(&x, "c1"));
		assert_non_null(strstr(obj_as_string(obj_at(obj_get(x.job.record, "kept"), 0)),
				       "was lost, and is not rebuilt: no list of Secrets"));
		x.job.attempt = 3;
		x.job.record = NULL;
		bool asked = false;
		for (int k = 0; k < 9 && !asked; k++) {
			pass(&x);
			view_fake_survey(&x.f);
			asked = view_fake_work(&x.f, &gather_work) != NULL;
		}
		assert_int_equal(asked, rows[i].again);
		if (asked) {
			view_fake_outcome(&x.f, "unit:" KEY ":3:marked", marked);
			assert_string_equal(settle(&x), "Succeeded");
			assert_null(map_of(&x, "c1"));
		}
		teardown(&x);
	}
}

/* The main object is the last that knows of them. */
static void test_unit__a_deletion_waits_for_all_lists(void **state)
{
	(void)state;
	struct fixture x;
	struct error err = ERROR_INIT;
	lose_inventory(&x);
	x.job.deleting = true;
	x.job.unit = unit_of(&x, 0);
	error_set(&err, E_UNAVAILABLE, "no list of Secrets");
	stash_put(x.f.stash, "unit:" KEY ":2:marked", &err, STR_NONE, NULL, x.f.view.now_ns);
	assert_string_equal(settle(&x), "Running");
	assert_non_null(map_of(&x, "c1"));
	view_fake_outcome(&x.f, "unit:" KEY ":2:marked", marked);
	settle(&x);
	assert_null(map_of(&x, "c1"));
	teardown(&x);
}

static void test_unit__too_many_deletes_are_held_before_anything_is_written(void **state)
{
	(void)state;
	struct fixture x;
	setup(&x, 3);
	settle(&x);
	view_fake_gone(&x.f, "ConfigMap", "default", "c0"); /* it would be put back */
	CLEANUP(xfreep) char *before = xstrdup(inventory_text(&x, "objects"));
	x.job.unit = unit_of(&x, 1);
	x.job.attempt++;
	x.job.record = NULL;
	x.job.max_deletes = 1;
	const char *how = "Running";
	for (int i = 0; i < 9 && cstr_eq(how, "Running"); i++) {
		how = pass(&x);
		assert_false(plan_has_writes(&x.f.plan));
		view_fake_survey(&x.f);
	}
	assert_string_equal(how, "Failed");
	assert_string_equal(obj_str(x.job.record, "reason"), "PruneHeld");
	assert_non_null(strstr(obj_str(x.job.record, "message"), "ConfigMap default/c2"));
	assert_string_equal(inventory_text(&x, "objects"), before);
	x.job.max_deletes = 2; /* allowed */
	assert_string_equal(run_again(&x, 1), "Succeeded");
	assert_null(map_of(&x, "c2"));
	assert_non_null(map_of(&x, "c0"));
	teardown(&x);
}

/* A conflict is no schema that leaves out a part of the status. */
static void test_unit__a_status_is_written_until_it_is_there(void **state)
{
	(void)state;
	static const struct {
		int code;
		bool goes_on;
	} rows[] = {{E_CONFLICT, true}, {E_UNAVAILABLE, true}, {E_INVALID, false}, {0, false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		struct error err = ERROR_INIT;
		setup(&x, 1);
		x.job.main = view_fake_obj(
			&x.f, "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": "
			      "{\"name\": \"m\", \"namespace\": \"default\", \"uid\": \"u\", "
			      "\"resourceVersion\": \"1\", \"finalizers\": "
			      "[\"app.coreos.com/unit\"]}}");
		x.job.watched = x.job.touches = true;
		settle(&x);
		for (int k = 0; k < 6; k++) {
			if (rows[i].code)
				error_set(&err, rows[i].code, "no");
			if (rows[i].code)
				stash_put(x.f.stash, "refused:/ConfigMap/default/m", &err, STR_NONE,
					  NULL, x.f.view.now_ns);
			pass(&x);
		}
		bool writes = view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "m") != NULL;
		assert_int_equal(writes, rows[i].goes_on);
		teardown(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit__the_inventory_is_written_before_the_objects),
		cmocka_unit_test(test_unit__it_ends_and_writes_nothing_more),
		cmocka_unit_test(test_unit__what_is_not_there_after_all_is_made_again),
		cmocka_unit_test(test_unit__nothing_rendered_is_no_wish_to_delete_all),
		cmocka_unit_test(test_unit__what_is_somebody_elses_is_refused_before_a_write),
		cmocka_unit_test(test_unit__a_create_that_comes_after_the_prune_is_pruned_again),
		cmocka_unit_test(test_unit__nothing_is_waited_for_where_nothing_comes_late),
		cmocka_unit_test(test_unit__what_somebody_keeps_is_not_pruned_when_it_comes_back),
		cmocka_unit_test(test_unit__a_run_that_ends_waits_for_what_nobody_has_seen),
		cmocka_unit_test(test_unit__the_inventory_stays_until_nothing_can_come),
		cmocka_unit_test(test_unit__what_has_taken_the_name_stays_when_it_gets_the_marks),
		cmocka_unit_test(test_unit__a_status_is_written_until_it_is_there),
		cmocka_unit_test(test_unit__a_lost_inventory_is_rebuilt_by_marks),
		cmocka_unit_test(test_unit__nothing_is_pruned_after_a_failed_list),
		cmocka_unit_test(test_unit__a_deletion_waits_for_all_lists),
		cmocka_unit_test(test_unit__too_many_deletes_are_held_before_anything_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
