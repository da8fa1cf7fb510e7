/*
 * sandbox_fork: the sandbox of a command that has no loop and renders once: the process forks, the
 * child locks itself in as the children of sandbox.h do and runs a function on what its parent had
 * already read, and everything that leaves the child, its output too, is a request that the parent
 * may refuse. Reading charts and values, which are hostile, belongs into the child; opening files
 * into the parent.
 *
 * A child that crashes or exceeds a limit is an error of sandbox_fork(): E_LIMIT or E_INTERNAL.
 */
#ifndef ALM_IO_SANDBOX_FORK_H
#define ALM_IO_SANDBOX_FORK_H

#include "alm/io/sandbox.h"

struct sandbox_peer; /* the parent, seen from the child */

/* In the child; returns the exit status, 0 to 125. */
typedef int (*sandbox_fork_fn)(void *arg, struct sandbox_peer *p);
/* In the parent: kind is a letter of the caller's own, answer has a limit. */
typedef int (*sandbox_serve_fn)(void *arg, char kind, struct str request, struct strbuf *answer,
				struct error *err);

/* Both functions get the same arg: in the child it is a copy, as all memory is. */
int sandbox_fork(const struct sandbox_limits *limits, sandbox_fork_fn fn, sandbox_serve_fn serve,
		 void *arg, int *ret_status, struct error *err);

/* In the child. The error is that of the serving function, or E_IO if the parent is gone. */
int sandbox_ask(struct sandbox_peer *p, char kind, struct str request, struct strbuf *answer,
		struct error *err);

#endif
