/* targets: the objects that a command line names: TYPE NAME..., TYPE/NAME..., TYPE[,TYPE], -f. */
#ifndef ALM_CLI_KUBE_TARGETS_H
#define ALM_CLI_KUBE_TARGETS_H

#include "alm/cli/session.h"

struct target {
	struct resource resource;
	const char *ns;   /* NULL: cluster-scoped, or all namespaces */
	const char *name; /* NULL: all of the type */
};

struct targets {
	struct target items[CLI_ARGS_MAX];
	size_t n;
};

/* From the arguments; all_namespaces leaves ns out. E_USAGE, E_NOTFOUND. */
int targets_of_args(struct session *s, const struct cli *c, bool all_namespaces,
		    struct targets *ret, struct error *err);
/* "labelSelector=...&fieldSelector=..." of -l and --field-selector; "" for none. Arena. */
const char *targets_query(const struct cli *c);

#endif
