/* A status of which the server keeps a part only (an older definition of the kind prunes it). */
#include "tests/lib/test.h"

#include "alm/audit/audit.h"
#include "alm/engine/plan.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define STATUS_PATH "/api/v1/namespaces/n/configmaps/t/status*"

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static void setup(struct work_fixture *f)
{
	const struct executor_host host = {.observed = observed};
	work_fixture_init_as(f, false, &host);
	work_fixture_discover(f);
}

static struct obj *parsed(const char *text, struct arena *a)
{
	struct obj *o = NULL;
	struct error err;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

/* A reconcile that sees the object with this status and wants a and b. */
static void begin(struct work_fixture *f, const char *seen)
{
	struct plan p;
	work_fixture_plan(&p);
	struct obj *live = obj_keep(p.a, meta_skeleton("v1", "ConfigMap", "n", "t"));
	obj_set_path(live, "metadata.uid", obj_string("u"));
	obj_set_path(live, "metadata.resourceVersion", obj_string("7"));
	if (seen)
		obj_set(live, "status", obj_ref(parsed(seen, p.a)));
	plan_status(&p, live, obj_ref(parsed("{\"a\":1,\"b\":2}", p.a)), "Refreshed", "");
	work_fixture_run(f, &p);
}

/* ... to its end; true if it was written. */
static bool reconcile(struct work_fixture *f, const char *seen)
{
	size_t before = fake_count(f->transport);
	begin(f, seen);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->code, 0);
	return fake_count(f->transport) > before;
}

static void answer(struct work_fixture *f, const char *status)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "{\"metadata\":{\"name\":\"t\",\"uid\":\"u\"},\"status\":%s}", status);
	fake_answer(f->transport, "PUT", STATUS_PATH, 200, b.buf);
}

/* Or it would be written, with an entry of the log each, as long as that definition is there. */
static void test_executor_status__what_is_pruned_is_said_once(void **state)
{
	(void)state;
	struct work_fixture f;
	setup(&f);
	answer(&f, "{\"a\":1,\"transitionSeq\":1}");
	assert_true(reconcile(&f, NULL));
	int64_t last = audit_last_seq(f.audit);
	for (int i = 0; i < 3; i++)
		assert_false(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	assert_int_equal(audit_last_seq(f.audit), last);
	work_fixture_release(&f);
}

static void test_executor_status__it_is_said_again_when_it_may_be_taken(void **state)
{
	(void)state;
	struct work_fixture f;
	setup(&f);
	answer(&f, "{\"a\":1,\"transitionSeq\":1}");
	assert_true(reconcile(&f, NULL));
	assert_false(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	executor_say_again(f.executor);
	answer(&f, "{\"a\":1,\"b\":2,\"transitionSeq\":2}");
	assert_true(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	work_fixture_release(&f);
}

/* The definition is put back while a status is under way that an older one has pruned. */
static void test_executor_status__what_is_under_way_is_said_again_too(void **state)
{
	(void)state;
	struct work_fixture f;
	setup(&f);
	fake_stream(f.transport, "PUT", STATUS_PATH, 200,
		    "{\"metadata\":{\"name\":\"t\",\"uid\":\"u\"},\"status\":{\"a\":1,"
		    "\"transitionSeq\":1}}");
	begin(&f, NULL);
	assert_int_equal(f.n_done, 0);
	executor_say_again(f.executor);
	fake_end(f.transport, false);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n_done, 1);
	answer(&f, "{\"a\":1,\"transitionSeq\":2}");
	assert_true(reconcile(&f, "{\"a\":1,\"transitionSeq\":1}"));
	assert_false(reconcile(&f, "{\"a\":1,\"transitionSeq\":2}")); /* the answer is newer */
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_status__what_is_pruned_is_said_once),
		cmocka_unit_test(test_executor_status__it_is_said_again_when_it_may_be_taken),
		cmocka_unit_test(test_executor_status__what_is_under_way_is_said_again_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
