/* queue: see queue.h. */
#include "alm/client/queue.h"

#include <assert.h>
#include <sys/queue.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"

#define BACKOFF_MIN   NS_PER_S
#define BACKOFF_MAX   (60 * NS_PER_S)
#define DOUBLINGS_MAX 6 /* 1 s << 6 is above the maximum */
#define FIRST_MAX     4 /* in a row, while others wait */

/* Lives while the key is dirty, processing, waiting or has failures. */
struct entry {
	struct queue *queue;
	char *key;
	bool dirty, processing;
	bool first; /* goes, or is, among those that are taken first */
	unsigned failures;
	const char *waits_for, *works_for;
	struct timer timer;
	int64_t due; /* of the timer */
	TAILQ_ENTRY(entry) link;
};

struct queue {
	struct loop *loop;
	void (*on_ready)(void *arg);
	void *arg;
	struct task task;
	struct map *entries;
	TAILQ_HEAD(entries, entry) ready, first;
	size_t n_ready, n_processing; /* ready: of both */
	size_t at_once;
	unsigned n_first; /* taken in a row */
	uint64_t n_taken;
};

static void entry_free(void *p)
{
	struct entry *e = p;
	loop_disarm(e->queue->loop, &e->timer);
	xfree(e->key);
	xfree(e);
}

static void call_ready(void *arg)
{
	struct queue *q = arg;
	uint64_t before = q->n_taken;
	if (q->n_ready)
		q->on_ready(q->arg);
	if (q->n_ready && q->n_taken != before) /* the others go first, then the rest */
		loop_post(q->loop, &q->task);
}

struct queue *queue_new(struct loop *l, size_t at_once, void (*ready)(void *arg), void *arg)
{
	struct queue *q = xcalloc(1, sizeof(*q));
	q->loop = l;
	q->at_once = at_once;
	q->on_ready = ready;
	q->arg = arg;
	q->task.fn = call_ready;
	q->task.arg = q;
	q->entries = map_new(entry_free);
	TAILQ_INIT(&q->ready);
	TAILQ_INIT(&q->first);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	loop_unpost(q->loop, &q->task);
	map_free(q->entries);
	xfree(q);
}

static void push_ready(struct queue *q, struct entry *e)
{
	if (e->first)
		TAILQ_INSERT_TAIL(&q->first, e, link);
	else
		TAILQ_INSERT_TAIL(&q->ready, e, link);
	q->n_ready++;
	loop_post(q->loop, &q->task);
}

static void add(struct queue *q, struct entry *e)
{
	if (e->dirty)
		return;
	e->dirty = true;
	if (!e->processing)
		push_ready(q, e);
}

static void forget_idle(struct queue *q, struct entry *e)
{
	if (!e->dirty && !e->processing && !e->failures && !e->waits_for &&
	    !heap_holds(&e->timer.node))
		map_del(q->entries, e->key);
}

static void on_timer(void *arg)
{
	struct entry *e = arg;
	add(e->queue, e);
	forget_idle(e->queue, e); /* only a planted bug leaves it idle */
}

static struct entry *entry_of(struct queue *q, const char *key)
{
	struct entry *e = map_get(q->entries, key);
	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->queue = q;
	e->key = xstrdup(key);
	e->timer.fn = on_timer;
	e->timer.arg = e;
	map_set(q->entries, key, e);
	return e;
}

void queue_add(struct queue *q, const char *key)
{
	add(q, entry_of(q, key));
}

void queue_add_first(struct queue *q, const char *key)
{
	struct entry *e = entry_of(q, key);
	if (e->dirty && !e->processing && !e->first) {
		TAILQ_REMOVE(&q->ready, e, link);
		TAILQ_INSERT_TAIL(&q->first, e, link);
	}
	e->first = true;
	add(q, e);
}

void queue_add_after(struct queue *q, const char *key, int64_t after_ns)
{
	struct entry *e = entry_of(q, key);
	bool waiting = heap_holds(&e->timer.node);
	int64_t due;
	if (after_ns <= 0) {
		add(q, e);
		return;
	}
	if (__builtin_add_overflow(loop_mono(q->loop), after_ns, &due))
		due = INT64_MAX;
	if (waiting && e->due <= due)
		return;
	e->due = due;
	loop_arm(q->loop, &e->timer, after_ns);
}

void queue_set_after(struct queue *q, const char *key, int64_t after_ns)
{
	loop_disarm(q->loop, &entry_of(q, key)->timer);
	if (after_ns)
		queue_add_after(q, key, after_ns);
}

void queue_add_rate_limited(struct queue *q, const char *key)
{
	struct entry *e = entry_of(q, key);
	unsigned doublings = e->failures < DOUBLINGS_MAX ? e->failures : DOUBLINGS_MAX;
	int64_t pause = BACKOFF_MIN << doublings;
	pause = pause > BACKOFF_MAX ? BACKOFF_MAX : pause;
	int64_t jitter = (int64_t)loop_random_below(q->loop, (uint64_t)pause / 4);
	pause = pause + jitter > BACKOFF_MAX ? BACKOFF_MAX - jitter : pause + jitter;
	e->failures++;
	queue_add_after(q, key, pause);
}

void queue_forget(struct queue *q, const char *key)
{
	struct entry *e = map_get(q->entries, key);
	if (!e)
		return;
	e->failures = 0;
	forget_idle(q, e);
}

void queue_because(struct queue *q, const char *key, const char *why)
{
	struct entry *e = map_get(q->entries, key);
	if (e && !e->waits_for)
		e->waits_for = why;
}

const char *queue_why(const struct queue *q, const char *key)
{
	const struct entry *e = map_get(q->entries, key);
	return e ? e->works_for : NULL;
}

static struct entry *take(struct queue *q)
{
	struct entry *e = TAILQ_FIRST(&q->first), *other = TAILQ_FIRST(&q->ready);
	if (e && (!other || q->n_first < FIRST_MAX)) {
		q->n_first++;
		TAILQ_REMOVE(&q->first, e, link);
		return e;
	}
	q->n_first = 0;
	if (other)
		TAILQ_REMOVE(&q->ready, other, link);
	return other;
}

const char *queue_get(struct queue *q)
{
	struct entry *e = q->n_processing < q->at_once ? take(q) : NULL;
	if (!e)
		return NULL;
	q->n_ready--;
	q->n_processing++;
	q->n_taken++;
	e->dirty = e->first = false;
	e->processing = true;
	e->works_for = e->waits_for;
	e->waits_for = NULL;
	return e->key;
}

void queue_done(struct queue *q, const char *key)
{
	struct entry *e = map_get(q->entries, key);
	assert(e && e->processing);
	e->processing = false;
	if (q->n_processing-- == q->at_once && q->n_ready)
		loop_post(q->loop, &q->task);
	if (e->dirty)
		push_ready(q, e);
	else
		forget_idle(q, e);
}

size_t queue_len(const struct queue *q)
{
	return q->n_ready;
}

size_t queue_pending(const struct queue *q)
{
	size_t n = 0;
	for (struct map_entry *m = map_first(q->entries); m; m = map_next(m)) {
		const struct entry *e = m->value;
		n += e->dirty || e->processing || heap_holds(&e->timer.node);
	}
	return n;
}

bool queue_is_idle(const struct queue *q)
{
	return !q->n_ready && !q->n_processing;
}
