/* device_bindings_check: what a device is bound by, or not, when a Pod gets it: of a slice, and of a claim that has it, in the words of
 * Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_DEVICE_BINDINGS_CHECK_H
#define ALM_APISERVER_KINDS_DEVICE_BINDINGS_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_device_bindings(struct field_errors *e, const char *path, const struct obj *device);

#endif
