/*
 * cli: the frame of every command: options, help, errors and exit codes (capabilities.md).
 *
 * To add a command: cmd_X.c with "const struct cmd cmd_X"; a row in the table of alm/main/alm.c; a
 * declaration in cmds.h; a case in the tests; a line in the README. --help is made from the struct.
 */
#ifndef ALM_CLI_CLI_H
#define ALM_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/obj/obj.h"

#define CLI_ARGS_MAX 1000

struct cli;

struct cmd_option {
	const char *name;  /* "reason": --reason */
	const char *value; /* "TEXT"; NULL: a flag */
	const char *help;
	char letter; /* 'o': -o; 0: none */
};

/* A part of the options of one command, up to that of the next heading. */
struct cmd_heading {
	const char *text;
	const char *first; /* the name of its first option */
};

struct cmd {
	const char *name, *usage;
	const char *summary;     /* one line for the list of commands */
	const char *description; /* optional paragraphs */
	const char *examples;    /* optional */
	const struct cmd_option *options;
	const struct cmd_heading *headings; /* of --help, in the order of the options; optional */
	struct {
		size_t min, max;
	} args;
	bool is_service; /* runs until a signal: logs transitions, not warnings alone */
	/* 0 or a negative error; the frame prints "alm: MSG" and maps it to the exit code. */
	int (*run)(struct cli *c, struct error *err);
	/* Commands of commands, NULL-ended: alm audit why. run is not used then. */
	const struct cmd *const *subs;
	/* For a command with an option syntax of its own: gets what follows its name, returns the
	 * exit code. run is not used then. */
	int (*main)(int argc, char **argv);
};

struct cli {
	struct arena *arena; /* lives as long as the command */
	const struct cmd *cmd;
	const char **args;
	size_t n_args;
	struct cli_value {
		const char *name, *value; /* value of a flag: "true" or "false" */
	} *values;
	size_t n_values;
	int exit_code; /* a command may set it and return 0 */
};

/* Options by name, without dashes; global ones too. */
const char *cli_value(const struct cli *c, const char *name); /* the last one, or NULL */
const char *cli_value_at(const struct cli *c, const char *name, size_t i); /* i-th one, or NULL */
bool cli_flag(const struct cli *c, const char *name);
/* fallback if absent; E_USAGE if it is no duration or number. */
int cli_duration(const struct cli *c, const char *name, int64_t fallback, int64_t *ret,
		 struct error *err);
int cli_int(const struct cli *c, const char *name, int64_t fallback, int64_t *ret,
	    struct error *err);
/* -o json or -o yaml? E_USAGE for any other format. Every command that prints a table or a report
 * takes both, and prints one document: fields in lowerCamelCase as in a status, a list for each
 * list (an empty one, too), counts as numbers. The exit status is that of the text; progress and
 * warnings are on standard error. */
#define CLI_OUTPUT_OPTION {"output", "FORMAT", "json or yaml: the same facts as one document", 'o'}
int cli_output_data(const struct cli *c, bool *ret, struct error *err);
int cli_print_data(const struct cli *c, const struct obj *o, struct error *err);
const char *cli_data_dir(const struct cli *c); /* --data-dir or ~/.alm */

/* The heading above this option; NULL: none. */
const char *cli_heading(const struct cmd_heading *headings, const char *option);

/* The whole program: finds the command, parses, runs, prints the error, returns the exit code. */
int cli_main(const struct cmd *const *cmds, int argc, char **argv);
/* The table given to cli_main(), for completion. */
const struct cmd *const *cli_commands(void);
extern const struct cmd_option cli_global_options[];

#endif
