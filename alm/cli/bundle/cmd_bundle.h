/* cmd_bundle: the commands of `alm bundle` that have a file of their own. */
#ifndef ALM_CLI_BUNDLE_CMD_BUNDLE_H
#define ALM_CLI_BUNDLE_CMD_BUNDLE_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_bundle_plan, cmd_bundle_graph, cmd_bundle_set_version;

#endif
