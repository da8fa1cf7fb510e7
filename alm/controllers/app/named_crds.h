/*
 * named_crds: the CRDs that shall go with their app (lifecycle.md 8), by the AppType's annotation
 * app.coreos.com/delete-crds: PLURAL.GROUP=COUNT, with commas between. COUNT is the number of
 * custom resources that whoever wrote it has seen: with more of them nothing is deleted.
 */
#ifndef ALM_CONTROLLERS_APP_NAMED_CRDS_H
#define ALM_CONTROLLERS_APP_NAMED_CRDS_H

#include "alm/obj/obj.h"

#define NAMED_CRDS_MAX 64

struct named_crd {
	const char *name;
	int64_t count;
};

/* Number of them, at most NAMED_CRDS_MAX, in the arena; -1: the annotation cannot be read, and
 * *ret_why tells what it wants. */
int named_crds(const struct obj *app, struct arena *a, struct named_crd **ret,
	       const char **ret_why);

#endif
