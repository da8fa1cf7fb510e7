/*
 * sandbox_child: the zygote and its children; for sandbox.c only.
 *
 * Over a SOCK_SEQPACKET socket go sandbox_order (with the input's memfd, the output pipe's write
 * end and, for some, a file as SCM_RIGHTS when it is a run) and sandbox_report. The pipe carries
 * a sandbox_verdict and then the output or the message.
 */
#ifndef ALM_IO_SANDBOX_CHILD_H
#define ALM_IO_SANDBOX_CHILD_H

#include "alm/io/sandbox.h"

#define SANDBOX_CHILDREN_MAX 8
#define SANDBOX_FDS_MAX      3

enum sandbox_missing { MISSING_SECCOMP = 1, MISSING_LANDLOCK = 2, MISSING_NAMESPACES = 4 };

struct sandbox_order {
	uint64_t id;
	int32_t job; /* -1: kill the run */
	struct sandbox_limits limits;
};

struct sandbox_report {
	uint64_t id; /* 0: the greeting */
	int32_t status;
	uint32_t missing; /* greeting: enum sandbox_missing */
	bool over_wall_time;
};

struct sandbox_verdict {
	int32_t code;   /* of the error, 0: none */
	int32_t reason; /* enum error_reason */
};

/* Exit status of a child that could not lock itself in. */
#define SANDBOX_EXIT_UNLOCKED 3

/* Limits, seccomp, and landlock if the machine has it, for the calling process; false: a limit
 * cannot be set, or seccomp is missing. */
bool sandbox_lock_in(const struct sandbox_limits *l);
/* What ended a child. */
int sandbox_killed(const struct sandbox_limits *l, bool over_wall_time, int signal,
		   struct error *err);

/* Never returns. Ends when the other end of fd is closed. */
_Noreturn void sandbox_zygote(int fd, const struct sandbox_config *c);

#endif
