/* Which of a job's units is there: what a refused one leaves as it was is kept meanwhile (unit_job.former). */
#include "alm/controllers/unit/unit_side.h"

static void drop(struct arena **a)
{
	if (*a)
		arena_free(STEAL(*a));
}

void unit_job_settle(struct unit_job *job, struct unit_arenas *of)
{
	const char *state = obj_str(job->record, "state");
	bool stands = cstr_eq(state, "Succeeded");
	if (!stands && (cstr_eq(state, "RolledBack") || !obj_flag(job->record, "begun", false)))
		return; /* what did before */
	drop(&of->former);
	job->former = stands ? job->unit : NULL;
}

void unit_job_replace(struct unit_job *job, struct unit_arenas *of, const struct unit *unit,
		      struct arena *a)
{
	unit_job_settle(job, of);
	if (of->unit && job->former == job->unit)
		of->former = STEAL(of->unit);
	drop(&of->unit);
	of->unit = a;
	job->unit = unit;
}

void unit_arenas_free(struct unit_arenas *of)
{
	drop(&of->unit);
	drop(&of->former);
}
