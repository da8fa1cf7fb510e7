/* removal: what the deletion of an app would take with it, and what would stay (lifecycle.md 8). */
#ifndef ALM_CLI_KUBE_REMOVAL_H
#define ALM_CLI_KUBE_REMOVAL_H

#include "alm/cli/session.h"

/* Prints it for an AppType as the server has it: of all that stored plans of its versions list, what is
 * there and marked as the app's. Reads only. A plan that is gone is told. */
int removal_print(struct cli *c, struct session *s, const struct obj *app, struct error *err);

#endif
