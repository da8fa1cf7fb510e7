#include "alm/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/cli/args.h"
#include "alm/cli/man.h"
#include "alm/cli/nearest.h"
#include "alm/cli/term.h"

#define CLI_BYTES   ((size_t)256 << 20)
#define HELP_INDENT 8
#define HELP_WIDTH  80

static const struct cmd *const *commands;

const struct cmd *const *cli_commands(void)
{
	return commands;
}

/* Text in lines of HELP_WIDTH, broken at blanks, newlines kept. */
static void print_wrapped(const char *text, size_t indent)
{
	struct str rest = str_of(text), line, word;
	while (str_next_line(&rest, &line)) {
		size_t col = indent;
		term_print("%*s", (int)indent, "");
		for (bool first = true; str_next(&line, ' ', &word); first = false) {
			if (!first && col + 1 + word.len > HELP_WIDTH) {
				term_print("\n%*s", (int)indent, "");
				col = indent;
			} else if (!first) {
				term_print(" ");
				col++;
			}
			term_print("%.*s", STR_ARG(word));
			col += word.len;
		}
		term_print("\n");
	}
}

static void print_options(const char *title, const struct cmd_option *o,
			  const struct cmd_heading *headings)
{
	if (!o || !o->name)
		return;
	term_print("\n%s\n", title);
	for (const struct cmd_option *first = o; o->name; o++) {
		const char *heading = cli_heading(headings, o->name);
		if (heading && o != first)
			term_print("\n");
		if (heading)
			term_print("%s\n", heading);
		term_print("%*s", HELP_INDENT, "");
		if (o->letter)
			term_print("-%c, ", o->letter);
		term_print("--%s%s%s\n", o->name, o->value ? " " : "", o->value ? o->value : "");
		print_wrapped(o->help, 2 * HELP_INDENT);
	}
}

static void print_subs(const struct cmd *const *subs)
{
	term_print("\nCOMMANDS\n");
	for (; subs && *subs; subs++)
		term_print("%*s%-12s  %s\n", HELP_INDENT, "", (*subs)->name, (*subs)->summary);
}

static void cli_print_help(const char *path, const struct cmd *cmd)
{
	term_print("NAME\n%*s%s - %s\n", HELP_INDENT, "", path, cmd->summary);
	term_print("\nSYNOPSIS\n");
	print_wrapped(cmd->usage, HELP_INDENT);
	if (cmd->examples) {
		term_print("\nEXAMPLES\n");
		print_wrapped(cmd->examples, HELP_INDENT);
	}
	if (cmd->description) {
		term_print("\nDESCRIPTION\n");
		print_wrapped(cmd->description, HELP_INDENT);
	}
	if (cmd->subs)
		print_subs(cmd->subs);
	print_options("OPTIONS", cmd->options, cmd->headings);
	term_print("\nOptions of every command and exit statuses: alm help\n");
}

static int setup_log(const struct cli *c, struct error *err)
{
	const char *colour = cli_value(c, "color");
	if (!term_colours(colour, getenv("NO_COLOR"), getenv("TERM")))
		return error_set(err, E_USAGE, "--color is auto, always or never, not %s", colour);
	const char *level = cli_value(c, "log-level"), *format = cli_value(c, "log-format");
	enum log_level l = c->cmd->is_service ? LOG_INFO : LOG_WARN;
	if (level && !log_level_parse(level, &l))
		return error_set(
			err, E_USAGE,
			"--log-level: %s is no level; want all, debug, info, warn, error or none",
			level);
	if (format && strcmp(format, "kv") != 0 && strcmp(format, "json") != 0)
		return error_set(err, E_USAGE, "--log-format is kv or json, not %s", format);
	log_setup(l, format && !strcmp(format, "json") ? LOG_FORMAT_JSON : LOG_FORMAT_KV, NULL);
	return 0;
}

static int check_args(const struct cli *c, struct error *err)
{
	if (c->n_args < c->cmd->args.min)
		return error_set(err, E_USAGE, "an argument is missing; usage: %s", c->cmd->usage);
	if (c->n_args > c->cmd->args.max)
		return error_set(err, E_USAGE, "unexpected argument %s; usage: %s",
				 c->args[c->cmd->args.max], c->cmd->usage);
	return 0;
}

static int run(struct cli *c, const char *path, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int r = args_parse(c, argc, argv, &err);
	if (r >= 0 && cli_flag(c, "help")) {
		cli_print_help(path, c->cmd);
		return 0;
	}
	if (r >= 0)
		r = check_args(c, &err);
	if (r >= 0)
		r = setup_log(c, &err);
	if (r >= 0)
		r = c->cmd->run(c, &err);
	int lost = term_flush();
	if (r >= 0 && lost)
		r = error_set(&err, E_IO, "standard output: %s", strerror(lost));
	if (r >= 0)
		return c->exit_code;
	term_error("%s: %s\n", c->cmd->is_service ? path : "alm", err.msg);
	return error_exit(err.code);
}

static const struct cmd *find(const struct cmd *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

static int no_command(const char *path, const struct cmd *const *table, const char *name,
		      struct arena *a)
{
	if (name) {
		CLEANUP(obj_unrefp) struct obj *names = obj_list();
		for (const struct cmd *const *t = table; t && *t; t++)
			obj_append(names, obj_string((*t)->name));
		term_error("alm: unknown command %s %s%s; see %s --help\n", path, name,
			   nearest_hint(name, names, "", a), path);
		return error_exit(E_USAGE);
	}
	term_print("%s COMMAND [--help]\n", path);
	print_subs(table);
	if (table == commands) {
		print_options("GLOBAL OPTIONS", cli_global_options, NULL);
		term_print("\nEXIT STATUS\n");
		print_wrapped("0 done, 1 failed or not found, 2 usage or syntax error, 3 refused, "
			      "4 audit log altered, 124 timed out",
			      HELP_INDENT);
	}
	return error_exit(E_USAGE);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h") || !strcmp(arg, "help");
}

/* Does the option take the next word? */
static bool takes_word(const char *arg)
{
	if (!strcmp(arg, "-n"))
		return true;
	for (const struct cmd_option *o = cli_global_options; o->name; o++)
		if (o->value && !strncmp(arg, "--", 2) && !strcmp(arg + 2, o->name))
			return true;
	return false;
}

/* Global options may stand before the command. Returns where the command is. */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || is_help(argv[i]) || !strcmp(argv[i], "--version"))
			return i;
		if (takes_word(argv[i]))
			i++;
	}
	return argc;
}

/* argv without the words from..to, in order: options before the command come after it. */
static char **without(struct arena *a, int argc, char **argv, int from, int to, int *ret_argc)
{
	char **out = ARENA_ARRAY(a, char *, (size_t)argc + 1);
	int n = 0;
	for (int i = to; i < argc; i++)
		out[n++] = argv[i];
	for (int i = 1; i < from; i++)
		out[n++] = argv[i];
	*ret_argc = n;
	return out;
}

/* `alm help [--man] [COMMAND...]`: the page of a command, of the program without one. */
static int help(struct arena *a, const struct cmd *const *cmds, int argc, char **argv)
{
	const struct cmd *const *table = cmds;
	const struct cmd *cmd = NULL;
	const char *path = "alm";
	bool man = false;
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--man")) {
			man = true;
			continue;
		}
		const struct cmd *found = table ? find(table, argv[i]) : NULL;
		if (!found)
			return no_command(path, table ? table : cmds, argv[i], a);
		cmd = found;
		path = arena_fmt(a, "%s %s", path, cmd->name);
		table = cmd->subs;
	}
	if (man)
		man_print(path, cmds, cmd);
	else if (cmd)
		cli_print_help(path, cmd);
	else
		(void)no_command(path, cmds, NULL, a);
	return 0;
}

/* Of a command with options of its own: anywhere among them. */
static bool asks_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (is_help(argv[i]))
			return true;
	return false;
}

int cli_main(const struct cmd *const *cmds, int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(CLI_BYTES);
	const struct cmd *cmd = NULL;
	const struct cmd *const *table = cmds;
	const char *path = "alm";
	commands = cmds;
	int first = find_command(argc, argv), at = first, n;
	if (first < argc && !strcmp(argv[first], "help"))
		return help(a, cmds, argc - first - 1, argv + first + 1);
	do {
		const char *name = at < argc ? argv[at] : NULL;
		if (name && !strcmp(name, "--version") && !cmd)
			name = "version";
		if (name && is_help(name)) {
			if (cmd)
				cli_print_help(path, cmd);
			else
				(void)no_command(path, table, NULL, a);
			return 0;
		}
		const struct cmd *found = name ? find(table, name) : NULL;
		if (!found)
			return no_command(path, table, name, a);
		cmd = found;
		path = arena_fmt(a, "%s %s", path, cmd->name);
		table = cmd->subs;
		at++;
	} while (table);
	char **rest = without(a, argc, argv, first, at, &n);
	if (cmd->main && asks_help(n, rest)) {
		cli_print_help(path, cmd);
		return 0;
	}
	if (cmd->main)
		return cmd->main(n, rest);
	struct cli c = {.arena = a, .cmd = cmd};
	return run(&c, path, n, rest);
}
