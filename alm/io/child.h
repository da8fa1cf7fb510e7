/*
 * child: what the walls that have child processes share: sandbox.h (functions of this program) and
 * program.h (other programs).
 */
#ifndef ALM_IO_CHILD_H
#define ALM_IO_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "alm/base/error.h"
#include "alm/base/str.h"

#define CHILD_FDS_MAX 4 /* that go with one message */

/* Monotonic nanoseconds, for processes that have no loop. */
int64_t child_mono_ns(void);
/* Signals are handled as a new process handles them, and none is blocked. */
void child_default_signals(void);

/* All n bytes, over what stops a call short; false: the other end is gone, or EOF before them. Nobody must
 * wait for SIGPIPE: it is ignored, or the process may end by it. */
bool child_write_all(int fd, const void *p, size_t n);
bool child_read_all(int fd, void *p, size_t n);

/* A sealed file in memory with these bytes, read from its beginning; below 0: err says why. The
 * caller closes it. */
int child_seal_input(struct str input, struct error *err);

/* One message with n_fds descriptors, without waiting; the caller keeps its own. False: errno. */
bool child_send(int socket, const void *p, size_t n, const int *fds, size_t n_fds);
/* ... and its other end, which waits. *ret_fds: CHILD_FDS_MAX, closed on exec, -1 for those that did
 * not come. As recvmsg(). */
ssize_t child_receive(int socket, void *p, size_t n, int *ret_fds);

#endif
