/*
 * git_hooks: POST /hooks/git on an address of its own (--hooks-listen): a push is read at once and
 * not by the interval of its Bundle. Plain HTTP: what faces the network ends TLS in front of it.
 *
 * 202: a Bundle reads it now. 401 is one answer, after HOOKS_REFUSED_NS, for a signature that is
 * missing or wrong, for a repository that no Bundle reads, and for one whose Bundles name no Secret:
 * nobody learns which repositories are read. 400 no push; 413 more than 1 MiB; 429 more than
 * HOOKS_A_SECOND; 503 nobody acts here (yet).
 */
#ifndef ALM_MAIN_GIT_HOOKS_H
#define ALM_MAIN_GIT_HOOKS_H

#include "alm/controllers/manager_hooks.h"
#include "alm/io/server.h"

#define HOOKS_A_SECOND   10
#define HOOKS_BURST      30
#define HOOKS_MAX        64 /* under way */
#define HOOKS_REFUSED_NS (NS_PER_S / 2)

struct git_hooks_config {
	const char *listen;       /* NULL: none */
	const char *const *hosts; /* as of metrics_server.h; borrowed */
	size_t n_hosts;
	struct metrics *metrics; /* borrowed */
};

/* *ret NULL: there is none. */
struct git_hooks;
int git_hooks_start(struct loop *l, const struct git_hooks_config *c, struct git_hooks **ret,
		    struct error *err);
/* NULL: nobody acts any more; before that manager is freed. h may be NULL. */
void git_hooks_set(struct git_hooks *h, struct manager *m);
const char *git_hooks_address(const struct git_hooks *h); /* "127.0.0.1:41873" */
void git_hooks_free(struct git_hooks *h);

#define HOOKS_LISTEN_OPTION                                                                   \
	{"hooks-listen", "ADDR:PORT",                                                         \
	 "address of POST /hooks/git, where servers of git tell of a push to Bundles with a " \
	 "hookSecretRef; plain HTTP, for what ends TLS in front of it (default: none)",       \
	 0}

#endif
