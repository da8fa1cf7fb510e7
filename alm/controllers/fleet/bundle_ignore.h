/* bundle_ignore: spec.ignore of a Bundle, the fields of its objects that others write (theirs.h). Pure. */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_IGNORE_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_IGNORE_H

#include "alm/unit/flat.h"

#define BUNDLE_IGNORE_MAX 64 /* entries, and paths of one */

/* E_INVALID with the field. */
int bundle_ignore_check(const struct obj *bundle, struct error *err);
/* rules: spec.ignore, checked; NULL: none. Sets what is ignored of each object. */
void bundle_ignore_set(const struct obj *rules, struct flat *flat);

#endif
