#include "alm/unit/failure.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/mem.h"

/* clang-format off */
static const struct failure_check checks[] = {
	{"OOMKilled",                  0},
	{"CrashLoopBackOff",           0},
	{"ImagePullBackOff",           0},
	{"InvalidImageName",           0},
	{"ErrImageNeverPull",          0},
	{"RunContainerError",          0},
	{"StartError",                 0},
	{"CreateContainerConfigError", 30 * NS_PER_S},
	{"CreateContainerError",       30 * NS_PER_S},
	{"FailedMount",                2 * NS_PER_MIN},
	{"FailedAttachVolume",         2 * NS_PER_MIN},
	{"Unschedulable",              30 * NS_PER_S},
	{"DeadlineExceeded",           0},
	{"BackoffLimitExceeded",       0},
	{"Evicted",                    0},
	{"ProgressDeadlineExceeded",   0},
	{"ReplicaFailure",             0},
};
/* clang-format on */

const struct failure_check *failure_check_find(const char *name)
{
	if (!strcmp(name, "JobOOMKilled"))
		name = "OOMKilled";
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (!strcmp(checks[i].name, name))
			return &checks[i];
	return NULL;
}

const struct failure_check *failure_checks(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(checks);
	return checks;
}

void failure_names(struct strbuf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		strbuf_addf(b, "%s%s", i ? ", " : "", checks[i].name);
}
