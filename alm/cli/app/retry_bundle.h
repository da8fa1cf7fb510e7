/* retry_bundle: a Bundle that rests in a failure is tried again. */
#ifndef ALM_CLI_APP_RETRY_BUNDLE_H
#define ALM_CLI_APP_RETRY_BUNDLE_H

#include "alm/cli/cli.h"

/* Do the arguments name a Bundle or an Install? */
bool retry_bundle_names(const struct cli *c);
/* Does a Bundle in that state rest in a failure? NULL: no. */
bool retry_bundle_rests(const char *state);
/* E_REFUSED: it rests in none, or the Install is not of its newest revision. */
int retry_bundle(struct cli *c, struct error *err);

#endif
