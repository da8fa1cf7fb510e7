/* main: the table of commands. To add one: a row here; see alm/cli/cli.h. */
#include <stdlib.h>

#include "alm/cli/bundle/cmd_bundle.h"
#include "alm/cli/cmds.h"
#include "alm/io/library_memory.h"
#include "alm/io/process.h"
#include "alm/main/cmd_controller.h"
#include "alm/main/cmd_server.h"
#include "alm/main/cmd_up.h"

/* clang-format off */
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
	&cmd_uninstall,
	&cmd_run,
	&cmd_plugins,
	&cmd_bundle,
	&cmd_status,
	&cmd_top,
	&cmd_history,
	&cmd_dashboard,
	&cmd_why,
	&cmd_why_not,
	&cmd_diff,
	&cmd_bundle_plan, /* as alm bundle plan */
	&cmd_observe,
	&cmd_adopt,
	&cmd_keep,
	&cmd_nuke,
	&cmd_inventory,
	&cmd_rbac,
	&cmd_approve,
	&cmd_abort,
	&cmd_upgrade,
	&cmd_rollback,
	&cmd_retry,
	&cmd_crd,
	&cmd_audit,
	&cmd_backup,
	&cmd_restore,
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
	library_memory_crypto();
	process_seal(getenv("ALM_DEBUGGABLE") != NULL);
	return cli_main(commands, argc, argv);
}
