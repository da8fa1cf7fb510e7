/* What a plugin is asked, what of its answer is done, and when it is asked again: with a plugin that answers from a script. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/unit/unit_plugin.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/unit/plugin.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

#define MAP(name, more)                                                                          \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"" more \
	"}}"
#define APPLY(object) "{\"writes\":[{\"apply\":" object "}],\"state\":\"Finished\"}"

enum { TIMEOUT_S = 60 };

struct fixture {
	struct unit_fixture x;
	struct rollout_step rule;
	struct rollout_check check;
	struct unit_step step;
	struct unit_entry entry;
	struct unit_pass s;
	struct obj *record;
	const char *why;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){0};
	unit_fixture_init(&f->x, 1);
	f->rule = (struct rollout_step){.action = ACTION_PLUGIN,
					.action_name = "Foo",
					.config = view_fake_obj(&f->x.f, "{\"size\":3}"),
					.timeout_ns = TIMEOUT_S * NS_PER_S};
	f->step = (struct unit_step){.name = "s", .rule = &f->rule, .action = ACTION_PLUGIN};
	f->record = obj_keep(f->x.f.a, obj_map());
	obj_set_int(f->record, "sinceNs", f->x.f.view.now_ns);
	obj_set_str(f->record, "run", "r1");
}

static void load(struct fixture *f)
{
	struct plan *p = view_fake_plan(&f->x.f);
	p->as_caller = true;
	f->x.f.view.pass = &f->x.f.pass;
	f->s = (struct unit_pass){.host = &unit_run_host,
				  .v = &f->x.f.view,
				  .plan = p,
				  .key = UNIT_FIXTURE_KEY,
				  .job = &f->x.job,
				  .unit = f->x.job.unit,
				  .entries = &f->entry,
				  .n = 1,
				  .record = f->record};
	f->entry = (struct unit_entry){0};
	unit_entry_load(f->s.v, obj_at(obj_get(f->s.unit->doc, "objects"), 0), "default",
			LABEL_BUNDLE, &f->entry, p);
}

static enum ensured pass(struct fixture *f)
{
	load(f);
	const struct plugin_turn t = {
		.s = &f->s, .step = &f->step, .id = "0.0", .record = f->record, .stage = 4};
	f->why = NULL;
	return unit_plugin(&t, &f->why);
}

static const struct action *asked(struct fixture *f)
{
	return view_fake_work(&f->x.f, &plugin_work);
}

/* The question of this pass has this answer. */
static void answer(struct fixture *f, const char *json)
{
	const struct action *a = asked(f);
	assert_non_null(a);
	view_fake_outcome(&f->x.f, a->id, json);
}

static enum ensured ask_and_answer(struct fixture *f, const char *json)
{
	assert_int_equal(pass(f), WAITING);
	answer(f, json);
	return pass(f);
}

static void assert_why(const struct fixture *f, const char *text)
{
	if (!f->why || !strstr(f->why, text))
		fail_msg("%s is not in %s", text, f->why ? f->why : "nothing");
}

static void assert_number(const struct obj *o, const char *key, int64_t n)
{
	assert_true(obj_i64(o, key, -1) == n);
}

/* --- an action --- */

static void test_unit_plugin__what_it_is_asked(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f);
	assert_int_equal(pass(&f), WAITING);
	assert_why(&f, "action-Foo is asked");
	const struct action *a = asked(&f);
	assert_non_null(a);
	const struct obj *rq = obj_get(a->body, "request");
	assert_number(a->body, "kind", PLUGIN_ACTION);
	assert_number(a->body, "wallNs", TIMEOUT_S * NS_PER_S);
	assert_true(cstr_eq(obj_str(a->body, "name"), "Foo"));
	assert_true(cstr_eq(obj_str(rq, "step"), "s"));
	assert_true(cstr_eq(meta_name(obj_get(rq, "object")), "c0"));
	assert_number(obj_get(rq, "config"), "size", 3);
	assert_int_equal(obj_type(obj_get(rq, "live")), OBJ_NULL);
	assert_int_equal(obj_type(obj_get(rq, "record")), OBJ_NULL);
	/* at the end of its step it has a little time all the same */
	for (int64_t left = 3; left >= -1; left--) {
		f.x.f.view.now_ns = obj_i64(f.record, "sinceNs", 0) + (TIMEOUT_S - left) * NS_PER_S;
		assert_int_equal(pass(&f), WAITING);
		assert_number(asked(&f)->body, "wallNs", (left > 2 ? left : 2) * NS_PER_S);
	}
	unit_fixture_release(&f.x);
}

/* In its time, with what it said last and what is live by then; each question is another one. */
static void test_unit_plugin__it_is_asked_again(void **state)
{
	static const struct {
		const char *answer;
		int64_t wait_s;
		const char *message;
	} rows[] = {
		{"{\"record\":{\"n\":1},\"pollAfter\":\"5s\",\"message\":\"half\"}", 5, "half"},
		{"{\"record\":{\"n\":1}}", 2, "in progress"},
		{"{\"state\":\"InProgress\",\"record\":{\"n\":1},\"message\":\"more\"}", 2, "more"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		begin(&f);
		assert_int_equal(pass(&f), WAITING);
		const char *first = asked(&f)->id;
		answer(&f, rows[i].answer);
		assert_int_equal(pass(&f), WAITING);
		assert_why(&f, rows[i].message);
		assert_why(&f, "action-Foo: ");
		assert_true(f.s.plan->requeue_after_ns == rows[i].wait_s * NS_PER_S);
		view_fake_live(&f.x.f, MAP("c0", ",\"namespace\":\"default\",\"uid\":\"u\""));
		f.x.f.view.now_ns += rows[i].wait_s * NS_PER_S - 1;
		assert_int_equal(pass(&f), WAITING); /* and nothing is asked */
		assert_null(asked(&f));
		assert_why(&f, rows[i].message);
		assert_true(f.s.plan->requeue_after_ns == 1);
		f.x.f.view.now_ns++;
		assert_int_equal(pass(&f), WAITING);
		assert_non_null(asked(&f));
		assert_string_not_equal(asked(&f)->id, first);
		const struct obj *rq = obj_get(asked(&f)->body, "request");
		assert_number(obj_get(rq, "record"), "n", 1);
		assert_true(cstr_eq(meta_uid(obj_get(rq, "live")), "u"));
		answer(&f, "{\"state\":\"Finished\"}");
		assert_int_equal(pass(&f), DONE);
		assert_int_equal(f.s.plan->n, 0);
		unit_fixture_release(&f.x);
	}
}

static void test_unit_plugin__how_it_ends(void **state)
{
	static const struct {
		const char *answer;
		enum ensured how;
		const char *why;
	} rows[] = {
		{"{\"state\":\"Finished\"}", DONE, NULL},
		{"{\"state\":\"Failed\",\"message\":\"no disk\"}", ENDED,
		 "PluginFailed: action-Foo: no disk"},
		{"{\"state\":\"Failed\"}", ENDED,
		 "action-Foo: it has failed, and does not say why"},
		{"{\"state\":\"Maybe\"}", ENDED, "PluginFailed: action-Foo: "},
		{"{\"objects\":{}}", ENDED, "PluginFailed: action-Foo: "},
		{NULL, ENDED, "killed by signal 9"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct error err = ERROR_INIT;
		begin(&f);
		assert_int_equal(pass(&f), WAITING);
		error_set(&err, E_INTERNAL, "killed by signal 9");
		if (rows[i].answer)
			answer(&f, rows[i].answer);
		else
			stash_put(f.x.f.stash, asked(&f)->id, &err, STR_NONE, NULL,
				  f.x.f.view.now_ns);
		assert_int_equal(pass(&f), rows[i].how);
		if (rows[i].why)
			assert_why(&f, rows[i].why);
		assert_int_equal(f.s.plan->n, 0);
		unit_fixture_release(&f.x);
	}
}

/* Of the step's object alone; whatever version of its kind, in its namespace or none. */
static void test_unit_plugin__what_it_may_write(void **state)
{
	static const struct {
		const char *object, *why; /* NULL: it is written */
	} rows[] = {
		{MAP("c0", ""), NULL},
		{MAP("c0", ",\"namespace\":\"default\""), NULL},
		{MAP("c0", ",\"namespace\":\"other\""), "writes[0]: ConfigMap other/c0 is not"},
		{MAP("c1", ""),
		 "ConfigMap c1 is not the object of this step, ConfigMap default/c0"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"c0\"}}",
		 "Secret c0 is not"},
		{"{\"apiVersion\":\"x/v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c0\"}}",
		 "ConfigMap c0 is not"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{}}",
		 "ConfigMap without a name is not"},
		{"{\"metadata\":{\"name\":\"c0\"}}", "an object c0 is not"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		begin(&f);
		enum ensured how =
			ask_and_answer(&f, arena_fmt(f.x.a, APPLY("%s"), rows[i].object));
		const struct action *x = view_fake_action(&f.x.f, ACT_APPLY, "ConfigMap", "c0");
		assert_int_equal(how, rows[i].why ? ENDED : WAITING);
		assert_int_equal(x != NULL, !rows[i].why);
		assert_why(&f,
			   rows[i].why ? rows[i].why : "what action-Foo wants is being written");
		if (!x) {
			assert_why(&f, "PluginFailed: action-Foo: ");
			unit_fixture_release(&f.x);
			continue;
		}
		assert_int_equal(x->stage, 4);
		assert_false(x->force); /* it is not there: who was faster meets a conflict */
		assert_true(cstr_eq(x->ns, "default"));
		assert_true(cstr_eq(meta_label(x->body, LABEL_BUNDLE), "b"));
		view_fake_perform(&f.x.f);
		assert_int_equal(pass(&f), DONE);
		assert_int_equal(f.s.plan->n, 0);
		unit_fixture_release(&f.x);
	}
}

/* It is written over what is there, until it holds all of it; one that goes is waited for. */
static void test_unit_plugin__until_it_is_so(void **state)
{
	static const char want[] = "{\"writes\":[{\"apply\":{\"apiVersion\":\"v1\",\"kind\":"
				   "\"ConfigMap\",\"metadata\":{\"name\":\"c0\"},\"data\":{\"x\":"
				   "\"1\"}}}],\"state\":\"Finished\"}";
	(void)state;
	struct fixture f;
	begin(&f);
	view_fake_live(&f.x.f, MAP("c0", ",\"namespace\":\"default\",\"uid\":\"u\","
					 "\"resourceVersion\":\"5\",\"deletionTimestamp\":\"x\""));
	assert_int_equal(ask_and_answer(&f, want), WAITING);
	assert_int_equal(f.s.plan->n, 0);
	view_fake_live(&f.x.f, MAP("c0", ",\"namespace\":\"default\",\"uid\":\"u\","
					 "\"resourceVersion\":\"5\""));
	assert_int_equal(pass(&f), WAITING);
	const struct action *x = view_fake_action(&f.x.f, ACT_APPLY, "ConfigMap", "c0");
	assert_non_null(x);
	assert_true(x->force);
	assert_true(cstr_eq(x->uid, "u"));
	assert_true(cstr_eq(x->resource_version, "5"));
	view_fake_perform(&f.x.f);
	assert_int_equal(pass(&f), DONE);
	struct obj *o = obj_keep(f.x.a, obj_copy(f.entry.live)); /* somebody changes it */
	obj_set_path(o, "data.x", obj_string("2"));
	view_fake_live_obj(&f.x.f, o);
	assert_int_equal(pass(&f), WAITING);
	assert_non_null(view_fake_action(&f.x.f, ACT_APPLY, "ConfigMap", "c0"));
	/* what the server refuses is its end */
	struct error err = ERROR_INIT;
	error_set(&err, E_INVALID, "data: no");
	stash_put(f.x.f.stash, refusal_id("", "ConfigMap", "default", "c0", f.x.a), &err, STR_NONE,
		  NULL, f.x.f.view.now_ns);
	assert_int_equal(pass(&f), ENDED);
	assert_why(&f, "data: no");
	unit_fixture_release(&f.x);
}

static void test_unit_plugin__it_may_delete_it(void **state)
{
	static const char want[] = "{\"writes\":[{\"delete\":true}],\"state\":\"Finished\"}";
	(void)state;
	struct fixture f;
	begin(&f);
	view_fake_live(&f.x.f, MAP("c0", ",\"namespace\":\"default\",\"uid\":\"u\""));
	assert_int_equal(ask_and_answer(&f, want), WAITING);
	const struct action *x = view_fake_action(&f.x.f, ACT_DELETE, "ConfigMap", "c0");
	assert_non_null(x);
	assert_true(cstr_eq(x->propagation, "Foreground"));
	assert_true(cstr_eq(x->uid, "u"));
	view_fake_live(&f.x.f, MAP("c0", ",\"namespace\":\"default\",\"uid\":\"u\","
					 "\"deletionTimestamp\":\"x\""));
	assert_int_equal(pass(&f), WAITING); /* it goes */
	assert_int_equal(f.s.plan->n, 0);
	view_fake_gone(&f.x.f, "ConfigMap", "default", "c0");
	f.x.f.blind = true;
	assert_int_equal(pass(&f), WAITING); /* nobody knows */
	f.x.f.blind = false;
	assert_int_equal(pass(&f), DONE);
	unit_fixture_release(&f.x);
}

/* --- checks --- */

static const struct obj *look(struct fixture *f)
{
	load(f);
	return unit_plugin_checks(&f->s, &f->step, 0, NULL, f->record);
}

/* What it said last is told until it says something else, as often as the check is looked at. */
static void test_unit_plugin__a_check(void **state)
{
	static const struct {
		const char *answer, *state, *message;
		int64_t wait_s;
	} rows[] = {
		{"{\"state\":\"InProgress\",\"message\":\"m\"}", "InProgress", "m", 7},
		{"{\"pollAfter\":\"9s\",\"record\":{\"n\":4}}", "InProgress", NULL, 9},
		{"{\"state\":\"Failed\",\"message\":\"bad\"}", "Failed", "bad", 7},
		{"{\"state\":\"Finished\"}", "Finished", NULL, 7},
		{"{\"writes\":[]}", "Failed", "PluginFailed: check-Bar: ", 7},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		begin(&f);
		assert_null(look(&f));
		f.check = (struct rollout_check){.type = CHECK_PLUGIN,
						 .field = "spec.success[0]",
						 .plugin = "Bar",
						 .timeout_ns = 30 * NS_PER_S,
						 .poll_ns = 7 * NS_PER_S};
		f.rule.success = &f.check;
		f.rule.n_success = 1;
		const struct obj *said = obj_get(look(&f), "0");
		assert_non_null(said);
		assert_null(obj_str(said, "state"));
		const struct action *a = asked(&f);
		assert_non_null(a);
		assert_number(a->body, "kind", PLUGIN_CHECK);
		assert_number(a->body, "wallNs", 30 * NS_PER_S);
		assert_true(cstr_eq(obj_str(a->body, "name"), "Bar"));
		assert_true(cstr_eq(obj_str(obj_get(a->body, "request"), "step"), "s"));
		answer(&f, rows[i].answer);
		for (int n = 0; n < 2; n++) { /* it stays */
			said = obj_get(look(&f), "0");
			assert_null(asked(&f));
			assert_true(cstr_eq(obj_str(said, "state"), rows[i].state));
			const char *message = obj_str(said, "message");
			assert_true(rows[i].message
					    ? message && cstr_has_prefix(message, rows[i].message)
					    : !message);
		}
		f.x.f.view.now_ns += rows[i].wait_s * NS_PER_S - 1;
		(void)look(&f);
		assert_null(asked(&f));
		f.x.f.view.now_ns++;
		(void)look(&f);
		assert_non_null(asked(&f));
		const struct obj *rq = obj_get(asked(&f)->body, "request");
		assert_int_equal(obj_i64(obj_get(rq, "record"), "n", 0), i == 1 ? 4 : 0);
		unit_fixture_release(&f.x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_plugin__what_it_is_asked),
		cmocka_unit_test(test_unit_plugin__it_is_asked_again),
		cmocka_unit_test(test_unit_plugin__how_it_ends),
		cmocka_unit_test(test_unit_plugin__what_it_may_write),
		cmocka_unit_test(test_unit_plugin__until_it_is_so),
		cmocka_unit_test(test_unit_plugin__it_may_delete_it),
		cmocka_unit_test(test_unit_plugin__a_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
