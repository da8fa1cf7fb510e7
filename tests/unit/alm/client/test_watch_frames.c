/* The client's side of a watch: events out of a stream, however it is cut, and every way to end. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/client/watch.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define TARGET "/api/v1/configmaps?watch=1"

struct fixture {
	struct loop *loop;
	struct transport_fake *fake;
	struct client *client;
	struct watch *watch;
	struct strbuf seen; /* "0a 1b": event and name */
	int n_ended;
	size_t free_after; /* events; 0: not */
	size_t n_events;
	bool free_at_end;
	struct error err;
	int64_t retry_after;
};

static void on_event(void *arg, enum watch_event event, const struct obj *o)
{
	struct fixture *f = arg;
	const char *name = meta_name(o);
	strbuf_addf(&f->seen, "%d%s ", event, name ? name : "");
	if (++f->n_events == f->free_after)
		watch_free(STEAL(f->watch));
}

static void on_ended(void *arg, const struct error *err, int64_t retry_after_ns)
{
	struct fixture *f = arg;
	f->n_ended++;
	f->err = err ? *err : ERROR_INIT;
	f->retry_after = retry_after_ns;
	if (f->free_at_end)
		watch_free(STEAL(f->watch));
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){.loop = loop_fake_new(0)};
	f->fake = transport_fake_new(f->loop);
	f->client = client_new(f->loop, transport_fake_transport(f->fake));
	strbuf_init(&f->seen, STRBUF_SMALL);
}

static void begin(struct fixture *f)
{
	const struct watch_handlers h = {on_event, on_ended, f};
	f->watch = watch_start(f->client, TARGET, NULL, 0, &h);
	loop_fake_settle(f->loop);
}

static void teardown(struct fixture *f)
{
	watch_free(f->watch);
	client_free(f->client);
	transport_fake_free(f->fake);
	loop_free(f->loop);
	strbuf_release(&f->seen);
}

#define FRAME(type, name) \
	"{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" name "\"}}}\n"
static const char events[] = FRAME("ADDED", "a")
	FRAME("MODIFIED", "b") "\n \n" FRAME("DELETED", "c") FRAME("BOOKMARK", "d");

static void push(struct fixture *f, const char *from, size_t n)
{
	char piece[sizeof(events)];
	(void)snprintf(piece, sizeof(piece), "%.*s", (int)n, from);
	if (*piece)
		fake_push(f->fake, piece);
	loop_fake_settle(f->loop);
}

/* In pieces of so many bytes; and in two, cut anywhere. */
static void test_watch_frames__however_the_stream_is_cut(void **state)
{
	(void)state;
	for (size_t cut = 1; cut < sizeof(events); cut++)
		for (int in_two = 0; in_two < 2; in_two++) {
			struct fixture f;
			setup(&f);
			fake_stream(f.fake, "GET", TARGET, 200, "");
			begin(&f);
			size_t at = 0;
			for (; !in_two && at + cut < sizeof(events); at += cut)
				push(&f, events + at, cut);
			if (in_two) {
				push(&f, events, cut);
				at = cut;
			}
			push(&f, events + at, sizeof(events) - at);
			assert_string_equal(f.seen.buf, "0a 1b 2c 3d ");
			assert_int_equal(f.n_ended, 0);
			fake_end(f.fake, false);
			loop_fake_settle(f.loop);
			assert_int_equal(f.n_ended, 1);
			assert_int_equal(f.err.code, 0);
			teardown(&f);
		}
}

static void test_watch_frames__what_ends_a_stream(void **state)
{
	static const struct {
		const char *frame, *message;
		int code;
	} rows[] = {
		{"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":"
		 "\"Expired\",\"message\":\"too old\"}}\n",
		 "too old", E_EXPIRED},
		{"{\"type\":\"CHANGED\",\"object\":{}}\n", "unknown type CHANGED", E_INTERNAL},
		{"{\"type\":\"ADDED\",\"object\":[]}\n", "unknown type ADDED", E_INTERNAL},
		{"{\"object\":{}}\n", "unknown type ", E_INTERNAL},
		{"{\"type\":\n", "watch event", E_BADREQUEST},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		setup(&f);
		fake_stream(f.fake, "GET", TARGET, 200, FRAME("ADDED", "a"));
		begin(&f);
		fake_push(f.fake, rows[i].frame);
		loop_fake_settle(f.loop);
		assert_int_equal(f.n_ended, 1);
		assert_int_equal(f.err.code, rows[i].code);
		if (!strstr(f.err.msg, rows[i].message))
			fail_msg("%s: %s", rows[i].frame, f.err.msg);
		assert_int_equal(fake_open(f.fake), 0);
		assert_string_equal(f.seen.buf, "0a ");
		teardown(&f);
	}
}

/* What stands behind the frame that ended it is not told, and the end once. */
static void test_watch_frames__nothing_comes_after_the_end(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	fake_stream(f.fake, "GET", TARGET, 200, "");
	begin(&f);
	fake_push(f.fake, "{\"type\":\"NO\"}\n" FRAME("ADDED", "a"));
	loop_fake_settle(f.loop);
	assert_int_equal(f.n_ended, 1);
	assert_string_equal(f.seen.buf, "");
	teardown(&f);
	for (size_t n = 1; n <= 3; n++) { /* freed by a handler */
		setup(&f);
		f.free_after = n;
		fake_stream(f.fake, "GET", TARGET, 200, "");
		begin(&f);
		fake_push(f.fake, events);
		loop_fake_settle(f.loop);
		assert_int_equal(f.n_events, n);
		assert_int_equal(f.n_ended, 0);
		assert_int_equal(fake_open(f.fake), 0);
		teardown(&f);
	}
	setup(&f);
	f.free_at_end = true;
	fake_stream(f.fake, "GET", TARGET, 200, "");
	begin(&f);
	fake_end(f.fake, true);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n_ended, 1);
	assert_int_equal(f.err.code, E_IO);
	assert_null(f.watch);
	teardown(&f);
}

static void test_watch_frames__a_refusal_is_its_status(void **state)
{
	static const struct {
		const char *retry_after;
		int64_t want;
	} rows[] = {{NULL, 0}, {"1", NS_PER_S}, {"600", 600 * NS_PER_S}, {"0", 0}, {"601", 0},
		    {"-1", 0}, {"soon", 0}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		setup(&f);
		fake_answer(f.fake, "GET", TARGET, 429,
			    "{\"kind\":\"Status\",\"code\":429,\"reason\":\"TooManyRequests\","
			    "\"message\":\"later\"}\n" FRAME("ADDED", "a"));
		if (rows[i].retry_after)
			fake_header(f.fake, "Retry-After", rows[i].retry_after);
		begin(&f);
		assert_int_equal(f.n_ended, 1);
		assert_string_equal(f.seen.buf, "");
		assert_int_equal(f.err.code, E_TOOMANY);
		if (f.retry_after != rows[i].want)
			fail_msg("%s: %lld", rows[i].retry_after, (long long)f.retry_after);
		teardown(&f);
	}
}

/* An event has a limit; the room of a large one is not kept. */
static void test_watch_frames__an_event_has_a_limit(void **state)
{
	(void)state;
	struct fixture f;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(WATCH_FRAME_MAX + STRBUF_SMALL);
	for (int over = 0; over < 2; over++) {
		setup(&f);
		fake_stream(f.fake, "GET", TARGET, 200, "");
		begin(&f);
		strbuf_clear(&b);
		strbuf_adds(
			&b,
			"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},\"x\":\"");
		strbuf_pad(&b, 'x', WATCH_FRAME_MAX - 4 - b.len + (over ? 1 : 0));
		strbuf_adds(&b, "\"}}\n");
		fake_push(f.fake, b.buf);
		loop_fake_settle(f.loop);
		assert_int_equal(f.n_ended, over);
		assert_int_equal(f.err.code, over ? E_LIMIT : 0);
		assert_string_equal(f.seen.buf, over ? "" : "0a ");
		teardown(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch_frames__however_the_stream_is_cut),
		cmocka_unit_test(test_watch_frames__what_ends_a_stream),
		cmocka_unit_test(test_watch_frames__nothing_comes_after_the_end),
		cmocka_unit_test(test_watch_frames__a_refusal_is_its_status),
		cmocka_unit_test(test_watch_frames__an_event_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
