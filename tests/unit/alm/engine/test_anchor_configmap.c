/* The ConfigMap that remembers the newest checkpoint: asked until it is known, made with its namespace, written over what was
 * read; what somebody else has written there is looked at. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/disk_watch.h"
#include "alm/base/clock.h"
#include "alm/engine/anchor_configmap.h"
#include "tests/lib/work_fixture.h"

#define NAMESPACES "/api/v1/namespaces?*"
#define MAPS       "/api/v1/namespaces/alm-system/configmaps"
#define MADE       MAPS "?*"
#define MAP        MAPS "/alm-audit-anchor"
#define WRITTEN    MAP "?*"
#define FAILED(code, reason)                                                                  \
	code, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	      "\"" reason "\",\"message\":\"no\"}"
#define HAS(rv, more)                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"alm-audit-" \
	"anchor\",\"namespace\":\"alm-system\",\"uid\":\"u\",\"resourceVersion\":\"" rv     \
	"\"},\"data\":{\"other\":\"stays\"" more "}}"
/* A note of a log that is not this one. */
#define FOREIGN                                                                                   \
	"example.org/other\\n5\\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\\n\\n\xe2\x80\x94 " \
	"example.org/other AAAAAAAA\\n"

struct fixture {
	struct work_fixture w;
	struct anchor *t;
	struct anchors *all;
	int n_recalled;
};

static void recalled(void *arg)
{
	((struct fixture *)arg)->n_recalled++;
}

/* What a read of it answers at first is put before, and its first write: of the log's newest checkpoint. */
static void begin(struct fixture *f)
{
	f->t = anchor_configmap_new(f->w.client);
	f->all = anchors_new(f->w.audit, f->w.loop, f->w.db, &f->t, 1);
	anchors_when_recalled(f->all, recalled, f);
	loop_fake_settle(f->w.loop);
}

static void end(struct fixture *f)
{
	assert_int_equal(fake_unused(f->w.transport), 0);
	/* the log tells it of its end, so the client outlives both */
	executor_free(STEAL(f->w.executor));
	disk_watch_free(STEAL(f->w.disk));
	audit_close(STEAL(f->w.audit));
	anchors_free(STEAL(f->all));
	assert_int_equal(fake_open(f->w.transport), 0);
	work_fixture_drop(&f->w);
}

static void keep(struct fixture *f)
{
	f->t->busy = true;
	f->t->asked_size = 5;
	f->t->ops->keep(f->t, 5, STR("the note"), false);
	loop_fake_settle(f->w.loop);
	assert_int_equal(fake_unused(f->w.transport), 0);
}

static const char *last_call(const struct fixture *f)
{
	return fake_call(f->w.transport, fake_count(f->w.transport) - 1);
}

static void answer(struct fixture *f, const char *method, const char *target, int status,
		   const char *body)
{
	fake_answer(f->w.transport, method, target, status, body);
}

/* Nothing is known until the cluster answers; one that says no is told of, and not waited for. */
static void test_anchor_configmap__is_asked_until_it_is_known(void **state)
{
	static const struct {
		int status;
		const char *body;
		bool again;
	} rows[] = {{200, HAS("3", ""), false},
		    {FAILED(404, "NotFound"), false},
		    {FAILED(403, "Forbidden"), false},
		    {FAILED(401, "Unauthorized"), true},
		    {FAILED(409, "Conflict"), true}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f = {0};
		work_fixture_init(&f.w);
		answer(&f, "GET", MAP, rows[i].status, rows[i].body);
		if (rows[i].status == 200)
			answer(&f, "PUT", WRITTEN, 200, HAS("4", ""));
		else if (rows[i].status == 404)
			answer(&f, "POST", MADE, 201, HAS("1", ""));
		begin(&f);
		assert_int_equal(f.n_recalled, !rows[i].again);
		for (int n = 0; n < 2 && rows[i].again; n++) {
			answer(&f, "GET", MAP, rows[i].status, rows[i].body);
			loop_fake_run(f.w.loop, 2 * NS_PER_S - 1);
			assert_int_equal(fake_unused(f.w.transport), 1);
			loop_fake_run(f.w.loop, 1);
			assert_int_equal(fake_unused(f.w.transport), 0);
			assert_int_equal(f.n_recalled, 0);
		}
		bool refused = rows[i].status == 403; /* and it is told nothing for a while */
		assert_int_equal(f.t->failing, refused ? E_FORBIDDEN : 0);
		assert_int_equal(f.t->size > 0, !rows[i].again && !refused);
		assert_false(f.t->refused);
		end(&f);
	}
}

static void test_anchor_configmap__knows_a_note_of_another_log(void **state)
{
	(void)state;
	struct fixture f = {0};
	work_fixture_init(&f.w);
	answer(&f, "GET", MAP, 200, HAS("3", ",\"checkpoint\":\"" FOREIGN "\""));
	begin(&f);
	assert_true(f.t->refused);
	assert_non_null(audit_read_only(f.w.audit));
	end(&f);
}

/* Over what was read, and what it has besides stays; then over what was written. */
static void test_anchor_configmap__is_written_over_what_was_read(void **state)
{
	(void)state;
	struct fixture f = {0};
	work_fixture_init(&f.w);
	answer(&f, "GET", MAP, 200, HAS("3", ""));
	answer(&f, "PUT", WRITTEN, 200, HAS("3a", ""));
	begin(&f);
	assert_non_null(strstr(last_call(&f), "\"resourceVersion\":\"3\""));
	size_t before = fake_count(f.w.transport);
	f.t->ops->keep(f.t, 5, STR("the note"), true); /* nobody waits for an answer at the end */
	assert_int_equal(fake_count(f.w.transport), before);
	for (int i = 0; i < 2; i++) {
		answer(&f, "PUT", WRITTEN, 200, HAS("4", ",\"checkpoint\":\"the note\""));
		keep(&f);
		assert_false(f.t->busy);
		assert_int_equal(f.t->failing, 0);
		assert_int_equal(f.t->size, 5);
		assert_non_null(strstr(last_call(&f), i ? "\"resourceVersion\":\"4\""
							: "\"resourceVersion\":\"3a\""));
		assert_non_null(strstr(last_call(&f), "\"checkpoint\":\"the note\""));
		assert_non_null(strstr(last_call(&f), "\"other\":\"stays\""));
	}
	end(&f);
}

/* With its namespace, if that is not there; once. */
static void test_anchor_configmap__is_made(void **state)
{
	static const struct {
		int namespace_status; /* 0: it is there */
		const char *namespace_body;
		bool is_made; /* at the second try */
		int failing;
	} rows[] = {{0, NULL, true, 0},
		    {201, "{}", true, 0},
		    {FAILED(409, "AlreadyExists"), true, 0},
		    {FAILED(403, "Forbidden"), false, E_FORBIDDEN},
		    {201, "{}", false, E_CONFLICT}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f = {0};
		work_fixture_init(&f.w);
		answer(&f, "GET", MAP, FAILED(404, "NotFound"));
		if (rows[i].namespace_status) {
			answer(&f, "POST", MADE, FAILED(404, "NotFound"));
			answer(&f, "POST", NAMESPACES, rows[i].namespace_status,
			       rows[i].namespace_body);
		}
		if (rows[i].is_made) {
			answer(&f, "POST", MADE, 201, HAS("1", ",\"checkpoint\":\"the note\""));
		} else if (rows[i].namespace_status == 201) { /* and it is gone again */
			answer(&f, "POST", MADE, FAILED(404, "NotFound"));
			answer(&f, "GET", MAP, FAILED(404, "NotFound"));
		}
		begin(&f);
		assert_false(f.t->busy);
		assert_int_equal(f.t->failing, rows[i].failing);
		assert_int_equal(f.t->size > 0, rows[i].is_made);
		for (size_t k = 0; k < fake_count(f.w.transport); k++)
			if (cstr_has_prefix(fake_call(f.w.transport, k),
					    "POST /api/v1/namespaces?"))
				assert_non_null(strstr(fake_call(f.w.transport, k),
						       "\"name\":\"alm-system\""));
		end(&f);
	}
}

/* Somebody else wrote it: the leader after us, who tells by the log, or another log. */
static void test_anchor_configmap__was_written_by_somebody_else(void **state)
{
	static const struct {
		int written; /* what our write was answered */
		const char *said;
		int status;
		const char *body;
		int failing;
		bool is_refused;
	} rows[] = {
		{FAILED(409, "Conflict"), 200, HAS("9", ""), E_CONFLICT, false},
		{FAILED(404, "NotFound"), FAILED(404, "NotFound"), E_CONFLICT, false},
		{FAILED(409, "Conflict"), FAILED(403, "Forbidden"), E_FORBIDDEN, false},
		{FAILED(409, "Conflict"), 200, HAS("9", ",\"checkpoint\":\"" FOREIGN "\""), 0,
		 true},
		{FAILED(409, "Conflict"), 200, HAS("9", ",\"checkpoint\":\"no note\""), E_CONFLICT,
		 false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f = {0};
		work_fixture_init(&f.w);
		answer(&f, "GET", MAP, 200, HAS("3", ""));
		answer(&f, "PUT", WRITTEN, rows[i].written, rows[i].said);
		answer(&f, "GET", MAP, rows[i].status, rows[i].body);
		begin(&f);
		assert_false(f.t->busy);
		assert_int_equal(f.t->failing, rows[i].failing);
		assert_int_equal(f.t->refused, rows[i].is_refused);
		assert_int_equal(audit_read_only(f.w.audit) != NULL, rows[i].is_refused);
		if (rows[i].is_refused) /* and by what */
			assert_non_null(strstr(audit_read_only(f.w.audit), f.t->target));
		assert_int_equal(f.t->size, 0);
		if (rows[i].status == 200 && !rows[i].is_refused) { /* the next is over that */
			answer(&f, "PUT", WRITTEN, 200, HAS("10", ""));
			keep(&f);
			assert_non_null(strstr(last_call(&f), "\"resourceVersion\":\"9\""));
			assert_int_equal(f.t->failing, 0);
		}
		end(&f);
	}
}

/* One that somebody else may have written is looked at; any other failure is told, and the next try is one. */
static void test_anchor_configmap__whatever_a_write_is_answered(void **state)
{
	static const struct {
		bool is_new;
		int status; /* of the write */
		const char *said;
		bool looks;
		int failing;
	} rows[] = {
		{false, FAILED(400, "BadRequest"), false, E_BADREQUEST},
		{false, FAILED(401, "Unauthorized"), false, E_UNAUTHORIZED},
		{false, FAILED(403, "Forbidden"), false, E_FORBIDDEN},
		{false, FAILED(422, "Invalid"), false, E_INVALID},
		{false, FAILED(404, "NotFound"), true, E_CONFLICT},
		{false, FAILED(409, "Conflict"), true, E_CONFLICT},
		{false, FAILED(409, "AlreadyExists"), true, E_CONFLICT},
		{true, FAILED(403, "Forbidden"), false, E_FORBIDDEN},
		{true, FAILED(422, "Invalid"), false, E_INVALID},
		{true, FAILED(409, "Conflict"), true, E_CONFLICT},
		{true, FAILED(409, "AlreadyExists"), true, E_CONFLICT},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f = {0};
		bool exists = rows[i].looks || !rows[i].is_new;
		work_fixture_init(&f.w);
		if (rows[i].is_new)
			answer(&f, "GET", MAP, FAILED(404, "NotFound"));
		else
			answer(&f, "GET", MAP, 200, HAS("3", ""));
		answer(&f, rows[i].is_new ? "POST" : "PUT", rows[i].is_new ? MADE : WRITTEN,
		       rows[i].status, rows[i].said);
		if (rows[i].looks)
			answer(&f, "GET", MAP, 200, HAS("9", ""));
		begin(&f);
		assert_int_equal(fake_unused(f.w.transport), 0);
		assert_false(f.t->busy);
		assert_false(f.t->refused);
		assert_int_equal(f.t->failing, rows[i].failing);
		assert_int_equal(f.t->size, 0);
		answer(&f, exists ? "PUT" : "POST", exists ? WRITTEN : MADE, 200, HAS("10", ""));
		keep(&f);
		assert_false(f.t->busy);
		assert_int_equal(f.t->failing, 0);
		assert_int_equal(f.t->size, 5);
		end(&f);
	}
}

/* What is under way when it ends is answered to nobody. */
static void test_anchor_configmap__ends_at_any_time(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct fixture f = {0};
		work_fixture_init(&f.w);
		if (way)
			answer(&f, "GET", MAP, FAILED(401, "Unauthorized"));
		else
			fake_stream(f.w.transport, "GET", MAP, 200, "");
		begin(&f);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anchor_configmap__is_asked_until_it_is_known),
		cmocka_unit_test(test_anchor_configmap__knows_a_note_of_another_log),
		cmocka_unit_test(test_anchor_configmap__is_written_over_what_was_read),
		cmocka_unit_test(test_anchor_configmap__is_made),
		cmocka_unit_test(test_anchor_configmap__was_written_by_somebody_else),
		cmocka_unit_test(test_anchor_configmap__whatever_a_write_is_answered),
		cmocka_unit_test(test_anchor_configmap__ends_at_any_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
