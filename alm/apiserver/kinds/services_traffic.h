/*
 * services_traffic: what a Service may say of balancers of load, of where its traffic goes and of who is asked for its health
 * (services.h). before: as it was, or NULL of a new one. Pure.
 */
#ifndef ALM_APISERVER_KINDS_SERVICES_TRAFFIC_H
#define ALM_APISERVER_KINDS_SERVICES_TRAFFIC_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* The class of its balancer. Of an update it is told twice, in front of the rest and after it; that it changed only in front. */
void services_check_class(struct field_errors *e, const struct obj *o, const struct obj *before);
/* Two annotations that are the same, unless both were there before. */
void services_check_notes(struct field_errors *e, const struct obj *o, const struct obj *before);
void services_check_balancer(struct field_errors *e, const struct obj *o, const struct obj *before);
void services_check_traffic(struct field_errors *e, const struct obj *o, const struct obj *before);
/* How long a client stays with what answered it. */
void services_check_affinity(struct field_errors *e, const struct obj *o);
/* The port that is asked for its health stays. */
void services_check_health_kept(struct field_errors *e, const struct obj *o,
				const struct obj *before);

#endif
