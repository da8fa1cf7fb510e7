/* cmd_version: of the program, what protects it on this machine, and, if it answers, the server. */
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/io/process.h"
#include "alm/io/sandbox.h"
#include "alm/obj/obj.h"

static const struct cmd_option options[] = {
	{"client", NULL, "only the program", 0},
	{0},
};

/* Asked of the machine: a sandbox is made, which renders nothing. */
static void print_protection(void)
{
	static const struct sandbox_job none[] = {{0}};
	const struct sandbox_config config = {.jobs = none};
	struct error err = ERROR_INIT;
	char text[PROCESS_TEXT];
	struct loop *loop = loop_event_new();
	struct sandbox *s = NULL;
	process_describe(text, sizeof(text));
	term_print("this process: %s\n", text);
	if (sandbox_process_new(loop, &config, &s, &err) < 0)
		term_print("sandbox of charts: none: %s\n", err.msg);
	else
		term_print("sandbox of charts: %s%s\n",
			   *sandbox_process_missing(s) ? "without " : "complete",
			   sandbox_process_missing(s));
	sandbox_free(s);
	loop_free(loop);
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct error fault = ERROR_INIT;
	const struct obj *v = NULL;
	(void)err;
	term_print("alm %s\n", ALM_VERSION);
	print_protection();
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
