/*
 * transition_log: what happens to an object, as lines on standard error while a command waits
 * (story.md 4): "08:03:12 Verifying       12 objects ready". Read from AuditRecords, from now on;
 * where they cannot be read one line says why, and what to do.
 */
#ifndef ALM_CLI_KUBE_TRANSITION_LOG_H
#define ALM_CLI_KUBE_TRANSITION_LOG_H

#include "alm/cli/session.h"

struct transition_log;

struct transition_log *transition_log_start(struct session *s, struct arena *a, const char *name);
/* That line; err: what reading them brought. */
const char *transition_log_missing(const struct error *err, struct arena *a);
void transition_log_free(struct transition_log *l); /* NULL is fine */

#endif
