/*
 * class: what objects take from classes of the cluster when they are created, as the plugins DefaultStorageClass, DefaultIngressClass
 * and RuntimeClass of Kubernetes 1.36 do, in their words: a claim and an Ingress that name none get the one that is marked as the
 * default (of several the newest), a Pod gets the overhead, the labels of nodes and the tolerations of the one it names. The
 * tolerations that every Pod has (DefaultTolerationSeconds) come first, with every update.
 */
#ifndef ALM_APISERVER_ADMISSION_CLASS_H
#define ALM_APISERVER_ADMISSION_CLASS_H

#include "alm/apiserver/mutation.h"

/* Before webhooks and policies are asked, in place; again once is enough. E_FORBIDDEN. */
int class_admit(struct mutation *m, struct error *err);
/* Once m->after is valid: is the overhead that of its class? E_FORBIDDEN. */
int class_check(struct mutation *m, struct error *err);
/* Why a Pod is refused that names a class which is not there, a text of a; NULL: it is not. */
const char *class_missing(struct apiserver *s, const struct obj *pod, struct arena *a);

#endif
