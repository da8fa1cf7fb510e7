/* cmd_up: `alm up`, server and controllers in one process. */
#ifndef ALM_MAIN_CMD_UP_H
#define ALM_MAIN_CMD_UP_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_up;

#endif
