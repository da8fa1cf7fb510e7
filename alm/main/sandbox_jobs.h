/* sandbox_jobs: what the sandbox of this program can run. */
#ifndef ALM_MAIN_SANDBOX_JOBS_H
#define ALM_MAIN_SANDBOX_JOBS_H

#include "alm/io/sandbox.h"

extern const struct sandbox_job sandbox_jobs[];

#endif
