/* pod_security: as whom a Pod and its containers run and what they may, in the words of Kubernetes 1.36 (pod_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_SECURITY_H
#define ALM_APISERVER_KINDS_POD_SECURITY_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* Of the Pod as a whole: path is of its spec. */
void pod_check_security(struct field_errors *e, const char *path, const struct obj *spec);
/* securityContext of a container; absent is fine. */
void pod_check_container_security(struct field_errors *e, const char *path, const struct obj *c,
				  bool host_users);
/* Of its options for Windows. */
void pod_check_windows(struct field_errors *e, const char *path, const struct obj *o);

#endif
