/*
 * loop: the one event loop; time and randomness come from here and from nowhere else.
 *
 * A turn is: the I/O that is ready, then due timers in order of (deadline, arming), then the posted
 * tasks in order. A task that is posted while tasks run waits for the next turn. Where there is
 * more I/O than 10 ms of work (clients that never stop sending), the rest of it waits for the next
 * turn: timers, tasks and signals have theirs whatever the clients do; and so do tasks after 5 ms of
 * work. Group commit hangs on this: the first write of a turn posts the commit, which so runs after
 * every request that was ready then.
 *
 * now_ns is wall-clock time since 1970 and may jump; mono_ns never goes back. Deadlines of timers
 * count monotonic time. Two backends: loop_event.c (libevent) and tests/sim/loop_sim.c.
 */
#ifndef ALM_IO_LOOP_H
#define ALM_IO_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/heap.h"
#include "alm/base/mem.h"

struct loop;

/* Embedded in its owner, zeroed before first use; fn and arg set by the owner. */
struct timer {
	struct heap_node node;
	void (*fn)(void *arg);
	void *arg;
};

struct task {
	struct task *next; /* of the loop */
	bool posted;
	void (*fn)(void *arg);
	void *arg;
};

struct loop_ops {
	int64_t (*now_ns)(struct loop *l);
	int64_t (*mono_ns)(struct loop *l);
	void (*random)(struct loop *l, void *buf, size_t n);
	void (*wake)(struct loop *l); /* the head of timers, or posted, changed */
	void (*free)(struct loop *l);
	int64_t (*cpu_ns)(struct loop *l); /* of this thread; NULL: turns take none */
};

/* First member of a backend's struct. */
struct loop {
	const struct loop_ops *ops;
	struct heap timers;
	struct task *posted, **posted_tail;
};

int64_t loop_now(struct loop *l);
int64_t loop_mono(struct loop *l);
void loop_random(struct loop *l, void *buf, size_t n);
uint64_t loop_random_below(struct loop *l, uint64_t n); /* n > 0 */

/* Arms (again) to fire once, after_ns from now; <= 0 is the next turn. */
void loop_arm(struct loop *l, struct timer *t, int64_t after_ns);
void loop_disarm(struct loop *l, struct timer *t);
void loop_post(struct loop *l, struct task *t); /* no-op while it is posted */
void loop_unpost(struct loop *l, struct task *t);

/* For backends. */
void loop_init(struct loop *l, const struct loop_ops *ops);
void loop_release(struct loop *l);
int64_t loop_next_deadline(const struct loop *l); /* INT64_MAX if nothing waits, 0 if tasks do */
void loop_run_due(struct loop *l);                /* due timers, then posted tasks */
void loop_free(struct loop *l);
DEFINE_FREEP(loop)

/* The real one. loop_run() returns after loop_stop(); SIGINT and SIGTERM call on_signal. */
struct loop *loop_event_new(void);
void loop_run(struct loop *l);
void loop_stop(struct loop *l);
void loop_on_signal(struct loop *l, void (*fn)(void *arg, int signal), void *arg);
/* Runs one turn without blocking; for start-up and tests. */
void loop_turn(struct loop *l);
/* Calls fn after the folder changed (inotify), at most once a turn; owned. NULL and err set when
 * the folder cannot be watched. */
struct dir_watch;
struct dir_watch *loop_watch_dir(struct loop *l, const char *path, void (*fn)(void *arg), void *arg,
				 struct error *err);
void dir_watch_free(struct dir_watch *w);

#endif
