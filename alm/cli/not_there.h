/* not_there: what a server lacks to which ALM was not brought yet, with the remedy. */
#ifndef ALM_CLI_NOT_THERE_H
#define ALM_CLI_NOT_THERE_H

#include "alm/client/discovery.h"

/* What a message of 404 goes on with: "" unless the path is of a group of ALM's. */
const char *not_there_path(const char *path);
/* The same of a kind that d does not have: "" unless the group is ALM's and has no kind at all. */
const char *not_there_kind(const struct discovery *d, const char *group);

#endif
