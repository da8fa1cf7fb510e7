#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/webhook.h"
#include "alm/obj/json.h"
#include "tests/lib/db_failing.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define HOOK   "/hook?a=b"
#define ORIGIN "alm.local/test"

struct fixture {
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct transport_fake *fake;
	struct metrics *metrics;
	struct webhook *webhook;
	int n_idle;
};

static void on_idle(void *arg)
{
	((struct fixture *)arg)->n_idle++;
}

static void open_webhook(struct fixture *f, const char *secret)
{
	struct error err = ERROR_INIT;
	struct webhook_config c = {.loop = f->loop,
				   .transport = transport_fake_transport(f->fake),
				   .target = HOOK,
				   .name = "https://receiver" HOOK,
				   .secret = str_of(secret),
				   .audit = f->audit,
				   .db = f->db,
				   .metrics = f->metrics,
				   .idle = on_idle,
				   .arg = f};
	assert_ok(webhook_new(&c, &f->webhook, &err), &err);
	loop_fake_settle(f->loop);
}

static void setup(struct fixture *f)
{
	struct error err = ERROR_INIT;
	*f = (struct fixture){.loop = loop_fake_new(INT64_C(1893571200000000000))};
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &f->db, &err), &err);
	struct audit_config ac = {.db = f->db, .loop = f->loop, .origin = ORIGIN};
	assert_ok(audit_open(&ac, &f->audit, &err), &err);
	f->fake = transport_fake_new(f->loop);
	f->metrics = metrics_new();
}

static void teardown(struct fixture *f)
{
	assert_int_equal(fake_unused(f->fake), 0);
	webhook_free(f->webhook);
	assert_int_equal(fake_open(f->fake), 0); /* what is under way ends with it */
	transport_fake_free(f->fake);
	audit_close(f->audit);
	db_close(f->db);
	metrics_free(f->metrics);
	loop_free(f->loop);
}

/* A row as a run writes it; returns its seq. */
static int64_t row(struct fixture *f, const char *type, const char *reason, int64_t tseq)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	int64_t seq = 0;
	obj_set_str(body, "message", "m");
	struct audit_row r = {.type = type,
			      .reason = reason,
			      .subject = {"", "Unit", "", "grafana", "u1"},
			      .transition_seq = tseq,
			      .body = body};
	assert_ok(audit_append_now(f->audit, &r, &seq, &err), &err);
	audit_committed(f->audit);
	if (f->webhook)
		webhook_poke(f->webhook);
	return seq;
}

/* The n-th call as an event. */
static struct obj *event(struct fixture *f, size_t n)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *body = strchr(fake_call(f->fake, n), '{');
	assert_non_null(body);
	assert_ok(json_parse(str_of(body), &o, &err), &err);
	return o;
}

static void assert_event(struct fixture *f, size_t n, int64_t seq, const char *reason)
{
	CLEANUP(obj_unrefp) struct obj *e = event(f, n);
	CLEANUP(obj_unrefp) struct obj *id = obj_stringf("%s/%lld", ORIGIN, (long long)seq);
	assert_string_equal(obj_str(e, "id"), obj_as_string(id));
	assert_string_equal(obj_str(e, "specversion"), "1.0");
	assert_string_equal(obj_str(e, "source"), "/alm/" ORIGIN);
	assert_string_equal(obj_str(e, "type"), "com.coreos.app.audit.Transition");
	assert_string_equal(obj_str(e, "subject"), "Unit/grafana");
	assert_string_equal(obj_str(e, "data.reason"), reason);
}

static void test_webhook__transitions_in_order_and_nothing_else(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	(void)row(&f, "Transition", "Before", 1); /* there was no webhook then */
	open_webhook(&f, "");
	assert_int_equal(f.n_idle, 1);
	for (int i = 0; i < 2; i++)
		fake_answer(f.fake, "POST", HOOK, 204, "");
	int64_t first = row(&f, "Transition", "InProgress", 2);
	(void)row(&f, "Write", "Applied", 0);
	int64_t second = row(&f, "Transition", "Finished", 3);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 2);
	assert_true(cstr_has_prefix(fake_call(f.fake, 0),
				    "POST " HOOK " application/cloudevents+json {"));
	assert_event(&f, 0, first, "InProgress");
	assert_event(&f, 1, second, "Finished");
	assert_true(webhook_is_idle(f.webhook));
	assert_int_equal(f.n_idle, 2);
	teardown(&f);
}

static void test_webhook__the_same_event_until_it_is_taken(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_webhook(&f, "");
	fake_lose(f.fake, "POST", HOOK);
	fake_answer(f.fake, "POST", HOOK, 503, "");
	fake_answer(f.fake, "POST", HOOK, 302, ""); /* no redirect is followed */
	fake_answer(f.fake, "POST", HOOK, 200, "");
	fake_answer(f.fake, "POST", HOOK, 200, "");
	int64_t first = row(&f, "Transition", "Failed", 1);
	int64_t second = row(&f, "Transition", "Finished", 2);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 1); /* it waits before the next try */
	assert_false(webhook_is_idle(f.webhook));
	loop_fake_run(f.loop, NS_PER_MIN);
	assert_int_equal(fake_count(f.fake), 5);
	for (size_t i = 0; i < 4; i++) {
		assert_event(&f, i, first, "Failed");
		assert_string_equal(fake_call(f.fake, i), fake_call(f.fake, 0));
	}
	assert_event(&f, 4, second, "Finished");
	assert_int_equal(metric_value(metrics_counter(f.metrics, "alm_webhook_posts_total", "",
						      "result=\"failed\"")),
			 3);
	teardown(&f);
}

/* Taken: 200 to 299, and nothing beside them. */
static void test_webhook__what_is_an_answer(void **state)
{
	static const int statuses[] = {100, 199, 200, 201, 299, 300, 404, 500};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct fixture f;
		bool taken = statuses[i] / 100 == 2;
		setup(&f);
		open_webhook(&f, "");
		fake_answer(f.fake, "POST", HOOK, statuses[i], "");
		(void)row(&f, "Transition", "Finished", 1);
		loop_fake_settle(f.loop);
		assert_int_equal(fake_count(f.fake), 1);
		assert_int_equal(fake_timeout_ns(f.fake, 0), WEBHOOK_POST_NS);
		if (webhook_is_idle(f.webhook) != taken)
			fail_msg("status %d", statuses[i]);
		teardown(&f);
	}
}

/* The log's disk fails at any call: it does not begin, and says why; or it goes on, later or at once, and tells the event. */
static void test_webhook__a_database_that_fails(void **state)
{
	(void)state;
	int n = 1;
	for (int at = 0; at <= n; at++) {
		struct fixture f;
		struct error err = ERROR_INIT;
		setup(&f);
		db_failing_watch(f.db);
		struct webhook_config c = {.loop = f.loop,
					   .transport = transport_fake_transport(f.fake),
					   .target = HOOK,
					   .name = "x",
					   .audit = f.audit,
					   .db = f.db};
		db_failing_begin(f.db, at, false);
		int r = webhook_new(&c, &f.webhook, &err);
		int n_new = db_failing_end();
		if (r < 0) {
			assert_int_equal(r, -(int)err.code);
			assert_true(at > 0 && at <= n_new && !f.webhook);
			assert_ok(webhook_new(&c, &f.webhook, &err), &err);
		} else {
			assert_true(at == 0 || at > n_new);
		}
		loop_fake_settle(f.loop);
		int64_t seq = row(&f, "Transition", "Finished", 1);
		fake_answer(f.fake, "POST", HOOK, 200, "");
		db_failing_begin(f.db, at > n_new ? at - n_new : 0, false);
		loop_fake_run(f.loop, WEBHOOK_PAUSE_MAX / 2);
		int n_told = db_failing_end();
		loop_fake_run(f.loop, 2 * WEBHOOK_PAUSE_MAX);
		if (at == 0)
			n = n_new + n_told;
		assert_int_equal(fake_count(f.fake), 1);
		assert_event(&f, 0, seq, "Finished");
		/* a database that failed to commit is of no use until it is opened again */
		assert_true(webhook_is_idle(f.webhook) || db_exec(f.db, "SELECT 1", &err) < 0);
		teardown(&f);
	}
	assert_true(n >= 4);
}

/* An answer is no more than is read: a longer one is not taken for an answer, however long. */
static void test_webhook__a_flood_is_no_answer(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf flood = STRBUF_INIT(2 * WEBHOOK_BYTES_MAX);
		strbuf_pad(&flood, 'x', WEBHOOK_BYTES_MAX + more);
		setup(&f);
		open_webhook(&f, "");
		fake_answer(f.fake, "POST", HOOK, 200, flood.buf);
		if (more)
			fake_answer(f.fake, "POST", HOOK, 200, "");
		(void)row(&f, "Transition", "Finished", 1);
		loop_fake_run(f.loop, NS_PER_MIN);
		assert_int_equal(fake_count(f.fake), 1 + more);
		assert_true(webhook_is_idle(f.webhook));
		teardown(&f);
	}
}

static void test_webhook__a_new_process_goes_on_where_it_was(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_webhook(&f, "");
	fake_answer(f.fake, "POST", HOOK, 200, "");
	fake_lose(f.fake, "POST", HOOK);
	(void)row(&f, "Transition", "One", 1);
	int64_t second = row(&f, "Transition", "Two", 2);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 2);
	webhook_free(STEAL(f.webhook));
	int64_t third = row(&f, "Transition", "Three", 3);
	fake_answer(f.fake, "POST", HOOK, 200, "");
	fake_answer(f.fake, "POST", HOOK, 200, "");
	open_webhook(&f, "");
	assert_int_equal(fake_count(f.fake), 4);
	assert_event(&f, 2, second, "Two");
	assert_event(&f, 3, third, "Three");
	teardown(&f);
}

/* It may have a token in it. */
static void test_webhook__its_url_is_not_kept(void **state)
{
	(void)state;
	struct fixture f;
	struct error err = ERROR_INIT;
	struct stmt *s;
	setup(&f);
	open_webhook(&f, "");
	assert_ok(db_prepare(f.db,
			     "SELECT count(*), sum(instr(name, 'receiver')) FROM webhook_cursor",
			     &s, &err),
		  &err);
	assert_int_equal(stmt_step(s, &err), 1);
	assert_int_equal(stmt_int(s, 0), 1);
	assert_int_equal(stmt_int(s, 1), 0);
	stmt_reset(s);
	teardown(&f);
}

static void test_webhook__given_up_after_a_day(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_webhook(&f, "");
	int64_t first = row(&f, "Transition", "One", 1);
	int64_t second = row(&f, "Transition", "Two", 2);
	for (int64_t t = 0; t < WEBHOOK_TRY_NS + WEBHOOK_PAUSE_MAX; t += NS_PER_MIN) {
		while (fake_unused(f.fake) < 8)
			fake_answer(f.fake, "POST", HOOK, 500, "");
		loop_fake_run(f.loop, NS_PER_MIN);
	}
	while (fake_unused(f.fake))
		loop_fake_run(f.loop, NS_PER_S / 10);
	size_t n = fake_count(f.fake);
	assert_true(n > 250 && n < 500); /* not faster than its pause */
	assert_event(&f, 0, first, "One");
	assert_event(&f, n - 1, second, "Two");
	assert_int_equal(metric_value(metrics_counter(f.metrics, "alm_webhook_posts_total", "",
						      "result=\"given up\"")),
			 1);
	teardown(&f);
}

/* Its receiver takes long, and it is not there any more when he answers. */
static void test_webhook__one_under_way_ends_with_it(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	open_webhook(&f, "");
	fake_stream(f.fake, "POST", HOOK, 200, "");
	row(&f, "Transition", "One", 1);
	loop_fake_settle(f.loop);
	assert_int_equal(fake_open(f.fake), 1);
	assert_false(webhook_is_idle(f.webhook));
	row(&f, "Transition", "Two", 2); /* waits: one at a time */
	loop_fake_settle(f.loop);
	assert_int_equal(fake_count(f.fake), 1);
	teardown(&f);
}

/* The example of RFC 4231, 4.3 (test case 2). */
static void test_webhook__signed_by_the_secret(void **state)
{
	(void)state;
	struct fixture f;
	char signature[WEBHOOK_SIGNATURE_MAX];
	webhook_sign(STR("Jefe"), STR("what do ya want for nothing?"), signature);
	assert_string_equal(signature, "sha256=5bdcc146bf60754e6a042426089575c7"
				       "5a003f089d2739839dec58b964ec3843");
	setup(&f);
	open_webhook(&f, "Jefe");
	fake_answer(f.fake, "POST", HOOK, 200, "");
	(void)row(&f, "Transition", "One", 1);
	loop_fake_settle(f.loop);
	webhook_sign(STR("Jefe"), str_of(strchr(fake_call(f.fake, 0), '{')), signature);
	assert_non_null(strstr(fake_call(f.fake, 0), signature));
	assert_null(strstr(fake_call(f.fake, 0), "Jefe"));
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_webhook__transitions_in_order_and_nothing_else),
		cmocka_unit_test(test_webhook__the_same_event_until_it_is_taken),
		cmocka_unit_test(test_webhook__a_flood_is_no_answer),
		cmocka_unit_test(test_webhook__what_is_an_answer),
		cmocka_unit_test(test_webhook__a_database_that_fails),
		cmocka_unit_test(test_webhook__a_new_process_goes_on_where_it_was),
		cmocka_unit_test(test_webhook__its_url_is_not_kept),
		cmocka_unit_test(test_webhook__given_up_after_a_day),
		cmocka_unit_test(test_webhook__one_under_way_ends_with_it),
		cmocka_unit_test(test_webhook__signed_by_the_secret),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
