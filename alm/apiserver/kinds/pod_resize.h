/* pod_resize: what a write of pods/NAME/resize may change (KEP-1287): cpu and memory of containers and of the Pod as a whole, as
 * Kubernetes 1.36 judges it. Nothing is allocated by it: that is a kubelet's. Pure. */
#ifndef ALM_APISERVER_KINDS_POD_RESIZE_H
#define ALM_APISERVER_KINDS_POD_RESIZE_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* What o, a copy of the Pod as it was, takes of the one that is asked for. false: its containers are other ones, and it takes nothing. */
bool pod_resize_take(struct obj *o, const struct obj *asked);
/* Do two containers, or Pods, ask for the same? */
bool pod_resize_same(const struct obj *is, const struct obj *was);
void pod_resize_check(struct field_errors *e, const struct obj *o, const struct obj *before);
/* Why a Pod may not be resized on its node (NULL: there is none of its name), from a; NULL: it may. *ret_cause: of the refusal, or NULL. */
const char *pod_resize_node_fault(const struct obj *o, const struct obj *before,
				  const struct obj *node, struct arena *a, const char **ret_cause);

#endif
