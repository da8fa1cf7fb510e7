/* Watches: selectors, revisions, bookmarks, ends. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/apiserver/core.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"

#define CMS   "/api/v1/namespaces/default/configmaps"
#define MERGE "application/merge-patch+json"

static const char cm_a[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			   "\"a\",\"labels\":{\"x\":\"1\"}},\"data\":{\"k\":\"1\"}}";

/* The n-th event of a stream; NULL past the end. Of the arena. */
static const struct obj *event(struct arena *a, struct answer s, size_t n)
{
	struct str rest = s.body, line;
	for (size_t i = 0; str_next_line(&rest, &line); i++) {
		struct obj *o = NULL;
		struct error err = ERROR_INIT;
		if (i == n)
			return json_parse(line, &o, &err) == 0 ? obj_keep(a, o) : NULL;
	}
	return NULL;
}

static void assert_event(struct apifake *f, size_t stream, size_t n, const char *type,
			 const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const struct obj *e = event(a, apifake_answer(f, stream), n);
	assert_non_null(e);
	assert_string_equal(obj_str(e, "type"), type);
	if (name)
		assert_string_equal(obj_str(e, "object.metadata.name"), name);
}

static bool has_event(struct apifake *f, size_t stream, size_t n)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	return event(a, apifake_answer(f, stream), n) != NULL;
}

static void test_watch__shows_every_change_once(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = apifake_send(f, "GET", CMS "?watch=1&fieldSelector=metadata.name=a", NULL, NULL);
	apifake_do(f, "POST", CMS, cm_a);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	apifake_do(f, "DELETE", CMS "/a", NULL);
	assert_event(f, w, 0, "ADDED", "a");
	assert_event(f, w, 1, "MODIFIED", "a");
	assert_event(f, w, 2, "DELETED", "a");
	assert_false(has_event(f, w, 3));
}

static void test_watch__leaving_the_selector_is_deleted(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = apifake_send(f, "GET", CMS "?watch=1&labelSelector=x%3D1", NULL, NULL);
	apifake_do(f, "POST", CMS, cm_a);
	struct answer a = apifake_do_type(f, "PATCH", CMS "/a", MERGE,
					  "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
	assert_event(f, w, 0, "ADDED", "a");
	assert_event(f, w, 1, "DELETED", "a");
	CLEANUP(arena_freep) struct arena *ar = arena_new(1 << 20);
	const struct obj *e = event(ar, apifake_answer(f, w), 1);
	/* The last matching state, under the revision of the change. */
	assert_string_equal(obj_str(e, "object.metadata.labels.x"), "1");
	assert_string_equal(obj_str(e, "object.metadata.resourceVersion"),
			    obj_str(a.json, "metadata.resourceVersion"));
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}");
	assert_event(f, w, 2, "ADDED", "a");
}

static void test_watch__goes_on_after_a_revision(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *ar = arena_new(1 << 20);
	struct answer a = apifake_do(f, "POST", CMS, cm_a);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	size_t w = apifake_send(f, "GET",
				arena_fmt(ar, CMS "?watch=1&resourceVersion=%s",
					  obj_str(a.json, "metadata.resourceVersion")),
				NULL, NULL);
	assert_event(f, w, 0, "MODIFIED", "a");
	assert_false(has_event(f, w, 1));
}

static void test_watch__too_old_is_an_event(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = apifake_send(f, "GET", CMS "?watch=1&resourceVersion=1", NULL, NULL);
	assert_int_equal(apifake_answer(f, w).status, 200);
	assert_event(f, w, 0, "ERROR", NULL);
	assert_true(apifake_answer(f, w).ended);
}

/* What a server has forgotten it says: one revision earlier than it remembers is too early. */
static void test_watch__the_oldest_revision_is_the_last_that_goes_on(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", CMS, cm_a);
	int64_t rv = 0;
	assert_true(str_parse_i64(str_of(obj_str(a.json, "metadata.resourceVersion")), &rv));
	apifake_restart(f);
	for (int before = 1; before >= 0; before--) {
		char target[128];
		(void)snprintf(target, sizeof(target), CMS "?watch=1&resourceVersion=%lld",
			       (long long)rv - before);
		size_t w = apifake_send(f, "GET", target, NULL, NULL);
		apifake_run(f);
		assert_int_equal(apifake_answer(f, w).ended, before);
		if (before)
			assert_event(f, w, 0, "ERROR", NULL);
		else
			assert_int_equal(apifake_answer(f, w).body.len, 0);
	}
}

static void test_watch__initial_events_end_with_a_bookmark(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", CMS, cm_a);
	size_t w = apifake_send(f, "GET",
				CMS "?watch=1&sendInitialEvents=true&resourceVersionMatch="
				    "NotOlderThan&allowWatchBookmarks=true&labelSelector=x",
				NULL, NULL);
	assert_event(f, w, 0, "ADDED", "a");
	assert_event(f, w, 1, "BOOKMARK", NULL);
	CLEANUP(arena_freep) struct arena *ar = arena_new(1 << 20);
	const struct obj *e = event(ar, apifake_answer(f, w), 1);
	assert_string_equal(obj_str(e, "object.metadata.annotations['k8s.io/initial-events-end']"),
			    "true");
	assert_int_equal(apifake_do(f, "GET", CMS "?watch=1&sendInitialEvents=true", NULL).status,
			 422);
}

static void test_watch__bookmarks_and_the_end_come_by_time(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = apifake_send(
		f, "GET", CMS "?watch=1&allowWatchBookmarks=true&timeoutSeconds=90&labelSelector=x",
		NULL, NULL);
	apifake_advance(f, 61 * NS_PER_S);
	assert_event(f, w, 0, "BOOKMARK", NULL);
	assert_false(apifake_answer(f, w).ended);
	apifake_advance(f, 30 * NS_PER_S);
	assert_true(apifake_answer(f, w).ended);
	assert_false(apifake_answer(f, w).cut);
}

static void test_watch__slow_client_is_cut(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = apifake_send(f, "GET", CMS "?watch=1", NULL, NULL);
	apifake_clog(f, w, (size_t)1 << 30);
	apifake_do(f, "POST", CMS, cm_a);
	assert_true(apifake_answer(f, w).cut);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
}

/* Closed before the commit that it waits for, and closed while it runs. */
static void test_watch__client_may_leave_at_any_time(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_send(f, "POST", CMS, NULL, cm_a);
	size_t w = apifake_send(f, "GET", CMS "?watch=1", NULL, NULL);
	apifake_close(f, w);
	apifake_run(f);
	w = apifake_send(f, "GET", CMS "?watch=1", NULL, NULL);
	apifake_run(f);
	apifake_close(f, w);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	apifake_advance(f, 2 * NS_PER_HOUR);
}

/* A watch that starts in the turn of a write sees it once, initially or as an event. */
static void test_watch__started_in_the_turn_of_a_write(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_send(f, "POST", CMS, NULL, cm_a);
	size_t w = apifake_send(f, "GET", CMS "?watch=1&labelSelector=x", NULL, NULL);
	apifake_run(f);
	assert_event(f, w, 0, "ADDED", "a");
	assert_false(has_event(f, w, 1));
}

enum { MANY = 60 };

static void create(struct apifake *f, const char *name, size_t bytes)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
		    "\"labels\":{\"x\":\"1\"}},\"data\":{\"k\":\"",
		    name);
	strbuf_pad(&b, 'd', bytes);
	strbuf_adds(&b, "\"}}");
	assert_int_equal(apifake_do(f, "POST", CMS, b.buf).status, 201);
}

/* Objects of 20 KB, of which a reader that takes nothing gets a few. */
static size_t start_lazy(struct apifake *f, const char *query)
{
	char name[16];
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%02d", i);
		create(f, name, 20000);
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	size_t w = apifake_send_lazy(f, "GET", arena_fmt(a, CMS "?watch=1%s", query));
	apifake_run(f);
	assert_int_equal(apifake_answer(f, w).status, 200);
	assert_true(apifake_bytes(f, w) < 2 * SERVER_QUEUE_HIGH);
	return w;
}

/* The reader takes it all, a portion at a time. */
static void take_all(struct apifake *f, size_t w)
{
	while (apifake_drain(f, w))
		apifake_run(f);
}

static size_t count(struct apifake *f, size_t stream, const char *text)
{
	struct str rest = apifake_answer(f, stream).body;
	size_t n = 0;
	for (ptrdiff_t at; (at = str_find(rest, str_of(text))) >= 0; n++)
		rest = str_skip(rest, (size_t)at + 1);
	return n;
}

static void test_watch__its_beginning_goes_out_as_it_is_taken(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = start_lazy(f, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
				 "allowWatchBookmarks=true&labelSelector=x");
	assert_true(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES] > MANY * 20000);
	/* What changes meanwhile comes after it, once and in order. */
	create(f, "new", 10);
	apifake_do_type(f, "PATCH", CMS "/n59", MERGE, "{\"data\":{\"k\":\"changed\"}}");
	apifake_do(f, "DELETE", CMS "/n00", NULL);
	take_all(f, w);
	assert_event(f, w, MANY - 1, "ADDED", "n59");
	assert_event(f, w, MANY, "BOOKMARK", NULL);
	assert_event(f, w, MANY + 1, "ADDED", "new");
	assert_event(f, w, MANY + 2, "MODIFIED", "n59");
	assert_event(f, w, MANY + 3, "DELETED", "n00");
	assert_false(has_event(f, w, MANY + 4));
	CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
	int64_t marked = 0, added = 0;
	str_parse_i64(str_of(obj_str(event(a, apifake_answer(f, w), MANY),
				     "object.metadata.resourceVersion")),
		      &marked);
	str_parse_i64(str_of(obj_str(event(a, apifake_answer(f, w), MANY + 1),
				     "object.metadata.resourceVersion")),
		      &added);
	assert_true(marked > 0 && marked < added);
	assert_int_equal(apifake_answer(f, w).charged[QUOTA_ANSWER_BYTES], 0);
	/* From now on it is told at once. */
	create(f, "later", 10);
	assert_event(f, w, MANY + 4, "ADDED", "later");
}

static void test_watch__one_that_stays_behind_is_cut_when_changes_are_forgotten(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t w = start_lazy(f, "");
	struct store *s = apifake_server(f)->store;
	store_window_clear(s);
	create(f, "new", 10);
	store_window_clear(s);
	take_all(f, w);
	assert_true(apifake_answer(f, w).cut);
	assert_int_equal(count(f, w, "\"name\":\"new\""), 0);
}

static void test_watch__leaving_while_behind(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_close(f, start_lazy(f, ""));
	size_t w = apifake_send(f, "GET", CMS "?watch=1", NULL, NULL);
	assert_false(count(f, w, "ADDED") > MANY);
	apifake_close(f, w);
	apifake_run(f);
	create(f, "new", 10);
	/* The stream may end, too, and the server. */
	w = apifake_send_lazy(f, "GET", CMS "?watch=1&timeoutSeconds=5");
	apifake_advance(f, 6 * NS_PER_S);
	assert_true(apifake_answer(f, w).ended);
	apifake_send_lazy(f, "GET", CMS "?watch=1");
}

static void test_watch__rows_of_the_log_that_come_meanwhile_are_not_lost(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	static const char log[] = "/apis/audit.app.coreos.com/v1alpha1/auditrecords?watch=1";
	char name[16];
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "n%03d", i);
		create(f, name, 10);
	}
	size_t w = apifake_send_lazy(f, "GET", log);
	apifake_run(f);
	size_t before = count(f, w, "\"type\":\"ADDED\"");
	assert_true(before > 0 && before < 200);
	create(f, "meanwhile", 10);
	take_all(f, w);
	size_t all = apifake_send(f, "GET", log, NULL, NULL);
	apifake_run(f);
	create(f, "later", 10);
	assert_int_equal(count(f, w, "\"type\":\"ADDED\""), count(f, all, "\"type\":\"ADDED\""));
	assert_true(count(f, w, "/meanwhile\"") + count(f, w, "\"meanwhile\"") > 0);
	assert_int_equal(apifake_bytes(f, w), apifake_bytes(f, all));
}

/* Large objects that are written often were all kept, however few: a definition has half a MiB. */
static void test_watch__old_states_are_bounded_by_bytes(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT((size_t)1 << 20);
	char first[128] = "", last[128] = "";
	for (size_t i = 0; i <= STORE_WINDOW_BYTES / 600000 + 3; i++) {
		strbuf_clear(&body);
		strbuf_adds(&body, "{\"data\":{\"k\":\"");
		for (size_t n = 0; n < 600000; n++)
			strbuf_addc(&body, (char)('a' + i));
		strbuf_adds(&body, "\"}}");
		struct answer a = i ? apifake_do_type(f, "PATCH", CMS "/a", MERGE, body.buf)
				    : apifake_do(f, "POST", CMS, cm_a);
		snprintf(i ? last : first, sizeof(first), CMS "?watch=1&resourceVersion=%s",
			 obj_str(a.json, "metadata.resourceVersion"));
	}
	size_t w = apifake_send(f, "GET", first, NULL, NULL);
	apifake_run(f);
	assert_event(f, w, 0, "ERROR", NULL);
	w = apifake_send(f, "GET", last, NULL, NULL);
	apifake_do(f, "DELETE", CMS "/a", NULL);
	assert_event(f, w, 0, "DELETED", "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch__shows_every_change_once),
		cmocka_unit_test(test_watch__leaving_the_selector_is_deleted),
		cmocka_unit_test(test_watch__goes_on_after_a_revision),
		cmocka_unit_test(test_watch__too_old_is_an_event),
		cmocka_unit_test(test_watch__the_oldest_revision_is_the_last_that_goes_on),
		cmocka_unit_test(test_watch__initial_events_end_with_a_bookmark),
		cmocka_unit_test(test_watch__bookmarks_and_the_end_come_by_time),
		cmocka_unit_test(test_watch__slow_client_is_cut),
		cmocka_unit_test(test_watch__client_may_leave_at_any_time),
		cmocka_unit_test(test_watch__started_in_the_turn_of_a_write),
		cmocka_unit_test(test_watch__its_beginning_goes_out_as_it_is_taken),
		cmocka_unit_test(
			test_watch__one_that_stays_behind_is_cut_when_changes_are_forgotten),
		cmocka_unit_test(test_watch__leaving_while_behind),
		cmocka_unit_test(test_watch__rows_of_the_log_that_come_meanwhile_are_not_lost),
		cmocka_unit_test(test_watch__old_states_are_bounded_by_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
