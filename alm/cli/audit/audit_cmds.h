/* audit_cmds: the commands below "alm audit" that have files of their own. */
#ifndef ALM_CLI_AUDIT_AUDIT_CMDS_H
#define ALM_CLI_AUDIT_AUDIT_CMDS_H

#include "alm/cli/cli.h"

extern const struct cmd audit_verify, audit_proof, audit_key; /* cmd_audit_verify.c */
extern const struct cmd audit_diff, audit_export, audit_accept_gap;

#define AUDIT_FILE_OPTION {"file", "ARCHIVE", "an exported log instead of the live one", 0}

/* What audit_source_selector() reads. */
#define AUDIT_SELECTORS                                                                          \
	{"subject", "KIND/[NS/]NAME", "entries about this object", 0},                           \
		{"actor", "USER", "entries of this user", 0},                                    \
		{"type", "TYPE", "Transition, Decision, Approval, Plan, Write, Observe, System", \
		 0},                                                                             \
		{"reason", "REASON", "entries of this reason", 0},                               \
		{"since", "TIME", "RFC 3339 or a span before now (24h)", 0},                     \
		{"until", "TIME", "the same", 0},                                                \
		{"from-seq", "N", "entries from this number on", 0},                             \
		{"cluster", "NAME", "entries about this cluster", 0},                            \
		{"limit", "N", "at most so many entries", 0}, AUDIT_FILE_OPTION

#endif
