/* pod_place: where a Pod may run: its affinity, how it is spread and what holds it back, in the words of Kubernetes 1.36 (pod_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_PLACE_H
#define ALM_APISERVER_KINDS_POD_PLACE_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void pod_check_affinity(struct field_errors *e, const char *path, const struct obj *affinity);
void pod_check_spread(struct field_errors *e, const char *path, const struct obj *list);
void pod_check_gates(struct field_errors *e, const char *path, const struct obj *list);

#endif
