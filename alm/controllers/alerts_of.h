/* alerts_of: which alerts of lifecycle.md 4.6 an object fires. Pure. */
#ifndef ALM_CONTROLLERS_ALERTS_OF_H
#define ALM_CONTROLLERS_ALERTS_OF_H

#include "alm/obj/obj.h"

/* What an AppType, InstallStrategy, Catalog or Bundle alerts of: maps {labels, annotations, startsAt}.
 * An owned list, empty for an object in order and for any other kind. */
struct obj *alerts_of(const struct obj *o);

#endif
