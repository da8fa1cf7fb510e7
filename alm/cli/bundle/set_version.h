/*
 * set_version: one version in a tree of manifests is made another one, and nothing else. Pure.
 *
 * It is the range of an AppType (spec.version), or the tag of an image of a workload: of its container
 * of the same name, or of the only one. The file keeps its bytes but for the scalar: comments, order and
 * quotes stay. What was changed is read again, and has to be what was wanted and no more.
 */
#ifndef ALM_CLI_BUNDLE_SET_VERSION_H
#define ALM_CLI_BUNDLE_SET_VERSION_H

#include "alm/source/files.h"

struct set_version {
	const char *key;  /* "apps/my-app.yaml!1": the object */
	const char *path; /* its file */
	const char *from; /* "1.4.1" */
	struct str text;  /* of the file, as it is to be; ptr NULL: the version is there already */
};

/* name: of the object; only: its file, NULL: any. All in the arena of f, which was sorted. E_NOTFOUND:
 * nothing has such a version; E_INVALID: several have, or the text of it cannot be changed. */
int set_version_find(const struct files *f, const char *name, const char *version, const char *only,
		     struct set_version *ret, struct error *err);

#endif
