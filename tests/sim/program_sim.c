#include "tests/sim/program_sim.h"

static bool strikes(void *arg, enum program_fault which)
{
	static const enum fault_id ids[] = {[PROGRAM_KILLED] = FAULT_CHILD_KILLED,
					    [PROGRAM_GARBAGE] = FAULT_CHILD_GARBAGE,
					    [PROGRAM_LATE] = FAULT_CHILD_LATE};
	return fault_strikes(arg, ids[which]);
}

struct programs *programs_sim_new(struct loop *l, struct faults *faults,
				  const struct program_fake_row *rows)
{
	return programs_fake_new(l, rows, strikes, faults);
}
