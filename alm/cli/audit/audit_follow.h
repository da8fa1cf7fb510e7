/* audit_follow: a log that goes on, read every half second until SIGINT or SIGTERM. */
#ifndef ALM_CLI_AUDIT_AUDIT_FOLLOW_H
#define ALM_CLI_AUDIT_AUDIT_FOLLOW_H

#include "alm/base/error.h"

/* fn gives what is new; its error ends it. 0 after a signal. */
int audit_follow(int (*fn)(void *arg, struct error *err), void *arg, struct error *err);

#endif
