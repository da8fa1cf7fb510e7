/*
 * kubeconfig: where a cluster is and with which credentials (kube-api.md 16; reliability.md 10).
 *
 * Reads the environment of nobody: the caller passes what it found. What kubectl takes is taken,
 * and what is unsafe about it is a warning for the caller to show: credentials that others may
 * read, a server that is not verified. auth-provider plugins are E_UNSUPPORTED; what exec names is told, and not run.
 */
#ifndef ALM_CLIENT_KUBECONFIG_H
#define ALM_CLIENT_KUBECONFIG_H

#include "alm/client/exec_plugin.h"
#include "alm/io/transport.h"

struct kubeconfig;

struct kubeconfig_sources {
	const char *path; /* --kubeconfig, or NULL */
	const char *env;  /* $KUBECONFIG: files with colons between, or NULL */
	const char *home; /* $HOME, for .kube/config */
	bool is_command;  /* waits for a pipe: --kubeconfig <(command) */
};

#define KUBECONFIG_FILES_MAX    16
#define KUBECONFIG_BYTES_MAX    ((size_t)4 << 20)          /* each file */
#define KUBECONFIG_WARNINGS_MAX (KUBECONFIG_FILES_MAX + 2) /* and a key's file, and the server */

struct kubeconfig_target {
	struct transport_config transport; /* strings in the arena */
	const struct exec_plugin *exec;    /* that prints its credentials; NULL: none does */
	const char *context;               /* "" in a cluster */
	const char *ns;                    /* "default" if none is said */
	const char *warnings[KUBECONFIG_WARNINGS_MAX];
	size_t n_warnings;
};

/* path, else the files of env, else .kube/config: for every entry and the current context the first
 * file that has it wins. Absent files of env are skipped. E_NOTFOUND if there is none at all. */
int kubeconfig_load(const struct kubeconfig_sources *s, struct kubeconfig **ret, struct error *err);
void kubeconfig_free(struct kubeconfig *k);
DEFINE_FREEP(kubeconfig)

size_t kubeconfig_n_contexts(const struct kubeconfig *k);
const char *kubeconfig_context(const struct kubeconfig *k, size_t i);

/* context NULL: the current one. allow_insecure: the caller knows that a server may not be
 * verified, and is not warned of it. */
int kubeconfig_resolve(const struct kubeconfig *k, const char *context, bool allow_insecure,
		       struct arena *a, struct kubeconfig_target *ret, struct error *err);

/* For who works unattended: E_UNSUPPORTED if a program has to be run for the credentials. */
int kubeconfig_refuse_exec(const struct kubeconfig_target *t, struct error *err);

/* From inside a pod: $KUBERNETES_SERVICE_HOST and _PORT (NULL: not in a cluster, E_NOTFOUND); dir
 * NULL is /var/run/secrets/kubernetes.io/serviceaccount. */
int kubeconfig_in_cluster(const char *host, const char *port, const char *dir, struct arena *a,
			  struct kubeconfig_target *ret, struct error *err);

#endif
