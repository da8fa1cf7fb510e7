/* `alm crd ...`: commands on CustomResourceDefinitions, one file each. */
#include "alm/cli/cmds.h"

static const struct cmd *const subs[] = {&cmd_crd_check, &cmd_crd_diff, &cmd_crd_migrate, NULL};

const struct cmd cmd_crd = {
	.name = "crd",
	.usage = "alm crd check|diff OLD NEW, alm crd migrate CRD --to VERSION",
	.summary = "judge changes of CRDs, migrate what a CRD has stored",
	.subs = subs,
};
