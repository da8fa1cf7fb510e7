/*
 * loop_event: the real loop, on libevent. Timers and tasks stay in loop.c: libevent sees one timer,
 * the head of the heap.
 *
 * event_base_loop() by itself returns only when no callback is left to run, and a client that sends
 * without end may see to it that one always is. So the timer of the turn comes before all others
 * and breaks it off: when the first deadline is due, and SLICE_NS after something was posted or
 * armed, or callbacks were left. What libevent has not called by then it calls in the next turn.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "alm/base/clock.h"
#include "alm/io/loop_event.h"
#include "alm/io/loop_measure.h"

#define WAIT_NS_MAX NS_PER_HOUR      /* a turn without work does no harm */
#define SLICE_NS    (10 * NS_PER_MS) /* of I/O, then timers and tasks have their turn */
#define LOOK_NS     (4 * NS_PER_MS) /* of callbacks, then libevent sees whether the slice is over */

/* libevent's priorities, the first first. */
enum { PRIORITY_LOOP, PRIORITY_IO, N_PRIORITIES };

struct loop_event {
	struct loop loop;
	struct event_base *base;
	struct event *wait;
	struct event *signals[2];
	void (*on_signal)(void *arg, int signal);
	void *on_signal_arg;
	bool stopped;
	bool in_io, hurried; /* inside of event_base_loop(); its end is SLICE_NS away at most */
	struct loop_measure *measure; /* NULL: nobody asks */
};

static struct loop_event *self(struct loop *l)
{
	return CONTAINER_OF(l, struct loop_event, loop);
}

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;
	int r = clock_gettime(id, &ts);
	assert(r == 0);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t event_now(struct loop *l UNUSED)
{
	return read_clock(CLOCK_REALTIME);
}

static int64_t event_mono(struct loop *l UNUSED)
{
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t event_cpu(struct loop *l UNUSED)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void event_random(struct loop *l UNUSED, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = getrandom((char *)buf + done, n - done, 0);
		assert(r > 0 || errno == EINTR);
		done += r > 0 ? (size_t)r : 0;
	}
}

static void end_io_after(struct loop_event *e, int64_t ns)
{
	int64_t us = (ns + NS_PER_US - 1) / NS_PER_US;
	struct timeval tv = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
	e->hurried = ns <= SLICE_NS;
	evtimer_add(e->wait, &tv);
}

/* Outside of the I/O there is nothing to do: a turn looks at the heap and at the tasks first. */
static void event_wake(struct loop *l)
{
	struct loop_event *e = self(l);
	if (e->in_io && !e->hurried)
		end_io_after(e, SLICE_NS);
}

void loop_slice(struct loop *l)
{
	event_wake(l);
}

static void event_loop_free(struct loop *l)
{
	struct loop_event *e = self(l);
	loop_measure_free(e->measure);
	for (size_t i = 0; i < ARRAY_LEN(e->signals); i++)
		if (e->signals[i])
			event_free(e->signals[i]);
	event_free(e->wait);
	/* A connection that was freed with a callback deferred is kept until that is called: libevent's end
	 * of the base drops the callback and what it holds. */
	event_base_loop(e->base, EVLOOP_NONBLOCK);
	event_base_free(e->base);
	loop_release(l);
	xfree(e);
}

static const struct loop_ops ops = {
	.now_ns = event_now,
	.mono_ns = event_mono,
	.cpu_ns = event_cpu,
	.random = event_random,
	.wake = event_wake,
	.free = event_loop_free,
};

static void on_wait(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct loop_event *e = arg;
	event_base_loopbreak(e->base);
}

static struct event_base *new_base(void)
{
	static const struct timeval look = {.tv_usec = LOOK_NS / NS_PER_US};
	struct event_config *c = event_config_new();
	assert(c);
	event_config_set_max_dispatch_interval(c, &look, -1, PRIORITY_IO);
	struct event_base *base = event_base_new_with_config(c);
	event_config_free(c);
	assert(base);
	event_base_priority_init(base, N_PRIORITIES);
	return base;
}

struct loop *loop_event_new(void)
{
	struct loop_event *e = xcalloc(1, sizeof(*e));
	loop_init(&e->loop, &ops);
	/* A peer that goes away is an error code, not a signal. */
	(void)signal(SIGPIPE, SIG_IGN);
	e->base = new_base();
	e->wait = evtimer_new(e->base, on_wait, e);
	assert(e->wait);
	event_priority_set(e->wait, PRIORITY_LOOP);
	return &e->loop;
}

struct event_base *loop_event_base(struct loop *l)
{
	assert(l->ops == &ops);
	return self(l)->base;
}

void loop_measure(struct loop *l, struct metrics *m)
{
	assert(l->ops == &ops && !self(l)->measure);
	self(l)->measure = loop_measure_new(m);
}

static void turn(struct loop_event *e, bool block)
{
	int64_t began = e->measure ? event_cpu(&e->loop) : 0;
	int64_t deadline = loop_next_deadline(&e->loop);
	int64_t wait = deadline <= 0 ? 0 : deadline - event_mono(&e->loop);
	if (wait > WAIT_NS_MAX)
		wait = WAIT_NS_MAX;
	block = block && wait > 0;
	bool waits = block && event_base_get_num_events(e->base, EVENT_BASE_COUNT_ACTIVE) == 0;
	end_io_after(e, waits ? wait : SLICE_NS);
	e->in_io = true;
	event_base_loop(e->base, block ? EVLOOP_ONCE : EVLOOP_NONBLOCK);
	e->in_io = false;
	evtimer_del(e->wait);
	loop_run_due(&e->loop);
	if (e->measure)
		loop_measure_turn(e->measure, event_cpu(&e->loop) - began);
}

void loop_run(struct loop *l)
{
	struct loop_event *e = self(l);
	while (!e->stopped)
		turn(e, true);
	e->stopped = false;
}

void loop_stop(struct loop *l)
{
	self(l)->stopped = true;
	event_wake(l);
}

void loop_turn(struct loop *l)
{
	turn(self(l), false);
}

static void on_signal_event(evutil_socket_t signal, short what UNUSED, void *arg)
{
	struct loop_event *e = arg;
	e->on_signal(e->on_signal_arg, (int)signal);
}

void loop_on_signal(struct loop *l, void (*fn)(void *arg, int signal), void *arg)
{
	static const int numbers[] = {SIGINT, SIGTERM};
	struct loop_event *e = self(l);
	e->on_signal = fn;
	e->on_signal_arg = arg;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (e->signals[i])
			continue;
		e->signals[i] = evsignal_new(e->base, numbers[i], on_signal_event, e);
		assert(e->signals[i]);
		event_priority_set(e->signals[i], PRIORITY_LOOP);
		event_add(e->signals[i], NULL);
	}
}

struct dir_watch {
	struct loop *loop;
	struct event *readable;
	int fd;
	struct task changed;
};

static void on_inotify(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct dir_watch *w = arg;
	char buf[8192];
	/* What changed does not matter: the owner lists the folder. The rest is told again. */
	if (read(fd, buf, sizeof(buf)) > 0)
		loop_post(w->loop, &w->changed);
}

struct dir_watch *loop_watch_dir(struct loop *l, const char *path, void (*fn)(void *arg), void *arg,
				 struct error *err)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0) {
		error_set(err, E_IO, "%s cannot be watched: %s", path, strerror(errno));
		return NULL;
	}
	if (inotify_add_watch(fd, path,
			      IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE |
				      IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) < 0) {
		error_set(err, errno == ENOENT ? E_NOTFOUND : E_IO, "%s cannot be watched: %s",
			  path, strerror(errno));
		close(fd);
		return NULL;
	}
	struct dir_watch *w = xcalloc(1, sizeof(*w));
	w->loop = l;
	w->fd = fd;
	w->changed = (struct task){.fn = fn, .arg = arg};
	w->readable = event_new(self(l)->base, fd, EV_READ | EV_PERSIST, on_inotify, w);
	assert(w->readable);
	event_add(w->readable, NULL);
	return w;
}

void dir_watch_free(struct dir_watch *w)
{
	if (!w)
		return;
	loop_unpost(w->loop, &w->changed);
	event_free(w->readable);
	close(w->fd);
	xfree(w);
}
