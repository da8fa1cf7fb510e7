/* rights: what the plan of a version takes, as Roles and bindings for the account of its app: what
 * the controllers ask the server for before the first write. */
#ifndef ALM_CLI_APP_RIGHTS_H
#define ALM_CLI_APP_RIGHTS_H

#include "alm/cli/app/app_session.h"

/* A list of manifests, owned. version NULL: the one that waits, else the one that runs. E_NOTFOUND
 * if there is no plan of it. */
int rights_manifests(struct cli *c, struct app_session *a, const char *version, struct obj **ret,
		     struct error *err);

#endif
