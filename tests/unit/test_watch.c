/* Watches: selectors, revisions, bookmarks, ends. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch__shows_every_change_once),
		cmocka_unit_test(test_watch__leaving_the_selector_is_deleted),
		cmocka_unit_test(test_watch__goes_on_after_a_revision),
		cmocka_unit_test(test_watch__too_old_is_an_event),
		cmocka_unit_test(test_watch__initial_events_end_with_a_bookmark),
		cmocka_unit_test(test_watch__bookmarks_and_the_end_come_by_time),
		cmocka_unit_test(test_watch__slow_client_is_cut),
		cmocka_unit_test(test_watch__client_may_leave_at_any_time),
		cmocka_unit_test(test_watch__started_in_the_turn_of_a_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
