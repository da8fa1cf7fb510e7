/*
 * run_report: feedback of `alm run` into a table (--feedback.sql): a statement for each Transition of the
 * log, from its committed row, in order.
 *
 * One that another writer of the file is in the way of is tried again until it is through; one that the
 * database refuses is told, and the next follows. With --audit-log a new process goes on where the
 * former one ended: at least once, with the same :seq; without it the log, and its place, end with the
 * process.
 */
#ifndef ALM_CLI_RUN_RUN_REPORT_H
#define ALM_CLI_RUN_RUN_REPORT_H

#include "alm/audit/audit.h"
#include "alm/cli/cli.h"

struct run_report;

struct run_report_log {
	struct audit *audit;
	struct db *db;
	void (*idle)(void *arg);
	void *arg;
};

#define RUN_REPORT_OPTION                                                                  \
	{"feedback.sql", "FILE",                                                           \
	 "a statement on an SQLite file for each transition: path, statement (with :time " \
	 ":bundle :cluster :step :reason :message :seq)",                                  \
	 0}

/* What the flag says of a log, and telling begins; *ret NULL: it says nothing. The database and its
 * tables are there. idle: all that is in the log was told; in a later turn. */
int run_report_open(const struct cli *c, struct loop *l, const struct run_report_log *log,
		    struct run_report **ret, struct error *err);
void run_report_poke(struct run_report *r); /* rows were committed; r NULL: nothing */
bool run_report_is_idle(const struct run_report *r);
void run_report_free(struct run_report *r);

#endif
