/*
 * program_sim: programs are functions of a table, found by the last part of their path, and run in
 * this process; their answer comes in a later turn. A fault kills one before it did anything, cuts
 * off what it prints, with status 128, or makes it late.
 */
#ifndef TESTS_SIM_PROGRAM_SIM_H
#define TESTS_SIM_PROGRAM_SIM_H

#include "alm/base/strbuf.h"
#include "alm/io/program.h"
#include "tests/sim/faults.h"

struct program_sim_row {
	const char *name; /* ended by a row with NULL */
	/* Returns the exit status. */
	int (*fn)(void *arg, const struct program_call *call, struct strbuf *output,
		  struct strbuf *errors);
	void *arg;
};

/* A program that no row names is E_NOTFOUND. */
struct programs *programs_sim_new(struct loop *l, struct faults *faults,
				  const struct program_sim_row *rows);

#endif
