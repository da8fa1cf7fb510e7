/* A status of which the server keeps a part only (an older definition of the kind prunes it). */
#include "tests/lib/test.h"

#include "alm/audit/audit.h"
#include "alm/controllers/app/keys.h"
#include "alm/engine/executor.h"
#include "alm/engine/plan.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define STATUS_PATH "/apis/x.example/v1/things/t/status*"

struct fixture {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct transport_fake *transport;
	struct client *client;
	struct discovery *discovery;
	struct stash *stash;
	struct executor *executor;
	size_t n_done;
	int code;
};

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static void ended(void *arg, const char *controller, const char *key, enum run_result result,
		  int64_t requeue_after_ns, const struct error *err)
{
	struct fixture *f = arg;
	(void)controller;
	(void)key;
	(void)result;
	(void)requeue_after_ns;
	f->n_done++;
	f->code = err ? err->code : 0;
}

static void discovered(void *arg, const struct error *err)
{
	(void)arg;
	assert_null(err);
}

static void setup(struct fixture *f)
{
	struct error err = ERROR_INIT;
	*f = (struct fixture){.loop = loop_fake_new(INT64_C(1893571200000000000))};
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &f->db, &err), &err);
	struct audit_config ac = {.db = f->db, .loop = f->loop};
	assert_ok(audit_open(&ac, &f->audit, &err), &err);
	f->transport = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->transport));
	f->discovery = discovery_new(f->client);
	f->stash = stash_new();
	struct executor_config c = {.loop = f->loop,
				    .client = f->client,
				    .discovery = f->discovery,
				    .audit = f->audit,
				    .db = f->db,
				    .stash = f->stash,
				    .chains = app_chains,
				    .host = {.observed = observed}};
	f->executor = executor_new(&c);
	fake_answer(f->transport, "GET", "/apis", 200,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":"
		    "\"x.example\"},\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":"
		    "\"things\",\"responseKind\":{\"kind\":\"Thing\"},\"scope\":\"Cluster\","
		    "\"verbs\":[\"get\",\"patch\"]}]}]}]}");
	fake_answer(f->transport, "GET", "/api", 200,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[]}");
	discovery_refresh(f->discovery, discovered, f);
	loop_fake_settle(f->loop);
}

static void teardown(struct fixture *f)
{
	executor_free(f->executor);
	stash_free(f->stash);
	discovery_free(f->discovery);
	client_free(f->client);
	transport_fake_free(f->transport);
	audit_close(f->audit);
	db_close(f->db);
	loop_free(f->loop);
}

static struct obj *parsed(const char *text, struct arena *a)
{
	struct obj *o = NULL;
	struct error err;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

/* One reconcile that sees the object with this status and wants a and b; true if it was written. */
static bool reconcile(struct fixture *f, const char *seen)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	struct obj *live = obj_keep(a, meta_skeleton("x.example/v1", "Thing", NULL, "t"));
	obj_set_path(live, "metadata.uid", obj_string("u"));
	obj_set_path(live, "metadata.resourceVersion", obj_string("7"));
	if (seen)
		obj_set(live, "status", obj_ref(parsed(seen, a)));
	plan_status(&p, live, obj_ref(parsed("{\"a\":1,\"b\":2}", a)), "Refreshed", "");
	size_t before = fake_count(f->transport);
	f->n_done = 0;
	executor_start(f->executor, "strategy", "t", &p, a, ended, f);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->code, 0);
	return fake_count(f->transport) > before;
}

static void answer(struct fixture *f, const char *status)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{\"metadata\":{\"name\":\"t\",\"uid\":\"u\"},\"status\":%s}", status);
	fake_answer(f->transport, "PUT", STATUS_PATH, 200, b.buf);
}

/* Or it would be written, with an entry of the log each, as long as that definition is there. */
static void test_executor_status__what_is_pruned_is_said_once(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	answer(&f, "{\"a\":1,\"transitionSeq\":1}");
	assert_true(reconcile(&f, NULL));
	int64_t last = audit_last_seq(f.audit);
	for (int i = 0; i < 3; i++)
		assert_false(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	assert_int_equal(audit_last_seq(f.audit), last);
	teardown(&f);
}

static void test_executor_status__it_is_said_again_when_it_may_be_taken(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	answer(&f, "{\"a\":1,\"transitionSeq\":1}");
	assert_true(reconcile(&f, NULL));
	assert_false(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	executor_say_again(f.executor);
	answer(&f, "{\"a\":1,\"b\":2,\"transitionSeq\":2}");
	assert_true(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	assert_int_equal(fake_unused(f.transport), 0);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_status__what_is_pruned_is_said_once),
		cmocka_unit_test(test_executor_status__it_is_said_again_when_it_may_be_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
