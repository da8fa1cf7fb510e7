/*
 * crd_source: CustomResourceDefinitions from where a user has them: a file, "-", a folder, a chart
 * (folder or archive: its CRDs and those that its templates make with its own values, see
 * inspect_crds()), live:NAME or live: for all of a cluster.
 */
#ifndef ALM_CLI_CRD_CRD_SOURCE_H
#define ALM_CLI_CRD_CRD_SOURCE_H

#include "alm/cli/cli.h"
#include "alm/cli/session.h"
#include "alm/obj/obj.h"

#define CRD_SOURCE_OBJECTS_MAX 100000
#define CRD_PATH               "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct crd_source {
	const struct obj **items; /* arena; all objects found, not only definitions */
	size_t n, cap;
	bool live;
};

/* E_NOTFOUND if there is no object at all. s is opened for live: and kept for the caller. */
int crd_source_read(struct cli *c, const char *from, struct session **s, struct crd_source *ret,
		    struct error *err);

#endif
