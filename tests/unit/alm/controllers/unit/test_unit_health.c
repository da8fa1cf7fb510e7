/* What a unit's record says of its objects after the rollout: what ails them, since when, and that it is over. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/engine/repairs.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

static void settled(struct unit_fixture *x, bool keeps)
{
	unit_fixture_init(x, 2);
	x->job.keeps = keeps;
	assert_string_equal(unit_fixture_settle(x), "Succeeded");
	unit_fixture_pass(x);
}

static void set_field(struct unit_fixture *x, const char *name, const char *path, struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *o =
		obj_copy(view_fake_obj(&x->f, unit_fixture_map(x, name)));
	obj_set_path(o, path, value);
	view_fake_live_obj(&x->f, o);
}

/* c1 with that at a path of it, as somebody else's write leaves it. */
static void set_live(struct unit_fixture *x, const char *path, struct obj *value)
{
	set_field(x, "c1", path, value);
}

static void set_ready_of(struct unit_fixture *x, const char *name, const char *status)
{
	struct obj *list = obj_list(), *c = obj_map();
	obj_set_str(c, "type", "Ready");
	obj_set_str(c, "status", status);
	obj_append(list, c);
	set_field(x, name, "status.conditions", list);
}

static void set_ready(struct unit_fixture *x, const char *status)
{
	set_ready_of(x, "c1", status);
}

static const char *told(struct unit_fixture *x, const char *field)
{
	unit_fixture_pass(x);
	const char *text = obj_str(x->job.record, field);
	return text ? text : "";
}

static void refuse(struct unit_fixture *x, int code, const char *msg)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
	error_set(&err, code, "%s", msg);
	stash_put(x->f.stash, refusal_id("", "ConfigMap", "default", "c1", a), &err,
		  (struct str){0}, NULL, x->f.view.now_ns);
}

static void resume(struct unit_fixture *x)
{
	struct obj *record = obj_keep(x->a, obj_copy(x->job.record));
	obj_set_bool(record, "resumed", true);
	x->job.record = record;
}

static void test_unit_health__unready_for_two_minutes(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	assert_string_equal(told(&x, "unhealthy"), "");
	set_ready(&x, "False");
	assert_string_equal(told(&x, "unhealthy"), "");
	assert_true(x.f.plan.requeue_after_ns > 0 && x.f.plan.requeue_after_ns <= UNIT_AILING_NS);
	x.f.view.now_ns += UNIT_AILING_NS - NS_PER_S;
	assert_string_equal(told(&x, "unhealthy"), "");
	x.f.view.now_ns += NS_PER_S;
	assert_string_equal(told(&x, "unhealthy"),
			    "ConfigMap default/c1 is not ready: condition Ready is not True");
	set_ready(&x, "True");
	assert_string_equal(told(&x, "unhealthy"), "");
	assert_false(obj_has(x.job.record, "ailing"));
	/* another time is another two minutes */
	set_ready(&x, "False");
	assert_string_equal(told(&x, "unhealthy"), "");
	unit_fixture_release(&x);
}

/* The i-th object as it is declared: from now on another one. */
static struct obj *declared(struct unit_fixture *x, size_t i)
{
	struct unit *u = ARENA_NEW(x->a, struct unit);
	*u = *x->job.unit;
	struct obj *doc = obj_keep(x->a, obj_copy(u->doc));
	u->doc = doc;
	x->job.unit = u;
	return obj_get_mut(obj_at_mut(obj_get_mut(doc, "objects"), i), "object");
}

static void test_unit_health__what_is_not_waited_for_is_not_asked(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	for (size_t i = 0; i < 2; i++)
		meta_set_annotation(declared(&x, i), ANNOTATION_WAIT, "disabled");
	set_ready(&x, "False");
	(void)told(&x, "unhealthy");
	x.f.view.now_ns += 2 * UNIT_AILING_NS;
	assert_string_equal(told(&x, "unhealthy"), "");
	unit_fixture_release(&x);
}

/* A process before this one had said so: it is not well for two minutes because this one began. */
static void test_unit_health__a_restart_makes_nothing_well(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	set_ready(&x, "False");
	resume(&x);
	assert_string_equal(told(&x, "unhealthy"),
			    "ConfigMap default/c1 is not ready: condition Ready is not True");
	assert_false(obj_has(x.job.record, "resumed"));
	unit_fixture_release(&x);
}

/* What no informer shows any more is read live before anything is said of it, or done. */
static void look_again(struct unit_fixture *x)
{
	unit_fixture_pass(x);
	assert_int_equal(view_fake_count(&x->f, ACT_APPLY), 0);
	assert_non_null(view_fake_action(&x->f, ACT_FORGET, NULL, NULL));
	view_fake_perform(&x->f);
	unit_fixture_pass(x);
	assert_int_equal(view_fake_count(&x->f, ACT_APPLY), 0);
	view_fake_survey(&x->f);
}

/* The spec as it is says where something may be written, whatever becomes of its revision. */
static void test_unit_health__drift_where_the_bundle_may_write_no_more(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		bool within;
	} rows[] = {{"[\"default\"]", true}, {"[\"x\", \"default\"]", true}, {"[\"x\"]", false}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		settled(&x, true);
		x.job.namespaces = view_fake_obj(&x.f, rows[i].list);
		set_live(&x, "data.v", obj_string("theirs"));
		assert_string_equal(told(&x, "drifted"),
				    rows[i].within
					    ? ""
					    : "ConfigMap default/c1: data.v changed; not put "
					      "back: spec.prune.namespaces names its "
					      "namespace no more");
		assert_int_equal(view_fake_count(&x.f, ACT_APPLY), rows[i].within);
		unit_fixture_release(&x);
	}
}

static void test_unit_health__drift_that_is_left_and_drift_that_is_not(void **state)
{
	(void)state;
	for (int keeps = 0; keeps < 2; keeps++) {
		struct unit_fixture x;
		settled(&x, keeps);
		set_live(&x, "data.v", obj_string("theirs"));
		const char *want = keeps ? ""
					 : "ConfigMap default/c1: data.v changed; not put "
					   "back: spec.drift is Report";
		assert_string_equal(told(&x, "drifted"), want);
		assert_int_equal(view_fake_count(&x.f, ACT_APPLY), keeps);
		if (!keeps)
			assert_string_equal(obj_str(x.job.record, "driftedWhy"), "Reported");
		view_fake_gone(&x.f, "ConfigMap", "default", "c0");
		look_again(&x);
		if (!keeps)
			assert_string_equal(told(&x, "drifted"),
					    "ConfigMap default/c0: it is missing; not put back: "
					    "spec.drift is Report; and 1 more: "
					    "ConfigMap default/c1");
		view_fake_perform(&x.f);
		unit_fixture_release(&x);
	}
}

static void test_unit_health__a_repair_that_the_server_refuses(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	set_live(&x, "data.v", obj_string("theirs"));
	refuse(&x, E_INVALID, "a policy says no");
	assert_string_equal(told(&x, "drifted"),
			    "ConfigMap default/c1: data.v changed; not put back: a policy says no");
	assert_string_equal(obj_str(x.job.record, "driftedWhy"), "RepairRefused");
	set_live(&x, "data.v", obj_string("1"));
	assert_string_equal(told(&x, "drifted"), "");
	assert_false(obj_has(x.job.record, "driftedWhy"));
	unit_fixture_release(&x);
}

/* Whether a repair is refused as before the restart is known when the server has answered. */
static void test_unit_health__a_restart_waits_for_the_answer_to_a_repair(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	set_live(&x, "data.v", obj_string("theirs"));
	resume(&x);
	assert_string_equal(told(&x, "drifted"), "");
	assert_true(obj_has(x.job.record, "resumed"));
	refuse(&x, E_UNAVAILABLE, "a webhook does not answer"); /* it may be well the next time */
	assert_string_equal(told(&x, "drifted"), "");
	assert_true(obj_has(x.job.record, "resumed"));
	refuse(&x, E_INVALID, "a policy says no");
	assert_string_equal(told(&x, "drifted"),
			    "ConfigMap default/c1: data.v changed; not put back: a policy says no");
	assert_false(obj_has(x.job.record, "resumed"));
	char digest[SHA256_HEX] = {0};
	/* what was repaired is well, and so is what the server took and wrote otherwise */
	for (int taken = 0; taken < 2; taken++) {
		resume(&x);
		stash_drop(x.f.stash, refusal_id("", "ConfigMap", "default", "c1", x.a));
		set_live(&x, "data.v", obj_string(taken ? "theirs" : "1"));
		const struct obj *live = view_fake_obj(&x.f, unit_fixture_map(&x, "c1"));
		if (taken)
			stash_set_applied(x.f.stash, meta_uid(live), digest, x.f.view.now_ns);
		assert_string_equal(told(&x, "drifted"), "");
		assert_false(obj_has(x.job.record, "resumed"));
	}
	unit_fixture_release(&x);
}

/* c1 as a server has it whose webhook changed it while it was applied; then somebody else. */
static void set_manager(struct unit_fixture *x, const char *manager)
{
	struct obj *list = obj_list(), *entry = obj_map();
	obj_set_str(entry, "manager", manager);
	obj_set_str(entry, "operation", "Apply");
	obj_set_str(entry, "apiVersion", "v1");
	obj_set_str(entry, "time", "2026-01-01T00:00:09Z");
	obj_set_str(entry, "fieldsType", "FieldsV1");
	obj_set_path(entry, "fieldsV1.f:data.f:v", obj_map());
	obj_append(list, entry);
	set_live(x, "metadata.managedFields", list);
}

static void test_unit_health__what_a_webhook_made_of_it_is_no_drift(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, false);
	set_live(&x, "data.v", obj_string("theirs"));
	set_manager(&x, "alm:cli:b"); /* no process is left that knows it as left */
	assert_string_equal(told(&x, "drifted"), "");
	set_manager(&x, "kubectl-edit");
	assert_string_equal(told(&x, "drifted"),
			    "ConfigMap default/c1: data.v changed by "
			    "kubectl-edit; not put back: spec.drift is Report");
	unit_fixture_release(&x);
}

/* The time of 64 is remembered: the others are counted, and not well because the first ones are. */
static void test_unit_health__more_than_are_remembered(void **state)
{
	(void)state;
	enum { N = 80 };
	struct unit_fixture x;
	char name[16];
	unit_fixture_init(&x, N);
	assert_string_equal(unit_fixture_settle(&x), "Succeeded");
	for (int i = 0; i < N; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		set_ready_of(&x, name, "False");
	}
	assert_string_equal(told(&x, "unhealthy"), "");
	x.f.view.now_ns += UNIT_AILING_NS;
	assert_non_null(strstr(told(&x, "unhealthy"), "; and 79 more"));
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(obj_get(x.job.record, "ailing"));
	assert_int_equal(obj_len(before), 64);
	OBJ_EACH (it, before)
		set_ready_of(&x, strrchr(it.key, '/') + 1, "True");
	assert_non_null(strstr(told(&x, "unhealthy"), "; and 15 more"));
	OBJ_EACH (it, obj_get(x.job.record, "ailing"))
		set_ready_of(&x, strrchr(it.key, '/') + 1, "True");
	assert_string_equal(told(&x, "unhealthy"), "");
	set_ready(&x, "False"); /* a moment is one again */
	assert_string_equal(told(&x, "unhealthy"), "");
	unit_fixture_release(&x);
}

/* A Job that deletes itself is not missing, and does not run again for that. */
static void test_unit_health__what_deletes_itself_is_no_drift(void **state)
{
	(void)state;
	for (int keeps = 0; keeps < 2; keeps++) {
		struct unit_fixture x;
		settled(&x, keeps);
		obj_set_path(declared(&x, 0), "spec.ttlSecondsAfterFinished", obj_int(60));
		view_fake_gone(&x.f, "ConfigMap", "default", "c0");
		assert_string_equal(told(&x, "drifted"), "");
		assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
		unit_fixture_release(&x);
	}
}

/* ... and c1 is read live; labels: somebody has made it with these, without our marks, which no informer shows. */
static const char *told_live(struct unit_fixture *x, const char *labels)
{
	CLEANUP(obj_unrefp) struct obj *before = obj_copy(x->job.record);
	const char *had = obj_str(before, "drifted");
	assert_string_equal(told(x, "drifted"), had ? had : ""); /* not well as it is looked at */
	assert_non_null(view_fake_action(&x->f, ACT_FORGET, NULL, NULL));
	view_fake_perform(&x->f);
	unit_fixture_pass(x);
	if (labels)
		view_fake_live(&x->f,
			       arena_fmt(x->a,
					 "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
					 "\"metadata\": {\"namespace\": \"default\", \"name\": "
					 "\"c1\", \"uid\": \"u9\", \"labels\": {%s}}, \"data\": "
					 "{\"v\": \"x\"}}",
					 labels));
	view_fake_survey(&x->f);
	if (labels)
		view_fake_gone(&x->f, "ConfigMap", "default", "c1");
	const char *text = told(x, "drifted");
	assert_null(view_fake_action(&x->f, ACT_FORGET, NULL, NULL));
	return text;
}

static void test_unit_health__what_is_there_is_not_said_to_be_missing(void **state)
{
	(void)state;
	static const char *const stray[] = {
		"ConfigMap default/c1: it is there without the marks of ALM; not put back: "
		"spec.drift is Report",
		"ConfigMap default/c1: it is there without the marks of ALM; not put back: it may "
		"be somebody else's; spec.adopt: Unowned takes it over"};
	for (int keeps = 0; keeps < 2; keeps++) {
		struct unit_fixture x;
		settled(&x, keeps);
		view_fake_gone(&x.f, "ConfigMap", "default", "c1");
		x.f.view.now_ns += NS_PER_MIN;
		if (keeps) /* the repair takes nothing from somebody else */
			refuse(&x, E_CONFLICT, "conflict with kubectl");
		else
			assert_string_equal(told_live(&x, NULL),
					    "ConfigMap default/c1: it is missing; "
					    "not put back: spec.drift is Report");
		x.f.view.now_ns += keeps ? 0 : NS_PER_MIN;
		assert_string_equal(told_live(&x, ""), stray[keeps]);
		assert_true(x.f.plan.requeue_after_ns > 0);
		/* it goes: it is missing again, and put back */
		if (keeps)
			stash_drop(x.f.stash, refusal_id("", "ConfigMap", "default", "c1", x.a));
		x.f.view.now_ns += NS_PER_MIN;
		assert_int_equal(*told_live(&x, NULL) == 0, keeps);
		assert_int_equal(view_fake_count(&x.f, ACT_APPLY), keeps);
		unit_fixture_release(&x);
	}
}

/* The label that a watch goes by: the object is there, and is not said to be missing. */
static void test_unit_health__a_mark_that_was_taken_off(void **state)
{
	(void)state;
	for (int keeps = 0; keeps < 2; keeps++) {
		struct unit_fixture x;
		settled(&x, keeps);
		set_manager(&x, "kubectl-label");
		const char *whole = arena_strdup(x.a, unit_fixture_map(&x, "c1"));
		CLEANUP(obj_unrefp) struct obj *o = obj_copy(view_fake_obj(&x.f, whole));
		obj_del(obj_get_mut(obj_get_mut(o, "metadata"), "labels"), LABEL_BUNDLE);
		for (int again = 0; again < 2; again++) {
			view_fake_gone(&x.f, "ConfigMap", "default", "c1");
			unit_fixture_pass(&x);
			assert_int_equal(view_fake_count(&x.f, ACT_APPLY), 0);
			view_fake_perform(&x.f);
			unit_fixture_pass(&x);
			view_fake_live_obj(&x.f, o);
			view_fake_survey(&x.f); /* which finds it */
			view_fake_gone(&x.f, "ConfigMap", "default", "c1");
			unit_fixture_pass(&x);
			assert_int_equal(view_fake_count(&x.f, ACT_APPLY), keeps);
			const struct action *row = view_fake_action(&x.f, ACT_ROW, NULL, NULL);
			if (keeps) {
				assert_string_equal(row->reason, "DriftRepaired");
				assert_string_equal(obj_str(row->body, "what"),
						    "ConfigMap default/c1 has lost marks of ALM");
				assert_string_equal(
					obj_as_string(obj_at(obj_get(row->body, "paths"), 0)),
					"metadata.labels[\"" LABEL_BUNDLE "\"]");
				assert_string_equal(row->actor, "kubectl-label");
			} else {
				assert_string_equal(obj_str(x.job.record, "drifted"),
						    "ConfigMap default/c1: marks of ALM were taken "
						    "off it by kubectl-label; not put back: "
						    "spec.drift is Report");
			}
			view_fake_live(&x.f, whole); /* put back, by whomever */
			unit_fixture_pass(&x);
			assert_false(obj_len(obj_get(x.job.record, "looked")));
			assert_false(obj_has(x.job.record, "drifted"));
		}
		unit_fixture_release(&x);
	}
}

#define TAKEN "; not put back: two that declare it take it from each other; take it out of one"

static void test_unit_health__what_another_took_is_told(void **state)
{
	static const struct {
		const char *labels, *text;
	} rows[] = {
		{"\"" LABEL_BUNDLE "\": \"other\"", "it belongs to bundle other now" TAKEN},
		{"\"" LABEL_STRATEGY "\": \"etcd-1\", \"" LABEL_APP "\": \"etcd\"",
		 "it belongs to app etcd now" TAKEN},
		/* the other of its own two marks was taken off */
		{"\"" LABEL_BUNDLE "\": \"b\"",
		 "it is there without the marks of ALM; not put back: it may be somebody else's; "
		 "spec.adopt: Unowned takes it over"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct unit_fixture x;
		settled(&x, true);
		view_fake_gone(&x.f, "ConfigMap", "default", "c1");
		x.f.view.now_ns += NS_PER_MIN;
		refuse(&x, E_CONFLICT, "conflict with kubectl");
		assert_string_equal(told_live(&x, rows[i].labels),
				    arena_fmt(x.a, "ConfigMap default/c1: %s", rows[i].text));
		unit_fixture_release(&x);
	}
}

/* c1 with what somebody else writes, who never gives up, seen by one reconcile; is it put back? */
static bool is_put_back(struct unit_fixture *x)
{
	const struct resource maps = {.group = "", .version = "v1", .kind = "ConfigMap"};
	set_live(x, "data.v", obj_string("theirs"));
	set_manager(x, "operator-x");
	unit_fixture_pass(x);
	const struct action *a = view_fake_action(&x->f, ACT_APPLY, "ConfigMap", "c1");
	if (a) {
		assert_true(a->repairs);
		repairs_note(x->f.stash, &maps, "default", "c1", x->f.view.now_ns);
	}
	return a != NULL;
}

/* Two who each put back what the other does: it ends with a word to a person (fleet.md 5.5). */
static void test_unit_health__a_fight_with_another_controller(void **state)
{
	(void)state;
	struct unit_fixture x;
	settled(&x, true);
	for (int i = 0; i < REPAIRS_MAX; i++) {
		assert_true(is_put_back(&x));
		assert_false(obj_has(x.job.record, "drifted"));
		assert_string_equal(view_fake_action(&x.f, ACT_ROW, NULL, NULL)->reason,
				    "DriftRepaired");
		x.f.view.now_ns += NS_PER_S;
	}
	assert_false(is_put_back(&x));
	assert_string_equal(obj_str(x.job.record, "drifted"),
			    "ConfigMap default/c1: data.v changed by operator-x; not put back: it "
			    "was put back 5 times in 10 minutes, and from then on is once an "
			    "hour: somebody else writes it, too");
	assert_string_equal(obj_str(x.job.record, "driftedWhy"), "RepairFought");
	assert_int_equal(x.f.plan.requeue_after_ns, REPAIRS_PAUSE_NS - NS_PER_S);
	const struct action *row = view_fake_action(&x.f, ACT_ROW, NULL, NULL);
	assert_string_equal(row->reason, "DriftFought");
	assert_string_equal(row->event_type, "Warning");
	assert_non_null(strstr(row->message, "changed by operator-x: it was put back 5 times"));
	const char *key = arena_strdup(x.a, row->key);
	/* the same word while it lasts, whatever he writes meanwhile */
	x.f.view.now_ns += NS_PER_MIN;
	assert_false(is_put_back(&x));
	assert_string_equal(view_fake_action(&x.f, ACT_ROW, NULL, NULL)->key, key);
	/* what others change is put back as ever */
	set_field(&x, "c0", "data.v", obj_string("theirs"));
	unit_fixture_pass(&x);
	assert_non_null(view_fake_action(&x.f, ACT_APPLY, "ConfigMap", "c0"));
	view_fake_perform(&x.f);
	x.f.view.now_ns += REPAIRS_PAUSE_NS;
	assert_true(is_put_back(&x));
	unit_fixture_pass(&x);
	/* he has given up */
	set_live(&x, "data.v", obj_string("1"));
	assert_string_equal(told(&x, "drifted"), "");
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_health__unready_for_two_minutes),
		cmocka_unit_test(test_unit_health__what_is_not_waited_for_is_not_asked),
		cmocka_unit_test(test_unit_health__a_restart_makes_nothing_well),
		cmocka_unit_test(test_unit_health__drift_where_the_bundle_may_write_no_more),
		cmocka_unit_test(test_unit_health__drift_that_is_left_and_drift_that_is_not),
		cmocka_unit_test(test_unit_health__a_repair_that_the_server_refuses),
		cmocka_unit_test(test_unit_health__a_restart_waits_for_the_answer_to_a_repair),
		cmocka_unit_test(test_unit_health__what_a_webhook_made_of_it_is_no_drift),
		cmocka_unit_test(test_unit_health__more_than_are_remembered),
		cmocka_unit_test(test_unit_health__what_deletes_itself_is_no_drift),
		cmocka_unit_test(test_unit_health__what_is_there_is_not_said_to_be_missing),
		cmocka_unit_test(test_unit_health__a_mark_that_was_taken_off),
		cmocka_unit_test(test_unit_health__what_another_took_is_told),
		cmocka_unit_test(test_unit_health__a_fight_with_another_controller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
