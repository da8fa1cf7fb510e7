/* man: a manual page (man(7), section 1) of a command, from what --help is made of. */
#ifndef ALM_CLI_MAN_H
#define ALM_CLI_MAN_H

#include "alm/cli/cli.h"

/* path: "alm audit why". cmd NULL: the program itself, with all of its commands. */
void man_print(const char *path, const struct cmd *const *all, const struct cmd *cmd);

#endif
