/* sandbox_sim: jobs run in process, in a later turn; a fault kills the child, lets it answer
 * garbage, or answer late. */
#ifndef TESTS_SIM_SANDBOX_SIM_H
#define TESTS_SIM_SANDBOX_SIM_H

#include "alm/io/sandbox.h"
#include "tests/sim/faults.h"

struct sandbox *sandbox_sim_new(struct loop *l, struct faults *faults,
				const struct sandbox_job *jobs);

#endif
