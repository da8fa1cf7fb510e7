/* Hooks as phases: order, waiting, delete policies, and that nothing runs twice. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define HOOK(name, weight, policies)                                                       \
	"{\"events\": [\"pre-install\"], \"weight\": " weight ", \"policies\": [" policies \
	"], \"object\": {\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": "  \
	"{\"name\": \"" name "\"}, \"spec\": {}}}"
#define BEFORE "\"before-hook-creation\""

struct world {
	struct view_fake f;
	struct hook_run h;
	const char *why;
};

static void begin(struct world *w, const char *hooks)
{
	CLEANUP(obj_unrefp) struct obj *doc =
		obj_stringf("{\"namespace\": \"ns\", \"hooks\": [%s]}", hooks);
	view_fake_init(&w->f);
	w->why = NULL;
	w->h = (struct hook_run){
		.v = &w->f.view,
		.plan = &w->f.plan,
		.app = "etcd",
		.owner = view_fake_obj(&w->f,
				       "{\"apiVersion\": \"g/v1\", \"kind\": \"InstallStrategy\", "
				       "\"metadata\": {\"name\": \"s\", \"uid\": \"u1\"}}"),
		.doc = view_fake_obj(&w->f, obj_as_string(doc)),
		.event = "pre-install",
		.run = "r1",
		.records = obj_keep(w->f.a, obj_list())};
}

static enum ensured pass(struct world *w)
{
	view_fake_plan(&w->f);
	return hook_run(&w->h, &w->why);
}

/* A pass, what it asks for, and what it wants done. */
static enum ensured act(struct world *w)
{
	enum ensured s = pass(w);
	for (struct action *x = w->f.plan.head; x; x = x->next)
		if (x->work == &survey_work)
			view_fake_outcome(&w->f, x->id, "{}");
	view_fake_perform(&w->f);
	return s;
}

static void finish_job(struct world *w, const char *name, const char *condition)
{
	struct obj *o = NULL;
	const struct resource jobs = {"batch", "v1", "jobs", "Job", true};
	assert_int_equal(w->f.view.ops->live(w->f.view.ops_arg, &jobs, "ns", name, &o), 1);
	struct obj *list = obj_list(), *c = obj_map();
	obj_set_str(c, "type", condition);
	obj_set_str(c, "status", "True");
	obj_append(list, c);
	obj_set_path(o, "status.conditions", list);
	view_fake_live_obj(&w->f, o);
	obj_unref(o);
}

static const char *phase_of_hook(const struct world *w, const char *name)
{
	for (size_t i = 0; i < obj_len(w->h.records); i++)
		if (cstr_eq(obj_str(obj_at(w->h.records, i), "name"), name))
			return obj_str(obj_at(w->h.records, i), "phase");
	return "none";
}

static void test_hook_run__no_hooks_is_done(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "");
	assert_int_equal(pass(&w), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

static void test_hook_run__one_after_the_other_by_weight(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("late", "5", BEFORE) "," HOOK("early", "-5", BEFORE));
	assert_int_equal(act(&w), WAITING); /* looks whether the name is free */
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	assert_int_equal(act(&w), WAITING);
	assert_non_null(view_fake_action(&w.f, ACT_CREATE, "Job", "early"));
	assert_string_equal(phase_of_hook(&w, "early"), "Running");
	assert_string_equal(phase_of_hook(&w, "late"), "none");
	assert_int_equal(act(&w), WAITING); /* runs: nothing more to do */
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	assert_non_null(strstr(w.why, "pre-install hook Job ns/early"));
	finish_job(&w, "early", "Complete");
	act(&w);
	act(&w);
	assert_string_equal(phase_of_hook(&w, "early"), "Succeeded");
	assert_string_equal(phase_of_hook(&w, "late"), "Running");
	finish_job(&w, "late", "Complete");
	assert_int_equal(act(&w), DONE);
	assert_int_equal(act(&w), DONE);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	view_fake_release(&w.f);
}

/* The status is written before the object: what a crash leaves is one of the two. */
static void test_hook_run__a_crash_repeats_nothing(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("once", "0", BEFORE));
	act(&w);
	pass(&w); /* status written, then killed: no object */
	assert_string_equal(phase_of_hook(&w, "once"), "Running");
	assert_int_equal(act(&w), WAITING);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 1);
	act(&w);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	w.h.records = obj_keep(w.f.a, obj_list()); /* the status was lost, the object is there */
	finish_job(&w, "once", "Complete");
	act(&w);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	assert_int_equal(view_fake_count(&w.f, ACT_DELETE), 0);
	assert_int_equal(act(&w), DONE);
	assert_string_equal(phase_of_hook(&w, "once"), "Succeeded");
	view_fake_gone(&w.f, "Job", "ns", "once"); /* cleaned up by somebody later */
	assert_int_equal(act(&w), DONE);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	view_fake_release(&w.f);
}

static void test_hook_run__an_older_run_is_deleted_first(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("job", "0", BEFORE));
	view_fake_live(&w.f, "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": "
			     "{\"name\": \"job\", \"namespace\": \"ns\", \"uid\": \"old\", "
			     "\"annotations\": {\"app.coreos.com/hook-run\": "
			     "\"u1/r0/pre-install\"}}}");
	assert_int_equal(act(&w), WAITING);
	assert_string_equal(view_fake_action(&w.f, ACT_DELETE, "Job", "job")->uid, "old");
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	act(&w);
	act(&w);
	assert_non_null(view_fake_action(&w.f, ACT_CREATE, "Job", "job"));
	view_fake_release(&w.f);
}

static void test_hook_run__an_object_without_our_label_is_found_and_goes(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("job", "0", BEFORE));
	pass(&w);
	const char *id = view_fake_work(&w.f, &survey_work)->id;
	view_fake_outcome(&w.f, id,
			  "{\"hook\": {\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", "
			  "\"metadata\": {\"name\": \"job\", \"namespace\": \"ns\", "
			  "\"uid\": \"theirs\", \"resourceVersion\": \"7\"}}}");
	assert_int_equal(pass(&w), WAITING);
	assert_string_equal(view_fake_action(&w.f, ACT_DELETE, "Job", "job")->uid, "theirs");
	assert_non_null(view_fake_work(&w.f, &survey_work)); /* and asked again */
	view_fake_outcome(&w.f, id, "{}");
	pass(&w);
	assert_non_null(view_fake_action(&w.f, ACT_CREATE, "Job", "job"));
	view_fake_release(&w.f);
}

static void test_hook_run__without_before_hook_creation_an_object_in_the_way_fails(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("job", "0", "\"hook-succeeded\""));
	view_fake_live(&w.f, "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": "
			     "{\"name\": \"job\", \"namespace\": \"ns\", \"uid\": \"old\"}}");
	assert_int_equal(act(&w), ENDED);
	assert_non_null(
		strstr(w.why, "pre-install hook Job ns/job: an object of this name exists"));
	assert_int_equal(view_fake_count(&w.f, ACT_DELETE), 0);
	view_fake_release(&w.f);
}

static void run_two(struct world *w, const char *second_policy, const char *second_ends)
{
	CLEANUP(obj_unrefp) struct obj *hooks = obj_stringf(
		HOOK("a", "0", "\"hook-succeeded\"") "," HOOK("b", "1", "%s"), second_policy);
	begin(w, obj_as_string(hooks));
	act(w);
	act(w);
	finish_job(w, "a", "Complete");
	act(w);
	act(w);
	finish_job(w, "b", second_ends);
}

static void test_hook_run__hook_succeeded_is_deleted_in_reverse_after_all(void **state)
{
	struct world w;
	(void)state;
	run_two(&w, "\"hook-succeeded\"", "Complete");
	assert_int_equal(pass(&w), WAITING);
	assert_int_equal(view_fake_count(&w.f, ACT_DELETE), 2);
	assert_string_equal(view_fake_action(&w.f, ACT_DELETE, NULL, NULL)->name, "b");
	assert_string_equal(phase_of_hook(&w, "b"), "Succeeded"); /* told before it goes */
	view_fake_perform(&w.f);
	assert_int_equal(act(&w), DONE);
	assert_int_equal(view_fake_count(&w.f, ACT_CREATE), 0);
	view_fake_release(&w.f);
}

static void test_hook_run__a_failure_names_the_hook_and_deletes_by_policy(void **state)
{
	static const struct {
		const char *policy;
		size_t deleted;
	} rows[] = {{"\"hook-failed\"", 2}, {"\"hook-succeeded\"", 1}, {BEFORE, 1}};
	struct world w;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		run_two(&w, rows[i].policy, "Failed");
		assert_int_equal(pass(&w), WAITING);
		assert_int_equal(view_fake_count(&w.f, ACT_DELETE), rows[i].deleted);
		view_fake_perform(&w.f);
		assert_int_equal(act(&w), ENDED);
		assert_string_equal(w.why, "pre-install hook Job ns/b: the Job failed");
		view_fake_release(&w.f);
	}
}

static void test_hook_run__a_refused_object_fails_at_once(void **state)
{
	struct world w;
	struct error err = ERROR_INIT;
	(void)state;
	begin(&w, HOOK("job", "0", BEFORE));
	act(&w);
	pass(&w);
	error_set(&err, E_INVALID, "Job ns/job: spec.template is required");
	stash_put(w.f.stash, "refused:batch/Job/ns/job", &err, STR_NONE, NULL, 0);
	assert_int_equal(pass(&w), ENDED);
	assert_non_null(strstr(w.why, "spec.template is required"));
	view_fake_release(&w.f);
}

static void test_hook_run__marks_of_a_hook_object(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("job", "0", BEFORE));
	act(&w);
	pass(&w);
	const struct obj *o = view_fake_action(&w.f, ACT_CREATE, "Job", "job")->body;
	assert_string_equal(meta_namespace(o), "ns");
	assert_string_equal(meta_label(o, LABEL_APP), "etcd");
	assert_string_equal(meta_annotation(o, ANNOTATION_HOOK_RUN), "u1/r1/pre-install");
	assert_true(meta_is_owned_by(o, "u1"));
	assert_null(meta_label(o, "app.kubernetes.io/managed-by")); /* no part of the release */
	view_fake_release(&w.f);
}

static void test_hook_run__other_events_and_tests_do_not_run(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "{\"events\": [\"test\", \"post-install\"], \"policies\": [], \"object\": "
		  "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"t\"}}}");
	assert_int_equal(pass(&w), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

static void test_hook_run__nothing_is_done_blind(void **state)
{
	struct world w;
	(void)state;
	begin(&w, HOOK("job", "0", BEFORE));
	w.f.blind = true;
	assert_int_equal(pass(&w), WAITING);
	assert_int_equal(w.f.plan.n, 1);
	assert_non_null(view_fake_action(&w.f, ACT_WATCH, "Job", NULL));
	view_fake_release(&w.f);
}

static void test_hook_run__records_of_other_runs_go(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	for (int i = 0; i < 4; i++) {
		struct obj *r = obj_map();
		obj_set_str(r, "run", i % 2 ? "r2" : "r1");
		obj_append(list, r);
	}
	hook_records_keep(list, "r2");
	assert_int_equal(obj_len(list), 2);
}

/* The limit of hooks is where the plan is made: none of a plan is left out. */
static void test_hook_run__one_over_the_bound_runs(void **state)
{
	(void)state;
	struct world w;
	CLEANUP(strbuf_release) struct strbuf hooks = STRBUF_INIT(STRBUF_SMALL);
	for (int i = 0; i <= HOOKS_MAX; i++)
		strbuf_addf(&hooks, "%s" HOOK("h%03d", "0", BEFORE), i ? "," : "", i);
	begin(&w, hooks.buf);
	for (int i = 0; i <= HOOKS_MAX; i++) {
		char name[16];
		snprintf(name, sizeof(name), "h%03d", i);
		for (int k = 0; k < 5 && !map_has(w.f.live, arena_fmt(w.f.a, "Job/ns/%s", name));
		     k++)
			assert_int_equal(act(&w), WAITING);
		finish_job(&w, name, "Complete");
	}
	for (int k = 0; k < 5 && act(&w) != DONE; k++)
		;
	assert_int_equal(pass(&w), DONE);
	assert_int_equal(obj_len(w.h.records), HOOKS_MAX + 1);
	view_fake_release(&w.f);
}

/* What the app's hooks left goes with it, once all is known: what ALM made of this app, and nobody keeps. */
static void test_hook_run__what_hooks_left_goes_with_the_app(void **state)
{
	static const struct {
		const char *app, *run, *more;
		bool there, goes;
	} rows[] = {
		{"etcd", "r1", "", true, true},
		{"etcd", "r1", "", false, false},
		{"shop", "r1", "", true, false},
		{NULL, "r1", "", true, false},
		{"etcd", NULL, "", true, false},
		{"etcd", "r1", ", \"annotations\": {\"helm.sh/resource-policy\": \"keep\"}", true,
		 false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int deleting = 0; deleting < 2; deleting++) {
			struct world w;
			begin(&w, "");
			struct obj *doc = view_fake_obj(
				&w.f, arena_fmt(w.f.a,
						"{\"namespace\": \"ns\", \"hooks\": [{\"events\": "
						"[\"pre-install\"], \"object\": {\"apiVersion\": "
						"\"batch/v1\", \"kind\": \"Job\", \"metadata\": "
						"{\"name\": \"j\"%s}}}]}",
						rows[i].more));
			struct obj *o =
				obj_keep(w.f.a, meta_skeleton("batch/v1", "Job", "ns", "j"));
			obj_set_path(o, "metadata.uid", obj_string("u"));
			if (rows[i].app)
				meta_set_label(o, LABEL_APP, rows[i].app);
			if (rows[i].run)
				meta_set_annotation(o, ANNOTATION_HOOK_RUN, rows[i].run);
			if (deleting)
				obj_set_path(o, "metadata.deletionTimestamp",
					     obj_string("2026-01-01T00:00:00Z"));
			if (rows[i].there)
				view_fake_live_obj(&w.f, o);
			struct plan *p = view_fake_plan(&w.f);
			enum ensured s = hook_objects_delete(&w.f.view, p, "etcd", doc);
			if (s != (rows[i].goes ? WAITING : DONE))
				fail_msg("row %zu", i);
			assert_int_equal(view_fake_count(&w.f, ACT_DELETE),
					 rows[i].goes && !deleting);
			view_fake_release(&w.f);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook_run__no_hooks_is_done),
		cmocka_unit_test(test_hook_run__what_hooks_left_goes_with_the_app),
		cmocka_unit_test(test_hook_run__one_after_the_other_by_weight),
		cmocka_unit_test(test_hook_run__a_crash_repeats_nothing),
		cmocka_unit_test(test_hook_run__an_older_run_is_deleted_first),
		cmocka_unit_test(test_hook_run__an_object_without_our_label_is_found_and_goes),
		cmocka_unit_test(
			test_hook_run__without_before_hook_creation_an_object_in_the_way_fails),
		cmocka_unit_test(test_hook_run__hook_succeeded_is_deleted_in_reverse_after_all),
		cmocka_unit_test(test_hook_run__a_failure_names_the_hook_and_deletes_by_policy),
		cmocka_unit_test(test_hook_run__a_refused_object_fails_at_once),
		cmocka_unit_test(test_hook_run__marks_of_a_hook_object),
		cmocka_unit_test(test_hook_run__other_events_and_tests_do_not_run),
		cmocka_unit_test(test_hook_run__nothing_is_done_blind),
		cmocka_unit_test(test_hook_run__records_of_other_runs_go),
		cmocka_unit_test(test_hook_run__one_over_the_bound_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
