/* editor: the user's own program on a file of his, for `alm edit`. */
#ifndef ALM_IO_EDITOR_H
#define ALM_IO_EDITOR_H

#include "alm/base/error.h"

/* Runs `COMMAND PATH` in a shell, as kubectl runs KUBE_EDITOR, and waits. E_IO if it cannot be
 * started or ends with another status than 0. */
int editor_run(const char *command, const char *path, struct error *err);

#endif
