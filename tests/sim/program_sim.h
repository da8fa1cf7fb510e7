/* program_sim: programs of a table (program_fake.h) that meet the faults of a run. */
#ifndef TESTS_SIM_PROGRAM_SIM_H
#define TESTS_SIM_PROGRAM_SIM_H

#include "tests/lib/program_fake.h"
#include "tests/sim/faults.h"

struct programs *programs_sim_new(struct loop *l, struct faults *faults,
				  const struct program_fake_row *rows);

#endif
