/*
 * bundle_folder: what a Bundle would make of a folder, without a cluster: the same reading, sandbox,
 * flat map and rules as the controller's (manager_bundle_read.c).
 */
#ifndef ALM_CLI_BUNDLE_BUNDLE_FOLDER_H
#define ALM_CLI_BUNDLE_BUNDLE_FOLDER_H

#include "alm/cli/cli.h"
#include "alm/unit/flat.h"

struct bundle_folder {
	const char *bundle; /* its name; NULL: none was given */
	const char *ns;     /* of objects that name none */
	const char *dir;    /* that was read: -f, and below it spec.source.git.path */
	struct flat flat;
};

/* Of the options -f DIR and --bundle FILE. Everything lives in c->arena. E_INVALID begins with the
 * place; what is only wrong on a cluster (a kind that it does not serve) is not found. */
int bundle_folder_read(const struct cli *c, struct bundle_folder *ret, struct error *err);

#endif
