/*
 * deadlines: what is left of each, in monotonic time (lifecycle.md 4.2). Pure: the time comes in.
 *
 * A deadline that is asked for is never forgotten before it has ended: with more of them than a
 * table has room for, each would start over whenever it is looked at, and none would end. What
 * ended more than DEADLINE_KEPT_NS ago is forgotten once there are more than DEADLINES_SWEPT, so
 * the table holds what started within the last deadline and hour.
 */
#ifndef ALM_ENGINE_DEADLINES_H
#define ALM_ENGINE_DEADLINES_H

#include <stdint.h>

#include "alm/base/mem.h"

#define DEADLINES_SWEPT  4096
#define DEADLINE_KEPT_NS (INT64_C(3600) * 1000000000)

struct deadlines;

struct deadlines *deadlines_new(void);
void deadlines_free(struct deadlines *d);
DEFINE_FREEP(deadlines)

/* The first call for an id starts it with what the wall clock leaves, at least a tenth: a clock
 * that jumps ends nothing early. <= 0: over. */
int64_t deadlines_left(struct deadlines *d, const char *id, int64_t deadline_ns, int64_t by_wall_ns,
		       int64_t mono_ns);
size_t deadlines_count(const struct deadlines *d);

#endif
