/* The unit controller on a view of plain tables: what it plans, pass after pass. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/run.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

/* Nothing is there yet, as the live reads tell it. */
static void answer_reads(struct unit_fixture *x)
{
	view_fake_outcome(&x->f, "unit:" UNIT_FIXTURE_KEY ":1:books",
			  "{\"namespace\": {}, \"system\": {}}");
	view_fake_outcome(&x->f, "unit:" UNIT_FIXTURE_KEY ":1:absent", "{}");
}

static void test_unit__the_inventory_is_written_before_the_objects(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_pass(&x);
	assert_int_equal(view_fake_works(&x.f, &survey_work), 1);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	answer_reads(&x);
	unit_fixture_pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	const struct action *inventory = view_fake_action(&x.f, ACT_CREATE, "ConfigMap", "inv.b.i");
	assert_non_null(inventory);
	const char *lines = obj_str(obj_get(inventory->body, "data"), "objects");
	assert_non_null(strstr(lines, "v1 ConfigMap default c0 - "));
	assert_non_null(strstr(lines, "v1 ConfigMap default c1 - "));
	view_fake_perform(&x.f);
	unit_fixture_pass(&x); /* the unit itself, for a rollback, goes with the inventory */
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
	unit_fixture_pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 2);
	const struct action *a = view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0");
	assert_non_null(a);
	assert_false(a->force); /* somebody who was faster meets a conflict */
	assert_string_equal(a->manager, "alm:cli:b");
	assert_null(a->as);
	assert_string_equal(meta_annotation(a->body, ANNOTATION_OWNER_ID), "cli.b.i");
	OBJ_EACH (it, obj_get(x.job.record, "steps")) /* target 12 */
		assert_int_equal(obj_i64(it.value, "untilNs", 0),
				 obj_i64(it.value, "sinceNs", 0) + ROLLOUT_STEP_TIMEOUT);
	assert_int_equal(obj_len(obj_get(x.job.record, "steps")), 1);
	unit_fixture_release(&x);
}

static void test_unit__it_ends_and_writes_nothing_more(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	answer_reads(&x);
	const char *how = NULL;
	for (int i = 0; i < 10 && !cstr_eq(how, "Succeeded"); i++) {
		how = unit_fixture_pass(&x);
		view_fake_perform(&x.f);
	}
	assert_string_equal(how, "Succeeded");
	unit_fixture_pass(&x);
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	/* another attempt: all is there */
	x.job.attempt = 2;
	view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":2:books",
			  "{\"namespace\": {}, \"system\": {}}");
	assert_string_equal(unit_fixture_pass(&x), "Succeeded");
	assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
	assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
	unit_fixture_release(&x);
}

static void test_unit__what_is_somebody_elses_is_refused_before_a_write(void **state)
{
	(void)state;
	static const char theirs[] = "{\"o1\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
				     "\"metadata\": {\"name\": "
				     "\"c1\", \"namespace\": \"default\"%s}}}";
	static const char other[] = ", \"labels\": {\"app.coreos.com/bundle\": \"web\"}";
	static const char twin[] = ", \"labels\": {\"app.coreos.com/bundle\": \"b\", "
				   "\"app.coreos.com/instance\": \"default.g1\"}";
	static const struct {
		const char *labels, *want;
		bool adopts, takes, is_bundle;
	} rows[] = {
		{twin,
		 "ConfigMap default/c1 belongs to bundle b, default.g1: each needs a name of its "
		 "own",
		 true, false, false},
		{"", "ConfigMap default/c1 is there and not managed by ALM; --adopt takes", false,
		 true, false},
		{other, "belongs to bundle web; --overwrite-ownership takes it over", true, false,
		 false},
		/* with the words of where it is said */
		{"", "not managed by ALM; spec.adopt: Unowned takes it over", false, true, true},
		{other, "belongs to bundle web; spec.adopt: Any takes it over", true, false, true},
		{"", NULL, true, false, false},
		{other, NULL, false, true, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 2);
		x.job.adopts = rows[i].adopts;
		x.job.takes = rows[i].takes;
		x.job.is_steered = rows[i].is_bundle;
		answer_reads(&x);
		view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":1:absent",
				  arena_fmt(x.a, theirs, rows[i].labels));
		const char *how = unit_fixture_pass(&x), *why = obj_str(x.job.record, "message");
		if (rows[i].want) {
			assert_string_equal(how, "Failed");
			assert_true(obj_flag(x.job.record, "refused", false));
			assert_non_null(strstr(why, rows[i].want));
			assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
		} else {
			assert_string_equal(how, "Running");
			assert_int_equal(view_fake_count(&x.f, ACT_CREATE), 1);
		}
		unit_fixture_release(&x);
	}
}

/* Passes until two plan nothing, or one reports an end; two at least. */
static const char *inventory_text(struct unit_fixture *x, const char *part)
{
	const char *text = map_get(x->f.live, "ConfigMap/alm-system/inv.b.i");
	return text ? obj_str(obj_get(view_fake_obj(&x->f, text), "data"), part) : NULL;
}

static void forget(struct unit_fixture *x, const char *name)
{
	map_del(x->f.live, arena_fmt(x->a, "ConfigMap/default/%s", name));
}

/* As the first list of a server that is behind tells it. */
static void test_unit__what_is_not_there_after_all_is_made_again(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	answer_reads(&x);
	for (int i = 0; i < 3; i++) { /* inventory, unit, objects */
		unit_fixture_pass(&x);
		view_fake_perform(&x.f);
	}
	x.job.ends = true;
	CLEANUP(xfreep) char *c0 = xstrdup(map_get(x.f.live, "ConfigMap/default/c0"));
	forget(&x, "c1");
	assert_string_equal(unit_fixture_pass(&x),
			    "Running"); /* c0 is there: its step waits for c1 alone */
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c1"));
	view_fake_perform(&x.f);
	x.job.record = obj_keep(x.a, obj_copy(x.job.record));
	/* its step was through when the next list comes: the verdict does not outlive the object */
	struct obj *record = obj_keep(x.a, obj_copy(x.job.record));
	OBJ_EACH (it, obj_get(record, "steps"))
		obj_set_str(obj_get_mut(obj_get_mut(record, "steps"), it.key), "state", "Finished");
	x.job.record = record;
	forget(&x, "c0");
	assert_string_equal(unit_fixture_pass(&x), "Running");
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
	view_fake_live(&x.f, c0);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	unit_fixture_release(&x);
}

static void test_unit__a_create_that_comes_after_the_prune_is_pruned_again(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	CLEANUP(xfreep) char *late = xstrdup(unit_fixture_map(&x, "c1"));
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_null(unit_fixture_map(&x, "c1"));
	assert_null(strstr(inventory_text(&x, "objects"), " c1 "));
	assert_non_null(strstr(inventory_text(&x, "late"), "v1 ConfigMap default c1 - 2023-"));
	unit_fixture_settle(&x);
	assert_false(plan_has_writes(&x.f.plan)); /* nothing is left but to wait */
	assert_true(x.f.plan.requeue_after_ns > 0);

	view_fake_live(&x.f, late);
	x.f.view.now_ns += 30 * NS_PER_S;
	unit_fixture_pass(&x);
	view_fake_survey(&x.f);
	unit_fixture_pass(&x);
	const struct action *gone = view_fake_action(&x.f, ACT_DELETE, "ConfigMap", "c1");
	assert_non_null(gone);
	assert_string_equal(gone->uid, "uid-ConfigMap-c1");
	assert_non_null(strstr(obj_as_string(obj_at(obj_get(x.job.record, "returned"), 0)),
			       "ConfigMap default/c1 (uid-ConfigMap-c1) was made anew"));
	view_fake_perform(&x.f);

	x.f.view.now_ns += 90 * NS_PER_S;
	unit_fixture_settle(&x);
	assert_null(unit_fixture_map(&x, "c1"));
	assert_null(inventory_text(&x, "late")); /* nothing can come any more */
	assert_non_null(inventory_text(&x, "objects"));
	unit_fixture_release(&x);
}

/* Its clock says that an object is old; it was made just now. */
static void test_unit__the_clock_of_the_server_may_be_behind(void **state)
{
	(void)state;
	struct unit_fixture x;
	char digest[SHA256_HEX];
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	struct obj *c1 = obj_copy(view_fake_obj(&x.f, unit_fixture_map(&x, "c1")));
	obj_set_path(c1, "metadata.creationTimestamp", obj_string("2020-01-01T00:00:00Z"));
	view_fake_live_obj(&x.f, c1);
	sha256_hex(STR("c1"), digest);
	x.f.settled = true;
	stash_set_applied(x.f.stash, "uid-ConfigMap-c1", digest, x.f.view.now_ns);
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_null(unit_fixture_map(&x, "c1"));
	assert_non_null(strstr(inventory_text(&x, "late"), " c1 "));
	obj_unref(c1);
	unit_fixture_release(&x);
}

/* Where the server ends with us, no write comes late. */
static void test_unit__nothing_is_waited_for_where_nothing_comes_late(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	x.f.settings.late_write_ns = 0;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_null(unit_fixture_map(&x, "c1"));
	unit_fixture_settle(&x);
	assert_null(inventory_text(&x, "late"));
	assert_int_equal(x.f.plan.requeue_after_ns, 0);
	unit_fixture_release(&x);
}

static void test_unit__what_somebody_keeps_is_not_pruned_when_it_comes_back(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	CLEANUP(obj_unrefp) struct obj *late =
		obj_copy(view_fake_obj(&x.f, unit_fixture_map(&x, "c1")));
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	meta_set_annotation(late, ANNOTATION_OWNER_ID, "cli.other.i");
	view_fake_live_obj(&x.f, late);
	x.f.view.now_ns += 30 * NS_PER_S;
	for (int i = 0; i < 4; i++) {
		unit_fixture_pass(&x);
		assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
		view_fake_survey(&x.f);
	}
	unit_fixture_release(&x);
}

/* Its create may be on its way still. */
static void test_unit__a_run_that_ends_waits_for_what_nobody_has_seen(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	x.job.ends = true;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	CLEANUP(obj_unrefp) struct obj *inv =
		view_fake_obj(&x.f, map_get(x.f.live, "ConfigMap/alm-system/inv.b.i"));
	inv = obj_copy(inv);
	obj_set_path(inv, "data.objects",
		     obj_string("v1 ConfigMap default c0 uid-ConfigMap-c0 d c0\n"
				"v1 ConfigMap default c9 - d c9\n"));
	view_fake_live_obj(&x.f, inv);
	assert_string_equal(unit_fixture_run(&x, 2), "Running");
	unit_fixture_pass(&x); /* what was read is young */
	assert_int_equal(view_fake_works(&x.f, &survey_work), 0);
	assert_true(x.f.plan.requeue_after_ns > 10 * NS_PER_S);
	assert_non_null(strstr(inventory_text(&x, "late"), " c9 "));
	x.f.view.now_ns += 61 * NS_PER_S;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	unit_fixture_release(&x);
}

static void test_unit__the_inventory_stays_until_nothing_can_come(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	x.job.deleting = true;
	assert_string_equal(unit_fixture_run(&x, 0), "Running");
	assert_null(unit_fixture_map(&x, "c0"));
	assert_non_null(strstr(inventory_text(&x, "objects"), " c0 "));
	x.f.view.now_ns += 61 * NS_PER_S;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_null(inventory_text(&x, "objects"));
	unit_fixture_release(&x);
}

static bool is_named(struct unit_fixture *x, const char *name)
{
	const char *lines = inventory_text(x, "objects");
	return strstr(lines, arena_fmt(x->a, " default %s ", name)) != NULL;
}

/* What spec.prune.mode None has left stays named on the way back to a former unit, too. */
static void test_unit__what_is_spared_is_named_after_a_rollback(void **state)
{
	(void)state;
	struct unit_fixture x;
	struct error err = ERROR_INIT;
	unit_fixture_init(&x, 3);
	unit_fixture_settle(&x);
	x.job.spares = true;
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_true(is_named(&x, "c1") && is_named(&x, "c2"));
	x.job.unit = unit_fixture_unit(&x, 5);
	x.job.attempt++;
	x.job.record = NULL;
	error_set(&err, E_INVALID, "no more of them");
	for (int i = 0; i < 20 && !view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c4"); i++) {
		unit_fixture_pass(&x);
		view_fake_survey(&x.f);
		for (struct action *w = x.f.plan.head; w; w = w->next)
			if (w->type == ACT_APPLY && cstr_eq(w->name, "c4"))
				w->type = ACT_FORGET; /* it was refused */
		view_fake_perform(&x.f);
	}
	stash_put(x.f.stash, refusal_id("", "ConfigMap", "default", "c4", x.a), &err, STR_NONE,
		  NULL, x.f.view.now_ns);
	assert_string_equal(unit_fixture_settle(&x), "RolledBack");
	assert_null(unit_fixture_map(&x, "c3")); /* what it alone has made */
	assert_false(is_named(&x, "c3"));
	assert_true(is_named(&x, "c1") && is_named(&x, "c2"));
	x.job.spares = false;
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_null(unit_fixture_map(&x, "c2"));
	unit_fixture_release(&x);
}

static void test_unit__nothing_rendered_is_no_wish_to_delete_all(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	x.job.never_empty = true;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_string_equal(unit_fixture_run(&x, 0), "Failed");
	assert_string_equal(obj_str(x.job.record, "reason"), "SourceEmpty");
	assert_true(obj_flag(x.job.record, "refused", false));
	assert_non_null(strstr(obj_str(x.job.record, "message"), "2 objects would be deleted"));
	assert_non_null(unit_fixture_map(&x, "c0"));
	assert_non_null(strstr(inventory_text(&x, "objects"), " c0 "));
	x.job.never_empty = false;
	assert_string_equal(unit_fixture_run(&x, 0), "Succeeded");
	assert_null(unit_fixture_map(&x, "c0"));
	/* nor has it anything left to lose */
	x.job.never_empty = true;
	assert_string_equal(unit_fixture_run(&x, 0), "Succeeded");
	unit_fixture_release(&x);
}

/* A late apply gives the marks to whoever has the name by then. */
static void test_unit__what_has_taken_the_name_stays_when_it_gets_the_marks(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	unit_fixture_settle(&x);
	CLEANUP(obj_unrefp) struct obj *theirs = meta_skeleton("v1", "ConfigMap", "default", "c1");
	obj_set_path(theirs, "metadata.uid", obj_string("theirs"));
	view_fake_live_obj(&x.f, theirs);
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_non_null(strstr(inventory_text(&x, "late"), "v1 ConfigMap default c1 theirs 2023-"));
	CLEANUP(obj_unrefp) struct obj *marked = obj_copy(theirs);
	meta_set_label(marked, LABEL_BUNDLE, "b");
	meta_set_annotation(marked, ANNOTATION_OWNER_ID, "cli.b.i");
	view_fake_live_obj(&x.f, marked);
	unit_fixture_settle(&x);
	assert_non_null(unit_fixture_map(&x, "c1"));
	obj_set_path(marked, "metadata.uid", obj_string("another")); /* made by a late create */
	view_fake_live_obj(&x.f, marked);
	unit_fixture_settle(&x);
	assert_null(unit_fixture_map(&x, "c1"));
	unit_fixture_release(&x);
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

static void lose_inventory(struct unit_fixture *x)
{
	unit_fixture_init(x, 2);
	unit_fixture_settle(x);
	view_fake_gone(&x->f, "ConfigMap", "alm-system", "inv.b.i");
	x->job.unit = unit_fixture_unit(x, 1);
	x->job.attempt = 2;
	x->job.record = NULL;
	for (int i = 0; i < 9; i++) {
		unit_fixture_pass(x);
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
	struct unit_fixture x;
	lose_inventory(&x);
	view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":2:marked", marked);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_non_null(unit_fixture_map(&x, "c0"));
	assert_null(unit_fixture_map(&x, "c1")); /* it is wanted no more */
	assert_null(strstr(inventory_text(&x, "objects"), "c1"));
	assert_null(obj_get(x.job.record, "kept"));
	unit_fixture_release(&x);
}

static bool asks_for_marked(struct unit_fixture *x)
{
	for (int k = 0; k < 9; k++) {
		unit_fixture_pass(x);
		view_fake_survey(&x->f);
		if (view_fake_work(&x->f, &gather_work))
			return true;
	}
	return false;
}

static bool says_that_it_is_whole(struct unit_fixture *x)
{
	for (int k = 0; k < 9; k++) {
		unit_fixture_pass(x);
		const struct action *w = view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "inv.b.i");
		if (w && cstr_eq(meta_annotation(w->body, ANNOTATION_INCOMPLETE), "false"))
			return true;
		view_fake_survey(&x->f);
		view_fake_perform(&x->f);
	}
	return false;
}

static void test_unit__nothing_is_pruned_after_a_failed_list(void **state)
{
	(void)state;
	static const struct {
		int code;
		bool again; /* by the next attempt */
	} rows[] = {{E_UNAVAILABLE, true}, {E_FORBIDDEN, false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		struct error err = ERROR_INIT;
		lose_inventory(&x);
		error_set(&err, rows[i].code, "no list of Secrets");
		stash_put(x.f.stash, "unit:" UNIT_FIXTURE_KEY ":2:marked", &err, STR_NONE, NULL,
			  x.f.view.now_ns);
		assert_string_equal(unit_fixture_settle(&x), "Succeeded");
		assert_non_null(unit_fixture_map(&x, "c1"));
		assert_non_null(strstr(obj_as_string(obj_at(obj_get(x.job.record, "kept"), 0)),
				       "was lost, and is not rebuilt: no list of Secrets"));
		/* at rest it is asked for again, and when it can be told the unit is begun anew */
		x.f.view.now_ns += NS_PER_HOUR;
		assert_int_equal(asks_for_marked(&x), rows[i].again);
		if (rows[i].again) {
			view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":2:marked", marked);
			unit_fixture_pass(&x);
			assert_true(obj_flag(x.job.record, "restored", false));
		}
		x.job.attempt = 3;
		x.job.record = NULL;
		bool asked = asks_for_marked(&x);
		assert_int_equal(asked, rows[i].again);
		if (asked) {
			view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":3:marked", marked);
			/* an apply without it would leave what a create has put there */
			assert_true(says_that_it_is_whole(&x));
			assert_string_equal(unit_fixture_settle(&x), "Succeeded");
			assert_null(unit_fixture_map(&x, "c1"));
		}
		unit_fixture_release(&x);
	}
}

/* The main object is the last that knows of them. */
static void test_unit__a_deletion_waits_for_all_lists(void **state)
{
	(void)state;
	struct unit_fixture x;
	struct error err = ERROR_INIT;
	lose_inventory(&x);
	x.job.deleting = true;
	x.job.unit = unit_fixture_unit(&x, 0);
	error_set(&err, E_UNAVAILABLE, "no list of Secrets");
	stash_put(x.f.stash, "unit:" UNIT_FIXTURE_KEY ":2:marked", &err, STR_NONE, NULL,
		  x.f.view.now_ns);
	assert_string_equal(unit_fixture_settle(&x), "Running");
	assert_non_null(unit_fixture_map(&x, "c1"));
	assert_string_equal(obj_str(x.job.record, "message"),
			    "what is to be deleted is not known yet: no list of Secrets");
	view_fake_outcome(&x.f, "unit:" UNIT_FIXTURE_KEY ":2:marked", marked);
	unit_fixture_settle(&x);
	assert_null(unit_fixture_map(&x, "c1"));
	assert_null(obj_str(x.job.record, "message"));
	unit_fixture_release(&x);
}

/* A group of the cluster that cannot be read (an APIService whose server is gone) holds up nobody who has nothing there. */
static void test_unit__what_made_nothing_is_deleted_at_once(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 0);
	x.job.deleting = true;
	x.job.made_nothing = true;
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_null(view_fake_work(&x.f, &gather_work));
	unit_fixture_release(&x);
}

static void test_unit__too_many_deletes_are_held_before_anything_is_written(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 3);
	unit_fixture_settle(&x);
	view_fake_gone(&x.f, "ConfigMap", "default", "c0"); /* it would be put back */
	CLEANUP(xfreep) char *before = xstrdup(inventory_text(&x, "objects"));
	x.job.unit = unit_fixture_unit(&x, 1);
	x.job.attempt++;
	x.job.record = NULL;
	x.job.max_deletes = 1;
	const char *how = "Running";
	for (int i = 0; i < 9 && cstr_eq(how, "Running"); i++) {
		how = unit_fixture_pass(&x);
		assert_false(plan_has_writes(&x.f.plan));
		view_fake_survey(&x.f);
	}
	assert_string_equal(how, "Failed");
	assert_string_equal(obj_str(x.job.record, "reason"), "PruneHeld");
	assert_non_null(strstr(obj_str(x.job.record, "message"), "ConfigMap default/c2"));
	assert_string_equal(inventory_text(&x, "objects"), before);
	x.job.max_deletes = 2; /* allowed */
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_null(unit_fixture_map(&x, "c2"));
	assert_non_null(unit_fixture_map(&x, "c0"));
	unit_fixture_release(&x);
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
		struct unit_fixture x;
		struct error err = ERROR_INIT;
		unit_fixture_init(&x, 1);
		x.job.main = view_fake_obj(
			&x.f, "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": "
			      "{\"name\": \"m\", \"namespace\": \"default\", \"uid\": \"u\", "
			      "\"resourceVersion\": \"1\", \"finalizers\": "
			      "[\"app.coreos.com/unit\"]}}");
		x.job.watched = x.job.touches = true;
		unit_fixture_settle(&x);
		for (int k = 0; k < 6; k++) {
			if (rows[i].code)
				error_set(&err, rows[i].code, "no");
			if (rows[i].code)
				stash_put(x.f.stash, "refused:/ConfigMap/default/m", &err, STR_NONE,
					  NULL, x.f.view.now_ns);
			unit_fixture_pass(&x);
		}
		bool writes = view_fake_action(&x.f, ACT_PATCH, "ConfigMap", "m") != NULL;
		assert_int_equal(writes, rows[i].goes_on);
		unit_fixture_release(&x);
	}
}

/* All steps are through, and what is wanted no more is being deleted: it is heard then, too, and comes back. */
static void test_unit__aborted_while_it_prunes(void **state)
{
	(void)state;
	struct unit_fixture x;
	struct error err = ERROR_INIT;
	struct obj *steer = NULL;
	unit_fixture_init(&x, 2);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_ok(yaml_parse_one(STR("{abort: {reason: enough}}"), &steer, &err), &err);
	x.job.unit = unit_fixture_unit(&x, 1);
	x.job.attempt++;
	x.job.record = NULL;
	for (int i = 0; i < 30 && unit_fixture_map(&x, "c1"); i++) {
		unit_fixture_pass(&x);
		view_fake_survey(&x.f);
		view_fake_perform(&x.f);
	}
	assert_null(unit_fixture_map(&x, "c1"));
	assert_string_equal(obj_str(x.job.record, "state"), "Running");
	x.job.steer = obj_keep(x.a, steer);
	assert_string_equal(unit_fixture_settle(&x), "RolledBack");
	assert_string_equal(obj_str(x.job.record, "reason"), "Aborted");
	assert_non_null(unit_fixture_map(&x, "c1"));
	unit_fixture_release(&x);
}

/* What holds a delete is told, and since when. */
static void test_unit__a_delete_that_is_held(void **state)
{
	(void)state;
	struct unit_fixture x;
	unit_fixture_init(&x, 2);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	struct obj *held = obj_copy(view_fake_obj(&x.f, unit_fixture_map(&x, "c1")));
	struct obj *finalizers = obj_list();
	obj_append(finalizers, obj_string("example.com/hold"));
	obj_set_path(held, "metadata.deletionTimestamp", obj_string("2026-01-01T00:00:00Z"));
	obj_set_path(held, "metadata.finalizers", finalizers);
	view_fake_live_obj(&x.f, obj_keep(x.a, held));
	assert_string_equal(unit_fixture_run(&x, 1), "Running");
	int64_t since = obj_i64(x.job.record, "waitsSinceNs", 0);
	assert_string_equal(obj_str(x.job.record, "waits"),
			    "deleting ConfigMap default/c1: finalizer example.com/hold");
	assert_true(since > 0 && since <= x.f.view.now_ns);
	x.f.view.now_ns += NS_PER_MIN;
	unit_fixture_settle(&x);
	assert_int_equal(obj_i64(x.job.record, "waitsSinceNs", 0), since);
	view_fake_gone(&x.f, "ConfigMap", "default", "c1");
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	assert_false(obj_has(x.job.record, "waits"));
	assert_false(obj_has(x.job.record, "waitsSinceNs"));
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit__a_delete_that_is_held),
		cmocka_unit_test(test_unit__the_inventory_is_written_before_the_objects),
		cmocka_unit_test(test_unit__it_ends_and_writes_nothing_more),
		cmocka_unit_test(test_unit__what_is_not_there_after_all_is_made_again),
		cmocka_unit_test(test_unit__what_is_spared_is_named_after_a_rollback),
		cmocka_unit_test(test_unit__nothing_rendered_is_no_wish_to_delete_all),
		cmocka_unit_test(test_unit__what_is_somebody_elses_is_refused_before_a_write),
		cmocka_unit_test(test_unit__a_create_that_comes_after_the_prune_is_pruned_again),
		cmocka_unit_test(test_unit__the_clock_of_the_server_may_be_behind),
		cmocka_unit_test(test_unit__nothing_is_waited_for_where_nothing_comes_late),
		cmocka_unit_test(test_unit__what_somebody_keeps_is_not_pruned_when_it_comes_back),
		cmocka_unit_test(test_unit__a_run_that_ends_waits_for_what_nobody_has_seen),
		cmocka_unit_test(test_unit__the_inventory_stays_until_nothing_can_come),
		cmocka_unit_test(test_unit__what_has_taken_the_name_stays_when_it_gets_the_marks),
		cmocka_unit_test(test_unit__a_status_is_written_until_it_is_there),
		cmocka_unit_test(test_unit__a_lost_inventory_is_rebuilt_by_marks),
		cmocka_unit_test(test_unit__nothing_is_pruned_after_a_failed_list),
		cmocka_unit_test(test_unit__a_deletion_waits_for_all_lists),
		cmocka_unit_test(test_unit__what_made_nothing_is_deleted_at_once),
		cmocka_unit_test(test_unit__too_many_deletes_are_held_before_anything_is_written),
		cmocka_unit_test(test_unit__aborted_while_it_prunes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
