/* run_files: the renderer file: a folder of manifests, read and made a flat map of. */
#ifndef ALM_CLI_RUN_RUN_FILES_H
#define ALM_CLI_RUN_RUN_FILES_H

#include "alm/unit/flat.h"

/* In the arena of flat; objects without a namespace count as of ns. */
int run_files_read(const char *dir, const char *ns, struct flat *ret, struct error *err);

#endif
