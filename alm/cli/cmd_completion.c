/* cmd_completion: a script for bash, made from the table of commands. */
#include <string.h>

#include "alm/cli/cmds.h"
#include "alm/cli/term.h"

static void words(const struct cmd *cmd)
{
	for (const struct cmd *const *s = cmd->subs; s && *s; s++)
		term_print("%s ", (*s)->name);
	for (const struct cmd_option *o = cmd->options; o && o->name; o++)
		term_print("--%s ", o->name);
	for (const struct cmd_option *o = cli_global_options; o->name; o++)
		term_print("--%s ", o->name);
	term_print("--help");
}

static void one_case(const char *path, const struct cmd *cmd)
{
	term_print("\t%s) words='", path);
	words(cmd);
	term_print("' ;;\n");
	for (const struct cmd *const *s = cmd->subs; s && *s; s++) {
		term_print("\t\"%s %s\") words='", cmd->name, (*s)->name);
		words(*s);
		term_print("' ;;\n");
	}
}

static int run(struct cli *c, struct error *err)
{
	if (strcmp(c->args[0], "bash") != 0)
		return error_set(err, E_USAGE, "completion is for bash, not %s", c->args[0]);
	term_print("# alm completion bash; load it with: source <(alm completion bash)\n"
		   "_alm() {\n\tlocal words='' path=\"${COMP_WORDS[1]-}\"\n"
		   "\t[ \"$COMP_CWORD\" -gt 2 ] && case \" ${_alm_groups} \" in *\" $path \"*) "
		   "path=\"$path ${COMP_WORDS[2]}\" ;; esac\n"
		   "\t[ \"$COMP_CWORD\" -eq 1 ] && path=\n\tcase $path in\n\t'') words='");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		term_print("%s ", (*t)->name);
	term_print("' ;;\n");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		one_case((*t)->name, *t);
	term_print("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- "
		   "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n_alm_groups='");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		if ((*t)->subs)
			term_print("%s ", (*t)->name);
	term_print("'\ncomplete -o default -F _alm alm\n");
	return 0;
}

const struct cmd cmd_completion = {
	.name = "completion",
	.usage = "alm completion bash",
	.summary = "print a completion script",
	.args = {1, 1},
	.run = run,
};
