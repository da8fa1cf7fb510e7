/* cmd_controller: `alm controller`, the controllers against any Kubernetes API server. */
#ifndef ALM_MAIN_CMD_CONTROLLER_H
#define ALM_MAIN_CMD_CONTROLLER_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_controller;

#endif
