/* What an executor tells: nothing of a Secret that it writes, who approved as the log knows it, and what made it begin. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/engine/plan.h"
#include "alm/engine/work.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define PASSWORD "hunter2hunter2"
#define SECRETS  "/api/v1/namespaces/n/secrets?*"
#define EVENTS   "/api/v1/namespaces/n/events?*"
#define SERVED(plural, kind)                                                               \
	"{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind "\"},\"scope\":" \
	"\"Namespaced\",\"verbs\":[\"create\",\"get\",\"patch\"]}"
#define CORE                                                                              \
	"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":[{" \
	"\"version\":\"v1\",\"resources\":[" SERVED("secrets", "Secret") "," SERVED(      \
		"events", "Event") "]}]}]}"
#define REFUSED                                                                                 \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"         \
	"\"Invalid\",\"code\":422,\"message\":\"stringData.password: " PASSWORD " is too short" \
	"\"}"

struct ended {
	int n;
	struct error err;
};

static void ended(void *arg, const char *controller, const char *key, enum run_result result,
		  int64_t requeue_after_ns, const struct error *err)
{
	struct ended *e = arg;
	(void)controller;
	(void)key;
	(void)result;
	(void)requeue_after_ns;
	e->n++;
	e->err = err ? *err : ERROR_INIT;
}

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static void fail_work(struct work *w)
{
	struct error err = ERROR_INIT;
	error_set(&err, E_INVALID, "it said " PASSWORD);
	work_put(w, &err, STR_NONE, NULL);
	work_done(w);
}

static const struct work_kind failing_work = {.name = "failing", .start = fail_work};

/* All entries from the first one that counts, as text. */
static void read_log(struct work_fixture *f, int64_t from, struct strbuf *b)
{
	for (int64_t seq = from; seq <= audit_last_seq(f->audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->audit, seq, &row, &err), &err);
		CLEANUP(xfreep) char *text = json_text(row);
		strbuf_addf(b, "%s\n", text);
	}
}

static struct obj *secret(struct arena *a)
{
	struct obj *o = obj_keep(a, meta_skeleton("v1", "Secret", "n", "s"));
	obj_set_path(o, "metadata.uid", obj_string("u"));
	obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
	obj_set_path(o, "stringData.password", obj_string(PASSWORD));
	return o;
}

static void plan_write(struct plan *p, int verb)
{
	struct obj *o = secret(p->a);
	if (verb == 0)
		plan_create(p, obj_ref(o));
	else if (verb == 1)
		plan_apply(p, obj_ref(o), 0, true);
	else
		plan_patch(p, o, obj_ref(o));
}

/* A server repeats what it was sent, and so does a program; the log, the outcome and the error do not. */
static void test_executor_told__no_secret_that_it_writes(void **state)
{
	static const char *const methods[] = {"POST", "PATCH", "PATCH"};
	static const char *const targets[] = {SECRETS, "/api/v1/namespaces/n/secrets/s?*",
					      "/api/v1/namespaces/n/secrets/s*"};
	(void)state;
	for (int way = 0; way < 6; way++) {
		int verb = way / 2;
		struct work_fixture f;
		struct plan p;
		struct ended e = {0};
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
		const struct executor_host host = {.observed = observed};
		work_fixture_init_as(&f, way & 1, &host);
		work_fixture_discover_these(&f, "{\"items\":[]}", CORE);
		for (int i = 0; i < 4; i++)
			fake_answer(f.transport, "POST", EVENTS, 201, "{}");
		fake_answer(f.transport, methods[verb], targets[verb], 422, REFUSED);
		work_fixture_plan(&p);
		int64_t from = audit_last_seq(f.audit) + 1;
		(void)plan_work(&p, &failing_work, "outcome");
		plan_write(&p, verb);
		executor_start(f.executor, "c", "k", &p, p.a, ended, &e);
		loop_fake_settle(f.loop);
		assert_int_equal(e.n, 1);
		assert_int_equal(e.err.code, E_INVALID);
		assert_non_null(strstr(e.err.msg, "is too short"));
		assert_null(strstr(e.err.msg, PASSWORD));
		const struct outcome *o = stash_get(f.stash, "outcome");
		assert_non_null(o);
		assert_non_null(strstr(o->msg, "it said "));
		assert_null(strstr(o->msg, PASSWORD));
		loop_fake_run(f.loop, INT64_C(1000000000));
		read_log(&f, from, &b);
		assert_non_null(strstr(b.buf, "Planned"));
		assert_null(strstr(b.buf, PASSWORD));
		for (size_t i = 0; i < fake_count(f.transport); i++)
			assert_true(strstr(fake_call(f.transport, i), "/secrets") ||
				    !strstr(fake_call(f.transport, i), PASSWORD));
		work_fixture_drop(&f);
	}
}

static void write_by(struct work_fixture *f, const char *actor, const char *field)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct obj *changed = obj_list(), *who = obj_map();
	obj_append(changed, obj_string(field));
	obj_set_str(body, "verb", "patch");
	obj_set(body, "changed", changed);
	obj_set_str(who, "via", "console");
	obj_set(body, "who", who);
	struct audit_row row = {.type = "Write",
				.reason = "Updated",
				.subject = {.kind = "ConfigMap", .name = "c", .uid = "u"},
				.actor = actor,
				.body = body};
	assert_ok(audit_append_now(f->audit, &row, &seq, &err), &err);
}

/* alice changed the field that approves; bob another one, after her. */
static void test_executor_told__who_approved(void **state)
{
	static const struct {
		bool same, touches;
		const char *said; /* by the object */
		bool known;       /* it is sure */
		const char *actor, *via, *trust;
	} rows[] = {
		{true, true, NULL, false, "alice", "console", "authenticated"},
		{true, true, "carl", false, "alice", "console", "authenticated"},
		{true, true, "alice", true, "alice", "console", "authenticated"},
		{true, true, "carl", true, "carl", "kubectl", "authenticated"},
		{true, false, NULL, false, "bob", "console", "authenticated"},
		{true, false, "bob", true, "bob", "console", "authenticated"},
		{false, true, "carl", false, "carl", "kubectl", "managedFields"},
		{false, true, "carl", true, "carl", "kubectl", "admission"},
		{false, false, NULL, false, "unknown", "kubectl", "managedFields"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct work_fixture f;
		struct plan p;
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		const struct executor_host host = {.observed = observed};
		work_fixture_init_as(&f, rows[i].same, &host);
		write_by(&f, "alice", "/spec/approved");
		write_by(&f, "bob", "/spec/other");
		work_fixture_plan(&p);
		p.trigger = "Watch";
		struct obj *o = obj_keep(p.a, meta_skeleton("v1", "ConfigMap", NULL, "c"));
		obj_set_path(o, "metadata.uid", obj_string("u"));
		struct action *x = plan_row(&p, "Approval", o, "Approved", "k", obj_map());
		x->touches = rows[i].touches ? "/spec/approved" : NULL;
		x->actor = rows[i].said;
		x->actor_via = "kubectl";
		x->actor_known = rows[i].known;
		work_fixture_run(&f, &p);
		assert_int_equal(f.code, 0);
		assert_ok(audit_row_get(f.audit, audit_last_seq(f.audit), &row, &err), &err);
		bool is_right = cstr_eq(obj_str(row, "actor"), rows[i].actor) &&
				cstr_eq(obj_str(row, "body.who.via"), rows[i].via) &&
				cstr_eq(obj_str(row, "body.who.trust"), rows[i].trust);
		CLEANUP(xfreep) char *text = json_text(row);
		if (!is_right)
			fail_msg("row %zu: %s", i, text);
		assert_true(cstr_eq(obj_str(row, "body.trigger"), "Approval"));
		work_fixture_release(&f);
	}
}

/* Each entry of a reconcile says what made that begin. */
static void test_executor_told__what_made_it_begin(void **state)
{
	(void)state;
	struct work_fixture f;
	struct plan p;
	const struct executor_host host = {.observed = observed};
	work_fixture_init_as(&f, true, &host);
	work_fixture_discover(&f);
	int64_t from = audit_last_seq(f.audit) + 1;
	work_fixture_plan(&p);
	p.trigger = "Timer";
	struct obj *o = obj_keep(p.a, meta_skeleton("v1", "Unit", NULL, "b/i"));
	struct obj *status = obj_map();
	obj_set_path(o, "metadata.uid", obj_string("u"));
	obj_set_str(status, "state", "Running");
	plan_told(&p, o, status, "Running", "");
	plan_row(&p, "Decision", o, "Resolved", "k", obj_map());
	plan_create(&p, meta_skeleton("v1", "ConfigMap", "n", "z"));
	fake_answer(f.transport, "POST", "/api/v1/namespaces/n/configmaps?*", 201, "{}");
	work_fixture_run(&f, &p);
	assert_int_equal(f.code, 0);
	assert_int_equal(audit_last_seq(f.audit) - from, 2);
	for (int64_t seq = from; seq <= audit_last_seq(f.audit); seq++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f.audit, seq, &row, &err), &err);
		assert_true(cstr_eq(obj_str(row, "body.trigger"), "Timer"));
	}
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_told__no_secret_that_it_writes),
		cmocka_unit_test(test_executor_told__who_approved),
		cmocka_unit_test(test_executor_told__what_made_it_begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
