/* cmd_completion: a script for bash, made from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "alm/cli/cmds.h"

static void words(const struct cmd *cmd)
{
	for (const struct cmd *const *s = cmd->subs; s && *s; s++)
		printf("%s ", (*s)->name);
	for (const struct cmd_option *o = cmd->options; o && o->name; o++)
		printf("--%s ", o->name);
	for (const struct cmd_option *o = cli_global_options; o->name; o++)
		printf("--%s ", o->name);
	printf("--help");
}

static void one_case(const char *path, const struct cmd *cmd)
{
	printf("\t%s) words='", path);
	words(cmd);
	printf("' ;;\n");
	for (const struct cmd *const *s = cmd->subs; s && *s; s++) {
		printf("\t\"%s %s\") words='", cmd->name, (*s)->name);
		words(*s);
		printf("' ;;\n");
	}
}

static int run(struct cli *c, struct error *err)
{
	if (strcmp(c->args[0], "bash") != 0)
		return error_set(err, E_USAGE, "completion is for bash, not %s", c->args[0]);
	printf("# alm completion bash; load it with: source <(alm completion bash)\n"
	       "_alm() {\n\tlocal words='' path=\"${COMP_WORDS[1]-}\"\n"
	       "\t[ \"$COMP_CWORD\" -gt 2 ] && case \" ${_alm_groups} \" in *\" $path \"*) "
	       "path=\"$path ${COMP_WORDS[2]}\" ;; esac\n"
	       "\t[ \"$COMP_CWORD\" -eq 1 ] && path=\n\tcase $path in\n\t'') words='");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		printf("%s ", (*t)->name);
	printf("' ;;\n");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		one_case((*t)->name, *t);
	printf("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- "
	       "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n_alm_groups='");
	for (const struct cmd *const *t = cli_commands(); *t; t++)
		if ((*t)->subs)
			printf("%s ", (*t)->name);
	printf("'\ncomplete -o default -F _alm alm\n");
	return 0;
}

const struct cmd cmd_completion = {
	.name = "completion",
	.usage = "alm completion bash",
	.summary = "print a completion script",
	.args = {1, 1},
	.run = run,
};
