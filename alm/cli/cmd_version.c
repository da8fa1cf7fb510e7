/* cmd_version: of the program and, if it answers, of the server. */

#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/obj.h"

static const struct cmd_option options[] = {
	{"client", NULL, "only the program", 0},
	{0},
};

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct error fault = ERROR_INIT;
	const struct obj *v = NULL;
	(void)err;
	term_print("alm %s\n", ALM_VERSION);
	if (cli_flag(c, "client"))
		return 0;
	if (session_open(c, &s, &fault) < 0 || session_get(s, "/version", &v, &fault) < 0) {
		term_error("alm: no server: %s\n", fault.msg);
		return 0;
	}
	const char *git = obj_str(v, "gitVersion");
	term_print("server %s\n", git ? git : "unknown");
	return 0;
}

const struct cmd cmd_version = {
	.name = "version",
	.usage = "alm version [--client]",
	.summary = "print the version",
	.options = options,
	.run = run,
};
