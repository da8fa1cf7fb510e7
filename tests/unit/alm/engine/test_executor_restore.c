/* test_executor_restore.c: a status follows its entry, and what stands in the object is judged by the log. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/clock.h"
#include "alm/io/db.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define MAPS   "/api/v1/namespaces/n/configmaps"
#define STATUS MAPS "/c/status?fieldManager=alm"
#define EVENTS "/api/v1/namespaces/n/events?*"

struct fixture {
	struct work_fixture w;
	size_t n_seen; /* answers that went into the cache */
};

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	struct fixture *f = arg;
	(void)r;
	(void)o;
	f->n_seen++;
}

static void setup(struct fixture *f, bool same_process)
{
	const struct executor_host host = {.observed = observed, .arg = f};
	*f = (struct fixture){.n_seen = 0};
	work_fixture_init_as(&f->w, same_process, &host);
	work_fixture_discover(&f->w);
}

/* As a server has it; seq 0: without a status. */
static struct obj *object(const char *uid, int64_t seq, const char *phase)
{
	struct obj *o = meta_skeleton("v1", "ConfigMap", "n", "c");
	obj_set_path(o, "metadata.uid", obj_string(uid));
	obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
	if (seq) {
		obj_set_path(o, "status.phase", obj_string(phase));
		obj_set_path(o, "status.transitionSeq", obj_int(seq));
	}
	return o;
}

static void answer(struct fixture *f, const char *method, const char *target, struct obj *o)
{
	CLEANUP(obj_unrefp) struct obj *owned = o;
	CLEANUP(xfreep) char *text = json_text(owned);
	fake_answer(f->w.transport, method, target, 200, text);
}

/* A reconcile that saw the object so and wants this phase; it creates "z" then, which is expected or not. */
static void attempt(struct fixture *f, struct obj *seen, const char *phase, bool goes_on)
{
	struct plan p;
	struct obj *status = obj_map();
	work_fixture_plan(&p);
	obj_set_str(status, "phase", phase);
	plan_status(&p, obj_keep(p.a, seen), status, "Moved", "m");
	plan_create(&p, meta_skeleton("v1", "ConfigMap", "n", "z"));
	if (goes_on)
		fake_answer(f->w.transport, "POST", MAPS "?*", 201, "{}");
	work_fixture_run(&f->w, &p);
	assert_int_equal(f->w.n_done, 1);
	assert_int_equal(fake_unused(f->w.transport), 0);
}

/* Written, and the server keeps it. */
static void write_next(struct fixture *f, int64_t seq, const char *was, const char *phase)
{
	answer(f, "PUT", STATUS, object("u", seq, phase));
	attempt(f, object("u", seq - 1, was), phase, true);
	assert_int_equal(f->w.code, 0);
}

/* "Moved1 Moved2 LogBehindStatus": the entries about the object. */
static const char *told(struct fixture *f, struct strbuf *b)
{
	strbuf_clear(b);
	for (int64_t seq = 2; seq <= audit_last_seq(f->w.audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
		const char *type = obj_str(row, "type");
		if (!cstr_eq(type, "Transition") && !cstr_eq(type, "Observe"))
			continue;
		strbuf_addf(b, "%s%s", b->len ? " " : "", obj_str(row, "reason"));
		if (obj_has(row, "transitionSeq"))
			strbuf_addf(b, "%d", (int)obj_i64(row, "transitionSeq", 0));
	}
	return b->buf;
}

/* The last PUT has this status. */
static void check_put(struct fixture *f, int64_t seq, const char *phase)
{
	char want[96];
	const char *last = NULL;
	for (size_t i = 0; i < fake_count(f->w.transport); i++)
		if (cstr_has_prefix(fake_call(f->w.transport, i), "PUT "))
			last = fake_call(f->w.transport, i);
	(void)snprintf(want, sizeof(want), "\"status\":{\"phase\":\"%s\",\"transitionSeq\":%d}",
		       phase, (int)seq);
	assert_non_null(last);
	if (!last || !strstr(last, want) || !strstr(last, "\"resourceVersion\":\"7\""))
		fail_msg("%s is not in %s", want, last ? last : "");
}

/* The last Event is a warning of this reason. */
static void check_event(struct fixture *f, const char *reason)
{
	char want[64];
	const char *last = "";
	for (size_t i = 0; i < fake_count(f->w.transport); i++)
		if (strstr(fake_call(f->w.transport, i), "/events?"))
			last = fake_call(f->w.transport, i);
	(void)snprintf(want, sizeof(want), "\"type\":\"Warning\",\"reason\":\"%s\"", reason);
	assert_non_null(strstr(last, want));
	assert_non_null(strstr(last, "\"the status was written by somebody else\""));
}

static void test_executor_restore__each_has_its_entry_before_it(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct fixture f;
		struct plan p;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, same);
		work_fixture_plan(&p);
		struct obj *status = obj_map();
		obj_set_str(status, "phase", "one");
		plan_status(&p, obj_keep(p.a, object("u", 0, NULL)), status, "Moved", "m");
		plan_create(&p, meta_skeleton("v1", "ConfigMap", "n", "z"));
		fake_stream(f.w.transport, "PUT", STATUS, 200, "");
		work_fixture_run(&f.w, &p);
		assert_string_equal(told(&f, &b), "Moved1");
		check_put(&f, 1, "one"); /* under way; what is behind it is not */
		assert_int_equal(f.w.n_done, 0);
		fake_end(f.w.transport, true);
		loop_fake_settle(f.w.loop);
		assert_int_equal(f.w.code, E_IO);
		assert_int_equal(f.n_seen, 0);
		write_next(&f, 1, "", "one"); /* the same once more: it is the entry's */
		assert_string_equal(told(&f, &b), "Moved1");
		assert_int_equal(f.n_seen, 1);
		write_next(&f, 2, "one", "two");
		assert_string_equal(told(&f, &b), "Moved1 Moved2");
		check_put(&f, 2, "two");
		work_fixture_release(&f.w);
	}
}

/* What the log says was decided is written, whatever the next reconcile decides; which is done with it if it decides the
 * same. Anything else is decided anew: its entry comes before it, too. */
static void test_executor_restore__a_lost_one_is_repeated(void **state)
{
	static const char *const wants[] = {"one", "two"};
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(wants); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, i % 2);
		fake_answer(
			f.w.transport, "PUT", STATUS, 409,
			"{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"changed\"}");
		attempt(&f, object("u", 0, NULL), "one", false);
		assert_int_equal(f.w.code, E_CONFLICT);
		answer(&f, "PUT", STATUS, object("u", 1, "one"));
		attempt(&f, object("u", 0, NULL), wants[i / 2], !strcmp(wants[i / 2], "one"));
		check_put(&f, 1, "one");
		assert_int_equal(f.w.result, RUN_CHANGED);
		assert_string_equal(told(&f, &b), "Moved1");
		write_next(&f, 2, "one", "two");
		assert_string_equal(told(&f, &b), "Moved1 Moved2");
		work_fixture_release(&f.w);
	}
}

/* A record that is no more (an accepted gap) is not repeated: what is wanted is said with the next number, and what was
 * planned beside it is done. */
static void test_executor_restore__one_that_no_record_announces(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct fixture f;
		struct error err = ERROR_INIT;
		setup(&f, same);
		fake_lose(f.w.transport, "PUT", STATUS);
		attempt(&f, object("u", 0, NULL), "one", false);
		assert_ok(db_exec(f.w.db,
				  "DROP TRIGGER audit_delete;"
				  " DELETE FROM audit WHERE type = 'Transition'",
				  &err),
			  &err);
		answer(&f, "PUT", STATUS, object("u", 2, "two"));
		attempt(&f, object("u", 0, NULL), "two", true);
		assert_int_equal(f.w.code, 0);
		check_put(&f, 2, "two");
		work_fixture_release(&f.w);
	}
}

/* The view is older than the log: whether the object is, too, its server says. */
static void test_executor_restore__an_old_view_is_looked_up(void **state)
{
	static const struct {
		const char *uid; /* of the live object; NULL: there is none */
		int64_t seq;
		bool is_set_back;
	} cases[] = {{"u", 3, false},  {"u", 2, false}, {"other", 1, false},
		     {NULL, 0, false}, {"u", 1, true},  {"u", 0, true}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, false);
		write_next(&f, 1, "", "p1");
		write_next(&f, 2, "p1", "p2");
		write_next(&f, 3, "p2", "p3");
		if (cases[i].uid)
			answer(&f, "GET", MAPS "/c", object(cases[i].uid, cases[i].seq, "px"));
		else
			fake_answer(f.w.transport, "GET", MAPS "/c", 404,
				    "{\"kind\":\"Status\",\"reason\":\"NotFound\"}");
		if (cases[i].is_set_back) {
			answer(&f, "PUT", STATUS, object("u", 4, "p3"));
			fake_answer(f.w.transport, "POST", EVENTS, 201, "{}");
		}
		attempt(&f, object("u", 1, "p1"), "p4", false);
		assert_int_equal(f.w.code, cases[i].is_set_back ? 0
					   : cases[i].uid       ? E_CONFLICT
								: E_NOTFOUND);
		assert_string_equal(told(&f, &b), cases[i].is_set_back
							  ? "Moved1 Moved2 Moved3 StatusEdited"
							    " StatusRegressed4"
							  : "Moved1 Moved2 Moved3");
		if (cases[i].is_set_back) {
			check_put(&f, 4, "p3");
			check_event(&f, "StatusRegressed");
			assert_int_equal(f.w.result, RUN_CHANGED);
		}
		work_fixture_release(&f.w);
	}
}

/* Nothing is done for an object whose status knows more than the log, and that is told once; beside the
 * server it is somebody else's, and put back. */
static void test_executor_restore__one_ahead_of_the_log(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, same);
		write_next(&f, 1, "", "p1");
		for (int i = 0; i < 2; i++) {
			if (same && i)
				break;
			if (same) {
				answer(&f, "PUT", STATUS, object("u", 2, "p1"));
				fake_answer(f.w.transport, "POST", EVENTS, 201, "{}");
			}
			attempt(&f, object("u", 5, "px"), "p2", false);
			assert_int_equal(f.w.code, 0);
			assert_int_equal(f.w.requeue_after_ns, same ? 0 : NS_PER_MIN);
			assert_int_equal(f.w.result, same ? RUN_CHANGED : RUN_UNCHANGED);
			assert_string_equal(told(&f, &b),
					    same ? "Moved1 StatusEdited StatusRestored2"
						 : "Moved1 LogBehindStatus");
		}
		if (same)
			check_put(&f, 2, "p1");
		work_fixture_release(&f.w);
	}
}

struct commit {
	struct fixture *f;
	bool fails;
};

static void end_commit(void *arg)
{
	const struct commit *c = arg;
	struct error err = ERROR_INIT;
	assert_true(db_in_transaction(c->f->w.db)); /* nobody else has ended it */
	if (c->fails) {
		db_rollback(c->f->w.db);
		audit_rolled_back(c->f->w.audit);
		return;
	}
	assert_ok(db_commit(c->f->w.db, &err), &err);
	audit_committed(c->f->w.audit);
}

/* The answer of a look comes while the server is at its commit: what is put back has its entry in that, and is written
 * behind it, or not at all. */
static void test_executor_restore__a_look_is_no_end_of_the_servers_commit(void **state)
{
	(void)state;
	for (int fails = 0; fails < 2; fails++) {
		struct fixture f;
		struct plan p;
		struct commit commit = {&f, fails};
		struct task ends = {.fn = end_commit, .arg = &commit};
		struct error err = ERROR_INIT;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		setup(&f, true);
		write_next(&f, 1, "", "p1");
		write_next(&f, 2, "p1", "p2");
		write_next(&f, 3, "p2", "p3");
		work_fixture_plan(&p);
		struct obj *status = obj_map();
		obj_set_str(status, "phase", "p4");
		plan_status(&p, obj_keep(p.a, object("u", 1, "p1")), status, "Moved", "m");
		CLEANUP(obj_unrefp) struct obj *live = object("u", 1, "px");
		CLEANUP(xfreep) char *text = json_text(live);
		fake_stream(f.w.transport, "GET", MAPS "/c", 200, text);
		work_fixture_run(&f.w, &p);
		assert_int_equal(f.w.n_done, 0);
		assert_ok(db_begin(f.w.db, &err), &err);
		if (!fails) {
			answer(&f, "PUT", STATUS, object("u", 4, "p3"));
			fake_answer(f.w.transport, "POST", EVENTS, 201, "{}");
		}
		loop_post(f.w.loop, &ends); /* after the answer, which comes at once */
		fake_end(f.w.transport, false);
		loop_fake_settle(f.w.loop);
		assert_int_equal(f.w.n_done, 1);
		assert_int_equal(f.w.code, fails ? E_UNAVAILABLE : 0);
		assert_int_equal(fake_unused(f.w.transport), 0);
		check_put(&f, fails ? 3 : 4, "p3");
		assert_string_equal(told(&f, &b), fails ? "Moved1 Moved2 Moved3"
							: "Moved1 Moved2 Moved3 StatusEdited "
							  "StatusRegressed4");
		work_fixture_drop(&f.w);
	}
}

/* Somebody's status of the right number, put back with the next one. */
static void restore(struct fixture *f, int64_t seq)
{
	answer(f, "PUT", STATUS, object("u", seq, "p1"));
	fake_answer(f->w.transport, "POST", EVENTS, 201, "{}");
	attempt(f, object("u", seq - 1, "theirs"), "p2", false);
	assert_int_equal(f->w.code, 0);
	check_put(f, seq, "p1");
	check_event(f, "StatusRestored");
}

/* Three times an hour; then somebody else is let have it, for an hour or until there is something new to say. */
static void test_executor_restore__one_that_is_edited_again_and_again(void **state)
{
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	(void)state;
	setup(&f, false);
	loop_fake_run(f.w.loop, NS_PER_S); /* at 0 nothing was ever restored */
	write_next(&f, 1, "", "p1");
	for (int64_t seq = 2; seq <= 4; seq++) {
		restore(&f, seq);
		loop_fake_run(f.w.loop, NS_PER_MIN);
	}
	assert_string_equal(told(&f, &b), "Moved1 StatusEdited StatusRestored2 StatusEdited"
					  " StatusRestored3 StatusEdited StatusRestored4");
	attempt(&f, object("u", 4, "theirs"), "p2", false); /* nothing is written */
	assert_non_null(strstr(told(&f, &b), "StatusRestored4 StatusContested"));
	size_t n = b.len;
	attempt(&f, object("u", 4, "theirs"), "p1", true); /* nothing new is said */
	told(&f, &b);
	assert_int_equal(b.len, n);
	/* the oldest of the three is an hour ago */
	loop_fake_run(f.w.loop, NS_PER_HOUR - 3 * NS_PER_MIN);
	restore(&f, 5);
	assert_non_null(strstr(told(&f, &b), "StatusContested StatusEdited StatusRestored5"));
	/* a farewell is told with its entry, or not at all */
	struct plan p;
	work_fixture_plan(&p);
	plan_status(&p, obj_keep(p.a, object("u", 5, "theirs")), obj_map(), "Deleted", "")
		->row_only = true;
	size_t n_calls = fake_count(f.w.transport);
	work_fixture_run(&f.w, &p);
	assert_int_equal(fake_count(f.w.transport), n_calls);
	/* and what is new is said at any time */
	answer(&f, "PUT", STATUS, object("u", 6, "new"));
	attempt(&f, object("u", 5, "theirs"), "new", true);
	check_put(&f, 6, "new");
	assert_non_null(strstr(told(&f, &b), "StatusContested Moved6"));
	work_fixture_release(&f.w);
}

/* What a server leaves out of a status is not edited, and not written for ever. */
static void test_executor_restore__what_a_schema_prunes_is_said_once(void **state)
{
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	(void)state;
	setup(&f, false);
	answer(&f, "PUT", STATUS, object("u", 1, "cut"));
	attempt(&f, object("u", 0, NULL), "whole", true);
	for (int i = 0; i < 3; i++)
		attempt(&f, object("u", 1, "cut"), "whole", true);
	assert_string_equal(told(&f, &b), "Moved1");
	write_next(&f, 2, "cut", "other");
	assert_string_equal(told(&f, &b), "Moved1 Moved2");
	work_fixture_release(&f.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor_restore__each_has_its_entry_before_it),
		cmocka_unit_test(test_executor_restore__a_lost_one_is_repeated),
		cmocka_unit_test(test_executor_restore__one_that_no_record_announces),
		cmocka_unit_test(test_executor_restore__an_old_view_is_looked_up),
		cmocka_unit_test(test_executor_restore__one_ahead_of_the_log),
		cmocka_unit_test(test_executor_restore__a_look_is_no_end_of_the_servers_commit),
		cmocka_unit_test(test_executor_restore__one_that_is_edited_again_and_again),
		cmocka_unit_test(test_executor_restore__what_a_schema_prunes_is_said_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
