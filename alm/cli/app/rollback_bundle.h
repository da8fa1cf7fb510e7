/* rollback_bundle: `alm rollback bundle NAME [--to REVISION|head] --reason TEXT [--dry-run]`. */
#ifndef ALM_CLI_APP_ROLLBACK_BUNDLE_H
#define ALM_CLI_APP_ROLLBACK_BUNDLE_H

#include "alm/cli/session.h"

/* E_NOTFOUND for a revision that is none; E_REFUSED where there is none to go back to, or that is
 * where it is. With --dry-run the server is asked for the same, and stores nothing. */
int rollback_bundle(struct cli *c, const char *name, struct error *err);

#endif
