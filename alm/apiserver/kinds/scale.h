/* scale: the scale subresource, autoscaling/v1 Scale (kube-api.md 9). */
#ifndef ALM_APISERVER_KINDS_SCALE_H
#define ALM_APISERVER_KINDS_SCALE_H

#include "alm/apiserver/request.h"

int scale_handle(struct request *r, struct error *err);
/* The Scale of an object of r->kind, of the arena. E_INTERNAL: it has no replicas. */
int scale_of(struct request *r, const struct obj *o, struct obj **ret, struct error *err);
/* Are the replicas of a custom resource what a Scale can say? of_status: those of the status alone. */
void scale_check(const struct kind *k, const struct obj *o, bool of_status, struct field_errors *e);
/* Sets spec.replicas of the object itself. */
int scale_put(struct request *r, struct obj *o, int64_t replicas, struct error *err);

#endif
