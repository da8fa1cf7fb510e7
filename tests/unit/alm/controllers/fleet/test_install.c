/* The controller of Installs on a view of plain tables: what is told of a run, how often, and what becomes of what
 * others write. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/client.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/fleet/install_of.h"
#include "alm/engine/controller.h"
#include "alm/engine/repairs.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

#define BUNDLE_JSON                                                                           \
	"{\"apiVersion\": \"app.coreos.com/v1alpha1\", \"kind\": \"Bundle\", \"metadata\": {" \
	"\"name\": \"b\", \"uid\": \"u\", \"generation\": 1%s}, \"spec\": {\"historyLimit\": 2}}"
#define STEP(state, more) "\"2.1.1 ConfigMap/ConfigMap\": {\"state\": \"" state "\"" more "}"
#define RUNS(steps) \
	"{\"attempt\": 1, \"run\": \"r\", \"state\": \"Running\", \"steps\": {" steps "}}"
#define DONE_RECORD                                                                                \
	"{\"attempt\": 1, \"run\": \"r\", \"state\": \"Succeeded\", \"steps\": {" STEP("Finished", \
										       "") "}}"

struct fixture {
	struct unit_fixture u;
	struct bundle_side side;
	struct bundle_now now;
	struct view_ops ops; /* the view's, but for what is left of a time */
	size_t writes;
};

static struct map *made; /* ids of what was made */

static int64_t left_ns;

static int64_t left(void *arg, const char *id, int64_t deadline_ns, int64_t by_wall_ns)
{
	(void)arg;
	(void)by_wall_ns;
	if (!cstr_has_prefix(id, "install:made:"))
		return left_ns;
	bool is_first = !map_has(made, id);
	map_set_number(made, id, 1);
	return is_first ? deadline_ns : deadline_ns - 1;
}

static bool side_now(void *arg, const char *bundle, struct bundle_now *ret)
{
	const struct fixture *x = arg;
	*ret = x->now;
	return cstr_eq(bundle, "b");
}

static void put_bundle(struct fixture *x, const char *more)
{
	view_fake_put(&x->u.f, WATCH_BUNDLE, arena_fmt(x->u.a, BUNDLE_JSON, more));
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
	map_clear(made);
	x->now = (struct bundle_now){.job = &x->u.job, .since = "2026-01-01T00:00:00.000001Z"};
	x->now.source = view_fake_obj(&x->u.f, "{\"commit\": \"c0ffee\", \"author\": \"alice\", "
					       "\"subject\": \"first\"}");
	put_bundle(x, "");
}

static void set_record(struct fixture *x, const char *json)
{
	x->u.job.record = view_fake_obj(&x->u.f, json);
}

/* Another revision is run. */
static void run(struct fixture *x, const char *value, const char *since)
{
	x->u.value = value;
	x->u.job.unit = unit_fixture_unit(&x->u, 2);
	x->u.job.record = NULL;
	x->now.since = since;
}

/* What is live is what the watches show. */
static void show(struct fixture *x, const char *kind, unsigned watch)
{
	size_t n = strlen(kind);
	map_clear(x->u.f.watched[watch]);
	for (struct map_entry *e = map_first(x->u.f.live); e; e = map_next(e))
		if (!strncmp(e->key, kind, n) && e->key[n] == '/')
			view_fake_put(&x->u.f, watch, e->value);
}

static size_t pass(struct fixture *x)
{
	struct error err = ERROR_INIT;
	struct plan *p = view_fake_plan(&x->u.f);
	size_t n = 0;
	assert_ok(controller_run(&install_controller, &x->u.f.view, "b", p, &err), &err);
	for (const struct action *a = p->head; a; a = a->next) {
		n += a->type <= ACT_DELETE;
		if (a->repairs)
			repairs_note(x->u.f.stash, &a->resource, a->ns, a->name,
				     x->u.f.view.now_ns);
	}
	view_fake_perform(&x->u.f);
	show(x, "Install", WATCH_INSTALL);
	show(x, "Namespace", WATCH_NAMESPACE);
	x->writes += n;
	return n;
}

static const struct obj *install(struct fixture *x, const char *name)
{
	const char *text =
		map_get(x->u.f.watched[WATCH_INSTALL], name ? name : install_name(&x->now, x->u.a));
	return text ? view_fake_obj(&x->u.f, text) : NULL;
}

/* Until nothing is written any more: "PHASE STATE REASON ATTEMPT/ATTEMPT MESSAGE" of the newest. */
static const char *settle(struct fixture *x)
{
	for (int i = 0; pass(x) && i < 10; i++)
		;
	const struct obj *o = install(x, NULL);
	const char *reason = obj_str(o, "status.reason"), *message = obj_str(o, "status.message");
	return o ? arena_fmt(x->u.a, "%s %s %s %lld/%lld %s", obj_str(o, "status.phase"),
			     obj_str(o, "status.state"), reason ? reason : "-",
			     (long long)obj_i64(o, "spec.attempt", 0),
			     (long long)obj_i64(o, "status.attempt", 0), message ? message : "-")
		 : "none";
}

/* Somebody writes a field of it, of "f:spec" or "f:status". */
static void edit(struct fixture *x, const char *part, const char *path, struct obj *value)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(install(x, NULL));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "[{\"manager\": \"kubectl\", \"fieldsV1\": {\"%s\": {\"f:x\": {}}}}]",
		    part);
	obj_set_path(o, path, value);
	obj_set_path(o, "metadata.managedFields", obj_ref(view_fake_obj(&x->u.f, b.buf)));
	view_fake_live_obj(&x->u.f, o);
	show(x, "Install", WATCH_INSTALL);
}

static size_t told(struct fixture *x, const char *reason)
{
	size_t n = 0;
	for (const struct action *a = x->u.f.plan.head; a; a = a->next)
		n += cstr_eq(a->reason, reason) && a->event_type && a->subject;
	return n;
}

static void test_install__one_run_from_its_plan_to_its_end(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	assert_string_equal(settle(&x), "pending Planning - 1/1 c0ffee alice: first");
	const struct obj *o = install(&x, NULL);
	assert_string_equal(meta_namespace(o), INSTALL_NAMESPACE);
	assert_true(meta_is_owned_by(o, "u"));
	assert_string_equal(obj_str(o, "spec.payload.digest"), x.u.job.unit->digest);
	assert_string_equal(obj_str(o, "status.shortRevision"), "c0ffee");
	assert_int_equal(x.writes, 3); /* with the namespace */
	set_record(&x, RUNS(STEP("InProgress", ", \"sinceNs\": 1, \"message\": \"ConfigMap "
					       "default/c1: not yet\"")));
	assert_string_equal(settle(&x), "running Verifying - 1/1 c0ffee alice: first; ConfigMap "
					"default/c1: not yet");
	o = install(&x, NULL);
	assert_string_equal(obj_str(o, "status.objects[0].ref"), "ConfigMap default/c1");
	assert_string_equal(obj_str(o, "status.objects[0].why"), "not yet");
	assert_int_equal(obj_len(obj_path(o, "status.objects")), 1);
	set_record(&x, DONE_RECORD);
	assert_string_equal(settle(&x), "completed Succeeded - 1/1 c0ffee alice: first");
	assert_int_equal(obj_i64(install(&x, NULL), "status.plan.counts.objects", 0), 2);
	assert_int_equal(x.writes, 5);
	/* nothing to do; nor after a restart, which knows no steps */
	assert_int_equal(pass(&x), 0);
	set_record(&x, "{\"attempt\": 1, \"state\": \"Succeeded\", \"digest\": \"d\"}");
	x.now.since = "2026-01-01T00:00:09.000001Z";
	assert_int_equal(pass(&x), 0);
	unit_fixture_release(&x.u);
}

/* How far it is is told by the Bundle each second: here states alone, and the rest seldom. */
static void test_install__what_goes_on_is_told_in_its_time(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	(void)settle(&x);
	left_ns = NS_PER_S;
	set_record(&x, RUNS(STEP("InProgress", "")));
	assert_int_equal(pass(&x), 0);
	assert_int_equal(x.u.f.plan.requeue_after_ns, NS_PER_S);
	set_record(&x, DONE_RECORD); /* the end is told at once */
	assert_int_equal(pass(&x), 1);
	unit_fixture_release(&x.u);
}

static void test_install__a_failure_and_the_next_attempt(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	(void)settle(&x);
	set_record(&x, "{\"attempt\": 1, \"run\": \"r\", \"state\": \"Failed\", \"reason\": "
		       "\"ObjectNotOwned\", \"refused\": true, \"message\": \"of another\"}");
	assert_string_equal(settle(&x), "pending Blocked ObjectNotOwned 1/1 of another");
	x.now.since = "2026-01-01T00:01:00.000001Z";
	x.u.job.record = NULL;
	assert_string_equal(settle(&x), "pending Planning - 2/2 c0ffee alice: first");
	set_record(&x, "{\"attempt\": 2, \"run\": \"r\", \"state\": \"RolledBack\", \"reason\": "
		       "\"StepFailed\", \"message\": \"no\"}");
	assert_string_equal(settle(&x), "failed RolledBack StepFailed 2/2 no");
	unit_fixture_release(&x.u);
}

static void test_install__another_run_takes_its_place(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	char *since = arena_strdup(x.u.a, "2026-01-01T00:00:00.000001Z");
	(void)settle(&x);
	const char *first = install_name(&x.now, x.u.a);
	for (int i = 1; i < 6; i++) {
		since = arena_fmt(x.u.a, "2026-01-01T00:00:0%d.000001Z", i);
		run(&x, arena_fmt(x.u.a, "v%d", i), since);
		(void)settle(&x);
		if (i == 1)
			assert_string_equal(obj_str(install(&x, first), "status.state"),
					    "Superseded");
		assert_true(map_count(x.u.f.watched[WATCH_INSTALL]) <= 3);
	}
	assert_null(install(&x, first)); /* spec.historyLimit, the newest stay */
	assert_int_equal(map_count(x.u.f.watched[WATCH_INSTALL]), 3);
	/* superseded is final: rolled out again it is another one of that name */
	run(&x, "v4", "2026-01-01T00:00:09.000001Z");
	assert_string_equal(settle(&x), "pending Planning - 1/1 c0ffee alice: first");
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	run(&x, "v5", "2026-01-01T00:00:10.000001Z");
	(void)settle(&x);
	/* succeeded it stays, and has another attempt when it comes back */
	run(&x, "v4", "2026-01-01T00:00:11.000001Z");
	assert_string_equal(settle(&x), "pending Planning - 2/2 c0ffee alice: first");
	unit_fixture_release(&x.u);
}

static void test_install__what_others_write_is_put_back_and_not_for_ever(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	size_t before = x.writes;
	edit(&x, "f:spec", "spec.attempt", obj_int(7));
	assert_int_equal(pass(&x), 1);
	assert_int_equal(told(&x, "InstallPutBack"), 1);
	assert_string_equal(settle(&x), "completed Succeeded - 1/1 c0ffee alice: first");
	edit(&x, "f:status", "status.state", obj_string("Planning"));
	assert_int_equal(pass(&x), 1);
	assert_int_equal(told(&x, "InstallPutBack"), 1);
	assert_string_equal(settle(&x), "completed Succeeded - 1/1 c0ffee alice: first");
	for (int i = 0; i < 20; i++) {
		edit(&x, "f:status", "status.state", obj_string("Planning"));
		(void)pass(&x);
	}
	assert_int_equal(x.writes - before, REPAIRS_MAX);
	assert_true(x.u.f.plan.requeue_after_ns > 0);
	unit_fixture_release(&x.u);
}

/* A state that leads nowhere is no reason to make another Install; what is no member of ours goes. */
static void test_install__what_others_add_goes(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	const char *uid = arena_strdup(x.u.a, meta_uid(install(&x, NULL)));
	edit(&x, "f:status", "status.state", obj_string("Superseded"));
	assert_int_equal(pass(&x), 1);
	assert_int_equal(told(&x, "InstallPutBack"), 1);
	assert_string_equal(settle(&x), "completed Succeeded - 1/1 c0ffee alice: first");
	struct obj *list = obj_copy_list(obj_path(install(&x, NULL), "status.conditions"));
	obj_append(list,
		   obj_ref(view_fake_obj(&x.u.f, "{\"type\": \"Foo\", \"status\": \"True\"}")));
	edit(&x, "f:status", "status.conditions", list);
	assert_int_equal(pass(&x), 1);
	assert_int_equal(obj_len(obj_path(install(&x, NULL), "status.conditions")), 1);
	assert_int_equal(pass(&x), 0);
	edit(&x, "f:spec", "spec.mine", obj_int(1));
	assert_int_equal(pass(&x), 1);
	assert_false(obj_path(install(&x, NULL), "spec.mine"));
	assert_int_equal(pass(&x), 0);
	assert_string_equal(meta_uid(install(&x, NULL)), uid);
	unit_fixture_release(&x.u);
}

static void test_install__what_others_delete_is_made_anew_and_not_for_ever(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	for (int i = 0; i < 20; i++) {
		(void)settle(&x);
		view_fake_gone(&x.u.f, "Install", INSTALL_NAMESPACE, install_name(&x.now, x.u.a));
		show(&x, "Install", WATCH_INSTALL);
	}
	assert_int_equal(x.writes, 1 + 2 * (1 + REPAIRS_MAX));
	/* another rollout has nothing to do with it */
	run(&x, "1", "2026-01-01T00:00:09.000001Z");
	(void)settle(&x);
	assert_non_null(install(&x, NULL));
	unit_fixture_release(&x.u);
}

/* A branch that goes to and fro: each is made as often as it is rolled out, whatever was deleted of it meanwhile. */
static void test_install__what_is_made_for_another_rollout_is_no_repair(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	view_fake_put(&x.u.f, WATCH_BUNDLE,
		      "{\"apiVersion\": \"app.coreos.com/v1alpha1\", \"kind\": \"Bundle\", "
		      "\"metadata\": {\"name\": \"b\", \"uid\": \"u\", \"generation\": 1}, "
		      "\"spec\": {\"historyLimit\": 0}}");
	for (int i = 0; i < 4 * REPAIRS_MAX; i++) {
		run(&x, i % 2 ? "v1" : "v0", arena_fmt(x.u.a, "2026-01-01T00:00:%02d.000001Z", i));
		set_record(&x, DONE_RECORD);
		(void)settle(&x);
		assert_non_null(install(&x, install_name(&x.now, x.u.a)));
		assert_int_equal(map_count(x.u.f.watched[WATCH_INSTALL]), 1);
	}
	unit_fixture_release(&x.u);
}

static void test_install__one_that_was_made_by_hand(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	view_fake_live(&x.u.f, "{\"apiVersion\": \"store.app.coreos.com/v1\", \"kind\": "
			       "\"Install\", \"metadata\": {\"name\": \"mine\", \"namespace\": "
			       "\"default\", \"uid\": \"m\"}, \"spec\": {\"bundle\": \"b\"}}");
	show(&x, "Install", WATCH_INSTALL);
	assert_int_equal(pass(&x), 2);
	assert_int_equal(told(&x, "InstallIgnored"), 1);
	for (const struct action *a = x.u.f.plan.head; a; a = a->next)
		if (cstr_eq(a->reason, "InstallIgnored")) {
			assert_string_equal(meta_kind(a->subject), "Install");
			assert_string_equal(meta_kind(a->event_of), "Bundle");
			assert_non_null(strstr(a->message, "default/mine does nothing"));
		}
	(void)settle(&x);
	assert_null(obj_get(install(&x, "mine"), "status"));
	/* and of the name of a run: it is none */
	run(&x, "other", "2026-01-01T00:00:09.000001Z");
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(install(&x, "mine"));
	obj_set_path(o, "metadata.name", obj_string(install_name(&x.now, x.u.a)));
	obj_set_path(o, "metadata.namespace", obj_string(INSTALL_NAMESPACE));
	view_fake_live_obj(&x.u.f, o);
	show(&x, "Install", WATCH_INSTALL);
	assert_string_equal(settle(&x), "pending Planning - 1/1 c0ffee alice: first");
	assert_true(meta_is_owned_by(install(&x, NULL), "u"));
	unit_fixture_release(&x.u);
}

/* The Bundle was deleted, they were not, and it was made again. */
static void test_install__those_left_are_taken_over(void **state)
{
	static const struct {
		const char *ns, *manager;
		bool taken;
	} rows[] = {
		{INSTALL_NAMESPACE, CLIENT_FIELD_MANAGER, true},
		{INSTALL_NAMESPACE, "kubectl", false},
		{"default", CLIENT_FIELD_MANAGER, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		fixture_init(&x);
		(void)settle(&x);
		view_fake_live(
			&x.u.f,
			arena_fmt(x.u.a,
				  "{\"apiVersion\": \"store.app.coreos.com/v1\", \"kind\": "
				  "\"Install\", \"metadata\": {\"name\": \"b.default.old\", "
				  "\"namespace\": "
				  "\"%s\", \"uid\": \"o\", \"managedFields\": [{\"manager\": "
				  "\"%s\"}]}, \"spec\": {\"bundle\": \"b\"}, \"status\": "
				  "{\"state\": \"Succeeded\", \"phase\": \"completed\"}}",
				  rows[i].ns, rows[i].manager));
		show(&x, "Install", WATCH_INSTALL);
		(void)pass(&x);
		assert_int_equal(told(&x, "InstallIgnored"), !rows[i].taken);
		(void)settle(&x);
		assert_int_equal(meta_is_owned_by(install(&x, "b.default.old"), "u"),
				 rows[i].taken);
		assert_string_equal(obj_str(install(&x, "b.default.old"), "status.state"),
				    "Succeeded");
		unit_fixture_release(&x.u);
	}
}

static void take_owner(struct fixture *x, const char *name)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(install(x, name));
	const char *by = "[{\"manager\": \"" CLIENT_FIELD_MANAGER "\"}]";
	obj_set_path(o, "metadata.managedFields", obj_ref(view_fake_obj(&x->u.f, by)));
	obj_set_path(o, "metadata.ownerReferences", obj_list());
	view_fake_live_obj(&x->u.f, o);
	show(x, "Install", WATCH_INSTALL);
}

/* Somebody who takes their owner away again and again has it his way in the end. */
static void test_install__an_owner_is_put_back_and_not_for_ever(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	take_owner(&x, NULL);
	assert_int_equal(pass(&x), 1);
	for (const struct action *a = x.u.f.plan.head; a; a = a->next)
		if (cstr_eq(a->reason, "InstallPutBack"))
			assert_non_null(strstr(a->message, "the owner of Install b."));
	assert_true(meta_is_owned_by(install(&x, NULL), "u"));
	const char *first = arena_strdup(x.u.a, meta_name(install(&x, NULL)));
	run(&x, "other", "2026-01-01T00:00:09.000001Z");
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	size_t before = x.writes;
	for (int i = 0; i < 20; i++) {
		take_owner(&x, first);
		(void)pass(&x);
	}
	/* the owner was the first */
	assert_int_equal(x.writes - before, REPAIRS_MAX - 1);
	assert_true(x.u.f.plan.requeue_after_ns > 0);
	unit_fixture_release(&x.u);
}

/* kubectl delete --cascade=orphan: the collector takes the owners away, and they stay so. */
static void test_install__those_that_are_orphaned_stay_so(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	put_bundle(&x, ", \"deletionTimestamp\": \"2026-01-01T00:00:05Z\", \"finalizers\": "
		       "[\"orphan\"]");
	(void)settle(&x);
	CLEANUP(obj_unrefp) struct obj *o = obj_copy(install(&x, NULL));
	obj_del_path(o, "metadata.ownerReferences");
	obj_set_path(o, "metadata.managedFields",
		     obj_ref(view_fake_obj(&x.u.f, "[{\"manager\": \"alm\"}]")));
	view_fake_live_obj(&x.u.f, o);
	show(&x, "Install", WATCH_INSTALL);
	assert_int_equal(pass(&x), 0);
	assert_int_equal(told(&x, "InstallPutBack"), 0);
	assert_false(meta_is_owned_by(install(&x, NULL), "u"));
	unit_fixture_release(&x.u);
}

static void test_install__the_bundle_goes(void **state)
{
	(void)state;
	static const char *const foreground =
		", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\", \"finalizers\": "
		"[\"foregroundDeletion\", \"app.coreos.com/bundle\"]";
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	(void)settle(&x);
	put_bundle(&x, ", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\", \"finalizers\": "
		       "[\"app.coreos.com/bundle\"]");
	x.u.job.unit = unit_fixture_unit(&x.u, 0);
	x.u.job.deleting = true;
	x.now.since = "2026-01-01T00:00:09.000001Z";
	set_record(&x, "{\"attempt\": 2, \"run\": \"s\", \"state\": \"Running\", \"waits\": "
		       "\"deleting c0: finalizer f\", \"steps\": {}}");
	assert_string_equal(settle(&x), "running Pruning - 1/1 deleting c0: finalizer f");
	assert_string_equal(obj_str(install(&x, NULL), "spec.mode"), "Delete");
	set_record(&x, "{\"attempt\": 2, \"run\": \"s\", \"state\": \"Succeeded\", \"steps\": {}}");
	assert_string_equal(settle(&x), "completed Deleted - 1/1 -");
	/* the garbage collector takes what the Bundle owns first: nothing is made into that */
	put_bundle(&x, foreground);
	map_clear(x.u.f.live);
	show(&x, "Install", WATCH_INSTALL);
	set_record(&x, "{\"attempt\": 2, \"run\": \"s\", \"state\": \"Running\", \"steps\": {}}");
	assert_int_equal(pass(&x), 0);
	/* gone */
	map_clear(x.u.f.watched[WATCH_BUNDLE]);
	assert_int_equal(pass(&x), 0);
	unit_fixture_release(&x.u);
}

static void test_install__its_namespace_goes(void **state)
{
	(void)state;
	struct fixture x;
	fixture_init(&x);
	set_record(&x, DONE_RECORD);
	view_fake_live(&x.u.f, "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": "
			       "{\"name\": \"" INSTALL_NAMESPACE
			       "\", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\"}}");
	show(&x, "Namespace", WATCH_NAMESPACE);
	assert_int_equal(pass(&x), 0);
	assert_true(x.u.f.plan.requeue_after_ns > 0);
	view_fake_gone(&x.u.f, "Namespace", NULL, INSTALL_NAMESPACE);
	show(&x, "Namespace", WATCH_NAMESPACE);
	assert_string_equal(settle(&x), "completed Succeeded - 1/1 c0ffee alice: first");
	unit_fixture_release(&x.u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install__one_run_from_its_plan_to_its_end),
		cmocka_unit_test(test_install__what_goes_on_is_told_in_its_time),
		cmocka_unit_test(test_install__a_failure_and_the_next_attempt),
		cmocka_unit_test(test_install__another_run_takes_its_place),
		cmocka_unit_test(test_install__what_others_write_is_put_back_and_not_for_ever),
		cmocka_unit_test(test_install__what_others_add_goes),
		cmocka_unit_test(test_install__what_others_delete_is_made_anew_and_not_for_ever),
		cmocka_unit_test(test_install__what_is_made_for_another_rollout_is_no_repair),
		cmocka_unit_test(test_install__one_that_was_made_by_hand),
		cmocka_unit_test(test_install__those_left_are_taken_over),
		cmocka_unit_test(test_install__an_owner_is_put_back_and_not_for_ever),
		cmocka_unit_test(test_install__those_that_are_orphaned_stay_so),
		cmocka_unit_test(test_install__the_bundle_goes),
		cmocka_unit_test(test_install__its_namespace_goes),
	};
	made = map_new(NULL);
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	map_free(made);
	return r;
}
