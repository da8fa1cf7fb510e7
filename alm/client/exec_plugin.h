/*
 * exec_plugin: what a kubeconfig says of a program that prints credentials, what that is told and what it answers: ExecCredential of
 * client.authentication.k8s.io v1 and v1beta1 (KEP-541; messages as client-go has them). Pure: who runs it is the caller's matter
 * (exec_run.h), and that it may be run at all.
 */
#ifndef ALM_CLIENT_EXEC_PLUGIN_H
#define ALM_CLIENT_EXEC_PLUGIN_H

#include "alm/io/transport.h"
#include "alm/obj/obj.h"

#define EXEC_PLUGIN_ARGS_MAX     256                /* and of variables */
#define EXEC_PLUGIN_ANSWER_BYTES ((size_t)64 << 10) /* that it may print */

/* Strings in the arena of who read it. */
struct exec_plugin {
	const char *command; /* a name of $PATH, or absolute */
	const char *const *args,
		*const *env; /* NULL-ended; env: NAME=VALUE, beside those that the caller has */
	const char *api_version;
	const char *install_hint; /* NULL: none */
	bool wants_cluster;
	const struct obj *
		cluster_config; /* what the kubeconfig keeps for it with the cluster; NULL: nothing */
};

/* dir: where a command with a slash begins, that of the kubeconfig. E_INVALID names the field; E_UNSUPPORTED: it wants a terminal. */
int exec_plugin_read(const struct obj *exec, const char *dir, struct arena *a,
		     struct exec_plugin *ret, struct error *err);
/* The value of its variable KUBERNETES_EXEC_INFO. */
const char *exec_plugin_info(const struct exec_plugin *p, const struct transport_config *t,
			     struct arena *a);
/* Its answer as credentials of t; until when they are good in *ret_until_ns (0: it does not say). E_UNAUTHORIZED: it is none, or over
 * already. */
int exec_plugin_answer(const struct exec_plugin *p, struct str output, int64_t now_ns,
		       struct arena *a, struct transport_config *t, int64_t *ret_until_ns,
		       struct error *err);

#endif
