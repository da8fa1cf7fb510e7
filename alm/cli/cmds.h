/* cmds: the commands of this folder, one file each. */
#ifndef ALM_CLI_CMDS_H
#define ALM_CLI_CMDS_H

#include "alm/cli/cli.h"

extern const struct cmd cmd_template;
extern const struct cmd cmd_package;
extern const struct cmd cmd_lint;
extern const struct cmd cmd_get, cmd_apply, cmd_create, cmd_delete, cmd_describe, cmd_wait;
extern const struct cmd cmd_why, cmd_why_not, cmd_diff, cmd_rbac, cmd_approve, cmd_abort,
	cmd_upgrade, cmd_rollback;
extern const struct cmd cmd_top, cmd_install, cmd_status, cmd_dashboard, cmd_retry, cmd_history,
	cmd_run, cmd_plugins, cmd_uninstall, cmd_bundle;
extern const struct cmd cmd_observe, cmd_adopt, cmd_keep, cmd_nuke, cmd_inventory;
extern const struct cmd cmd_logs, cmd_explain, cmd_convert, cmd_edit;
extern const struct cmd cmd_crd, cmd_crd_migrate, cmd_catalog;
extern const struct cmd cmd_audit, cmd_backup, cmd_restore, cmd_version, cmd_completion;
extern const struct cmd cmd_crd_check, cmd_crd_diff;

#endif
