#include "alm/main/sandbox_jobs.h"

#include "alm/render/flat_job.h"
#include "alm/render/render_job.h"
#include "alm/sources/source_jobs.h"

const struct sandbox_job sandbox_jobs[] = {
	{RENDER_JOB, render_job, NULL},
	FLAT_JOBS,
	SOURCE_JOBS,
	{0},
};
