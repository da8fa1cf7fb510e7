/*
 * run_trigger: triggers of `alm run` that give keys: a plugin trigger-NAME, or rows of an SQLite
 * file. It is asked at once and then again and again; each key that it names is a run of its own,
 * with a configuration of its own, and a key that runs is not started again (L36).
 */
#ifndef ALM_CLI_RUN_RUN_TRIGGER_H
#define ALM_CLI_RUN_RUN_TRIGGER_H

#include "alm/cli/cli.h"
#include "alm/controllers/run.h"
#include "alm/source/sql.h"

struct run_trigger;

struct run_trigger_config {
	struct loop *loop;
	struct plugins *plugins;
	const char *plugin; /* NAME of trigger-NAME; NULL: sql */
	const struct sql_config *sql;
	struct sandbox *sandbox;
	int64_t interval_ns; /* unless its answer says another */
	struct run *run;
};

struct run_trigger *run_trigger_new(const struct run_trigger_config *c);
void run_trigger_start(struct run_trigger *t);
void run_trigger_free(struct run_trigger *t);

#endif
