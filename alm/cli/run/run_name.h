/* run_name: what is run has a name that is a part of others, and a label. */
#ifndef ALM_CLI_RUN_RUN_NAME_H
#define ALM_CLI_RUN_RUN_NAME_H

#include "alm/base/error.h"

#define RUN_NAME_MAX 50 /* bytes */

/* E_INVALID, beginning with where it is from ("the name", "trigger.yaml: mainResource"). */
int run_name_check(const char *name, const char *from, struct error *err);

#endif
