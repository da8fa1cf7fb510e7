/* rule_check: what single fields of built-in kinds may hold: of a list of words, at least zero, a name; and the counts of a status.
 * A table, in the words of Kubernetes 1.36; what depends on more than one field is in the checks of builtin_check.h. Pure. */
#ifndef ALM_APISERVER_KINDS_RULE_CHECK_H
#define ALM_APISERVER_KINDS_RULE_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* of_status: the fields of the status alone, else all others. */
void rule_check(struct field_errors *e, const char *group, const char *plural, const struct obj *o,
		bool of_status);
/* A part of a Pod or of a container o, in path: "message", "mounts", "pull", "policies", "dns", "spread", "node", "names",
 * "last" or "tolerations". */
void rule_check_part(struct field_errors *e, const char *part, const char *path,
		     const struct obj *o);

#endif
