/*
 * queue: keys that wait for work (client-go's workqueue, as facts).
 *
 * A key is in the dirty set when it needs work and in the processing set while a worker has it. A
 * key that is added while it is processed is not handed out a second time but comes back right
 * after queue_done(): one worker per key, no lost wake-up. Failures come back after a growing,
 * jittered pause (1 s doubling to 60 s) until queue_forget().
 *
 * At most at_once keys are processed at a time; the others wait (MaxConcurrentReconciles of
 * controller-runtime). Those that were begun go first, see queue_add_first(): so of a thousand keys that
 * each need ten passes the first are done early, and what passes hold is bounded.
 */
#ifndef ALM_CLIENT_QUEUE_H
#define ALM_CLIENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "alm/base/mem.h"
#include "alm/io/loop.h"

struct queue;

/* ready is called in a later turn when a key can be taken, and again in the next turn while it
 * takes some and leaves others, so it may stop after as many as a turn has time for. One that takes
 * none is not called again before the next add, or before one of at_once keys is done. */
struct queue *queue_new(struct loop *l, size_t at_once, void (*ready)(void *arg), void *arg);
void queue_free(struct queue *q);
DEFINE_FREEP(queue)

void queue_add(struct queue *q, const char *key);
/* Something that the key waited for has come: it is taken before the others, as what it was told
 * grows old. Of five that are taken, one is of the others if there are any. */
void queue_add_first(struct queue *q, const char *key);
void queue_add_after(struct queue *q, const char *key, int64_t after_ns); /* the earliest wins */
/* Instead of any time that was asked for before; 0: no time. For who has just looked at all of it. */
void queue_set_after(struct queue *q, const char *key, int64_t after_ns);
void queue_add_rate_limited(struct queue *q, const char *key);
void queue_forget(struct queue *q, const char *key); /* resets the back-off */
/* Why a key waits, a constant text: the first reason since it was handed out is kept until it is handed out
 * again. Nothing for a key that the queue does not have. */
void queue_because(struct queue *q, const char *key, const char *why);
const char *queue_why(const struct queue *q,
		      const char *key); /* it was handed out; NULL: nobody said */

const char *queue_get(struct queue *q); /* borrowed until queue_done(); NULL if none is ready */
void queue_done(struct queue *q, const char *key);
size_t queue_len(const struct queue *q);     /* ready now */
size_t queue_pending(const struct queue *q); /* ready, processing or waiting for a time */
bool queue_is_idle(const struct queue *q);   /* nothing ready, nothing processing */

#endif
