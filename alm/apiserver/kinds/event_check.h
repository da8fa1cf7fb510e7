/* event_check: Events, as core/validation of Kubernetes 1.36 has them. Those with an eventTime, and all that are written as
 * events.k8s.io/v1, say who saw what and change no more. Pure. */
#ifndef ALM_APISERVER_KINDS_EVENT_CHECK_H
#define ALM_APISERVER_KINDS_EVENT_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* modern: o and before are of events.k8s.io/v1, not of v1. before: NULL: create. */
void check_event(struct field_errors *e, const struct obj *o, const struct obj *before,
		 bool modern);

#endif
