/* network_check: what is wrong with an Ingress and with a NetworkPolicy, in the words of the real server
 * (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_NETWORK_CHECK_H
#define ALM_APISERVER_KINDS_NETWORK_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_ingress(struct field_errors *e, const struct obj *o);
void check_network_policy(struct field_errors *e, const struct obj *o);

#endif
