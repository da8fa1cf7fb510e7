/* cmd_catalog: the commands below `alm catalog`, by file. */
#ifndef ALM_CLI_CATALOG_CMD_CATALOG_H
#define ALM_CLI_CATALOG_CMD_CATALOG_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_catalog_index, cmd_catalog_verify, cmd_catalog_pull, cmd_catalog_push;
extern const struct cmd cmd_catalog_lint;

#endif
