/* approve_bundle: what a person says of a revision that a Bundle rolls out or holds:
 * `alm approve bundle/NAME --prune|--canary|--skip-analysis`, `alm abort bundle/NAME`. */
#ifndef ALM_CLI_APP_APPROVE_BUNDLE_H
#define ALM_CLI_APP_APPROVE_BUNDLE_H

#include "alm/cli/session.h"

/* What is said of that many orphans: consent is to STRAYS_MAX of them at most. */
const char *approve_bundle_text(struct arena *a, const char *name, int64_t count);
/* E_REFUSED where nothing waits for it. --reason is given. */
int approve_bundle(struct cli *c, const char *name, struct error *err);
int abort_bundle(struct cli *c, const char *name, struct error *err);

#endif
