/* device_amount_check: which amounts of a device may be asked for (ResourceSlices), and which network it is (the status of
 * ResourceClaims), in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_DEVICE_AMOUNT_CHECK_H
#define ALM_APISERVER_KINDS_DEVICE_AMOUNT_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* The policy of a capacity that several claims may share; path is its own. */
void check_request_policy(struct field_errors *e, const char *path, const struct obj *capacity);
/* data: NULL where nothing is said. */
void check_device_network(struct field_errors *e, const char *path, const struct obj *data);

#endif
