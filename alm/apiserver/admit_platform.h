/* admit_platform: what the server adds of its own to Pods, Nodes, DaemonSets, Leases and drivers; the rows are in admit.c, and for it
 * alone. default: before managedFields are told; late: nobody owns it. */
#ifndef ALM_APISERVER_ADMIT_PLATFORM_H
#define ALM_APISERVER_ADMIT_PLATFORM_H

#include "alm/apiserver/mutation.h"

void admit_pod_default(struct mutation *m);
void admit_node_default(struct mutation *m);
void admit_node_late(struct mutation *m);
void admit_lease_late(struct mutation *m);
void admit_driver_late(struct mutation *m);
void admit_daemon_default(struct mutation *m);
void admit_daemon_late(struct mutation *m);

#endif
