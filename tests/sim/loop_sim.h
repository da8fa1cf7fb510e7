/*
 * loop_sim: virtual time. A simulation has one clock and a loop for each process in it, so that the
 * crash of a process takes its timers and tasks along. sim_step() runs the loop that is due first;
 * at the same instant the one that was made first.
 */
#ifndef TESTS_SIM_LOOP_SIM_H
#define TESTS_SIM_LOOP_SIM_H

#include "alm/io/loop.h"
#include "tests/sim/prng.h"
#include "tests/sim/trace.h"

#define SIM_LOOPS_MAX 16
/* 2026-01-01T00:00:00Z */
#define SIM_EPOCH_NS (INT64_C(1767225600) * 1000000000)

struct sim {
	uint64_t seed;
	int64_t mono_ns;
	int64_t wall_offset_ns; /* a clock jump */
	struct trace trace;
	struct loop *loops[SIM_LOOPS_MAX];
	size_t n_loops;
	uint64_t n_made;    /* names the streams of loops */
	uint64_t n_instant; /* turns at this very instant */
	uint64_t n_turns;
	bool livelock; /* 100,000 turns without time passing */
};

void sim_init(struct sim *s, uint64_t seed, enum trace_level level);
void sim_release(struct sim *s); /* every loop must be freed */
struct loop *loop_sim_new(struct sim *s, const char *name);
/* Runs one turn of one loop, not past until_ns. False if nothing is due by then. */
bool sim_step(struct sim *s, int64_t until_ns);
/* How far the wall clock of the loop's machine is ahead of that of the others. */
void loop_sim_set_ahead(struct loop *l, int64_t ns);

#endif
