#include "tests/lib/test.h"

#include <malloc.h>

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/base/strbuf.h"
#include "alm/client/informer.h"
#include "alm/client/trees.h"
#include "alm/obj/json.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define LIST  "/api/v1/configmaps?limit=500"
#define WATCH "/api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion="

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct informer *informer;
	struct trees *trees;
	struct strbuf log; /* "+a ~a -a S " */
};

static void on_change(void *arg, enum informer_change change, const struct informer_object *before,
		      const struct informer_object *after)
{
	struct fixture *f = arg;
	assert_int_equal(before == NULL, change == INFORMER_ADDED);
	assert_int_equal(after == NULL, change == INFORMER_DELETED);
	strbuf_addf(&f->log, "%c%s ", "+~-"[change], (after ? after : before) -> name);
}

static void on_synced(void *arg)
{
	struct fixture *f = arg;
	strbuf_adds(&f->log, "S ");
}

/* seen: what an earlier process has seen; 0: nothing. */
static void setup_seen(struct fixture *f, const char *selector, bool metadata_only, uint64_t seen)
{
	*f = (struct fixture){.loop = loop_fake_new(0), .log = STRBUF_INIT(STRBUF_SMALL)};
	f->trees = trees_new((size_t)1 << 20);
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	const struct informer_config c = {
		.client = f->client,
		.resource = {"", "v1", "configmaps", "ConfigMap", true},
		.metadata_only = metadata_only,
		.label_selector = selector,
		.seen = seen,
		.trees = f->trees,
		.changed = on_change,
		.synced = on_synced,
		.arg = f,
	};
	f->informer = informer_new(&c);
	informer_start(f->informer);
}

static void setup(struct fixture *f, const char *selector, bool metadata_only)
{
	setup_seen(f, selector, metadata_only, 0);
}

static void teardown(struct fixture *f)
{
	if (fake_unused(f->fake))
		fail_msg("%zu rows unused", fake_unused(f->fake));
	informer_free(f->informer);
	assert_true(trees_is_empty(f->trees)); /* they went with their objects */
	trees_free(f->trees);
	assert_int_equal(fake_open(f->fake), 0); /* what is under way ends with it */
	client_free(f->client);
	transport_fake_free(f->fake);
	loop_free(f->loop);
	strbuf_release(&f->log);
}

static void assert_log(struct fixture *f, const char *want)
{
	assert_string_equal(f->log.buf, want);
	strbuf_clear(&f->log);
}

static void assert_text(const struct informer_object *o, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(STRBUF_SMALL);
	assert_str(informer_text(o, &room), want);
}

#define OBJ(name, uid, rv)                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"" uid \
	"\",\"resourceVersion\":\"" rv "\"}}"
#define PAGE(rv, items) "{\"metadata\":{\"resourceVersion\":\"" rv "\"},\"items\":[" items "]}"
#define PAGE_MORE(rv, token, items)                                           \
	"{\"metadata\":{\"resourceVersion\":\"" rv "\",\"continue\":\"" token \
	"\"},\"items\":[" items "]}"
#define EVENT(type, o) "{\"type\":\"" type "\",\"object\":" o "}\n"

static void test_informer__lists_in_pages_then_watches(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, "a=b", false);
	fake_answer(f.fake, "GET", LIST "&labelSelector=a%3Db", 200,
		    PAGE_MORE("10", "t/1", OBJ("a", "ua", "3")));
	fake_answer(f.fake, "GET", LIST "&labelSelector=a%3Db&continue=t%2F1", 200,
		    PAGE("10", OBJ("b", "ub", "4")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	assert_false(informer_is_synced(f.informer));
	loop_fake_settle(f.loop);
	assert_true(informer_is_synced(f.informer));
	assert_log(&f, "+a +b S ");
	fake_push(f.fake, EVENT("ADDED", OBJ("c", "uc", "11")) "{\"type\":\"MODI");
	fake_push(f.fake, "FIED\",\"object\":" OBJ("a", "ua", "12") "}\n" EVENT(
				  "DELETED", OBJ("b", "ub", "13")));
	assert_log(&f, "+c ~a -b ");
	assert_int_equal(informer_count(f.informer), 2);
	const struct informer_object *o = informer_get(f.informer, "ns", "a");
	assert_string_equal(o->resource_version, "12");
	assert_text(o, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":\"ua\","
		       "\"resourceVersion\":\"12\"},\"kind\":\"ConfigMap\","
		       "\"apiVersion\":\"v1\"}");
	assert_ptr_equal(informer_next(f.informer, NULL), o);
	assert_string_equal(informer_next(f.informer, o)->name, "c");
	assert_null(informer_next(f.informer, informer_next(f.informer, o)));
	teardown(&f);
}

static void test_informer__resumes_without_a_list(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200,
		    EVENT("ADDED", OBJ("a", "ua", "11")));
	loop_fake_run(f.loop, 10 * NS_PER_S);
	fake_push(f.fake, EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"20\"}}"));
	fake_stream(f.fake, "GET", WATCH "20&timeoutSeconds=*", 200, "");
	fake_end(f.fake, false);
	loop_fake_settle(f.loop);
	loop_fake_run(f.loop, 10 * NS_PER_S);
	fake_stream(f.fake, "GET", WATCH "20&timeoutSeconds=*", 200, "");
	fake_end(f.fake, true);
	loop_fake_run(f.loop, 10 * NS_PER_S);
	/* a server that has too much to do is not asked for all there is */
	for (int status = 429; status <= 503; status += 503 - 429) {
		fake_answer(f.fake, "GET", WATCH "20&timeoutSeconds=*", status, "");
		fake_stream(f.fake, "GET", WATCH "20&timeoutSeconds=*", 200, "");
		fake_end(f.fake, true);
		loop_fake_run(f.loop, NS_PER_MIN);
	}
	assert_log(&f, "S +a ");
	teardown(&f);
}

/* Items of a list lack what all have in common, or a part of it; and what comes decoded once it has synced is kept so. */
static void test_informer__each_object_says_what_it_is(void **state)
{
	static const char *const heads[] = {"", "\"kind\":\"ConfigMap\",", "\"apiVersion\":\"v1\",",
					    "\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","};
	(void)state;
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(STRBUF_SMALL);
	setup(&f, NULL, false);
	strbuf_adds(&page, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[");
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		strbuf_addf(&page,
			    "%s{%s\"metadata\":{\"name\":\"o%zu\",\"namespace\":\"ns\",\"uid\":"
			    "\"u%zu\",\"resourceVersion\":\"%zu\"}}",
			    i ? "," : "", heads[i], i, i, i + 1);
	strbuf_adds(&page, "]}");
	fake_answer(f.fake, "GET", LIST, 200, page.buf);
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200,
		    EVENT("ADDED", OBJ("w", "uw", "11")));
	loop_fake_settle(f.loop);
	assert_int_equal(informer_count(f.informer), ARRAY_LEN(heads) + 1);
	for (const struct informer_object *o = informer_next(f.informer, NULL); o;
	     o = informer_next(f.informer, o)) {
		assert_int_equal(o->slot != NULL, cstr_eq(o->name, "w"));
		CLEANUP(obj_unrefp) struct obj *tree = trees_get(f.trees, o);
		assert_string_equal(obj_str(tree, "kind"), "ConfigMap");
		assert_string_equal(obj_str(tree, "apiVersion"), "v1");
	}
	teardown(&f);
}

/* What is no object is no change, and it is where it was. */
static void test_informer__an_event_without_an_object(void **state)
{
	static const char *const events[] = {
		EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"15\"}}"),
		EVENT("MODIFIED", "{\"metadata\":{\"name\":\"\",\"resourceVersion\":\"15\"}}"),
		EVENT("ADDED", "{}"),
		EVENT("DELETED", "{\"metadata\":{\"resourceVersion\":\"15\"}}"),
		EVENT("BOOKMARK", "{}"),
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		struct fixture f;
		setup(&f, NULL, false);
		fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
		fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
		loop_fake_run(f.loop, 10 * NS_PER_S);
		fake_push(f.fake, events[i]);
		fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
		fake_end(f.fake, false);
		loop_fake_run(f.loop, 10 * NS_PER_S);
		fake_push(f.fake, EVENT("MODIFIED", OBJ("a", "ua", "16")));
		assert_log(&f, "+a S ~a ");
		teardown(&f);
	}
}

static void test_informer__expired_lists_again_and_diffs(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(
		f.fake, "GET", LIST, 200,
		PAGE("10", OBJ("a", "ua", "3") "," OBJ("b", "ub", "4") "," OBJ("c", "uc", "5")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200,
		    EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"));
	/* a changed, b deleted, c made anew */
	fake_answer(f.fake, "GET", LIST, 200,
		    PAGE("30", OBJ("a", "ua", "25") "," OBJ("c", "uc2", "26")));
	fake_stream(f.fake, "GET", WATCH "30&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 5 * NS_PER_S);
	assert_log(&f, "+a +b +c S -b ~a -c +c ");
	teardown(&f);
}

static void test_informer__refused_watch_410_lists_again(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_answer(f.fake, "GET", WATCH "10&timeoutSeconds=*", 410, "{\"reason\":\"Expired\"}");
	fake_answer(f.fake, "GET", LIST, 200, PAGE("11", ""));
	fake_stream(f.fake, "GET", WATCH "11&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 5 * NS_PER_S);
	teardown(&f);
}

static void test_informer__a_failed_list_is_not_an_empty_one(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
	fake_answer(f.fake, "GET", WATCH "10&timeoutSeconds=*", 410, "");
	fake_answer(f.fake, "GET", LIST, 403, "{\"reason\":\"Forbidden\",\"message\":\"no\"}");
	loop_fake_run(f.loop, 20 * NS_PER_S);
	assert_int_equal(informer_count(f.informer), 1);
	fake_answer(f.fake, "GET", LIST, 200, PAGE_MORE("12", "t", OBJ("b", "ub", "11")));
	fake_answer(f.fake, "GET", LIST "&continue=t", 410, "{\"reason\":\"Expired\"}");
	fake_answer(f.fake, "GET", LIST, 200, PAGE("13", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "13&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 60 * NS_PER_S);
	assert_log(&f, "+a S ");
	teardown(&f);
}

static void test_informer__refuses_a_list_from_the_past(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
	fake_answer(f.fake, "GET", WATCH "10&timeoutSeconds=*", 410, "");
	fake_answer(f.fake, "GET", LIST, 200, PAGE("9", ""));
	fake_answer(f.fake, "GET", LIST, 200, PAGE("12", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "12&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 10 * NS_PER_S);
	assert_log(&f, "+a S ");
	teardown(&f);
}

static void test_informer__refuses_what_is_older_than_an_earlier_process_saw(void **state)
{
	(void)state;
	struct fixture f;
	setup_seen(&f, NULL, false, 10);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("9", ""));
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 10 * NS_PER_S);
	assert_log(&f, "+a S ");
	teardown(&f);
}

static void observe(struct fixture *f, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	informer_observe(f->informer, o);
	obj_unref(o);
}

static void test_informer__own_writes_show_at_once(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_settle(f.loop);
	observe(&f, OBJ("a", "ua", "12"));
	observe(&f, OBJ("b", "ub", "13"));
	assert_log(&f, "+a S ~a +b ");
	/* the watch comes late, with an older state first */
	fake_push(f.fake,
		  EVENT("MODIFIED", OBJ("a", "ua", "11")) EVENT("MODIFIED", OBJ("a", "ua", "12"))
			  EVENT("ADDED", OBJ("b", "ub", "13"))
				  EVENT("MODIFIED", OBJ("b", "ub", "14")));
	assert_log(&f, "~b ");
	informer_observe_deleted(f.informer, "ns", "a", "other");
	informer_observe_deleted(f.informer, "ns", "a", "ua");
	assert_log(&f, "-a ");
	/* made anew before the old one's deletion is seen */
	observe(&f, OBJ("b", "ub2", "16"));
	fake_push(f.fake,
		  EVENT("DELETED", OBJ("b", "ub", "15")) EVENT("ADDED", OBJ("b", "ub2", "16")));
	assert_log(&f, "-b +b ");
	assert_true(informer_get(f.informer, "ns", "b")->uid == hash_key(STR("ub2")));
	teardown(&f);
}

/* Later is what has a larger number; of two that are not both numbers each is another than the other. */
static void test_informer__what_is_a_later_state(void **state)
{
	static const struct {
		const char *has, *comes, *same,
			*anew; /* comes: of the same object, of another of its name */
	} rows[] = {
		{"7", "6", "", ""},          {"7", "7", "", ""},
		{"7", "8", "~a ", "-a +a "}, {"7", "07", "", ""},
		{"7", "0", "~a ", "-a +a "}, {"7", "x", "~a ", "-a +a "},
		{"x", "5", "~a ", "-a +a "}, {"x", "x", "", "-a +a "},
		{"x", "y", "~a ", "-a +a "},
	};
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		bool other = i % 2;
		setup(&f, NULL, false);
		strbuf_addf(&b, PAGE("1", OBJ("a", "ua", "%s")), rows[i / 2].has);
		fake_answer(f.fake, "GET", LIST, 200, b.buf);
		fake_stream(f.fake, "GET", WATCH "1&timeoutSeconds=*", 200, "");
		loop_fake_settle(f.loop);
		assert_log(&f, "+a S ");
		strbuf_clear(&b);
		strbuf_addf(&b, EVENT("MODIFIED", OBJ("a", "%s", "%s")), other ? "ub" : "ua",
			    rows[i / 2].comes);
		fake_push(f.fake, b.buf);
		assert_log(&f, other ? rows[i / 2].anew : rows[i / 2].same);
		teardown(&f);
	}
}

/* Its new labels are not those of the selector: the watch says that it went, at the revision of the write, and the
 * write's answer, which comes later, does not bring it back. */
static void test_informer__an_own_write_that_leaves_the_selector_stays_away(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, "a=b", false);
	fake_answer(f.fake, "GET", LIST "&labelSelector=a%3Db", 200,
		    PAGE("10", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_settle(f.loop);
	fake_push(f.fake, EVENT("DELETED", OBJ("a", "ua", "12")));
	observe(&f, OBJ("a", "ua", "11"));
	observe(&f, OBJ("a", "ua", "12"));
	assert_log(&f, "+a S -a ");
	observe(&f, OBJ("a", "ua", "13"));
	assert_log(&f, "+a ");
	teardown(&f);
}

static void keep_lines(void *arg, const char *line)
{
	strbuf_addf(arg, "%s\n", line);
}

/* Once, at the second time: the first may be a connection that ended, and a kind may come later. */
static void test_informer__what_cannot_be_read_is_told_once(void **state)
{
	(void)state;
	static const struct {
		int status, n;
		const char *want;
	} rows[] = {
		{403, 1, ""},
		{403, 2,
		 "\"a resource cannot be read, its cache is old\" resource=configmaps error=no\n"},
		{403, 4,
		 "\"a resource cannot be read, its cache is old\" resource=configmaps error=no\n"},
		{404, 3, ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(STRBUF_SMALL);
		setup(&f, NULL, false);
		for (int n = 0; n < rows[i].n; n++)
			fake_answer(f.fake, "GET", LIST, rows[i].status, "{\"message\":\"no\"}");
		fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
		fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
		log_divert(keep_lines, &lines);
		loop_fake_run(f.loop, 300 * NS_PER_S);
		log_divert(NULL, NULL);
		const char *told = strstr(lines.buf, rows[i].want);
		if (!told || (!*rows[i].want && lines.len) ||
		    (lines.len && strchr(lines.buf, '\n') != lines.buf + lines.len - 1))
			fail_msg("%d %d: %s", rows[i].status, rows[i].n, lines.buf);
		teardown(&f);
	}
}

/* A list that was under way has what an own write has overtaken, and lacks what it has made. */
static void test_informer__own_writes_are_younger_than_a_list_under_way(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200,
		    PAGE("10", OBJ("a", "ua", "3") "," OBJ("b", "ub", "4")));
	fake_answer(f.fake, "GET", WATCH "10&timeoutSeconds=*", 410, "{\"reason\":\"Expired\"}");
	fake_stream(f.fake, "GET", LIST, 200,
		    PAGE("14", OBJ("a", "ua", "3") "," OBJ("b", "ub", "13")));
	loop_fake_run(f.loop, 5 * NS_PER_S);
	observe(&f, OBJ("a", "ua", "15"));
	observe(&f, OBJ("c", "uc", "16"));
	assert_log(&f, "+a +b S ~a +c ");
	fake_stream(f.fake, "GET", WATCH "14&timeoutSeconds=*", 200, "");
	fake_end(f.fake, false);
	loop_fake_settle(f.loop);
	assert_log(&f, "~b ");
	assert_string_equal(informer_get(f.informer, "ns", "a")->resource_version, "15");
	assert_string_equal(informer_get(f.informer, "ns", "b")->resource_version, "13");
	assert_non_null(informer_get(f.informer, "ns", "c"));
	teardown(&f);
}

static void test_informer__metadata_only(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, true);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_settle(f.loop);
	observe(&f, "{\"data\":{\"secret\":\"x\"},\"metadata\":{\"name\":\"a\",\"uid\":\"u\","
		    "\"resourceVersion\":\"11\"}}");
	const struct informer_object *o = informer_get(f.informer, NULL, "a");
	assert_text(o, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
		       "\"metadata\":{\"name\":\"a\",\"uid\":\"u\","
		       "\"resourceVersion\":\"11\"}}");
	teardown(&f);
}

static void test_informer__a_broken_frame_lists_again(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "{\"type\":\n");
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 5 * NS_PER_S);
	assert_int_equal(fake_open(f.fake), 1);
	teardown(&f);
}

/* What is in a list, or in a frame, need not be an object. */
static void test_informer__what_is_no_object_is_an_error(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", "0"));
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, EVENT("ADDED", "[1]"));
	fake_answer(f.fake, "GET", LIST, 200, PAGE("11", OBJ("a", "ua", "3")));
	fake_stream(f.fake, "GET", WATCH "11&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 60 * NS_PER_S);
	assert_log(&f, "+a S ");
	teardown(&f);
}

static void test_informer__a_page_too_large_is_cut(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f, NULL, false);
	fake_lose(f.fake, "GET", LIST);
	fake_code(f.fake, E_LIMIT);
	fake_answer(f.fake, "GET", "/api/v1/configmaps?limit=125", 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, 5 * NS_PER_S);
	assert_log(&f, "S ");
	teardown(&f);
}

/* Of the allocator; 0 under a sanitizer, which has another. */
static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static void test_informer__a_watch_gives_its_room_back(void **state)
{
	(void)state;
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf large = STRBUF_INIT((size_t)2 << 20);
	strbuf_adds(&large, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
			    "\"resourceVersion\":\"11\",\"name\":\"");
	for (size_t i = 0; i < 1000000; i++)
		strbuf_addc(&large, 'x');
	strbuf_adds(&large, "\"}}}\n");
	setup(&f, NULL, false);
	fake_answer(f.fake, "GET", LIST, 200, PAGE("10", ""));
	fake_stream(f.fake, "GET", WATCH "10&timeoutSeconds=*", 200, "");
	loop_fake_run(f.loop, NS_PER_S);
	size_t before = in_use();
	fake_push(f.fake, large.buf);
	loop_fake_run(f.loop, NS_PER_S);
	assert_int_equal(fake_open(f.fake), 1);
	assert_true(in_use() < before + 300000);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_informer__lists_in_pages_then_watches),
		cmocka_unit_test(test_informer__resumes_without_a_list),
		cmocka_unit_test(test_informer__each_object_says_what_it_is),
		cmocka_unit_test(test_informer__an_event_without_an_object),
		cmocka_unit_test(test_informer__expired_lists_again_and_diffs),
		cmocka_unit_test(test_informer__refused_watch_410_lists_again),
		cmocka_unit_test(test_informer__a_failed_list_is_not_an_empty_one),
		cmocka_unit_test(test_informer__refuses_a_list_from_the_past),
		cmocka_unit_test(test_informer__refuses_what_is_older_than_an_earlier_process_saw),
		cmocka_unit_test(test_informer__own_writes_show_at_once),
		cmocka_unit_test(test_informer__own_writes_are_younger_than_a_list_under_way),
		cmocka_unit_test(test_informer__an_own_write_that_leaves_the_selector_stays_away),
		cmocka_unit_test(test_informer__what_cannot_be_read_is_told_once),
		cmocka_unit_test(test_informer__what_is_a_later_state),
		cmocka_unit_test(test_informer__metadata_only),
		cmocka_unit_test(test_informer__a_broken_frame_lists_again),
		cmocka_unit_test(test_informer__what_is_no_object_is_an_error),
		cmocka_unit_test(test_informer__a_page_too_large_is_cut),
		cmocka_unit_test(test_informer__a_watch_gives_its_room_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
