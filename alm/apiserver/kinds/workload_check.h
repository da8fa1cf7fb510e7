/* workload_check: what is wrong with Deployments and what else keeps Pods running, in the words of Kubernetes 1.36
 * (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_WORKLOAD_CHECK_H
#define ALM_APISERVER_KINDS_WORKLOAD_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_deployment(struct field_errors *e, const struct obj *o);
void check_replica_set(struct field_errors *e, const struct obj *o);
void check_daemon_set(struct field_errors *e, const struct obj *o);
void check_stateful_set(struct field_errors *e, const struct obj *o);
void stateful_set_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void check_replication_controller(struct field_errors *e, const struct obj *o);

/* At least 0 or "N%"; and at most "100%". v may be absent. */
void check_amount_or_percent(struct field_errors *e, const char *path, const struct obj *v);
void check_percent_most(struct field_errors *e, const char *path, const struct obj *v);

#endif
