/* own_lease: whether a controller of ALM works for a cluster, as its Lease says. PURE. */
#ifndef ALM_CLI_APP_OWN_LEASE_H
#define ALM_CLI_APP_OWN_LEASE_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define OWN_LEASE_TARGET "/apis/coordination.k8s.io/v1/namespaces/alm-system/leases/alm-controller"

/* NULL: one works, or the next one is expected (an upgrade of ALM). A text of the arena, with the remedy. lease NULL:
 * there is none. now_ns is of this machine's clock, which is why half a minute does not count. */
const char *own_lease_trouble(const struct obj *lease, int64_t now_ns, struct arena *a);

#endif
