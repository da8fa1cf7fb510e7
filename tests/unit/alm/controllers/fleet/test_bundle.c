/* The Bundle controller on a view of plain tables: what its status says of what runs. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/fleet/bundle_pace.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_source.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/unit_fixture.h"

#define RUNS "{\"attempt\": 1, \"state\": \"Running\", \"waits\": "

#define STEP                                                    \
	"{\"attempt\": 1, \"state\": \"Running\", \"steps\": {" \
	"\"0\": {\"state\": \"InProgress\", \"message\": \"0 of 1\""

struct fixture {
	struct unit_fixture u;
	struct bundle_side side;
	struct bundle_now now;
	const struct obj *status; /* written last; NULL: none */
	const char *accepts;      /* an annotation of it */
	bool paused, deleted;
	int64_t generation;  /* of its spec */
	struct view_ops ops; /* the view's, but for what is left of a time */
};

static int64_t left_ns;

static int64_t left(void *arg, const char *id, int64_t deadline_ns, int64_t by_wall_ns)
{
	(void)arg;
	(void)by_wall_ns;
	return cstr_has_prefix(id, "bundle:told:u:") ? left_ns : deadline_ns;
}

static bool side_now(void *arg, const char *bundle, struct bundle_now *ret)
{
	const struct fixture *x = arg;
	(void)bundle;
	*ret = x->now;
	return true;
}

static void set_record(struct fixture *x, const char *json)
{
	x->u.job.record = view_fake_obj(&x->u.f, json);
}

static void put_bundle(struct fixture *x, const struct obj *status)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	struct obj *o = view_fake_obj(
		&x->u.f, "{\"apiVersion\": \"app.coreos.com/v1alpha1\", \"kind\": \"Bundle\", "
			 "\"metadata\": {\"name\": \"b\", \"uid\": \"u\", \"generation\": 1, "
			 "\"finalizers\": "
			 "[\"app.coreos.com/bundle\"]}, \"spec\": {\"source\": {\"git\": {\"url\": "
			 "\"file:///x\"}}}}");
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(o);
	obj_set_path(copy, "spec.paused", obj_bool(x->paused));
	obj_set_path(copy, "metadata.generation", obj_int(x->generation));
	if (x->deleted)
		obj_set_path(copy, "metadata.deletionTimestamp",
			     obj_string("2023-11-14T22:13:20Z"));
	if (x->accepts)
		meta_set_annotation(copy, "app.coreos.com/accept-digest", x->accepts);
	if (status)
		obj_set(copy, "status", obj_copy(status));
	json_print(copy, &b);
	view_fake_put(&x->u.f, WATCH_BUNDLE, b.buf);
}

static void fixture_init(struct fixture *x)
{
	*x = (struct fixture){0};
	unit_fixture_init(&x->u, 2);
	x->side = (struct bundle_side){side_now, x};
	x->u.f.shared.bundles = &x->side;
	x->ops = *x->u.f.view.ops;
	x->ops.left = left;
	x->u.f.view.ops = &x->ops;
	left_ns = 0;
	x->now.job = &x->u.job;
	x->generation = x->now.generation = 1;
	x->now.read = x->now.source = view_fake_obj(
		&x->u.f, "{\"commit\": \"c0ffee\", \"digest\": \"d\", \"objects\": 2, \"of\": "
			 "{\"branch\": \"main\"}}");
	view_fake_outcome(&x->u.f, "read:u:1", "{}");
	put_bundle(x, NULL);
}

/* "STATE Ready MESSAGE"; the status is what the next pass begins with. */
static const char *pass(struct fixture *x)
{
	struct error err = ERROR_INIT;
	struct condition c = {.status = "-", .message = "-"};
	struct plan *p = view_fake_plan(&x->u.f);
	x->u.f.view.pass = &x->u.f.pass;
	assert_ok(controller_run(&bundle_controller, &x->u.f.view, "b", p, &err), &err);
	const struct action *a = view_fake_action(&x->u.f, ACT_STATUS, "Bundle", "b");
	if (!a)
		return "nothing";
	struct obj *o = obj_keep(x->u.a, obj_map());
	obj_set(o, "status",
		obj_ref(obj_get(a->body, "status") ? obj_get(a->body, "status") : a->body));
	x->status = obj_get(o, "status");
	condition_get(o, "Ready", &c);
	const char *text =
		arena_fmt(x->u.a, "%s %s %s", obj_str(x->status, "state"), c.status, c.message);
	put_bundle(x, x->status);
	return text;
}

static const char *drifted(const struct fixture *x)
{
	struct condition c;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set(o, "status", obj_copy(x->status));
	return condition_get(o, "Drifted", &c) ? arena_fmt(x->u.a, "%s %s", c.reason, c.message)
					       : "";
}

/* All that is told of a revision and of its run is what they say now: nothing of before is left. */
static void test_bundle__what_is_run_is_in_the_status(void **state)
{
	static const char *const gone[] = {"kept",   "deleted", "canaries",
					   "author", "signer",  "instances"};
	(void)state;
	struct fixture x;
	fixture_init(&x);
	x.now.read = x.now.source = view_fake_obj(
		&x.u.f, "{\"commit\": \"c0ffee\", \"digest\": \"d\", \"objects\": 2, \"author\": "
			"\"ann\", \"subject\": \"s\", \"signer\": \"k\", \"of\": {\"branch\": "
			"\"main\"}}");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Running\", \"kept\": [\"ConfigMap ns/x\"], "
		       "\"pruned\": 4, \"steps\": {\"0\": {\"state\": \"InProgress\", \"canary\": "
		       "{\"0\": {\"weight\": 20}}}}}");
	pass(&x);
	assert_string_equal(obj_str(x.status, "revision"), "git:c0ffee");
	assert_string_equal(obj_str(x.status, "revisionDigest"), "d");
	assert_string_equal(obj_str(x.status, "commit"), "c0ffee");
	assert_string_equal(obj_str(x.status, "author"), "ann");
	assert_string_equal(obj_str(x.status, "subject"), "s");
	assert_string_equal(obj_str(x.status, "signer"), "k");
	assert_string_equal(obj_str(x.status, "source.branch"), "main");
	assert_int_equal(obj_i64(x.status, "objects", 0), 2);
	assert_string_equal(obj_str(x.status, "kept[0]"), "ConfigMap ns/x");
	assert_int_equal(obj_i64(x.status, "deleted", 0), 4);
	assert_int_equal(obj_i64(x.status, "canaries[0].weight", 0), 20);
	assert_string_equal(obj_str(x.status, "canaries[0].state"), "Running");
	assert_string_equal(obj_str(x.status, "groups[0].state"), "NotStarted");
	x.now.read = x.now.source = view_fake_obj(
		&x.u.f, "{\"commit\": \"c0ffee\", \"digest\": \"d\", \"objects\": 3, \"subject\": "
			"\"t\"}");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	x.u.f.view.now_ns += 5 * NS_PER_S;
	pass(&x);
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		if (obj_has(x.status, gone[i]))
			fail_msg("%s is left", gone[i]);
	assert_false(obj_has(x.status, "source"));
	assert_string_equal(obj_str(x.status, "subject"), "t");
	assert_int_equal(obj_i64(x.status, "objects", 0), 3);
	assert_string_equal(obj_str(x.status, "groups[0].state"), "Finished");
	unit_fixture_release(&x.u);
}

/* What holds the deletion up, where anything does; else how far it is. */
static void test_bundle__a_deletion_tells_how_far_it_is(void **state)
{
	static const struct {
		const char *waits, *want;
		bool deleting;
	} rows[] = {
		{"", "deletes 3 objects", true},
		{", \"waits\": \"a finalizer\"", "a finalizer", true},
		{", \"waits\": \"a finalizer\"", "a finalizer", false},
		{"", "", false}, /* the attempt is one of before */
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		fixture_init(&x);
		x.deleted = true;
		put_bundle(&x, NULL);
		x.u.job.deleting = rows[i].deleting;
		set_record(&x, arena_fmt(x.u.a,
					 "{\"attempt\": 1, \"state\": \"Running\", \"message\": "
					 "\"deletes 3 objects\"%s}",
					 rows[i].waits));
		const char *got = pass(&x);
		if (strcmp(got, arena_fmt(x.u.a, "Deleting False %s", rows[i].want)) != 0)
			fail_msg("row %zu: %s", i, got);
		unit_fixture_release(&x.u);
	}
}

/* What an object, a webhook or a plugin says comes by way of the record, which nobody has searched. */
static void test_bundle__no_message_has_a_value_of_a_secret(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	struct unit *u = ARENA_NEW(x.u.a, struct unit);
	*u = *x.u.job.unit;
	struct obj *doc = obj_keep(x.u.a, obj_copy(u->doc)), *hidden = obj_list();
	obj_append(hidden, obj_string("hunter2-of-it"));
	obj_set(doc, "hidden", hidden);
	u->doc = doc;
	x.u.job.unit = u;
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	(void)pass(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"unhealthy\": \"webhook: no "
		       "hunter2-of-it\", \"drifted\": \"B: hunter2-of-it\", \"driftedWhy\": "
		       "\"Reported\"}");
	assert_string_equal(pass(&x), "Degraded False webhook: no (hidden); B: (hidden)");
	assert_string_equal(drifted(&x), "Reported B: (hidden)");
	unit_fixture_release(&x.u);
}

/* Its source is read each interval, sooner where the clock was set back, and when somebody has pushed. */
static void test_bundle__when_its_source_is_read(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	int64_t left = x.u.f.plan.requeue_after_ns;
	assert_true(left >= NS_PER_S);
	x.u.f.view.now_ns += left - 1;
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	x.u.f.view.now_ns++;
	(void)pass(&x);
	const struct action *a = view_fake_work(&x.u.f, &read_work);
	assert_non_null(a);
	assert_string_equal(a->key, "b");
	assert_string_equal(a->id, "read:u:1");
	assert_string_equal(obj_str(a->body, "metadata.uid"), "u");
	assert_ptr_equal(a->subject, a->body);
	x.u.f.view.now_ns -= left + 1;
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 1);
	x.u.f.view.now_ns++;
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	x.now.hooked = true;
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 1);
	/* what somebody accepts is read at once */
	x.now.hooked = false;
	x.accepts = "c0ffee";
	put_bundle(&x, x.status);
	(void)pass(&x);
	assert_string_equal(view_fake_work(&x.u.f, &read_work)->id, "read:u:1:c0ffee");
	view_fake_outcome(&x.u.f, "read:u:1:c0ffee", "{}");
	(void)pass(&x);
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	unit_fixture_release(&x.u);
}

static void test_bundle__degraded_and_well_again(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	assert_string_equal(pass(&x), "Synced True c0ffee : ");
	assert_string_equal(obj_str(x.status, "source.branch"), "main");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"unhealthy\": \"Deployment "
		       "default/web is not ready: 0 of 1\"}");
	assert_string_equal(pass(&x), "Degraded False Deployment default/web is not ready: 0 of 1");
	assert_string_equal(drifted(&x), "");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"unhealthy\": \"A\", "
		       "\"drifted\": \"B\", \"driftedWhy\": \"Reported\"}");
	assert_string_equal(pass(&x), "Degraded False A; B");
	assert_string_equal(drifted(&x), "Reported B");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	assert_string_equal(pass(&x), "Synced True c0ffee : ");
	assert_string_equal(drifted(&x), "");
	unit_fixture_release(&x.u);
}

/* Another process has said so, and this one has not looked yet: nothing is said to be well. What
 * else there is to say is said, however long that takes. */
static void test_bundle__degraded_until_it_was_looked_at(void **state)
{
	(void)state;
	struct fixture x;
	struct error no = ERROR_INIT;
	fixture_init(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"unhealthy\": \"A\", "
		       "\"drifted\": \"B\", \"driftedWhy\": \"Reported\"}");
	assert_string_equal(pass(&x), "Degraded False A; B");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"resumed\": true}");
	assert_string_equal(pass(&x), "nothing");
	error_set(&no, E_NOTALLOWED, "no");
	stash_put(x.u.f.stash, "read:u:1", &no, STR_NONE, NULL, 0);
	assert_string_equal(pass(&x), "SourceFailed False no");
	assert_string_equal(drifted(&x), "Reported B");
	view_fake_outcome(&x.u.f, "read:u:1", "{}");
	assert_string_equal(pass(&x),
			    "Degraded False it was not well before a restart, and was not "
			    "looked at since");
	assert_string_equal(drifted(&x), "Reported B");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	assert_string_equal(pass(&x), "Synced True c0ffee : ");
	unit_fixture_release(&x.u);
}

/* It is kept as it is: what that is has to be read once, and nothing else is begun. */
static void test_bundle__paused_and_found_by_a_restart(void **state)
{
	(void)state;
	struct fixture x;
	struct error no = ERROR_INIT;
	fixture_init(&x);
	x.paused = true;
	put_bundle(&x, NULL);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"unhealthy\": \"A\"}");
	assert_string_equal(pass(&x), "Degraded False A");
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	const struct obj *read = x.now.read, *other = view_fake_obj(&x.u.f, "{\"digest\": \"e\"}");
	x.now = (struct bundle_now){0}; /* the next process */
	stash_drop(x.u.f.stash, "read:u:1");
	assert_string_equal(pass(&x), "nothing");
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 1);
	error_set(&no, E_NOTALLOWED, "no");
	stash_put(x.u.f.stash, "read:u:1", &no, STR_NONE, NULL, x.u.f.view.now_ns);
	assert_string_equal(pass(&x), "nothing");
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	assert_true(x.u.f.plan.requeue_after_ns > 0);
	view_fake_outcome(&x.u.f, "read:u:1", "{}");
	x.now.read = other;
	assert_string_equal(pass(&x), "nothing");
	assert_int_equal(view_fake_works(&x.u.f, &roll_work), 0);
	x.now.read = read;
	assert_string_equal(pass(&x), "nothing");
	assert_int_equal(view_fake_works(&x.u.f, &read_work), 0);
	assert_int_equal(view_fake_works(&x.u.f, &roll_work), 1);
	assert_true(view_fake_work(&x.u.f, &roll_work)->row_only);
	unit_fixture_release(&x.u);
}

/* Target 12: until when a step waits is told, where anybody knows. */
static void test_bundle__until_when_it_waits(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, STEP ", \"untilNs\": 1767226600000000000}}}");
	assert_string_equal(pass(&x),
			    "Rolling Unknown c0ffee : ; 0 of 1; fails at 2026-01-01T00:16:40Z");
	set_record(&x, STEP "}}}"); /* its time stands still */
	assert_string_equal(pass(&x), "Rolling Unknown c0ffee : ; 0 of 1");
	unit_fixture_release(&x.u);
}

/* Target 8: not at the next interval, nor when the step that waits has failed. */
static void test_bundle__a_new_revision_ends_a_stuck_wait_in_the_same_pass(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, STEP "}}}");
	assert_string_equal(pass(&x), "Rolling Unknown c0ffee : ; 0 of 1");
	assert_int_equal(view_fake_works(&x.u.f, &roll_work), 0);
	x.now.read =
		view_fake_obj(&x.u.f, "{\"commit\": \"beef\", \"digest\": \"e\", \"objects\": 2}");
	assert_string_equal(pass(&x), "Rolling Unknown beef : ");
	assert_int_equal(view_fake_works(&x.u.f, &roll_work), 1);
	unit_fixture_release(&x.u);
}

/* What only says how far it is waits for its second, and what decides anything does not. */
static void test_bundle__its_status_is_written_once_a_second(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, RUNS "\"a\"}");
	assert_string_equal(pass(&x), "Rolling Unknown c0ffee : ; a");
	left_ns = NS_PER_S / 4;
	set_record(&x, RUNS "\"b\"}");
	assert_string_equal(pass(&x), "nothing");
	assert_int_equal(x.u.f.plan.requeue_after_ns, NS_PER_S / 4);
	left_ns = 0;
	assert_string_equal(pass(&x), "Rolling Unknown c0ffee : ; b");
	left_ns = NS_PER_S;
	set_record(&x, RUNS "\"c\"}");
	assert_string_equal(pass(&x), "nothing");
	/* another revision, begun in the same state, is told before it is written */
	x.now.source = x.now.read =
		view_fake_obj(&x.u.f, "{\"commit\": \"beef\", \"digest\": \"e\", \"objects\": 2}");
	assert_string_equal(pass(&x), "Rolling Unknown beef : ; c");
	set_record(&x, "{\"attempt\": 1, \"state\": \"Failed\", \"reason\": \"StepFailed\", "
		       "\"message\": \"no\"}");
	assert_string_equal(pass(&x), "Stopped False StepFailed: no");
	unit_fixture_release(&x.u);
}

/* Conditions SourceReady and Rendered, as the next pass says them. */
static const char *source_told(struct fixture *x)
{
	struct condition ready = {.status = "-", .reason = "-", .message = "-"}, made = ready;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	assert_string_not_equal(pass(x), "nothing");
	obj_set(o, "status", obj_copy(x->status));
	condition_get(o, "SourceReady", &ready);
	condition_get(o, "Rendered", &made);
	return arena_fmt(x->u.a, "%s %s, %s %s %s", ready.status, ready.reason, made.status,
			 made.reason, made.message);
}

/* The same after a reading that said so: each is of what was read last. */
static const char *after(struct fixture *x, int code, enum error_reason reason, bool fetched)
{
	struct error err = ERROR_INIT;
	const char *id = arena_fmt(x->u.a, "read:u:%d", (int)x->generation);
	error_because(&err, code, reason, "no");
	stash_put(x->u.f.stash, id, &err, STR_NONE, NULL, x->u.f.view.now_ns);
	x->now.fetched = fetched;
	return source_told(x);
}

static void test_bundle__the_source_is_ready_where_the_commit_is_wrong(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	assert_string_equal(after(&x, E_INVALID, REASON_SOURCE_EMPTY, true),
			    "False SourceEmpty, - - -");
	assert_string_equal(after(&x, E_INVALID, REASON_VALUE_MISSING, false),
			    "False SourceEmpty, False ValueMissing ValueMissing: no");
	assert_string_equal(after(&x, E_INVALID, REASON_RENDER_FAILED, true),
			    "True Fetched, False RenderFailed RenderFailed: no");
	assert_string_equal(after(&x, E_INVALID, REASON_BRANCH_NOT_FOUND, false),
			    "False BranchNotFound, Unknown SourceFailed ");
	unit_fixture_release(&x.u);
}

/* The url is corrected: what the former one was is not said of this one, which nobody has read yet. */
static void test_bundle__a_new_spec_has_no_word_of_the_former(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\"}");
	assert_string_equal(after(&x, E_INVALID, REASON_BRANCH_NOT_FOUND, false),
			    "False BranchNotFound, - - -");
	x.generation = 2;
	put_bundle(&x, x.status);
	assert_string_equal(source_told(&x), "Unknown Fetching, - - -");
	/* a failure is told at once, as before */
	assert_string_equal(after(&x, E_UNAVAILABLE, REASON_SOURCE_UNREACHABLE, false),
			    "False SourceUnreachable, - - -");
	x.generation = 3;
	put_bundle(&x, x.status);
	assert_string_equal(after(&x, E_INVALID, REASON_RENDER_FAILED, true),
			    "True Fetched, False RenderFailed RenderFailed: no");
	x.generation = 4;
	x.paused = true;
	put_bundle(&x, x.status);
	assert_string_equal(source_told(&x), "True Fetched, Unknown Fetching not read since the "
					     "spec was changed");
	unit_fixture_release(&x.u);
}

static void test_bundle__what_became_of_a_reading(void **state)
{
	(void)state;
	struct obj *some = obj_null();
	const struct {
		struct outcome read;
		const struct obj *before;
		enum bundle_source source;
		const char *reason;
	} rows[] = {
		{{.code = 0}, some, SOURCE_READ, "SourceUnreachable"},
		{{.code = 0}, NULL, SOURCE_UNREAD, "SourceUnreachable"},
		/* a poll or two may fail */
		{{.code = E_UNAVAILABLE, .failures = 2}, some, SOURCE_READ, "SourceUnreachable"},
		{{.code = E_UNAVAILABLE, .failures = BUNDLE_POLLS_MAX},
		 some,
		 SOURCE_FAILED,
		 "SourceUnreachable"},
		{{.code = E_UNAVAILABLE, .failures = 1}, NULL, SOURCE_FAILED, "SourceUnreachable"},
		/* what is there is not taken, and it is not what was read that is wrong */
		{{.code = E_INVALID, .reason = REASON_HISTORY_REWRITTEN},
		 some,
		 SOURCE_FAILED,
		 "HistoryRewritten"},
		{{.code = E_INVALID, .reason = REASON_SOURCE_EMPTY},
		 some,
		 SOURCE_FAILED,
		 "SourceEmpty"},
		{{.code = E_NOTALLOWED}, NULL, SOURCE_FAILED, "SourceNotAllowed"},
		{{.code = E_INVALID}, some, SOURCE_INVALID, "ParseError"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct bundle_now now = {.read = rows[i].before};
		enum bundle_source got = bundle_source_of(&now, &rows[i].read, false, false);
		assert_int_equal(got, rows[i].source);
		assert_string_equal(bundle_source_reason(&rows[i].read, got), rows[i].reason);
	}
	/* paused: what was read is what there is */
	const struct bundle_now now = {.read = some};
	assert_int_equal(bundle_source_of(&now, NULL, false, true), SOURCE_UNREAD);
	/* told already: the first that fails behind a change of the spec is not one or two polls */
	const struct outcome well = {.code = 0}, first = {.code = E_UNAVAILABLE, .failures = 1};
	assert_int_equal(bundle_source_of(&now, &well, false, true), SOURCE_READ);
	assert_int_equal(bundle_source_of(&now, &first, false, false), SOURCE_READ);
	assert_int_equal(bundle_source_of(&now, &first, false, true), SOURCE_FAILED);
	assert_int_equal(bundle_source_of(&now, NULL, true, true), SOURCE_READ);
	obj_unref(some);
}

static void test_bundle__a_source_that_fails_is_read_sooner(void **state)
{
	static const struct {
		int code;
		unsigned failures;
		int64_t interval_s, age_s, left_s;
	} rows[] = {
		{0, 0, 3600, 10, 3590},
		{0, 0, 3600, 3599, 1},
		{0, 0, 3600, 3600, 0},
		{0, 0, 3600, 4000, 0},
		{0, 0, 3600, -1, 0}, /* the clock was set back */
		{E_UNAVAILABLE, 1, 3600, 10, 50},
		{E_UNAVAILABLE, 1, 3600, 60, 0},
		{E_UNAVAILABLE, 3, 3600, 10, 230},
		{E_INVALID, 2, 3600, 10, 110},
		{E_UNAVAILABLE, 9, 600, 10, 590}, /* but not later than without */
		{E_UNAVAILABLE, 1, 5, 1, 4},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct outcome r = {.code = rows[i].code,
					  .failures = rows[i].failures,
					  .at_ns = 10000 * NS_PER_S};
		int64_t now = r.at_ns + rows[i].age_s * NS_PER_S;
		int64_t left = bundle_source_in(&r, rows[i].interval_s * NS_PER_S, now);
		if (left != rows[i].left_s * NS_PER_S)
			fail_msg("row %zu: %lld s", i, (long long)(left / NS_PER_S));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle__no_message_has_a_value_of_a_secret),
		cmocka_unit_test(test_bundle__when_its_source_is_read),
		cmocka_unit_test(test_bundle__a_deletion_tells_how_far_it_is),
		cmocka_unit_test(test_bundle__what_is_run_is_in_the_status),
		cmocka_unit_test(test_bundle__degraded_and_well_again),
		cmocka_unit_test(test_bundle__degraded_until_it_was_looked_at),
		cmocka_unit_test(test_bundle__paused_and_found_by_a_restart),
		cmocka_unit_test(test_bundle__until_when_it_waits),
		cmocka_unit_test(test_bundle__a_new_revision_ends_a_stuck_wait_in_the_same_pass),
		cmocka_unit_test(test_bundle__its_status_is_written_once_a_second),
		cmocka_unit_test(test_bundle__the_source_is_ready_where_the_commit_is_wrong),
		cmocka_unit_test(test_bundle__a_new_spec_has_no_word_of_the_former),
		cmocka_unit_test(test_bundle__what_became_of_a_reading),
		cmocka_unit_test(test_bundle__a_source_that_fails_is_read_sooner),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
