/* bundle_tell: a folder read for a command of `alm bundle`, and what there is to say of it on standard error. */
#ifndef ALM_CLI_BUNDLE_BUNDLE_TELL_H
#define ALM_CLI_BUNDLE_BUNDLE_TELL_H

#include "alm/cli/bundle/bundle_folder.h"

/* bundle_folder_read(), and what there is to say of it besides, on standard error. */
int bundle_read_and_tell(const struct cli *c, struct bundle_folder *f, struct error *err);
/* All of them; err is the one, or how many there are. What else went wrong stays the error. */
int bundle_tell_flaws(const struct bundle_folder *f, struct error *err);
/* "clone/apps at 0123456789ab" */
const char *bundle_place(const struct cli *c, const struct bundle_folder *f);

#endif
