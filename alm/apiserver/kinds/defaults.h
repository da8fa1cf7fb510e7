/*
 * defaults: fields of built-in kinds that Kubernetes fills in when they are absent: workloads,
 * pods, services, and those of the platform (storage, classes, devices, endpoints, flow control). What Go writes always is
 * there already (api_fill()). In place, and twice is once. What an allocator, a controller or an admission plugin adds there
 * (addresses, tolerations, tokens, a Job's selector) is not added here.
 */
#ifndef ALM_APISERVER_KINDS_DEFAULTS_H
#define ALM_APISERVER_KINDS_DEFAULTS_H

#include "alm/obj/obj.h"

void defaults_set(struct obj *o, const char *group, const char *plural);

#endif
