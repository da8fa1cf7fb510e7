/*
 * program: runs other programs: git, plugins. One executable with these arguments, these variables
 * and no others, these bytes as its standard input; its exit status and what it printed come to a
 * callback. No shell, no PATH, nothing inherited: no variable, no descriptor, no terminal, no
 * signal that is ignored or blocked.
 *
 * Nothing here waits: a program that hangs, floods, closes its pipes and stays, forks or ignores
 * SIGTERM costs its own run alone. Each run has a session of its own. At its deadline, when it is
 * cancelled, when it says too much, and when this process dies in whatever way, the whole process
 * group gets SIGTERM and, PROGRAM_GRACE_NS later, SIGKILL. Once the program itself has ended, all
 * that it has left behind is killed, also what made itself a session or became a daemon (but for
 * program_call.is_users).
 *
 * done is called once, in a later turn, unless the run was cancelled; what it gets is borrowed until
 * it returns. err NULL: the program ended by itself, and result has its exit status, whatever that
 * is. Otherwise the message begins with the program's path and result has what was printed until
 * then:
 *
 *	E_NOTFOUND     no such file, or its interpreter is missing
 *	E_NOTALLOWED   it is not executable, or not for this user
 *	E_LIMIT        processor time, output, errors, wall clock; arguments or input too large
 *	E_INTERNAL     it was ended by a signal that nobody here has sent
 *	E_TOOMANY      PROGRAM_WAITING_MAX runs wait already
 *	E_UNSUPPORTED  offline, and the machine cannot close the network
 *	E_IO           no pipe, no process: the machine is at its end
 *
 * PROGRAM_RUNNING_MAX run at once; the others wait in order, and their time begins when they do.
 *
 * The runs are forked by a small process of its own (the launcher), as process_confine() takes from
 * this one the right to run programs: the wall is made before it, while the process is small and
 * holds no secrets. A launcher that was killed is forked again, which after process_confine() runs
 * nothing any more: E_NOTALLOWED says so.
 *
 * Backends: programs_process_new() and tests/lib/program_fake.c.
 */
#ifndef ALM_IO_PROGRAM_H
#define ALM_IO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/clock.h"
#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"

#define PROGRAM_RUNNING_MAX  16
#define PROGRAM_WAITING_MAX  256
#define PROGRAM_ARGS_BYTES   ((size_t)64 << 10) /* path, folder, arguments and variables together */
#define PROGRAM_ARGS_MAX     1024               /* arguments and variables */
#define PROGRAM_INPUT_BYTES  ((size_t)160 << 20)
#define PROGRAM_FLOOD_BYTES  ((size_t)64 << 20) /* of errors, kept or not: then it is ended */
#define PROGRAM_OUTPUT_BYTES ((size_t)8 << 20)
#define PROGRAM_ERROR_BYTES  ((size_t)16 << 10)
#define PROGRAM_MEMORY_BYTES ((size_t)256 << 20)
#define PROGRAM_CPU_S        60
#define PROGRAM_WALL_NS      (60 * NS_PER_S)
#define PROGRAM_GRACE_NS     NS_PER_S

struct loop;
struct programs; /* the wall */
struct program_run;

struct program_limits {      /* 0: the figure above */
	size_t output_bytes; /* more is E_LIMIT */
	size_t error_bytes;  /* the first ones are kept, the others dropped */
	size_t memory_bytes; /* that each of its processes may write to (RLIMIT_DATA) */
	size_t file_bytes;   /* of each file that it writes; 0: no limit */
	int cpu_s;           /* of each of its processes */
	int64_t wall_ns;
};

struct program_call {            /* all copied */
	const char *path;        /* absolute */
	const char *const *argv; /* NULL-ended; NULL: the path alone */
	const char *const *env;  /* "NAME=VALUE", NULL-ended; NULL: none */
	const char *dir;         /* its working folder; NULL: / */
	/* What it may read and execute: files, and folders with all that is below; NULL-ended. NULL:
	 * whatever this user may, and write, too. writes: files that it may write to, besides. On a
	 * machine without landlock nothing is closed. */
	const char *const *reads, *const *writes;
	bool offline; /* it gets no socket (seccomp; E_UNSUPPORTED without) */
	/* It is the program of who types the command, as in his shell: of limits only those of output,
	 * errors and wall clock are kept, and what a run that ended by itself has left behind (an
	 * agent with his keys, maintenance) lives on. */
	bool is_users;
	struct str input;
	struct program_limits limits;
};

struct program_result {
	int status; /* of exit(); -1 if it did not get that far */
	struct str output, errors;
};

typedef void (*program_done)(void *arg, const struct program_result *result,
			     const struct error *err);

struct programs_ops {
	struct program_run *(*run)(struct programs *p, const struct program_call *call,
				   program_done done, void *arg);
	void (*cancel)(struct programs *p, struct program_run *run);
	void (*free)(struct programs *p);
};

/* First member of a backend's struct. */
struct programs {
	const struct programs_ops *ops;
};

struct program_run *programs_run(struct programs *p, const struct program_call *call,
				 program_done done, void *arg);
void programs_cancel(struct programs *p, struct program_run *run); /* no callback follows */
/* What still runs is ended as if cancelled, without waiting for it. NULL is fine. */
void programs_free(struct programs *p);
DEFINE_FREEP(programs)

/* The real one. Forks. */
int programs_process_new(struct loop *l, struct programs **ret, struct error *err);

#endif
