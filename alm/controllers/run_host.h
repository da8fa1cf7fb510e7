/*
 * run_host: what a program needs around a run (run.h), and owns as one: loop, the client of a kubeconfig's cluster,
 * the log. tests/embed/embed.c is a whole program.
 *
 *	struct run_config c = {.bundle = "web", .job = RUN_JOB_INIT, .render = render};
 *	if (run_host_open(&config, &host, &err) < 0 || run_host_once(host, &c, &err) < 0)
 *		...
 *
 * render() makes its unit of a folder (run_host_render), or of objects that the program has (flat.h, unit_make.h).
 */
#ifndef ALM_CONTROLLERS_RUN_HOST_H
#define ALM_CONTROLLERS_RUN_HOST_H

#include "alm/client/kubeconfig.h"
#include "alm/controllers/run.h"
#include "alm/unit/rollout.h"

struct run_host;

struct run_host_config {
	struct kubeconfig_sources
		kubeconfig;  /* all NULL: that of a Pod's account is not looked for */
	const char *context; /* NULL: the current one */
	const char *log;     /* file, DIR/alm.db; NULL: in memory, as long as the host is there */
};

/* Reads the kubeconfig and opens the log; nothing is sent yet. Borrows nothing. As of kubeconfig.h and db.h;
 * E_ALTERED of a log that has been changed. For the process that runs it: after fork() and daemon(), since its name
 * as the holder of a Lease is made here (process_id.h), and who sees a parent of that name end takes the Lease. */
int run_host_open(const struct run_host_config *c, struct run_host **ret, struct error *err);
void run_host_free(struct run_host *h); /* after the runs that it was lent to */
DEFINE_FREEP(run_host)
struct loop *run_host_loop(const struct run_host *h);

/* What alm run has for a job without options. */
#define RUN_JOB_INIT \
	{.inventory_ns = "alm-system", .max_deletes = RUN_MAX_DELETES, .never_empty = true}
#define RUN_MAX_DELETES 10

/* Sets of c what the host has: loop, client, audit, db, holder, holder_is_dead. For who starts a run of his own
 * (interval, watch, keys): run_new() after it, run_free() before run_host_free(). */
void run_host_lend(const struct run_host *h, struct run_config *c);
/* One attempt, from its beginning to its end, which is after the Lease has been given up: lends, starts, runs the loop.
 * c is without interval, watch and keys; said and ended are optional here. How it failed, also of a Lease that
 * cannot be had; while another process has it, it is waited for (waits). Who stops the loop in a callback stops the
 * attempt: E_UNAVAILABLE. */
int run_host_once(struct run_host *h, const struct run_config *c, struct error *err);

/* For render(): call->unit becomes what the manifests of a folder say, by the rollout of a file (NULL: none), as
 * `alm run --renderer=file` does; objects that name no namespace are of ns. Reads and parses in this process, and
 * now: of a folder that others write to, alm run has a sandbox. E_NOTFOUND, E_INVALID, E_LIMIT with file, and line
 * or field. done() is the caller's to call. */
int run_host_render(struct run_render *call, const char *dir, const char *rollout_file,
		    const char *ns, struct error *err);

/* The parts, for who has the rest. */
/* The log of runs in a file (NULL: in memory): its keys and head stand beside one that is called alm.db. */
int run_log_open(struct loop *l, const char *file, struct db **ret_db, struct audit **ret,
		 struct error *err);
/* A file's rollout, and it as it was written; options->file is read. In the arena. */
int run_rollout_open(const struct rollout_options *options, struct arena *a, struct rollout **ret,
		     const struct obj **ret_text, struct error *err);

#endif
