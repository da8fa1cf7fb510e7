/*
 * simulate: workloads without a kubelet. The status of Deployments, StatefulSets, DaemonSets and
 * Jobs is filled as if they had rolled out, shortly after their generation moved. One whose image
 * tag contains "fail" ("app:1.0-fail") stays unready.
 */
#ifndef ALM_APISERVER_SIMULATE_H
#define ALM_APISERVER_SIMULATE_H

#include "alm/apiserver/core.h"

#define SIMULATE_DELAY_NS (200 * NS_PER_MS)

struct simulate *simulate_new(struct apiserver *s);
void simulate_free(struct simulate *m);
void simulate_load(struct simulate *m); /* looks at what is there; at start */

#endif
