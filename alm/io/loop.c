/*
 * loop: what both backends share: the timers and the posted tasks. Knows no clock but ops.
 */
#include <assert.h>

#include "alm/io/loop.h"

#include "alm/base/clock.h"

#define TASKS_NS (5 * NS_PER_MS) /* of the processor */

int64_t loop_now(struct loop *l)
{
	return l->ops->now_ns(l);
}

int64_t loop_mono(struct loop *l)
{
	return l->ops->mono_ns(l);
}

void loop_random(struct loop *l, void *buf, size_t n)
{
	l->ops->random(l, buf, n);
}

uint64_t loop_random_below(struct loop *l, uint64_t n)
{
	assert(n > 0);
	/* Values under the threshold would favour small results. */
	uint64_t threshold = (0 - n) % n;
	for (;;) {
		uint64_t v;
		loop_random(l, &v, sizeof(v));
		if (v >= threshold)
			return v % n;
	}
}

void loop_init(struct loop *l, const struct loop_ops *ops)
{
	*l = (struct loop){.ops = ops};
	l->posted_tail = &l->posted;
}

void loop_release(struct loop *l)
{
	heap_release(&l->timers);
	l->posted = NULL;
	l->posted_tail = &l->posted;
}

void loop_free(struct loop *l)
{
	if (l)
		l->ops->free(l);
}

void loop_arm(struct loop *l, struct timer *t, int64_t after_ns)
{
	assert(t->fn);
	int64_t now = loop_mono(l), deadline = now;
	if (after_ns > 0 && __builtin_add_overflow(now, after_ns, &deadline))
		deadline = INT64_MAX;
	heap_remove(&l->timers, &t->node);
	heap_push(&l->timers, &t->node, deadline);
	l->ops->wake(l);
}

void loop_disarm(struct loop *l, struct timer *t)
{
	heap_remove(&l->timers, &t->node);
}

static void append(struct loop *l, struct task *t)
{
	t->posted = true;
	t->next = NULL;
	*l->posted_tail = t;
	l->posted_tail = &t->next;
}

static void unlink_at(struct loop *l, struct task **link)
{
	struct task *t = *link;
	assert(t);
	*link = t->next;
	if (!t->next)
		l->posted_tail = link;
	t->next = NULL;
	t->posted = false;
}

void loop_post(struct loop *l, struct task *t)
{
	assert(t->fn);
	if (t->posted)
		return;
	append(l, t);
	l->ops->wake(l);
}

void loop_unpost(struct loop *l, struct task *t)
{
	if (!t->posted)
		return;
	for (struct task **link = &l->posted; *link; link = &(*link)->next) {
		if (*link == t) {
			unlink_at(l, link);
			return;
		}
	}
}

int64_t loop_next_deadline(const struct loop *l)
{
	if (l->posted)
		return 0;
	struct heap_node *node = heap_peek(&l->timers);
	return node ? node->key : INT64_MAX;
}

static void run_timers(struct loop *l)
{
	int64_t now = loop_mono(l);
	uint64_t armed_before = l->timers.pushed;
	for (;;) {
		struct heap_node *node = heap_peek(&l->timers);
		/* One that was armed by a timer of this turn is due in the next. */
		if (!node || node->key > now || node->order > armed_before)
			return;
		heap_pop(&l->timers);
		struct timer *t = CONTAINER_OF(node, struct timer, node);
		t->fn(t->arg);
	}
}

static int64_t work_ns(struct loop *l)
{
	return l->ops->cpu_ns ? l->ops->cpu_ns(l) : 0;
}

/* Those that were posted before; after TASKS_NS the rest waits for the next turn, behind what arrived. */
static void run_tasks(struct loop *l)
{
	if (!l->posted)
		return;
	struct task end = {0};
	int64_t until = work_ns(l) + TASKS_NS;
	append(l, &end);
	for (;;) {
		struct task *t = l->posted;
		unlink_at(l, &l->posted);
		if (t == &end)
			return;
		t->fn(t->arg);
		if (work_ns(l) >= until) {
			loop_unpost(l, &end);
			return;
		}
	}
}

void loop_run_due(struct loop *l)
{
	run_timers(l);
	run_tasks(l);
}
