/*
 * run_command: `alm run` as its parts share it: cmd_run.c (what it does), run_options.c (what its
 * command line says).
 */
#ifndef ALM_CLI_RUN_RUN_COMMAND_H
#define ALM_CLI_RUN_RUN_COMMAND_H

#include "alm/cli/run/run_feedback.h"
#include "alm/cli/run/run_lease.h"
#include "alm/cli/run/run_render.h"
#include "alm/cli/run/run_trigger.h"
#include "alm/controllers/run.h"
#include "alm/source/sql.h"

struct plugins;
struct session;

enum trigger { TRIGGER_ONEOFF, TRIGGER_INTERVAL, TRIGGER_RESOURCE, TRIGGER_KEYED };

struct run_command {
	struct cli *cli;
	enum trigger trigger;
	int64_t interval_ns, max_deletes;
	const char *ns, *bundle;
	struct run_watch watch;
	const char *plugin; /* TRIGGER_KEYED: NAME of trigger-NAME */
	struct databases databases;
	struct sql_config sql; /* TRIGGER_KEYED without a plugin */
	struct plugins *plugins;
	struct run_trigger *keys;
	struct session *session;
	struct loop *loop;
	struct run_renderer *renderer;
	struct db *db;
	struct audit *audit;
	struct run *run;
	struct run_feedback *feedback;
	struct run_lease lease;
	struct arena *
		tried; /* of what was rendered to see what is wrong with it: the first run's; NULL: none */
	struct unit *tried_unit;
	struct error *err; /* of a run that ends */
	bool done, over;
};

/* The options of the command, and the first one of each of the five concepts. */
extern const struct cmd_option run_options[];
extern const struct cmd_heading run_headings[];

/* What they say. Of c, cli and plugins are set. E_USAGE, E_INVALID. */
int run_options_read(struct run_command *c, struct error *err);
/* It has more than one unit, each with an instance of its own. */
bool run_has_many(const struct run_command *c);

#endif
