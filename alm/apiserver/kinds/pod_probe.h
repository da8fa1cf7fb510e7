/* pod_probe: how a container is asked how it is, and what it is told as it begins and ends, in the words of Kubernetes 1.36
 * (pod_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_PROBE_H
#define ALM_APISERVER_KINDS_POD_PROBE_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* once: one success is enough, as of all but a readinessProbe. probe may be absent. */
void pod_check_probe(struct field_errors *e, const char *path, const struct obj *probe, bool once);
/* grace: seconds that the Pod has to end. */
void pod_check_hook(struct field_errors *e, const char *path, const struct obj *hook,
		    int64_t grace);

/* A port by its number or by the name of one of a container. */
void check_port_or_name(struct field_errors *e, const char *path, const struct obj *port);

#endif
