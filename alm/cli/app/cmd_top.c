/* `alm top`: every app with what it waits for and its candidates, again and again on a terminal. */
#include <unistd.h>

#include "alm/base/clock.h"
#include "alm/base/visible.h"
#include "alm/cli/app/app_session.h"
#include "alm/cli/app/overview.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/io/loop.h"
#include "catalog/resolve/resolve_doc.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define ARENA_BYTES    ((size_t)256 << 20)
#define INTERVAL_NS    (2 * NS_PER_S)

static const struct cmd_option options[] = {
	{"interval", "DURATION", "between two looks (default 2s)", 0},
	{"once", NULL, "one look, as where the output is no terminal", 0},
	CLI_OUTPUT_OPTION,
	{0},
};

/* What alm status -o json prints, and of each app the candidates. */
static int print_data(const struct cli *c, const struct overview_input *in, struct error *err)
{
	struct obj *o = obj_keep(c->arena, overview_new(in, c->arena));
	struct obj *told = obj_get_mut(o, "apps");
	const struct obj *apps = obj_get(in->apps, "items");
	for (size_t i = 0; i < obj_len(told); i++) { /* of all, so in the same order */
		const struct obj *all = obj_path(obj_at(apps, i), "status.candidates");
		obj_set_new(obj_at_mut(told, i), "candidates", all ? obj_ref(all) : obj_list());
	}
	return cli_print_data(c, o, err);
}

static int look(struct cli *c, struct session *s, bool data, struct strbuf *b, struct error *err)
{
	struct overview_input in = {0};
	if (app_session_overview(s, &in, err) < 0)
		return -err->code;
	if (data)
		return print_data(c, &in, err);
	overview_print(obj_keep(c->arena, overview_new(&in, c->arena)), c->arena, b);
	const struct obj *apps = obj_get(in.apps, "items");
	for (size_t i = 0; i < obj_len(apps); i++) {
		visible_addf(b, "\n");
		resolve_print(obj_at(apps, i), NULL, NULL, false, b);
	}
	return 0;
}

/* A session and an arena for each look: what was read before is let go. */
static int look_once(const struct cli *whole, bool data, bool clears, int64_t wait_ns,
		     struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct cli c = *whole;
	c.arena = a;
	if (session_open(&c, &s, err) < 0 || look(&c, s, data, &b, err) < 0)
		return -err->code;
	if (clears)
		term_print("\033[H\033[J");
	term_table(strbuf_str(&b));
	(void)term_flush();
	if (wait_ns)
		(void)session_run(s, wait_ns);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	int64_t interval;
	bool data;
	if (cli_output_data(c, &data, err) < 0 ||
	    cli_duration(c, "interval", INTERVAL_NS, &interval, err) < 0)
		return -err->code;
	bool live = isatty(STDOUT_FILENO) && !data && !cli_flag(c, "once");
	if (interval < NS_PER_S / 10)
		return error_set(err, E_USAGE, "--interval is 100ms or more");
	int r;
	do
		r = look_once(c, data, live, live ? interval : 0, err);
	while (r >= 0 && live); /* until Ctrl-C */
	return r;
}

const struct cmd cmd_top = {
	.name = "top",
	.usage = "alm top [--interval DURATION] [--once] [-o json]",
	.summary = "watch every app: state, what it waits for, candidates with reason",
	.description = "What alm status says of all apps, and what alm why says of each; on a "
		       "terminal it is looked at again until Ctrl-C. -o json is one look: what alm "
		       "status -o json says, and of each app its candidates.",
	.examples = "alm top\nalm top --once | less",
	.options = options,
	.args = {0, 0},
	.run = run,
};
