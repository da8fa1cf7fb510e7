/* cmd_version: of the program, what protects it on this machine, and, if it answers, the server. */
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/io/process.h"
#include "alm/io/sandbox.h"
#include "alm/obj/obj.h"

static const struct cmd_option options[] = {
	{"client", NULL, "only the program", 0},
	CLI_OUTPUT_OPTION,
	{0},
};

/* Asked of the machine: a sandbox is made, which renders nothing. */
static void add_protection(struct cli *c, struct obj *o)
{
	static const struct sandbox_job none[] = {{0}};
	const struct sandbox_config config = {.jobs = none};
	struct error err = ERROR_INIT;
	char text[PROCESS_TEXT];
	struct loop *loop = loop_event_new();
	struct sandbox *s = NULL;
	process_describe(text, sizeof(text));
	obj_set_str(o, "process", text);
	const char *missing = NULL;
	if (sandbox_process_new(loop, &config, &s, &err) >= 0)
		missing = sandbox_process_missing(s);
	obj_set_str(o, "sandbox",
		    !missing   ? arena_fmt(c->arena, "none: %s", err.msg)
		    : *missing ? arena_fmt(c->arena, "without %s", missing)
			       : "complete");
	sandbox_free(s);
	loop_free(loop);
}

/* A server that does not answer is told, and no error: the rest is known. */
static void add_server(struct cli *c, struct obj *o)
{
	CLEANUP(session_freep) struct session *s = NULL;
	struct error fault = ERROR_INIT;
	const struct obj *v = NULL;
	if (session_open(c, &s, &fault) < 0 || session_get(s, "/version", &v, &fault) < 0) {
		term_error("alm: no server: %s\n", fault.msg);
		return;
	}
	const char *git = obj_str(v, "gitVersion");
	obj_set_str(o, "server", git ? git : "unknown");
}

static int run(struct cli *c, struct error *err)
{
	bool json;
	if (cli_output_data(c, &json, err) < 0)
		return -err->code;
	struct obj *o = obj_keep(c->arena, obj_map());
	obj_set_str(o, "version", ALM_VERSION);
	add_protection(c, o);
	if (!json)
		term_print("alm %s\nthis process: %s\nsandbox of charts: %s\n", ALM_VERSION,
			   obj_str(o, "process"), obj_str(o, "sandbox"));
	if (!cli_flag(c, "client"))
		add_server(c, o);
	if (json)
		return cli_print_data(c, o, err);
	if (obj_has(o, "server"))
		term_print("server %s\n", obj_str(o, "server"));
	return 0;
}

const struct cmd cmd_version = {
	.name = "version",
	.usage = "alm version [--client] [-o json]",
	.examples = "alm version\nalm version --client -o json",
	.summary = "print the version",
	.options = options,
	.run = run,
};
