/*
 * run_lease: of `alm run`, the Lease that lets one process write (run.h): what this process is called
 * there, what a person is told of who has it, and how long a run that ends waits for it. One that
 * goes on (an interval, objects, rows) waits without an end, as the stand-by of the other.
 */
#ifndef ALM_CLI_RUN_RUN_LEASE_H
#define ALM_CLI_RUN_RUN_LEASE_H

#include "alm/cli/cli.h"
#include "alm/io/loop.h"

#define RUN_LEASE_WAIT_NS (5 * NS_PER_MIN)
#define RUN_LEASE_OPTION              \
	{"lease-timeout", "DURATION", \
	 "a one-off waits so long for another alm run of its name to end (default 5m)", 0}

struct run_lease {
	const struct cli *cli;
	struct loop *loop;
	const char *ns, *name; /* of the Lease */
	const char *identity;
	bool ends;       /* the run does: it waits for wait_ns at most */
	int64_t wait_ns; /* 0: not at all */
	struct timer over;
	bool held, began, foreign; /* now; once; somebody else has it */
	char *said;                /* the last trouble that was told of */
	void (*give_up)(void *arg, const struct error *why);
	void *arg;
};

/* --lease-timeout; without a cluster. */
int run_lease_check(const struct cli *c, int64_t *ret_wait_ns, struct error *err);
/* Of l, cli, loop, ns, ends, wait_ns, give_up and arg are set. The waiting begins. */
void run_lease_begin(struct run_lease *l, const char *bundle);
void run_lease_release(struct run_lease *l);

/* What run.h says of it. */
void run_lease_leads(struct run_lease *l, bool held);
void run_lease_waits(struct run_lease *l, const char *holder);
void run_lease_failing(struct run_lease *l, const struct error *err);

#endif
