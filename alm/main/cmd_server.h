/* cmd_server: `alm server`, the embedded API server alone. */
#ifndef ALM_MAIN_CMD_SERVER_H
#define ALM_MAIN_CMD_SERVER_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_server;

#endif
