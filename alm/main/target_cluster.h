/* target_cluster: the cluster that `alm controller` works on: of --kubeconfig, $KUBECONFIG,
 * ~/.kube/config, or the one that this runs in. */
#ifndef ALM_MAIN_TARGET_CLUSTER_H
#define ALM_MAIN_TARGET_CLUSTER_H

#include "alm/cli/cli.h"
#include "alm/client/kubeconfig.h"

/* Strings are of the arena. What is unsafe about it is logged. */
int target_cluster_find(const struct cli *c, struct arena *a, struct kubeconfig_target *ret,
			struct error *err);

#endif
