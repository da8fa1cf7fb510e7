/* audit_cmds: the commands below "alm audit" that have files of their own. */
#ifndef ALM_CLI_AUDIT_AUDIT_CMDS_H
#define ALM_CLI_AUDIT_AUDIT_CMDS_H

#include "alm/cli/cli.h"

extern const struct cmd audit_verify, audit_proof, audit_key; /* cmd_audit_verify.c */
extern const struct cmd audit_export, audit_accept_gap;

#define AUDIT_FILE_OPTION {"file", "ARCHIVE", "an exported log instead of the live one", 0}

#endif
