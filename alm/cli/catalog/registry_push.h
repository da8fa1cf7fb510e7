/* registry_push: a catalog into an OCI registry: as one artifact, or each version as a chart. */
#ifndef ALM_CLI_CATALOG_REGISTRY_PUSH_H
#define ALM_CLI_CATALOG_REGISTRY_PUSH_H

#include "alm/cli/catalog_source.h"

int registry_push_catalog(struct cli *c, struct catalog_source *s, const char *url,
			  struct error *err);
/* To url/PACKAGE:VERSION, as `helm push` does. */
int registry_push_charts(struct cli *c, struct catalog_source *s, const char *url,
			 struct error *err);

#endif
