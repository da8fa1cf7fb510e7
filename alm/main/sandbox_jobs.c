#include "alm/main/sandbox_jobs.h"

#include "alm/base/clock.h"
#include "alm/render/flat_job.h"
#include "alm/render/render_job.h"
#include "alm/sources/source_jobs.h"
#include "installers/render.h"

const struct sandbox_job sandbox_jobs[] = {
	{RENDER_JOB, render_job, NULL},
	FLAT_JOBS,
	SOURCE_JOBS,
	{0},
};

int render_cpu_read(const struct cli *c, struct error *err)
{
	int64_t ns;
	if (cli_duration(c, "render-cpu", RENDER_CPU_S * NS_PER_S, &ns, err) < 0)
		return -err->code;
	if (ns < NS_PER_S || ns > NS_PER_HOUR)
		return error_set(err, E_USAGE, "--render-cpu is from 1s to 1h");
	render_job_budget((int)(ns / NS_PER_S));
	return 0;
}
