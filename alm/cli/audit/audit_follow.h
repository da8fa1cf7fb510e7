/* audit_follow: a log that goes on, until SIGINT or SIGTERM: of a folder, read every half second,
 * or of a server, by a watch of its AuditRecords. */
#ifndef ALM_CLI_AUDIT_AUDIT_FOLLOW_H
#define ALM_CLI_AUDIT_AUDIT_FOLLOW_H

#include "alm/cli/audit/audit_source.h"

/* Of what a server told, this many entries are kept for those that come: their causes. */
#define AUDIT_FOLLOW_KEPT 10000

/* fn gives what is new in the source; its error ends it. 0 after a signal. */
int audit_follow(struct cli *c, struct audit_source *s, int (*fn)(void *arg, struct error *err),
		 void *arg, struct error *err);

#endif
