#include "alm/main/sandbox_jobs.h"

#include "alm/render/render_job.h"
#include "alm/sources/source_jobs.h"

const struct sandbox_job sandbox_jobs[] = {
	{RENDER_JOB, render_job},
	SOURCE_JOBS,
	{0},
};
