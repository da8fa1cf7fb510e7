/*
 * priority: spec.priority and spec.preemptionPolicy of Pods, from the PriorityClass that they name or from the one that is the default
 * of all; as the Priority plugin of Kubernetes 1.36 does, in its words. Both classes of the system are there from the start.
 */
#ifndef ALM_APISERVER_ADMISSION_PRIORITY_H
#define ALM_APISERVER_ADMISSION_PRIORITY_H

#include "alm/apiserver/mutation.h"

/* The i-th of the classes that every cluster has, the caller's; NULL past the last. */
struct obj *priority_bootstrap(size_t i);
/* Sets all three of a Pod that is created, in place. Why it may not be, a text of a; NULL: it may. */
const char *priority_set(struct apiserver *s, struct obj *pod, struct arena *a);
/* Before webhooks and policies are asked: a Pod that is created gets them, one that is updated keeps them. E_FORBIDDEN. */
int priority_admit(struct mutation *m, struct error *err);
/* Once m->after is valid: one class alone is the default. E_FORBIDDEN. */
int priority_check(struct mutation *m, struct error *err);
/* E_FORBIDDEN for the classes of the system. */
int priority_check_delete(struct mutation *m, struct error *err);

#endif
