/*
 * simulate: workloads without controllers and kubelet, for who looks at an app before it meets a
 * cluster. Shortly after an object changed, what its controller would make of it is there: of a
 * Deployment its ReplicaSets and Pods, of a StatefulSet and DaemonSet Pods and ControllerRevisions,
 * of a Job Pods that have ended, of a CronJob its Jobs when their time comes (in UTC), of a Service
 * EndpointSlice and Endpoints; with the statuses, names and labels of upstream's controllers. Claims
 * are bound, load balancers have an address, APIServices are Available, a resize of a running Pod
 * is done at once. Nothing of it is reachable.
 *
 * A rollout takes one step. A workload has SIM_PODS_MAX Pods at most, its status counts all that are
 * wanted. At rest nothing is written.
 *
 * It fails on request: annotation app.coreos.com/simulate "REASON: TEXT" of a Pod template (words in
 * simulate_objects.c) or Pod; an image tag with "fail" ("app:1.0-fail") stays unready or fails; a Job
 * or Pod with "hang" does not end.
 */
#ifndef ALM_APISERVER_LOOPS_SIMULATE_H
#define ALM_APISERVER_LOOPS_SIMULATE_H

#include "alm/apiserver/core.h"

#define SIMULATE_DELAY_NS (200 * NS_PER_MS)
/* Where its Pods are. There is no such Node: it has room for every resize. */
#define SIM_NODE "simulated"

struct simulate *simulate_new(struct apiserver *s);
void simulate_free(struct simulate *m);
void simulate_load(struct simulate *m); /* looks at what is there; at start */

#endif
