/*
 * session_exec: credentials that a program of the kubeconfig prints (`users[].user.exec`), for a command that a person has typed.
 *
 * A kubeconfig that came from elsewhere may name any program, so it is run only if he allowed it: --allow-exec-plugin, or his answer
 * on the terminal, which is kept in DIR/exec-plugins, a path a line, DIR being --data-dir. It runs as in his shell, but without the
 * terminal, for EXEC_PLUGIN_NS at most. A command that lives longer than the token asks it again when four fifths of its time are over;
 * where that fails, the server tells that the token is no longer good. Certificates are not renewed.
 */
#ifndef ALM_CLI_SESSION_EXEC_H
#define ALM_CLI_SESSION_EXEC_H

#include "alm/cli/cli.h"
#include "alm/client/exec_plugin.h"
#include "alm/io/loop.h"

#define EXEC_PLUGIN_NS (60 * NS_PER_S)

struct session_exec;

/* Runs the loop until it has answered; t has its credentials then. c, l and p outlive it. E_FORBIDDEN: not allowed; E_NOTFOUND: no such
 * program; E_UNAUTHORIZED: no credentials. */
int session_exec_new(struct cli *c, struct loop *l, const struct exec_plugin *p,
		     struct transport_config *t, struct session_exec **ret, struct error *err);
/* Their connection, whose token it renews: of transport_curl_new(). */
void session_exec_keep(struct session_exec *x, struct transport *transport);
void session_exec_free(struct session_exec *x);
DEFINE_FREEP(session_exec)

#endif
