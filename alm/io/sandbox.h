/*
 * sandbox: runs a pure function on hostile bytes in a child process that can do nothing but compute
 * (reliability.md 8): limits on memory, processor and wall clock, no files, no sockets, no
 * processes, only the system calls of a short list.
 *
 * The functions are named in a table that is fixed when the sandbox is made. Bytes in, bytes out;
 * the output is as hostile as the input. The child has no clock and no randomness of its own: both
 * come in with the input. done is called once, in a later turn, unless the run was cancelled;
 * output is borrowed until it returns. A child that crashes, is killed or answers garbage is an
 * error of that run only: E_LIMIT (a limit, which is named), E_TIMEOUT (that of the wall clock),
 * E_INTERNAL (it crashed, or was killed), or the error that the function set.
 *
 * Backends: sandbox_process_new(), sandbox_inline_new() and tests/sim/sandbox_sim.c.
 */
#ifndef ALM_IO_SANDBOX_H
#define ALM_IO_SANDBOX_H

#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/io/loop.h"

#define SANDBOX_MEMORY_BYTES ((size_t)256 << 20)
#define SANDBOX_OUTPUT_BYTES ((size_t)32 << 20)
#define SANDBOX_INPUT_BYTES  ((size_t)160 << 20)
#define SANDBOX_FILE_BYTES   ((size_t)1 << 30)
#define SANDBOX_CPU_S        5
#define SANDBOX_WALL_NS      (INT64_C(10) * 1000000000)

struct sandbox;
struct sandbox_run;

/* Appends the output; its limit is sandbox_limits.output_bytes. */
typedef int (*sandbox_fn)(struct str input, struct strbuf *output, struct error *err);

struct sandbox_job {
	const char *name; /* ended by a row with NULL */
	sandbox_fn fn;
	/* Runs in each child of the row before its doors close: for a library that others do not
	 * need. Sees nothing of the input. Optional. */
	void (*prepare)(void);
};

struct sandbox_limits { /* 0: the figure above */
	size_t memory_bytes, output_bytes;
	int cpu_s;
	int64_t wall_ns;
};

typedef void (*sandbox_done)(void *arg, struct str output, const struct error *err);

struct sandbox_ops {
	/* file: follows input, consumed; below 0: none. */
	struct sandbox_run *(*run)(struct sandbox *s, const char *job, struct str input, int file,
				   const struct sandbox_limits *limits, sandbox_done done,
				   void *arg);
	void (*cancel)(struct sandbox *s, struct sandbox_run *run);
	void (*free)(struct sandbox *s);
};

/* First member of a backend's struct. */
struct sandbox {
	const struct sandbox_ops *ops;
};

/* input is copied; limits may be NULL. job must be in the table. */
struct sandbox_run *sandbox_run(struct sandbox *s, const char *job, struct str input,
				const struct sandbox_limits *limits, sandbox_done done, void *arg);
/* The input is the text and then the file (regular, open for reading; consumed), which this process
 * never reads: the child maps it, on top of its memory limit. */
struct sandbox_run *sandbox_run_file(struct sandbox *s, const char *job, struct str text, int file,
				     const struct sandbox_limits *limits, sandbox_done done,
				     void *arg);
void sandbox_cancel(struct sandbox *s, struct sandbox_run *run); /* no callback follows */
void sandbox_free(struct sandbox *s);
DEFINE_FREEP(sandbox)

struct sandbox_config {
	const struct sandbox_job *jobs;
	/* Runs once in the process from which every child is forked, before its doors close: for
	 * libraries that open files or ask for randomness when they are first used. Optional. */
	void (*warm)(void);
	bool insecure; /* run even without seccomp */
};

/* The real one. Forks, so it is made early, while the process is small and holds no secrets. Every
 * run fails with E_UNSUPPORTED where seccomp is missing, unless insecure. */
int sandbox_process_new(struct loop *l, const struct sandbox_config *c, struct sandbox **ret,
			struct error *err);
/* None at all: the functions run in this process, in a later turn. For commands, whose user reads
 * what he names with rights of his own. */
struct sandbox *sandbox_inline_new(struct loop *l, const struct sandbox_job *jobs);
/* What is missing on this machine, "landlock, namespaces"; "" if all is there. For alm version. */
const char *sandbox_process_missing(struct sandbox *s);

#endif
