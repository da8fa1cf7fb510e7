/* target_cluster: the cluster that `alm controller` works on: of --kubeconfig, $KUBECONFIG,
 * ~/.kube/config, or the one that this runs in. */
#ifndef ALM_MAIN_TARGET_CLUSTER_H
#define ALM_MAIN_TARGET_CLUSTER_H

#include "alm/cli/cli.h"
#include "alm/client/exec_run.h"
#include "alm/client/kubeconfig.h"

/* Strings are of the arena. What is unsafe about it is logged. */
int target_cluster_find(const struct cli *c, struct arena *a, struct kubeconfig_target *ret,
			struct error *err);

/* Credentials that a program of the kubeconfig prints (exec): it is run if --allow-exec-plugin names its path, with $HOME, $PATH and
 * what the kubeconfig gives it as its variables, in / and for TARGET_EXEC_NS at most; again when four fifths of the token's time are
 * over, or every TARGET_EXEC_AGAIN_NS where that is not told and while it fails. *ret: NULL if the kubeconfig names none. Runs the loop
 * until it has answered. E_FORBIDDEN: not allowed. */
#define TARGET_EXEC_NS       (10 * NS_PER_S)
#define TARGET_EXEC_AGAIN_NS NS_PER_MIN
int target_cluster_exec(const struct cli *c, struct kubeconfig_target *t, struct loop *l,
			struct programs *programs, struct arena *a, struct exec_run **ret,
			struct error *err);

#endif
