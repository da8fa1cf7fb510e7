/*
 * approval: who approved an InstallStrategy (audit.md 6). On this server spec.approvedBy is the
 * user of the request that gave the approval: set where it is left out, refused where it names
 * somebody else, gone when the approval is withdrawn. A version that is Blocked takes no new one.
 * Where the controllers run in the same process, status.approval is written by them alone.
 */
#ifndef ALM_APISERVER_AUTH_APPROVAL_H
#define ALM_APISERVER_AUTH_APPROVAL_H

#include "alm/apiserver/mutation.h"

#define APPROVAL_GROUP  "opinstaller.coreos.com"
#define APPROVAL_PLURAL "installstrategies"

/* Rows of admit.c. */
void approval_default(struct mutation *m);
void approval_validate(struct mutation *m, struct field_errors *e);

#endif
