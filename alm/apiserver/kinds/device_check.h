/* device_check: what is wrong with claims of devices (resource.k8s.io) and with APIServices, in the words of Kubernetes 1.36
 * (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_DEVICE_CHECK_H
#define ALM_APISERVER_KINDS_DEVICE_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_device_claim(struct field_errors *e, const struct obj *o);
void check_device_template(struct field_errors *e, const struct obj *o);
void device_claim_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
/* What a driver and a scheduler say of a claim. */
void check_device_claim_status(struct field_errors *e, const struct obj *o);
void check_api_service(struct field_errors *e, const struct obj *o);

#endif
