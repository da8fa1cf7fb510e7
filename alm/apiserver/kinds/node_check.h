/* node_check: Nodes and the classes of what runs on them, in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_NODE_CHECK_H
#define ALM_APISERVER_KINDS_NODE_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_node(struct field_errors *e, const struct obj *o);
/* Of its status. */
void check_node_status(struct field_errors *e, const struct obj *o);
void check_runtime_class(struct field_errors *e, const struct obj *o);
/* Of those that differ in their seconds alone there may be but one. */
void check_tolerations_differ(struct field_errors *e, const struct obj *list);

void node_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void runtime_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

#endif
