/* test_executor_writes.c: what the executor asks of a server for each action, and what becomes of each answer. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/engine/view.h"
#include "alm/obj/meta.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/work_fixture.h"

#define MAPS "/api/v1/namespaces/n/configmaps"

/* The caches of a host: one object, and what they were told. */
struct fixture {
	struct work_fixture w;
	struct obj *cached; /* or NULL */
	char told[256];
};

static void tell(struct fixture *f, const char *what, const char *name, const char *more)
{
	size_t n = strlen(f->told);
	(void)snprintf(f->told + n, sizeof(f->told) - n, "%s%s %s %s", n ? ", " : "", what, name,
		       more ? more : "-");
}

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	assert_string_equal(r->plural, "configmaps");
	tell(arg, "seen", meta_name(o), meta_resource_version(o));
}

static void observed_deleted(void *arg, const struct resource *r, const char *ns, const char *name,
			     const char *uid)
{
	assert_string_equal(r->plural, "configmaps");
	assert_string_equal(ns, "n");
	tell(arg, "gone", name, uid);
}

static struct obj *cached(void *arg, const struct resource *r, const char *ns, const char *name)
{
	const struct fixture *f = arg;
	(void)r;
	(void)ns;
	return f->cached && cstr_eq(meta_name(f->cached), name) ? obj_ref(f->cached) : NULL;
}

static struct obj *map_of(const char *name, const char *uid, const char *rv)
{
	struct obj *o = meta_skeleton("v1", "ConfigMap", "n", name);
	if (uid)
		obj_set_path(o, "metadata.uid", obj_string(uid));
	if (rv)
		obj_set_path(o, "metadata.resourceVersion", obj_string(rv));
	return o;
}

static void setup(struct fixture *f)
{
	const struct executor_host host = {.observed = observed,
					   .observed_deleted = observed_deleted,
					   .cached = cached,
					   .arg = f};
	*f = (struct fixture){.cached = map_of("c", "u1", "7")};
	work_fixture_init_as(&f->w, false, &host);
	work_fixture_discover(&f->w);
}

static void teardown(struct fixture *f)
{
	work_fixture_release(&f->w);
	obj_unref(f->cached);
}

/* --- what is asked --- */

enum what {
	APPLY,
	FORCED,
	OVER,
	BY_ANOTHER,
	CREATE,
	PATCH,
	DELETE,
	OWN_APPLY,
	OWN_PATCH,
	OWN_DELETE
};

static void add(struct plan *p, enum what what, const char *name)
{
	struct obj *live = obj_keep(p->a, map_of(name, "u1", "7")),
		   *body = map_of(name, NULL, NULL);
	obj_set_path(body, "data.k", obj_string("v"));
	switch (what) {
	case APPLY:
	case FORCED:
		plan_apply(p, body, 0, what == FORCED);
		break;
	case OVER:
		plan_over(p, plan_apply(p, body, 0, false), live);
		break;
	case BY_ANOTHER:
		plan_apply(p, body, 0, false)->manager = "alm:b";
		break;
	case CREATE:
		plan_create(p, body);
		break;
	case PATCH:
		obj_del(body, "metadata");
		plan_patch(p, live, body);
		break;
	case DELETE:
		plan_delete(p, live, "Foreground");
		obj_unref(body);
		break;
	case OWN_APPLY:
		plan_own_apply(p, body);
		break;
	case OWN_PATCH:
		obj_del(body, "metadata");
		plan_own_patch(p, live, body);
		break;
	case OWN_DELETE:
		plan_own_delete(p, live);
		obj_unref(body);
		break;
	}
}

/* Each precondition, each option and whose right it is: a write without them goes through all the same. */
static void test_executor_writes__a_request_has_all_of_its_action(void **state)
{
#define APPLIED(query, meta)                                                        \
	"PATCH " MAPS "/c?fieldManager=" query " application/apply-patch+yaml {"    \
	"\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"" \
	",\"namespace\":\"n\"" meta "},\"data\":{\"k\":\"v\"}}"
#define PATCHED                                                                          \
	"PATCH " MAPS "/c?fieldManager=alm application/merge-patch+json {"               \
	"\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"k\":\"v\"},\"metadata" \
	"\":{\"resourceVersion\":\"7\"}}"
#define DELETED(how)                                                                    \
	"DELETE " MAPS "/c application/json {\"apiVersion\":\"v1\",\"kind\":"           \
	"\"DeleteOptions\",\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"7\"" \
	"},\"propagationPolicy\":\"" how "\"}"
	static const struct {
		enum what what;
		const char *method, *target, *call;
		bool is_own;
	} cases[] = {
		{APPLY, "PATCH", MAPS "/c*", APPLIED("alm&force=false", ""), false},
		{FORCED, "PATCH", MAPS "/c*", APPLIED("alm&force=true", ""), false},
		{OVER, "PATCH", MAPS "/c*",
		 APPLIED("alm&force=false", ",\"resourceVersion\":\"7\",\"uid\":\"u1\""), false},
		{BY_ANOTHER, "PATCH", MAPS "/c*", APPLIED("alm%3Ab&force=false", ""), false},
		{CREATE, "POST", MAPS "?*",
		 "POST " MAPS "?fieldManager=alm application/json {\"apiVersion\":\"v1\","
		 "\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":\"n\"},"
		 "\"data\":{\"k\":\"v\"}}",
		 false},
		{PATCH, "PATCH", MAPS "/c*", PATCHED, false},
		{DELETE, "DELETE", MAPS "/c", DELETED("Foreground"), false},
		{OWN_APPLY, "PATCH", MAPS "/c*", APPLIED("alm&force=true", ""), true},
		{OWN_PATCH, "PATCH", MAPS "/c*", PATCHED, true},
		{OWN_DELETE, "DELETE", MAPS "/c", DELETED("Background"), true},
	};
	struct fixture f;
	(void)state;
	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plan p;
		size_t n = fake_count(f.w.transport);
		work_fixture_plan(&p);
		add(&p, cases[i].what, "c");
		fake_answer(f.w.transport, cases[i].method, cases[i].target, 200,
			    "{\"metadata\":{\"name\":\"c\",\"uid\":\"u1\"}}");
		work_fixture_run(&f.w, &p);
		assert_int_equal(f.w.code, 0);
		assert_int_equal(f.w.n_done, 1);
		assert_string_equal(fake_call(f.w.transport, n), cases[i].call);
		const char *user = fake_user(f.w.transport, n);
		assert_string_equal(user ? user : "", cases[i].is_own ? "" : WORK_FIXTURE_ACCOUNT);
	}
	teardown(&f);
}

/* --- what becomes of an answer --- */

struct given {
	int status; /* 0: the connection is lost */
	const char *reason;
	int code;          /* of the run */
	const char *entry; /* reason of the Write entry */
};

static bool is_as_wanted(enum what what, const struct given *g)
{
	return g->status == 200 || (what == DELETE && g->status == 404);
}

static bool is_silent(enum what what, const struct given *g)
{
	return what == CREATE && g->code == E_EXISTS;
}

static void give(struct fixture *f, enum what what, const char *name, const struct given *g)
{
	static const char *const methods[] = {
		[APPLY] = "PATCH", [CREATE] = "POST", [PATCH] = "PATCH", [DELETE] = "DELETE"};
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *target = what == CREATE
				     ? MAPS "?*"
				     : arena_fmt(a, MAPS "/%s%s", name, what == DELETE ? "" : "*");
	const char *body =
		g->status == 200
			? arena_fmt(a,
				    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				    "\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"u1\","
				    "\"resourceVersion\":\"8\"}}",
				    name)
			: arena_fmt(a,
				    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"%s\","
				    "\"message\":\"it says %s\"}",
				    g->reason, g->reason);
	if (g->status)
		fake_answer(f->w.transport, methods[what], target, g->status, body);
	else
		fake_lose(f->w.transport, methods[what], target);
}

static void check_entry(struct fixture *f, const char *reason)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	assert_ok(audit_row_get(f->w.audit, audit_last_seq(f->w.audit), &row, &err), &err);
	assert_string_equal(obj_str(row, "type"), "Write");
	assert_string_equal(obj_str(row, "reason"), reason);
	assert_string_equal(obj_str(row, "body.outcome"), reason);
	assert_string_equal(obj_str(row, "body.who.user"), WORK_FIXTURE_ACCOUNT);
}

static void check_one(enum what what, const struct given *g, bool was_refused)
{
	static const struct given refusal = {422, "Invalid", E_INVALID, "Failed"};
	struct fixture f;
	struct plan p;
	setup(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *id = refusal_id("", "ConfigMap", "n", "c", a);
	if (was_refused) {
		work_fixture_plan(&p);
		add(&p, what, "c");
		give(&f, what, "c", &refusal);
		work_fixture_run(&f.w, &p);
		assert_int_equal(stash_get(f.w.stash, id)->code, E_INVALID);
	}
	char digest[SHA256_HEX] = "d";
	stash_set_applied(f.w.stash, "u1", digest, 1);
	work_fixture_plan(&p);
	add(&p, what, "c");
	add(&p, PATCH, "z"); /* what comes behind it */
	bool is_done = is_as_wanted(what, g), goes_on = is_done || is_silent(what, g);
	give(&f, what, "c", g);
	if (!goes_on) /* the entry of the other is not the last one then */
		work_fixture_run(&f.w, &p);
	else {
		fake_stream(f.w.transport, "PATCH", MAPS "/z*", 200, "");
		work_fixture_run(&f.w, &p);
		assert_int_equal(f.w.n_done, 0);
	}
	check_entry(&f, g->entry);
	if (!goes_on)
		assert_int_equal(f.w.code, g->code);
	const struct outcome *told = stash_get(f.w.stash, id);
	assert_int_equal(told ? told->code : 0, is_done              ? 0
						: is_silent(what, g) ? (was_refused ? E_INVALID : 0)
								     : g->code);
	assert_string_equal(f.told, !is_done ? "" : what == DELETE ? "gone c u1" : "seen c 8");
	/* what is gone is no baseline, what was applied is a new one */
	int64_t at = stash_applied_ns(f.w.stash, "u1");
	assert_int_equal(at == 0, is_done && what == DELETE);
	assert_int_equal(at > 1, is_done && what == APPLY);
	if (goes_on)
		fake_end(f.w.transport, true);
	loop_fake_settle(f.w.loop);
	assert_int_equal(f.w.n_done, 1);
	teardown(&f);
}

/* Of every verb every answer: done, refused with what is remembered of it, or wanted so; what comes behind
 * is begun in the first and last case alone. */
static void test_executor_writes__each_answer_of_each_verb(void **state)
{
	static const enum what verbs[] = {APPLY, CREATE, PATCH, DELETE};
	static const struct given answers[] = {
		{200, "", 0, "Applied"},
		{404, "NotFound", E_NOTFOUND, "Failed"},
		{409, "AlreadyExists", E_EXISTS, "Conflict"},
		{409, "Conflict", E_CONFLICT, "Conflict"},
		{403, "Forbidden", E_FORBIDDEN, "Denied"},
		{422, "Invalid", E_INVALID, "Failed"},
		{500, "InternalError", E_INTERNAL, "Unknown"},
		{0, "", E_IO, "Unknown"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		for (size_t k = 0; k < ARRAY_LEN(answers); k++)
			for (int refused = 0; refused < 2; refused++)
				check_one(verbs[i], &answers[k], refused);
}

/* What was put back is counted, by the name; what needed no write, or was refused, is not. */
static void test_executor_writes__counts_what_is_put_back(void **state)
{
	static const struct {
		enum what what;
		int status;
		const char *rv;
		bool repairs, counts;
	} cases[] = {
		{OVER, 200, "8", true, true},  {OVER, 200, "7", true, false},
		{OVER, 409, "8", true, false}, {OVER, 200, "8", false, false},
		{APPLY, 200, "8", true, true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct plan p;
		char body[200];
		setup(&f);
		work_fixture_plan(&p);
		add(&p, cases[i].what, "c");
		p.head->repairs = cases[i].repairs;
		(void)snprintf(body, sizeof(body),
			       "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":"
			       "\"u1\",\"resourceVersion\":\"%s\"},\"reason\":\"Conflict\"}",
			       cases[i].rv);
		fake_answer(f.w.transport, "PATCH", MAPS "/c*", cases[i].status, body);
		work_fixture_run(&f.w, &p);
		const struct outcome *o = stash_get(f.w.stash, "repaired:/ConfigMap/n/c");
		assert_int_equal(o != NULL, cases[i].counts);
		teardown(&f);
	}
}

/* What has no entry of its own has an Event by the revision that it made. */
static void test_executor_writes__the_event_of_a_patch(void **state)
{
	static const struct {
		enum what what;
		const char *type;
		int status;
		bool told;
	} cases[] = {
		{PATCH, "Warning", 200, true},  {OWN_PATCH, "Normal", 200, true},
		{PATCH, NULL, 200, false},      {PATCH, "Warning", 409, false},
		{APPLY, "Warning", 200, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct plan p;
		setup(&f);
		work_fixture_plan(&p);
		add(&p, cases[i].what, "c");
		p.head->subject = obj_keep(p.a, map_of("c", "u1", "7"));
		p.head->event_type = cases[i].type;
		p.head->reason = "Noted";
		p.head->message = "m";
		fake_answer(f.w.transport, "PATCH", MAPS "/c*", cases[i].status,
			    "{\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"u1\","
			    "\"resourceVersion\":\"8\"},\"reason\":\"Conflict\"}");
		if (cases[i].told)
			fake_answer(f.w.transport, "POST", "/api/v1/namespaces/n/events?*", 201,
				    "{}");
		work_fixture_run(&f.w, &p);
		size_t n = fake_count(f.w.transport);
		const char *last = fake_call(f.w.transport, n - 1);
		assert_int_equal(strstr(last, "/events?") != NULL, cases[i].told);
		if (cases[i].told) {
			assert_non_null(strstr(last, "\"reason\":\"Noted\""));
			assert_non_null(strstr(last, cases[i].type));
			assert_non_null(strstr(last, "\"name\":\"c.u1.8\""));
		}
		teardown(&f);
	}
}

/* The answer of a write may be the last state of the object. */
static void test_executor_writes__an_answer_that_is_the_end_of_it(void **state)
{
#define GOING                                                                                \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"uid\"" \
	":\"u1\",\"resourceVersion\":\"8\",\"deletionTimestamp\":\"2030-01-01T00:00:00Z\""
	static const struct {
		enum what what;
		const char *method, *target, *body, *told;
	} cases[] = {
		{APPLY, "PATCH", MAPS "/c*", GOING "}}", "gone c u1"},
		{PATCH, "PATCH", MAPS "/c*", GOING ",\"finalizers\":[]}}", "gone c u1"},
		{PATCH, "PATCH", MAPS "/c*", GOING ",\"finalizers\":[\"f\"]}}", "seen c 8"},
		{DELETE, "DELETE", MAPS "/c", GOING ",\"finalizers\":[\"f\"]}}", "seen c 8"},
		{DELETE, "DELETE", MAPS "/c", GOING "}}", "gone c u1"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct plan p;
		char digest[SHA256_HEX] = "d";
		setup(&f);
		stash_set_applied(f.w.stash, "u1", digest, 1);
		work_fixture_plan(&p);
		add(&p, cases[i].what, "c");
		fake_answer(f.w.transport, cases[i].method, cases[i].target, 200, cases[i].body);
		work_fixture_run(&f.w, &p);
		assert_string_equal(f.told, cases[i].told);
		assert_int_equal(stash_applied_ns(f.w.stash, "u1") == 0, cases[i].told[0] == 'g');
		teardown(&f);
	}
}

/* The newest Observe entry says how the delete ended; what was refused alike is not told again. */
static void test_executor_writes__how_a_delete_ended_has_an_entry(void **state)
{
	static const struct delete_entry ends = {"Gone", "Refused", "Unknown"};
	static const struct {
		struct given g;
		const char *reason, *message; /* reason NULL: no new one */
	} cases[] = {
		{{403, "Forbidden", E_FORBIDDEN, ""}, "Refused", "it says Forbidden"},
		{{403, "Forbidden", E_FORBIDDEN, ""}, NULL, NULL},
		{{409, "Conflict", E_CONFLICT, ""}, "Refused", "it says Conflict"},
		{{422, "Invalid", E_INVALID, ""}, "Refused", "it says Invalid"},
		{{0, "", E_IO, ""}, "Unknown", NULL},
		{{404, "NotFound", E_NOTFOUND, ""}, "Gone", "it says NotFound"},
		{{200, "", 0, ""}, "Gone", NULL},
	};
	struct fixture f;
	(void)state;
	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plan p;
		work_fixture_plan(&p);
		add(&p, DELETE, "c");
		p.head->ends = &ends;
		p.head->body = obj_keep(p.a, obj_map());
		obj_set_str(obj_keep(p.a, obj_ref(p.head->body)), "by", "kubectl");
		give(&f, DELETE, "c", &cases[i].g);
		work_fixture_run(&f.w, &p);
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f.w.audit, audit_last_seq(f.w.audit), &row, &err), &err);
		assert_string_equal(obj_str(row, "type"), cases[i].reason ? "Observe" : "Write");
		if (!cases[i].reason)
			continue;
		assert_string_equal(obj_str(row, "reason"), cases[i].reason);
		assert_string_equal(obj_str(row, "body.by"), "kubectl");
		assert_string_equal(obj_str(row, "subject.uid"), "u1");
		if (cases[i].message)
			assert_non_null(strstr(obj_str(row, "body.message"), cases[i].message));
	}
	teardown(&f);
}

/* The server gives the revision that there was: nothing has changed. */
static void test_executor_writes__what_changes_nothing_says_so(void **state)
{
	struct fixture f;
	struct plan p;
	(void)state;
	setup(&f);
	work_fixture_plan(&p);
	add(&p, APPLY, "c");
	fake_answer(f.w.transport, "PATCH", MAPS "/c*", 200,
		    "{\"metadata\":{\"name\":\"c\",\"uid\":\"u1\",\"resourceVersion\":\"7\"}}");
	work_fixture_run(&f.w, &p);
	check_entry(&f, "Unchanged");
	teardown(&f);
}

/* --- in which order --- */

static size_t sent(struct fixture *f, size_t from)
{
	return fake_count(f->w.transport) - from;
}

/* Applies of one stage go together, as many as there may be; all else waits for what stands before it. */
static void test_executor_writes__a_stage_ends_before_the_next_begins(void **state)
{
	struct fixture f;
	struct plan p;
	(void)state;
	setup(&f);
	work_fixture_plan(&p);
	for (size_t i = 0; i <= CLIENT_WRITES_MAX; i++)
		add(&p, APPLY, arena_fmt(p.a, "a%zu", i));
	plan_apply(&p, map_of("b", NULL, NULL), 1, false);
	add(&p, DELETE, "c");
	add(&p, CREATE, "d");
	for (size_t i = 0; i < CLIENT_WRITES_MAX + 2; i++)
		fake_stream(f.w.transport, "PATCH", MAPS "/*", 200, "{\"metadata\":{}}");
	fake_stream(f.w.transport, "DELETE", MAPS "/c", 200, "{}");
	fake_stream(f.w.transport, "POST", MAPS "?*", 201, "{}");
	size_t from = fake_count(f.w.transport);
	work_fixture_run(&f.w, &p);
	assert_int_equal(sent(&f, from), CLIENT_WRITES_MAX);
	fake_end(f.w.transport, false);
	loop_fake_settle(f.w.loop);
	assert_int_equal(sent(&f, from), CLIENT_WRITES_MAX + 1);
	for (size_t i = 1; i < CLIENT_WRITES_MAX; i++) {
		fake_end(f.w.transport, false);
		loop_fake_settle(f.w.loop);
		assert_int_equal(sent(&f, from), CLIENT_WRITES_MAX + 1);
	}
	for (size_t i = 2; i < 5; i++) {
		fake_end(f.w.transport, false);
		loop_fake_settle(f.w.loop);
		assert_int_equal(sent(&f, from), CLIENT_WRITES_MAX + i);
		assert_int_equal(f.w.n_done, 0);
	}
	fake_end(f.w.transport, false);
	loop_fake_settle(f.w.loop);
	assert_int_equal(f.w.n_done, 1);
	assert_int_equal(f.w.code, 0);
	assert_int_equal(f.w.result, RUN_CHANGED);
	teardown(&f);
}

struct commits {
	size_t n;
	int64_t from, to; /* of the last one */
};

static void committed(void *arg, int64_t from, int64_t to)
{
	struct commits *c = arg;
	*c = (struct commits){c->n + 1, from, to};
}

static void create_many(struct fixture *f, size_t n)
{
	struct plan p;
	work_fixture_plan(&p);
	for (size_t i = 0; i < n; i++) {
		add(&p, CREATE, arena_fmt(p.a, "c%zu", i));
		fake_answer(f->w.transport, "POST", MAPS "?*", 200,
			    "{\"metadata\":{\"name\":\"c\",\"uid\":\"u1\"}}");
	}
	work_fixture_run(&f->w, &p);
	assert_int_equal(f->w.n_done, 1);
}

/* A commit costs a write to the disk, and a log that knows an open write loses nothing by a crash. */
static void test_executor_writes__entries_of_ten_answers_are_one_commit(void **state)
{
	struct fixture f;
	struct commits c = {0};
	(void)state;
	setup(&f);
	audit_on_commit(f.w.audit, committed, &c);
	create_many(&f, 10);
	assert_int_equal(c.n, 1); /* before the first write: what will be written */
	assert_int_equal(c.from, c.to);
	int64_t planned = c.to;
	loop_fake_run(f.w.loop, 10 * NS_PER_MS);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.from, planned + 1);
	assert_int_equal(c.to, planned + 10);
	create_many(&f, 2);
	create_many(&f, 1); /* the next plan takes them along */
	assert_int_equal(c.n, 4);
	assert_int_equal(c.from, planned + 12);
	assert_int_equal(c.to, planned + 14);
	executor_free(STEAL(f.w.executor)); /* and so does the end */
	assert_int_equal(c.n, 5);
	assert_int_equal(c.to, planned + 15);
	assert_false(db_in_transaction(f.w.db));
	teardown(&f);
}

/* The executor of a Bundle's units has the same log. */
static void test_executor_writes__what_another_executor_left_open_is_committed_first(void **state)
{
	struct fixture f;
	struct commits c = {0};
	struct error err;
	int64_t seq;
	(void)state;
	setup(&f);
	audit_on_commit(f.w.audit, committed, &c);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	const struct audit_row row = {.type = "Write",
				      .reason = "Applied",
				      .subject = {.kind = "ConfigMap", .ns = "n", .name = "x"},
				      .body = body};
	assert_ok(db_begin(f.w.db, &err), &err);
	assert_ok(audit_append(f.w.audit, &row, &seq, &err), &err);
	create_many(&f, 1);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.from, seq);
	assert_int_equal(c.to, seq + 1);
	teardown(&f);
}

/* As SQLite does on a full disk, by itself. */
static void test_executor_writes__entries_that_are_rolled_back_break_nothing(void **state)
{
	struct fixture f;
	struct commits c = {0};
	(void)state;
	setup(&f);
	create_many(&f, 2);
	db_rollback(f.w.db);
	audit_rolled_back(f.w.audit);
	audit_on_commit(f.w.audit, committed, &c);
	loop_fake_run(f.w.loop, 10 * NS_PER_MS);
	assert_int_equal(c.n, 0);
	assert_false(db_is_broken(f.w.db));
	create_many(&f, 1);
	assert_int_equal(c.n, 1);
	teardown(&f);
}

static int make_folder(void **state)
{
	static char dir[] = "/tmp/alm-executor-wal-XXXXXX";
	*state = mkdtemp(dir);
	return *state ? 0 : -1;
}

/* Also of a test that failed. */
static int remove_folder(void **state)
{
	audit_log_remove(*state);
	return 0;
}

/* A log beside a cluster has nobody else who moves its WAL into the database. */
static void test_executor_writes__the_wal_of_the_log_does_not_grow(void **state)
{
	char path[64];
	struct fixture f = {.cached = NULL};
	(void)snprintf(path, sizeof(path), "%s/alm.db", (const char *)*state);
	const struct work_fixture_config c = {
		.path = path,
		.host = &(const struct executor_host){
			.observed = observed, .cached = cached, .arg = &f}};
	work_fixture_init_with(&f.w, &c);
	work_fixture_discover(&f.w);
	struct error err = ERROR_INIT;
	assert_ok(db_exec(f.w.db, "CREATE TABLE much (b BLOB)", &err), &err);
	for (int i = 0; i < 4; i++) {
		struct plan p;
		assert_ok(db_exec(f.w.db, "INSERT INTO much VALUES (randomblob(3 << 20))", &err),
			  &err);
		work_fixture_plan(&p);
		add(&p, APPLY, "c");
		fake_answer(f.w.transport, "PATCH", MAPS "/c*", 409, "{}");
		work_fixture_run(&f.w, &p);
	}
	assert_in_range(db_wal_bytes(f.w.db), 1, 7 << 20);
	work_fixture_drop(&f.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_executor_writes__the_wal_of_the_log_does_not_grow, make_folder,
			remove_folder),
		cmocka_unit_test(test_executor_writes__a_request_has_all_of_its_action),
		cmocka_unit_test(test_executor_writes__each_answer_of_each_verb),
		cmocka_unit_test(test_executor_writes__counts_what_is_put_back),
		cmocka_unit_test(test_executor_writes__the_event_of_a_patch),
		cmocka_unit_test(test_executor_writes__an_answer_that_is_the_end_of_it),
		cmocka_unit_test(test_executor_writes__how_a_delete_ended_has_an_entry),
		cmocka_unit_test(test_executor_writes__what_changes_nothing_says_so),
		cmocka_unit_test(test_executor_writes__a_stage_ends_before_the_next_begins),
		cmocka_unit_test(test_executor_writes__entries_of_ten_answers_are_one_commit),
		cmocka_unit_test(
			test_executor_writes__what_another_executor_left_open_is_committed_first),
		cmocka_unit_test(test_executor_writes__entries_that_are_rolled_back_break_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
