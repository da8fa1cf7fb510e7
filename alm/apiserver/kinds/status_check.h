/* status_check: what is wrong with the status of a kind where more than one field says it, in the words of Kubernetes 1.36
 * (rule_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_STATUS_CHECK_H
#define ALM_APISERVER_KINDS_STATUS_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* kind: plural.group; one that has no such rules is fine. */
void status_check(struct field_errors *e, const char *kind, const struct obj *o);
/* A list of conditions as most kinds have them. */
void check_conditions(struct field_errors *e, const char *path, const struct obj *list);

#endif
