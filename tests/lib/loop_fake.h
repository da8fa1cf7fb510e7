/* loop_fake: a loop with virtual time and repeatable randomness, for unit tests. */
#ifndef TESTS_LIB_LOOP_FAKE_H
#define TESTS_LIB_LOOP_FAKE_H

#include "alm/io/loop.h"

struct loop *loop_fake_new(int64_t now_ns);
/* Runs what is due, then advances from deadline to deadline, for so long. */
void loop_fake_run(struct loop *l, int64_t span_ns);
/* Runs until no task is posted, without letting time pass. */
void loop_fake_settle(struct loop *l);
/* The wall clock alone jumps. */
void loop_fake_step(struct loop *l, int64_t by_ns);

#endif
