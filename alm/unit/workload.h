/* workload: what has Pods of its own, and which they are. Pure. */
#ifndef ALM_UNIT_WORKLOAD_H
#define ALM_UNIT_WORKLOAD_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

bool workload_has_pods(const char *kind);
/* Selects its Pods; NULL: it does not say. The one of a Job is the server's, and may not be there yet. */
const char *workload_selector(const struct obj *live, struct arena *a);

#endif
