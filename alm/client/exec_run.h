/*
 * exec_run: asks the program of a kubeconfig (exec_plugin.h) for credentials, and again before they end, for as long as their connection
 * lives. That it may be run at all is the caller's matter: session_exec.h of commands, target_cluster.h of services.
 *
 * A later answer's token is taken, anything else in it is left: certificates are not renewed.
 */
#ifndef ALM_CLIENT_EXEC_RUN_H
#define ALM_CLIENT_EXEC_RUN_H

#include "alm/client/exec_plugin.h"
#include "alm/io/loop.h"
#include "alm/io/program.h"

struct exec_run_config { /* all borrowed, for as long as it lives */
	struct loop *loop;
	struct programs *programs;
	const struct exec_plugin *plugin;
	const char *path;       /* of the program, absolute */
	const char *dir;        /* where it runs */
	const char *const *env; /* beside what the kubeconfig gives it, which comes first */
	bool is_users;          /* program.h */
	int64_t wall_ns;        /* that it may take */
	/* For who runs on: after a failure, and where no answer says how long it is good, it is asked again then. 0: never. */
	int64_t again_ns;
	void (*on_failure)(const char *message); /* of a later answer */
};

struct exec_run;

/* The program that the kubeconfig means: its path, in the arena; a name is looked up in path ($PATH), whose relative folders do not count.
 * E_NOTFOUND: there is none. */
int exec_run_find(const struct exec_plugin *p, const char *path, struct arena *a, const char **ret,
		  struct error *err);
/* Runs the loop until the first answer; t has its credentials then, in the arena, which outlives it. E_UNAUTHORIZED: it gave none. */
int exec_run_new(const struct exec_run_config *c, struct transport_config *t, struct arena *a,
		 struct exec_run **ret, struct error *err);
/* Their connection, whose token it renews: of transport_curl_new(). It outlives x. */
void exec_run_keep(struct exec_run *x, struct transport *transport);
void exec_run_free(struct exec_run *x);
DEFINE_FREEP(exec_run)

#endif
