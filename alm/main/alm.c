/* main: the table of commands. To add one: a row here; see alm/cli/cli.h. */
#include <stdlib.h>

#include "alm/cli/chart/cmd_charts.h"
#include "alm/cli/cmds.h"
#include "alm/io/process.h"
#include "alm/main/cmd_controller.h"
#include "alm/main/cmd_server.h"
#include "alm/main/cmd_up.h"

/* Commands with an option syntax of their own. */
/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): texts, each a whole initializer */
#define RAW(word, synopsis, text) \
	static const struct cmd cmd_##word = { \
		.name = #word, .usage = synopsis, .summary = text, .main = cmd_##word##_main}
/* NOLINTEND(bugprone-macro-parentheses) */

RAW(template, "alm template [NAME] CHART [flags of helm template]", "render a chart archive");
RAW(package, "alm package build CHART [-o DIR]", "make a package for a catalog");
RAW(lint, "alm lint CHART", "check a chart");

static const struct cmd *const commands[] = {
	&cmd_up,
	&cmd_server,
	&cmd_controller,
	&cmd_get,
	&cmd_create,
	&cmd_apply,
	&cmd_edit,
	&cmd_delete,
	&cmd_describe,
	&cmd_wait,
	&cmd_logs,
	&cmd_explain,
	&cmd_convert,
	&cmd_install,
	&cmd_run,
	&cmd_status,
	&cmd_top,
	&cmd_history,
	&cmd_dashboard,
	&cmd_why,
	&cmd_why_not,
	&cmd_diff,
	&cmd_rbac,
	&cmd_approve,
	&cmd_upgrade,
	&cmd_rollback,
	&cmd_retry,
	&cmd_crd,
	&cmd_audit,
	&cmd_catalog,
	&cmd_template,
	&cmd_package,
	&cmd_lint,
	&cmd_version,
	&cmd_completion,
	NULL,
};
/* clang-format on */

/* Commands hold tokens and Secrets, too. */
int main(int argc, char **argv)
{
	process_seal(getenv("ALM_DEBUGGABLE") != NULL);
	return cli_main(commands, argc, argv);
}
