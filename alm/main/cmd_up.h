/* cmd_up: `alm up`, server and controllers in one process. */
#ifndef ALM_MAIN_CMD_UP_H
#define ALM_MAIN_CMD_UP_H

int cmd_up_main(int argc, char **argv);

#endif
