/*
 * simulate: workloads without a kubelet. The status of Deployments, StatefulSets, DaemonSets,
 * ReplicaSets, ReplicationControllers and Pods is filled as if they had rolled out, shortly after
 * their generation moved; Jobs and Pods that are not restarted run to their end, claims are bound,
 * load balancers have an address, APIServices are Available (nothing is served by them). One whose
 * image tag contains "fail" ("app:1.0-fail") stays unready or fails; a Job or Pod with "hang" does
 * not end.
 */
#ifndef ALM_APISERVER_LOOPS_SIMULATE_H
#define ALM_APISERVER_LOOPS_SIMULATE_H

#include "alm/apiserver/core.h"

#define SIMULATE_DELAY_NS (200 * NS_PER_MS)

struct simulate *simulate_new(struct apiserver *s);
void simulate_free(struct simulate *m);
void simulate_load(struct simulate *m); /* looks at what is there; at start */

#endif
