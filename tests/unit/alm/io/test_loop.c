#include "tests/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/io/loop_event.h"
#include "alm/io/loop_measure.h"
#include "alm/io/metrics.h"

struct note {
	struct loop *loop;
	struct strbuf *out;
	const char *name;
	struct timer timer;
	struct task task;
	struct note *then; /* armed or posted by this one */
};

static void on_timer(void *arg)
{
	struct note *n = arg;
	strbuf_adds(n->out, n->name);
	if (n->then)
		loop_arm(n->loop, &n->then->timer, 0);
}

static void on_task(void *arg)
{
	struct note *n = arg;
	strbuf_adds(n->out, n->name);
	if (n->then)
		loop_post(n->loop, &n->then->task);
}

static void on_long_task(void *arg)
{
	clock_t begun = clock();
	while (clock() - begun < CLOCKS_PER_SEC / 100)
		;
	on_task(arg);
}

static struct note note(struct loop *l, struct strbuf *out, const char *name)
{
	return (struct note){.loop = l,
			     .out = out,
			     .name = name,
			     .timer = {.fn = on_timer},
			     .task = {.fn = on_task}};
}

static void test_loop__timers_come_before_tasks_and_new_ones_wait_a_turn(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
	struct note a = note(l, &out, "a"), b = note(l, &out, "b"), c = note(l, &out, "c"),
		    d = note(l, &out, "d"), e = note(l, &out, "e");
	struct note *all[] = {&a, &b, &c, &d, &e};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i]->timer.arg = all[i]->task.arg = all[i];
	a.then = &d;
	b.then = &e;
	loop_post(l, &b.task);
	loop_post(l, &c.task);
	loop_post(l, &b.task);
	loop_arm(l, &a.timer, 0);
	loop_turn(l);
	assert_string_equal(out.buf, "abc");
	loop_turn(l);
	assert_string_equal(out.buf, "abcde");
	loop_turn(l);
	assert_string_equal(out.buf, "abcde");
}

/* What takes long leaves those behind it to the next turn, in their order. */
static void test_loop__a_turn_of_tasks_has_an_end(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
	struct note a = note(l, &out, "a"), b = note(l, &out, "b"), c = note(l, &out, "c");
	struct note *all[] = {&a, &b, &c};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i]->task.arg = all[i];
	a.then = &c;
	a.task.fn = on_long_task;
	loop_post(l, &a.task);
	loop_post(l, &b.task);
	loop_turn(l);
	assert_string_equal(out.buf, "a");
	loop_turn(l);
	assert_string_equal(out.buf, "abc");
}

static void test_loop__disarmed_and_unposted_do_not_run(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
	struct note a = note(l, &out, "a"), b = note(l, &out, "b"), c = note(l, &out, "c");
	a.timer.arg = b.task.arg = c.task.arg = &c;
	loop_arm(l, &a.timer, 0);
	loop_post(l, &c.task);
	loop_post(l, &b.task);
	loop_disarm(l, &a.timer);
	loop_unpost(l, &b.task);
	loop_unpost(l, &b.task);
	loop_turn(l);
	assert_string_equal(out.buf, "c");
	loop_post(l, &b.task);
	loop_turn(l);
	assert_string_equal(out.buf, "cc");
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void test_loop__run_waits_for_the_deadline(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct timer t = {.fn = stop, .arg = l};
	int64_t start = loop_mono(l);
	loop_arm(l, &t, 30 * NS_PER_MS);
	loop_run(l);
	int64_t took = loop_mono(l) - start;
	assert_true(took >= 30 * NS_PER_MS);
	assert_true(took < 5 * NS_PER_S);
}

struct caught {
	struct loop *loop;
	int signal;
};

static void on_signal(void *arg, int signal)
{
	struct caught *c = arg;
	c->signal = signal;
	loop_stop(c->loop);
}

static void test_loop__signals_arrive_in_the_loop(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct caught c = {.loop = l};
	loop_on_signal(l, on_signal, &c);
	(void)raise(SIGTERM);
	loop_run(l);
	assert_int_equal(c.signal, SIGTERM);
}

/* A callback that is active for ever, as one of a client that sends without end. */
struct busy {
	struct caught caught;
	struct event *event;
	struct timer timer;
	struct task task;
	struct strbuf order;
	uint64_t n_calls;
};

static void on_busy(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct busy *b = arg;
	b->n_calls++;
	event_active(b->event, EV_READ, 1);
}

static void busy_timer(void *arg)
{
	struct busy *b = arg;
	strbuf_addc(&b->order, 't');
	loop_post(b->caught.loop, &b->task);
}

static void busy_task(void *arg)
{
	struct busy *b = arg;
	strbuf_addc(&b->order, 'p');
	(void)raise(SIGTERM);
}

static void test_loop__io_without_end_lets_timers_tasks_and_signals_through(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	struct busy b = {.caught.loop = l, .order = STRBUF_INIT(8)};
	b.timer = (struct timer){.fn = busy_timer, .arg = &b};
	b.task = (struct task){.fn = busy_task, .arg = &b};
	b.event = event_new(loop_event_base(l), -1, EV_PERSIST, on_busy, &b);
	event_active(b.event, EV_READ, 1);
	loop_on_signal(l, on_signal, &b.caught);
	loop_arm(l, &b.timer, 30 * NS_PER_MS); /* so that the first turn waits */
	loop_run(l);
	assert_int_equal(b.caught.signal, SIGTERM);
	assert_string_equal(b.order.buf, "tp");
	assert_true(b.n_calls > 2);
	uint64_t before = b.n_calls;
	loop_turn(l);
	assert_true(b.n_calls > before);
	event_free(b.event);
	strbuf_release(&b.order);
}

static void count(void *arg)
{
	++*(int *)arg;
}

/* What a hundred clients leave behind that go at once: callbacks of a millisecond each, of which nothing is posted. */
#define LEFT 100

struct leaver {
	struct loop *loop;
	struct event *events[LEFT];
	uint64_t n_calls;
};

static void on_left(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct leaver *w = arg;
	if (w->n_calls == 0)
		loop_slice(w->loop);
	int64_t end = loop_mono(w->loop) + NS_PER_MS;
	while (loop_mono(w->loop) < end)
		;
	if (++w->n_calls == LEFT)
		loop_stop(w->loop);
}

static void test_loop__what_many_leave_takes_many_turns(void **state)
{
	(void)state;
	struct loop *l = loop_event_new();
	struct metrics *m = metrics_new();
	loop_measure(l, m);
	struct leaver w = {.loop = l};
	for (size_t i = 0; i < LEFT; i++) {
		w.events[i] = event_new(loop_event_base(l), -1, 0, on_left, &w);
		event_active(w.events[i], EV_READ, 1);
	}
	loop_run(l);
	int64_t turns = metric_value(metrics_histogram(m, "alm_loop_turn_seconds", "", "_count"));
	assert_true(turns >=
		    5); /* each ends 10 ms after it began, but for what it looked at last */
	for (size_t i = 0; i < LEFT; i++)
		event_free(w.events[i]);
	loop_free(l);
	metrics_free(m);
}

static void test_loop__a_changed_folder_is_told_once_a_turn(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	char dir[] = "/tmp/alm-test-loop-XXXXXX", path[64];
	assert_non_null(mkdtemp(dir));
	struct error err = ERROR_INIT;
	int n = 0;
	struct dir_watch *w = loop_watch_dir(l, dir, count, &n, &err);
	assert_non_null(w);
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_ok(file_write_new(path, STR("x"), 0600, &err), &err);
	assert_ok(file_remove(path, &err), &err);
	loop_turn(l);
	assert_int_equal(n, 1);
	loop_turn(l);
	assert_int_equal(n, 1);
	dir_watch_free(w);
	assert_ok(file_write_new(path, STR("x"), 0600, &err), &err);
	assert_null(loop_watch_dir(l, path, count, &n, &err));
	assert_int_equal(err.code, E_IO);
	assert_true(cstr_has_prefix(err.msg, path) && strstr(err.msg, " cannot be watched: "));
	assert_ok(file_remove(path, &err), &err);
	rmdir(dir);
	assert_null(loop_watch_dir(l, dir, count, &n, &err));
	assert_int_equal(err.code, E_NOTFOUND);
	loop_turn(l);
	assert_int_equal(n, 1);
}

/* A descriptor may have any number: that of the input, if it is closed. */
static void test_loop__a_folder_is_watched_without_an_input(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	char dir[] = "/tmp/alm-test-loop-XXXXXX", path[64];
	struct error err = ERROR_INIT;
	int n = 0, kept = fcntl(0, F_DUPFD_CLOEXEC, 3);
	assert_non_null(mkdtemp(dir));
	(void)close(0);
	struct dir_watch *w = loop_watch_dir(l, dir, count, &n, &err);
	if (!w)
		fail_msg("%s", err.msg);
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_ok(file_write_new(path, STR("x"), 0600, &err), &err);
	loop_turn(l);
	loop_turn(l);
	assert_int_equal(n, 1);
	dir_watch_free(w);
	assert_true(kept < 0 || dup2(kept, 0) == 0);
	(void)close(kept);
	assert_ok(file_remove(path, &err), &err);
	assert_int_equal(rmdir(dir), 0);
}

static void test_loop__random_below_is_below(void **state)
{
	(void)state;
	CLEANUP(loop_freep) struct loop *l = loop_event_new();
	bool seen[7] = {false};
	for (int i = 0; i < 1000; i++) {
		uint64_t v = loop_random_below(l, 7);
		assert_true(v < 7);
		seen[v] = true;
	}
	for (int i = 0; i < 7; i++)
		assert_true(seen[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop__timers_come_before_tasks_and_new_ones_wait_a_turn),
		cmocka_unit_test(test_loop__a_turn_of_tasks_has_an_end),
		cmocka_unit_test(test_loop__disarmed_and_unposted_do_not_run),
		cmocka_unit_test(test_loop__run_waits_for_the_deadline),
		cmocka_unit_test(test_loop__signals_arrive_in_the_loop),
		cmocka_unit_test(test_loop__io_without_end_lets_timers_tasks_and_signals_through),
		cmocka_unit_test(test_loop__what_many_leave_takes_many_turns),
		cmocka_unit_test(test_loop__a_changed_folder_is_told_once_a_turn),
		cmocka_unit_test(test_loop__a_folder_is_watched_without_an_input),
		cmocka_unit_test(test_loop__random_below_is_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
