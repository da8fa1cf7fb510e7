/* approve_bundle: `alm approve bundle/NAME --prune --reason TEXT`. */
#ifndef ALM_CLI_APP_APPROVE_BUNDLE_H
#define ALM_CLI_APP_APPROVE_BUNDLE_H

#include "alm/cli/session.h"

/* E_REFUSED where nothing is held. */
int approve_bundle(struct cli *c, const char *name, struct error *err);

#endif
