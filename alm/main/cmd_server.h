/* cmd_server: `alm server`, the embedded API server alone. */
#ifndef ALM_MAIN_CMD_SERVER_H
#define ALM_MAIN_CMD_SERVER_H

int cmd_server_main(int argc, char **argv);

#endif
