/*
 * quota_status: status.hard and status.used of the ResourceQuotas of a namespace follow its objects once their writes are
 * committed, all of a turn in one write, under the name of the resourcequota-controller.
 */
#ifndef ALM_APISERVER_LOOPS_QUOTA_STATUS_H
#define ALM_APISERVER_LOOPS_QUOTA_STATUS_H

#include "alm/apiserver/core.h"

struct quota_status;

struct quota_status *quota_status_new(struct apiserver *s);
void quota_status_load(struct quota_status *k); /* once the store and the definitions are */
void quota_status_free(struct quota_status *k);

#endif
