/* `alm status [APP]`: where every app stands, what it waits for, and the next step. */

#include "alm/cli/app/app_session.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* Only ALM's server has this check; one without it has nothing to tell. */
static const char *server_trouble(struct session *s)
{
	struct session_request q = {.method = "GET", .target = "/readyz/disk", .status_only = true};
	struct session_reply reply;
	struct error ignored = ERROR_INIT;
	if (session_send(s, &q, &reply, &ignored) < 0 || reply.status != 500)
		return NULL;
	return "its disk is full: nothing is written but deletes and the audit log until there is "
	       "room on the file system of its data folder";
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct overview_input in = {.only = c->n_args ? c->args[0] : NULL};
	bool json;
	if (cli_output_data(c, &json, err) < 0 || session_open(c, &s, err) < 0 ||
	    app_session_overview(s, &in, err) < 0)
		return -err->code;
	in.server = server_trouble(s);
	struct obj *o = obj_keep(c->arena, overview_new(&in, c->arena));
	if (in.only && !obj_len(obj_get(o, "apps")))
		return app_session_no_app(c, s, in.only, err);
	if (json)
		return cli_print_data(c, o, err);
	overview_print(o, c->arena, &b);
	term_table(strbuf_str(&b));
	return 0;
}

static const struct cmd_option options[] = {
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_status = {
	.name = "status",
	.usage = "alm status [APP] [-o json]",
	.summary = "tell where every app stands, what it waits for, and the next step",
	.description = "A line for each app, then whatever waits: for a person, for time, for "
		       "something outside. Every step is a command that runs as it stands; "
		       "TEXT is for words of yours, and -f - reads a manifest.",
	.examples = "alm status\nalm status etcd",
	.options = options,
	.args = {0, 1},
	.run = run,
};
