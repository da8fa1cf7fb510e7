/* pod_amount: what containers and Pods ask for of one resource, as the real server counts it (component-helpers, resource
 * of Pods). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_AMOUNT_H
#define ALM_APISERVER_KINDS_POD_AMOUNT_H

#include "alm/obj/obj.h"
#include "alm/obj/quantity.h"

struct amount {
	bool is_there;
	struct quantity q;
};

/* list: "requests" or "limits" of resources. */
struct amount amount_in(const struct obj *resources, const char *list, const char *name);
/* What the containers of the spec of a Pod take together, or at most while they start: each init container beside the restartable
 * ones before it. */
struct amount amount_of_containers(const struct obj *spec, const char *list, const char *name);
/* Of a Pod: its own, else that of its containers. */
struct amount amount_of_pod(const struct obj *pod, const char *list, const char *name);

/* status.qosClass of a Pod with its defaults. */
const char *pod_quality(const struct obj *pod);

/* Can more of it be promised than there is? cpu, memory and their like; neither huge pages nor what others than Kubernetes count. */
bool resource_is_shared(const char *name);

#endif
