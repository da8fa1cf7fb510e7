/* pod_kept: what of a Pod may not change once it is made: all of its spec but images, a deadline that is lowered, tolerations
 * that come and, while gates hold it back, where it may go. Pure. */
#ifndef ALM_APISERVER_KINDS_POD_KEPT_H
#define ALM_APISERVER_KINDS_POD_KEPT_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* before: as it is stored; what defaults it lacks are no change. */
void pod_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

#endif
