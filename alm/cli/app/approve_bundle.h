/* approve_bundle: `alm approve bundle/NAME --prune --reason TEXT`. */
#ifndef ALM_CLI_APP_APPROVE_BUNDLE_H
#define ALM_CLI_APP_APPROVE_BUNDLE_H

#include "alm/cli/session.h"

/* What is said of that many orphans: consent is to STRAYS_MAX of them at most. */
const char *approve_bundle_text(struct arena *a, const char *name, int64_t count);
/* E_REFUSED where nothing is held. */
int approve_bundle(struct cli *c, const char *name, struct error *err);

#endif
