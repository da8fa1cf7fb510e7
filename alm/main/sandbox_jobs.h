/* sandbox_jobs: what the sandbox of this program can run. */
#ifndef ALM_MAIN_SANDBOX_JOBS_H
#define ALM_MAIN_SANDBOX_JOBS_H

#include "alm/cli/cli.h"
#include "alm/io/sandbox.h"

extern const struct sandbox_job sandbox_jobs[];

#define RENDER_CPU_OPTION \
	{"render-cpu", "DURATION", "processor time of rendering a chart (default 60s)", 0}
/* Takes it over for all that is rendered from here on; E_USAGE. */
int render_cpu_read(const struct cli *c, struct error *err);

#endif
