/* cmds: the commands of this folder, one file each. */
#ifndef ALM_CLI_CMDS_H
#define ALM_CLI_CMDS_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_get, cmd_apply, cmd_create, cmd_delete, cmd_describe, cmd_wait;
extern const struct cmd cmd_audit, cmd_version, cmd_completion;

#endif
