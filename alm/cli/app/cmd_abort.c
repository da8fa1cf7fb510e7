/* `alm abort bundle/NAME`: ends the rollout of a revision, as a step that has failed does. */
#include "alm/cli/app/approve_bundle.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/cmds.h"

static int run(struct cli *c, struct error *err)
{
	const char *name;
	if (!cli_value(c, "reason"))
		return error_set(err, E_USAGE, "--reason is required; it is kept in the audit log");
	if (!bundle_ask_names(c, &name))
		return error_set(
			err, E_USAGE,
			"want bundle/NAME; an app is held by spec.paused, and goes back by "
			"alm rollback");
	return abort_bundle(c, name, err);
}

static const struct cmd_option options[] = {
	{"reason", "TEXT", "why; kept in the audit log (required)", 0},
	{0},
};

const struct cmd cmd_abort = {
	.name = "abort",
	.usage = "alm abort bundle/NAME --reason TEXT",
	.summary = "end the rollout of a revision of a Bundle",
	.description =
		"The steps that are under way fail, a canary goes first, and none begins; the "
		"Rollout "
		"says whether the revision before is applied again. It is of the revision that is "
		"rolled out now: the next push is rolled out as any. Exit status 3: nothing is "
		"rolled "
		"out.",
	.examples = "alm abort bundle/web --reason 'customers complain'",
	.options = options,
	.args = {1, 2},
	.run = run,
};
