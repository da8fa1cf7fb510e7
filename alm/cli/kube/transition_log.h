/*
 * transition_log: what happens to an object, as lines on standard error while a command waits
 * (story.md 4): "08:03:12 Verifying       12 objects ready". Read from AuditRecords, from now on;
 * silent where the server has none.
 */
#ifndef ALM_CLI_KUBE_TRANSITION_LOG_H
#define ALM_CLI_KUBE_TRANSITION_LOG_H

#include "alm/cli/session.h"

struct transition_log;

struct transition_log *transition_log_start(struct session *s, struct arena *a, const char *name);
void transition_log_free(struct transition_log *l); /* NULL is fine */

#endif
