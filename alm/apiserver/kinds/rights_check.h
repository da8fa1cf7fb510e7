/* rights_check: roles and their bindings, in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_RIGHTS_CHECK_H
#define ALM_APISERVER_KINDS_RIGHTS_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_role(struct field_errors *e, const struct obj *o);
void check_cluster_role(struct field_errors *e, const struct obj *o);
void check_role_binding(struct field_errors *e, const struct obj *o);
void check_cluster_role_binding(struct field_errors *e, const struct obj *o);

#endif
