/*
 * data_dir: the folder of the embedded server and of the controllers, which holds every Secret, the
 * keys and the token of the administrator. Whoever may write there is the administrator, so the
 * folder and the files that alm reads from it are ours (the effective user) and nobody else may
 * write them; what others may only read is made 0600. A link is refused: it would have us read,
 * truncate or overwrite what it points to.
 *
 * Once the folder has passed, other users cannot change what is in it.
 */
#ifndef ALM_IO_DATA_DIR_H
#define ALM_IO_DATA_DIR_H

#include "alm/base/error.h"

/* The folder, 0700 if it has to be made, and data_dir_check(). Errors name --data-dir. */
int data_dir_make(const char *path, struct error *err);
/* E_FORBIDDEN says what is wrong, and the command that mends it. An absent folder is fine. */
int data_dir_check(const char *path, struct error *err);
/* A file of credentials that the administrator names (--token-file), links followed: not to be
 * written by its group, nor read by others; a group may read it. */
int credentials_check(const char *path, struct error *err);

#endif
