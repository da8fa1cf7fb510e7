/* diff_bundle: `alm diff bundle/NAME`: each field of the objects of a Bundle: is it as git has it, and whose is what git
 * has not (R17). */
#ifndef ALM_CLI_APP_DIFF_BUNDLE_H
#define ALM_CLI_APP_DIFF_BUNDLE_H

#include "alm/cli/cli.h"

int diff_bundle(struct cli *c, const char *name, struct error *err);

#endif
