/* cmd_controller: `alm controller`, the controllers against any Kubernetes API server. */
#ifndef ALM_MAIN_CMD_CONTROLLER_H
#define ALM_MAIN_CMD_CONTROLLER_H

int cmd_controller_main(int argc, char **argv);

#endif
