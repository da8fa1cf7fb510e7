/*
 * session_server: where the server of a command is: --kubeconfig, --data-dir, $KUBECONFIG, ~/.alm/kubeconfig, ~/.kube/config, the
 * cluster of this Pod, in this order; then --context and --master. What is unsafe of it is told.
 */
#ifndef ALM_CLI_SESSION_SERVER_H
#define ALM_CLI_SESSION_SERVER_H

#include "alm/cli/cli.h"
#include "alm/client/kubeconfig.h"

/* Strings in the arena of the command. */
int session_server(struct cli *c, struct kubeconfig_target *t, struct error *err);

#endif
