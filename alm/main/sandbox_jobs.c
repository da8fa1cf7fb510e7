#include "alm/main/sandbox_jobs.h"

#include "alm/controllers/inspect.h"
#include "alm/controllers/render_job.h"
#include "catalog/helm_index.h"

const struct sandbox_job sandbox_jobs[] = {
	{RENDER_JOB, render_job},
	{HELM_INDEX_JOB, helm_index_job},
	{INSPECT_JOB, inspect_job},
	{0},
};
