/* pods: the subresources of a pod that are answered and not stored. */
#ifndef ALM_APISERVER_PODS_H
#define ALM_APISERVER_PODS_H

#include "alm/apiserver/options.h"

struct obj;

/* POST pods/NAME/eviction: deletes the pod, unless a PodDisruptionBudget has too few left; then
 * E_TOOMANY, which kubectl drain waits for. body is a policy/v1 Eviction. */
int pods_evict(struct request *r, const struct obj *body, bool dry_run, struct error *err);
/* POST pods/NAME/binding: puts the pod on the node that the Binding names. E_CONFLICT if it is on
 * one, or is not the one, or no longer as, the Binding's uid and resourceVersion say. */
int pods_bind(struct request *r, const struct obj *body, const struct write_options *opt,
	      struct error *err);
/* POST bindings: the same, of the pod that the Binding is named after, whatever its uid. */
int pods_bind_named(struct request *r, const struct obj *body, const struct write_options *opt,
		    struct error *err);
/* GET pods/NAME/log where workloads are simulated: one line that says so. E_BADREQUEST for a
 * container that the pod does not have, or has more of and none is named. */
int pods_log(struct request *r, struct error *err);

#endif
