/*
 * audit_anchors: what places outside of the database remember of the log that a command reads:
 * those of --audit-anchor, the one beside the log, and those that the log says it was told.
 */
#ifndef ALM_CLI_AUDIT_AUDIT_ANCHORS_H
#define ALM_CLI_AUDIT_AUDIT_ANCHORS_H

#include "alm/cli/audit/audit_source.h"

struct audit_anchors { /* all of the arena of the command */
	struct verify_anchor items[VERIFY_ANCHORS_MAX];
	size_t n;
	const char *unchecked[VERIFY_ANCHORS_MAX + 1]; /* places that did not answer; NULL-ended */
	size_t n_unchecked;
};

/* cluster: the ConfigMap of the cluster, too, though the log does not say that it was told: a
 * controller's log that began in an empty folder. */
int audit_anchors_read(struct cli *c, const struct audit_source *s, bool cluster,
		       struct audit_anchors *ret, struct error *err);

#endif
