/* `alm crd ...`: commands on CustomResourceDefinitions, one file each. */
#include "alm/cli/cmds.h"

static const struct cmd *const subs[] = {&cmd_crd_migrate, NULL};

const struct cmd cmd_crd = {
	.name = "crd",
	.usage = "alm crd migrate CRD --to VERSION",
	.summary = "migrate what a CRD has stored",
	.subs = subs,
};
