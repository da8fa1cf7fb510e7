/* progress: what long work tells: one line that is rewritten, on standard error and on a
 * terminal alone: no log and no pipe gets it. */
#ifndef ALM_CLI_PROGRESS_H
#define ALM_CLI_PROGRESS_H

#include <stddef.h>

struct progress {
	size_t at, n; /* done, all */
	int on_terminal;
};

void progress_start(struct progress *p, size_t n);
/* "3/40 etcd-operator 0.9.4". */
void progress_step(struct progress *p, const char *what);
/* The same, where more than one is done between two lines. */
void progress_at(struct progress *p, size_t at, const char *what);
void progress_end(struct progress *p); /* clears the line of a terminal */

#endif
