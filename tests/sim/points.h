/*
 * points: one fault at every API write and at every commit of a scenario's fault-free run.
 *
 * The fault-free run is played twice: the first time it notes the turn of each point, the second
 * time it forks a child before that turn. A child has the fault, and so costs the rest of its
 * scenario only; from the start the same run is played by --fault NAME@wN (reliability.md 2).
 */
#ifndef TESTS_SIM_POINTS_H
#define TESTS_SIM_POINTS_H

#include "tests/sim/world.h"

struct points_config {
	const struct scenario *scenario;
	uint64_t seed, every; /* every n-th point only */
	bool together, crash_only, keep_going;
	bool writes_only;      /* not at commits */
	const char *only;      /* this kind of fault; NULL: all */
	struct sha256 *digest; /* of all runs joins it */
	/* The command that plays the run with this fault; borrowed. */
	const char *(*replay)(void *arg, const char *fault);
	void *arg;
};

/* Runs that failed; tells of them and of what was covered. */
uint64_t points_run(const struct points_config *c);

#endif
