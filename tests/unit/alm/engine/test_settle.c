/* What a process announced and did not see the end of is settled by the next one (audit.md 7). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/clock.h"
#include "alm/engine/executor.h"
#include "alm/engine/settle.h"
#include "alm/engine/view.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/apply.h"
#include "tests/lib/db_failing.h"
#include "tests/lib/work_fixture.h"

#define APP    "system:serviceaccount:alm-system:app-x"
#define PATH   "/apis/apps/v1/namespaces/n/deployments/"
#define NO_ONE "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\"}"
#define THERE  "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"AlreadyExists\"}"
#define RESOURCE                                                                            \
	"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"apps\"}," \
	"\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":\"deployments\","   \
	"\"responseKind\":{\"kind\":\"Deployment\"},\"scope\":\"Namespaced\",\"verbs\":["   \
	"\"get\",\"patch\"]}]}]}]}"

struct fixture {
	struct work_fixture w;
	struct obj *cached; /* or NULL */
	bool same_process, failed, settled;
};

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static void observed_deleted(void *arg, const struct resource *r, const char *ns, const char *name,
			     const char *uid)
{
	(void)arg;
	(void)r;
	(void)ns;
	(void)name;
	(void)uid;
}

static struct obj *cached(void *arg, const struct resource *r, const char *ns, const char *name)
{
	const struct fixture *f = arg;
	(void)r;
	(void)ns;
	(void)name;
	return f->cached ? obj_ref(f->cached) : NULL;
}

static void ended(void *arg, const char *controller, const char *key, enum run_result result,
		  int64_t requeue_after_ns, const struct error *err)
{
	struct fixture *f = arg;
	(void)controller;
	(void)key;
	(void)result;
	(void)requeue_after_ns;
	f->failed = err != NULL;
}

static struct work_fixture_config config_of(struct fixture *f, struct executor_host *host)
{
	*host = (struct executor_host){.observed = observed,
				       .observed_deleted = observed_deleted,
				       .cached = cached,
				       .arg = f};
	return (struct work_fixture_config){.same_process = f->same_process, .host = host};
}

/* A process begins; the log is what the former one left. */
static void begin(struct fixture *f)
{
	struct executor_host host;
	const struct work_fixture_config c = config_of(f, &host);
	work_fixture_begin(&f->w, &c);
	work_fixture_discover_these(&f->w, RESOURCE, "{\"items\":[]}");
}

static void end(struct fixture *f)
{
	work_fixture_end(&f->w);
}

static void setup(struct fixture *f, bool same_process)
{
	struct executor_host host;
	*f = (struct fixture){.same_process = same_process};
	const struct work_fixture_config c = config_of(f, &host);
	work_fixture_init_with(&f->w, &c);
	work_fixture_discover_these(&f->w, RESOURCE, "{\"items\":[]}");
}

static void teardown(struct fixture *f)
{
	obj_unref(f->cached);
	work_fixture_drop(&f->w);
}

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* Lists with keys, a secret, what an API server leaves as it is. */
static struct obj *deployment(const char *name, const char *image)
{
	struct obj *o = parse(
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"labels\":"
		"{\"app.kubernetes.io/name\":\"x\"}},\"spec\":{\"replicas\":2,\"selector\":"
		"{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":"
		"\"b\"}},\"spec\":{\"containers\":[{\"name\":\"one\",\"args\":[\"-v\",\"-x\"],"
		"\"env\":[{\"name\":\"PASSWORD\",\"value\":\"hunter22\"},{\"name\":\"B\",\"value\":"
		"\"2\"}],\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}]},{\"name\":"
		"\"two\"}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}}}");
	obj_set_path(o, "metadata.name", obj_string(name));
	obj_set_path(o, "metadata.namespace", obj_string("n"));
	obj_set(obj_at_mut(obj_get_mut(obj_get_mut(obj_get_mut(obj_get_mut(o, "spec"), "template"),
						   "spec"),
				       "containers"),
			   1),
		"image", obj_string(image));
	return o;
}

/* As an API server makes it of that, with a default and a field of somebody else. */
static struct obj *applied_by(const char *manager, const struct obj *config)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL, *status = NULL;
	struct apply_conflicts conflicts = {0};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	conflicts.arena = a;
	struct apply_request r = {.schema = apply_builtin_schema("apps/v1", "Deployment"),
				  .config = config,
				  .manager = manager,
				  .api_version = "apps/v1",
				  .subresource = ""};
	assert_ok(apply_merge(&r, &conflicts, &o, &err), &err);
	status = parse("{\"readyReplicas\":1}");
	obj_set(o, "status", status);
	obj_set_path(o, "metadata.uid", obj_string("u-1"));
	obj_set_path(o, "metadata.resourceVersion", obj_string("77"));
	obj_set_path(o, "spec.minReadySeconds", obj_int(0));
	return o;
}

static void start_plan(struct plan *p)
{
	plan_init(p, arena_new((size_t)1 << 20));
	p->as = APP;
}

static void run(struct fixture *f, const char *key, struct plan *p)
{
	executor_start(f->w.executor, "unit", key, p, p->a, ended, f);
	loop_fake_settle(f->w.loop);
}

static void settled(void *arg)
{
	struct fixture *f = arg;
	f->settled = true;
}

static void settle(struct fixture *f)
{
	struct settle_config c = {.client = f->w.client,
				  .discovery = f->w.discovery,
				  .audit = f->w.audit,
				  .db = f->w.db,
				  .same_process = f->same_process};
	f->settled = false;
	struct settle *s = settle_start(&c, settled, f);
	loop_fake_run(f->w.loop, NS_PER_MIN);
	assert_true(f->settled);
	settle_free(s);
	assert_int_equal(fake_unused(f->w.transport), 0);
}

/* "Recovered:2-0-1": the Write entries. */
static const char *told(struct fixture *f, struct strbuf *b)
{
	strbuf_clear(b);
	for (int64_t seq = 2; seq <= audit_last_seq(f->w.audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
		if (obj_str(row, "op"))
			strbuf_addf(b, "%s%s:%s", b->len ? " " : "", obj_str(row, "reason"),
				    obj_str(row, "op"));
	}
	return b->buf;
}

static struct obj *last_row(struct fixture *f)
{
	struct error err;
	struct obj *row = NULL;
	assert_ok(audit_row_get(f->w.audit, audit_last_seq(f->w.audit), &row, &err), &err);
	return row;
}

static void answer(struct fixture *f, const char *name, const struct obj *live)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(xfreep) char *text = live ? json_text(live) : NULL;
	fake_answer(f->w.transport, "GET", arena_fmt(a, PATH "%s", name), live ? 200 : 404,
		    live ? text : NO_ONE);
}

/* An apply goes out, the process ends before the answer; the next one finds this (consumed). */
static void lose_apply(struct fixture *f, struct obj *live)
{
	struct plan p;
	start_plan(&p);
	plan_apply(&p, deployment("d", "i:1"), 0, false);
	fake_stream(f->w.transport, "PATCH", PATH "d*", 200, "");
	run(f, "k", &p);
	end(f);
	begin(f);
	answer(f, "d", live);
	obj_unref(live);
	settle(f);
}

static void test_settle__what_was_applied_is_recovered(void **state)
{
	struct fixture f;
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	setup(&f, false);
	CLEANUP(obj_unrefp) struct obj *config = deployment("d", "i:1");
	lose_apply(&f, applied_by("alm", config));
	assert_string_equal(told(&f, &b), "Recovered:2-0-1");
	CLEANUP(obj_unrefp) struct obj *row = last_row(&f);
	assert_string_equal(obj_str(row, "subject.name"), "d");
	assert_string_equal(obj_str(row, "subject.uid"), "u-1");
	assert_string_equal(obj_str(row, "body.rvAfter"), "77");
	assert_int_equal(obj_i64(row, "cause", 0), 2);
	/* that is the end of it */
	end(&f);
	begin(&f);
	settle(&f);
	assert_string_equal(told(&f, &b), "Recovered:2-0-1");
	teardown(&f);
}

static void test_settle__what_nothing_shows_is_unknown(void **state)
{
	static const char *const managers[] = {"alm", "kubectl", NULL};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(managers); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, false);
		/* another image; the same, of somebody else; no object */
		CLEANUP(obj_unrefp) struct obj *config = deployment("d", i ? "i:1" : "i:2");
		lose_apply(&f, managers[i] ? applied_by(managers[i], config) : NULL);
		assert_string_equal(told(&f, &b), "Unknown:2-0-1");
		teardown(&f);
	}
}

/* As it was seen to be done, refused, or is not asked for: nothing is to be settled. */
static void test_settle__a_run_that_ended_is_left_alone(void **state)
{
	static const int answers[] = {200, 422};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, false);
		struct plan p;
		start_plan(&p);
		plan_apply(&p, deployment("d", "i:1"), 0, false);
		fake_answer(f.w.transport, "PATCH", PATH "d*", answers[i],
			    i ? "{\"kind\":\"Status\",\"status\":\"Failure\"}"
			      : "{\"metadata\":{\"name\":\"d\",\"uid\":\"u\"}}");
		if (i) /* never sent */
			plan_apply(&p, deployment("e", "i:1"), 1, false);
		run(&f, "k", &p);
		assert_int_equal(f.failed, i);
		end(&f);
		begin(&f);
		settle(&f);
		assert_string_equal(told(&f, &b), i ? "Failed:2-0-1" : "Applied:2-0-1");
		teardown(&f);
	}
}

/* An answer that shows what was wanted, as it is there or gone already, ends no run. */
static void test_settle__a_run_went_on_behind_what_is_as_wanted(void **state)
{
	(void)state;
	for (int deletes = 0; deletes < 2; deletes++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		CLEANUP(obj_unrefp) struct obj *config = deployment("c", "i:1");
		CLEANUP(obj_unrefp) struct obj *live = applied_by("alm", config);
		setup(&f, false);
		struct plan p;
		start_plan(&p);
		if (deletes)
			plan_delete(&p, live, "Background");
		else
			plan_create(&p, obj_ref(config));
		plan_apply(&p, deployment("d", "i:1"), 0, false);
		fake_answer(f.w.transport, deletes ? "DELETE" : "POST",
			    deletes ? PATH "c" : "/apis/apps/v1/namespaces/n/deployments?*",
			    deletes ? 404 : 409, deletes ? NO_ONE : THERE);
		fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
		run(&f, "k", &p);
		end(&f);
		begin(&f);
		answer(&f, "d", NULL);
		settle(&f);
		assert_string_equal(told(&f, &b), deletes ? "Failed:2-0-1 Unknown:2-1-1"
							  : "Conflict:2-0-1 Unknown:2-1-1");
		teardown(&f);
	}
}

/* A create that a conflict ended, as its name was taken by what is about to go, begins nothing behind it. */
static void test_settle__a_run_ended_at_a_conflict_of_a_create(void **state)
{
	(void)state;
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	setup(&f, false);
	struct plan p;
	start_plan(&p);
	plan_create(&p, deployment("c", "i:1"));
	plan_apply(&p, deployment("d", "i:1"), 0, false);
	fake_answer(f.w.transport, "POST", "/apis/apps/v1/namespaces/n/deployments?*", 409,
		    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Conflict\"}");
	run(&f, "k", &p);
	assert_true(f.failed);
	end(&f);
	begin(&f);
	settle(&f);
	assert_string_equal(told(&f, &b), "Conflict:2-0-1");
	teardown(&f);
}

/* Of the applies that go out together each is looked at; of what came behind none. */
static void test_settle__all_that_was_under_way(void **state)
{
	struct fixture f;
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	CLEANUP(obj_unrefp) struct obj *second = deployment("e", "i:1");
	CLEANUP(obj_unrefp) struct obj *live = applied_by("alm", second);
	setup(&f, false);
	struct plan p;
	start_plan(&p);
	plan_apply(&p, deployment("c", "i:1"), 0, false);
	plan_apply(&p, deployment("d", "i:1"), 0, false);
	plan_apply(&p, deployment("e", "i:1"), 0, false);
	plan_delete(&p, live, "Background");
	fake_answer(f.w.transport, "PATCH", PATH "c*", 200,
		    "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}}");
	fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
	fake_stream(f.w.transport, "PATCH", PATH "e*", 200, "");
	run(&f, "k", &p);
	end(&f);
	begin(&f);
	answer(&f, "d", NULL);
	answer(&f, "e", live);
	settle(&f);
	assert_string_equal(told(&f, &b), "Applied:2-0-1 Unknown:2-1-1 Recovered:2-2-1");
	teardown(&f);
}

/* A unit that was planned anew had seen the end of the former plan. */
static void test_settle__the_newest_plan_of_each_unit(void **state)
{
	struct fixture f;
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	setup(&f, false);
	for (int i = 0; i < 3; i++) {
		struct plan p;
		start_plan(&p);
		plan_apply(&p, deployment("d", i ? "i:2" : "i:1"), 0, false);
		fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
		run(&f, i < 2 ? "k" : "other", &p);
	}
	end(&f);
	begin(&f);
	answer(&f, "d", NULL);
	answer(&f, "d", NULL);
	settle(&f);
	assert_string_equal(told(&f, &b), "Unknown:4-0-1 Unknown:3-0-1");
	teardown(&f);
}

/* A deletion is done when the object of that uid is gone, or about to go. */
static void test_settle__deletions(void **state)
{
	static const struct {
		const char *live, *outcome;
	} cases[] = {
		{NULL, "Recovered:2-0-1"},
		{"{\"metadata\":{\"uid\":\"u-2\"}}", "Recovered:2-0-1"},
		{"{\"metadata\":{\"uid\":\"u-1\",\"deletionTimestamp\":\"2030-01-01T00:00:00Z\"}}",
		 "Recovered:2-0-1"},
		{"{\"metadata\":{\"uid\":\"u-1\"}}", "Unknown:2-0-1"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		CLEANUP(obj_unrefp) struct obj *config = deployment("d", "i:1");
		CLEANUP(obj_unrefp) struct obj *live = applied_by("alm", config);
		CLEANUP(obj_unrefp) struct obj *found = cases[i].live ? parse(cases[i].live) : NULL;
		setup(&f, false);
		struct plan p;
		start_plan(&p);
		plan_delete(&p, live, "Background");
		fake_stream(f.w.transport, "DELETE", PATH "d", 200, "");
		run(&f, "k", &p);
		end(&f);
		begin(&f);
		answer(&f, "d", found);
		settle(&f);
		assert_string_equal(told(&f, &b), cases[i].outcome);
		teardown(&f);
	}
}

/* What a patch makes of the object is known when the object is. */
static void test_settle__patches(void **state)
{
	(void)state;
	for (int replicas = 4; replicas <= 5; replicas++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		CLEANUP(obj_unrefp) struct obj *config = deployment("d", "i:1");
		CLEANUP(obj_unrefp) struct obj *live = applied_by("alm", config);
		setup(&f, false);
		f.cached = obj_ref(live);
		struct obj *patch = obj_map();
		struct plan p;
		start_plan(&p);
		obj_set_path(patch, "spec.replicas", obj_int(4));
		plan_patch(&p, live, patch);
		fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
		run(&f, "k", &p);
		end(&f);
		CLEANUP(obj_unrefp) struct obj *now = obj_copy(live);
		obj_set_path(now, "spec.replicas", obj_int(replicas));
		obj_set_path(now, "metadata.resourceVersion", obj_string("78"));
		obj_set_path(
			now, "metadata.managedFields",
			parse("[{\"manager\":\"alm\",\"operation\":\"Update\",\"apiVersion\":"
			      "\"apps/v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":"
			      "{\"f:replicas\":{}}}}]"));
		begin(&f);
		answer(&f, "d", now);
		settle(&f);
		assert_string_equal(told(&f, &b),
				    replicas == 4 ? "Recovered:2-0-1" : "Unknown:2-0-1");
		teardown(&f);
	}
}

/* The server's commit has object and entry, or neither: nothing is read. */
static void test_settle__beside_the_server_it_was_not_done(void **state)
{
	struct fixture f;
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	setup(&f, true);
	struct plan p;
	start_plan(&p);
	plan_apply(&p, deployment("d", "i:1"), 0, false);
	fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
	run(&f, "k", &p);
	end(&f);
	begin(&f);
	settle(&f);
	assert_string_equal(told(&f, &b), "Unknown:2-0-1");
	CLEANUP(obj_unrefp) struct obj *row = last_row(&f);
	assert_non_null(strstr(obj_str(row, "body.message"), "it was not done"));
	teardown(&f);
}

/* A server that does not answer is asked once, not for each write. */
static void test_settle__a_silent_server_holds_nothing_up(void **state)
{
	struct fixture f;
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	setup(&f, false);
	struct plan p;
	start_plan(&p);
	plan_apply(&p, deployment("d", "i:1"), 0, false);
	plan_apply(&p, deployment("e", "i:1"), 0, false);
	fake_stream(f.w.transport, "PATCH", PATH "d*", 200, "");
	fake_stream(f.w.transport, "PATCH", PATH "e*", 200, "");
	run(&f, "k", &p);
	end(&f);
	begin(&f);
	fake_answer(f.w.transport, "GET", PATH "d", 403,
		    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\"}");
	answer(&f, "e", NULL);
	settle(&f);
	assert_string_equal(told(&f, &b), "Unknown:2-0-1 Unknown:2-1-1");
	teardown(&f);
}

/* Of two plans, with answers to some of their writes. */
static void lose_plans(struct fixture *f)
{
	static const char *const keys[] = {"k", "other"};
	setup(f, false);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct plan p;
		start_plan(&p);
		plan_apply(&p, deployment("c", "i:1"), 0, false);
		plan_apply(&p, deployment("d", "i:1"), 0, false);
		fake_answer(f->w.transport, "PATCH", PATH "c*", 200,
			    "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}}");
		fake_stream(f->w.transport, "PATCH", PATH "d*", 200, "");
		run(f, keys[i], &p);
	}
	end(f);
}

static void settle_unread(struct fixture *f)
{
	begin(f);
	for (int i = 0; i < 4; i++) /* more than are asked for */
		answer(f, "*", NULL);
	struct settle_config c = {.client = f->w.client,
				  .discovery = f->w.discovery,
				  .audit = f->w.audit,
				  .db = f->w.db};
	f->settled = false;
	struct settle *s = settle_start(&c, settled, f);
	loop_fake_run(f->w.loop, NS_PER_MIN);
	assert_true(f->settled);
	settle_free(s);
}

/* Whatever call of the database fails: nothing is told of what has its entry, and what was not found is settled by the
 * next process. */
static void test_settle__what_cannot_be_read_is_left_to_the_next(void **state)
{
	(void)state;
	for (int prepares = 0; prepares < 2; prepares++)
		for (int at = 0, n = 0; at <= n; at++) {
			struct fixture f;
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
			lose_plans(&f);
			db_failing_watch(f.w.db);
			db_failing_begin(f.w.db, at, prepares);
			settle_unread(&f);
			int calls = db_failing_end();
			n = at ? n : calls;
			assert_in_range(n, 3, 100);
			if (!db_is_broken(f.w.db)) {
				end(&f);
				settle_unread(&f);
				assert_non_null(strstr(told(&f, &b), "Unknown:2-1-1"));
				assert_non_null(strstr(b.buf, "Unknown:4-1-1"));
				assert_int_equal(b.len, 4 * strlen("Applied:2-0-1") + 3);
			}
			teardown(&f);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle__what_was_applied_is_recovered),
		cmocka_unit_test(test_settle__what_nothing_shows_is_unknown),
		cmocka_unit_test(test_settle__a_run_that_ended_is_left_alone),
		cmocka_unit_test(test_settle__a_run_went_on_behind_what_is_as_wanted),
		cmocka_unit_test(test_settle__a_run_ended_at_a_conflict_of_a_create),
		cmocka_unit_test(test_settle__all_that_was_under_way),
		cmocka_unit_test(test_settle__the_newest_plan_of_each_unit),
		cmocka_unit_test(test_settle__deletions),
		cmocka_unit_test(test_settle__patches),
		cmocka_unit_test(test_settle__beside_the_server_it_was_not_done),
		cmocka_unit_test(test_settle__a_silent_server_holds_nothing_up),
		cmocka_unit_test(test_settle__what_cannot_be_read_is_left_to_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
