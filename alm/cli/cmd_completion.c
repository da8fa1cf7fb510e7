/* cmd_completion: a script for each shell; all ask `alm completion words -- WORDS`. */
#include <string.h>

#include "alm/cli/cmds.h"
#include "alm/cli/complete.h"
#include "alm/cli/term.h"

/* clang-format off */
static const struct {
	const char *shell, *script;
} scripts[] = {
	{"bash",
	 "# load it with: source <(alm completion bash)\n"
	 "_alm() {\n"
	 "\tlocal IFS=$'\\n' words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
	 "\tCOMPREPLY=($(\"${COMP_WORDS[0]}\" completion words -- \"${words[@]}\" 2>/dev/null))\n"
	 "}\n"
	 "complete -o default -F _alm alm\n"},
	{"zsh",
	 "#compdef alm\n"
	 "# load it with: source <(alm completion zsh)\n"
	 "_alm() {\n"
	 "\tlocal -a found\n"
	 "\tfound=(${(f)\"$(${words[1]} completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
	 "\tif (( $#found )); then compadd -- $found; else _files; fi\n"
	 "}\n"
	 "compdef _alm alm\n"},
	{"fish",
	 "# load it with: alm completion fish | source\n"
	 "function __alm_words\n"
	 "\tset -l words (commandline -opc) (commandline -ct)\n"
	 "\t$words[1] completion words -- $words[2..-1] 2>/dev/null\n"
	 "end\n"
	 "complete -c alm -a '(__alm_words)'\n"},
};
/* clang-format on */

static int words(struct cli *c)
{
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	complete_words(c, c->args + 1, c->n_args - 1, list);
	for (size_t i = 0; i < obj_len(list); i++)
		term_print("%s\n", obj_as_string(obj_at(list, i)));
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	if (!strcmp(c->args[0], "words"))
		return words(c);
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		if (c->n_args == 1 && !strcmp(c->args[0], scripts[i].shell)) {
			term_lines(str_of(scripts[i].script));
			return 0;
		}
	return error_set(err, E_USAGE, "completion is for bash, zsh and fish, not %s", c->args[0]);
}

const struct cmd cmd_completion = {
	.name = "completion",
	.usage = "alm completion (bash | zsh | fish)",
	.summary = "print a completion script",
	.description = "Commands, options and types, and the names of apps, versions and catalogs, "
		       "which the server is asked for.",
	.examples = "source <(alm completion bash)\nalm completion fish | source",
	.args = {1, CLI_ARGS_MAX},
	.run = run,
};
