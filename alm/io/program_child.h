/*
 * program_child: the launcher, and what it forks for each run: a supervisor, which forks and ends
 * the program. For program.c only.
 *
 * Over a SOCK_SEQPACKET socket the launcher gets a program_order, followed by texts that each end
 * with a NUL (path, folder, arguments, variables, reads, writes), with four descriptors: the run's own socket and
 * the program's three. The supervisor sends one program_report over the run's socket; its other end
 * closed, or shut down for writing, means that the program is to be ended.
 */
#ifndef ALM_IO_PROGRAM_CHILD_H
#define ALM_IO_PROGRAM_CHILD_H

#include "alm/io/program.h"

struct program_order {
	struct program_limits limits; /* none is 0, but for file_bytes */
	uint32_t n_args, n_env, n_reads, n_writes;
	bool confined, offline; /* confined: reads and writes say what it may open */
	bool is_users;
};

#define PROGRAM_ORDER_BYTES (sizeof(struct program_order) + PROGRAM_ARGS_BYTES)

enum program_end {
	PROGRAM_ENDED,    /* by itself */
	PROGRAM_DEADLINE, /* its time was up */
	PROGRAM_STOPPED,  /* as this process wanted */
};

#define PROGRAM_NOT_OFFLINE (-1)

struct program_report {
	int32_t status; /* as of waitpid() */
	int32_t failed; /* errno of what could not be done instead of starting it; 0: it started;
			 * PROGRAM_NOT_OFFLINE */
	int32_t end;    /* enum program_end */
};

/* Never returns. Ends when the other end of fd is closed. */
_Noreturn void program_launcher(int fd);

#endif
