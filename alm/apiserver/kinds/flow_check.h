/* flow_check: what is wrong with a FlowSchema and a PriorityLevelConfiguration, in the words of Kubernetes 1.36 (builtin_check.h).
 * Pure. */
#ifndef ALM_APISERVER_KINDS_FLOW_CHECK_H
#define ALM_APISERVER_KINDS_FLOW_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_flow_schema(struct field_errors *e, const struct obj *o);
void check_priority_level(struct field_errors *e, const struct obj *o);

#endif
