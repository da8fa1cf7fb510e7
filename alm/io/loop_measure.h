/*
 * loop_measure: how long the turns of a loop are, as the metrics alm_loop_turn_seconds (a
 * histogram) and alm_loop_longest_turn_seconds.
 *
 * In CPU time: what a turn waits for does not count, nor what others do on the machine.
 */
#ifndef ALM_IO_LOOP_MEASURE_H
#define ALM_IO_LOOP_MEASURE_H

#include "alm/io/loop.h"
#include "alm/io/metrics.h"

struct loop_measure;

struct loop_measure *loop_measure_new(struct metrics *m); /* m outlives it */
void loop_measure_free(struct loop_measure *l);
void loop_measure_turn(struct loop_measure *l, int64_t cpu_ns);

/* From now on, of a real loop (loop_event_new()). */
void loop_measure(struct loop *l, struct metrics *m);

#endif
