/*
 * bundle_orphans: what a Bundle's status says of objects that nobody has declared (unit_sweep.c).
 * Pure.
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_ORPHANS_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_ORPHANS_H

#include "alm/controllers/fleet/bundle_spec.h"

#define ORPHANS_TOLD 100 /* of a status */

/* record: of what is run, NULL: nothing is known of it. Until something was looked for, the status says
 * what it said last, and since when: by the log (said; NULL: it has none), as whoever may write the
 * status would say so, too, and what is told here is what is believed after a restart. rests: nothing is
 * deleted now, so no time is told. */
void bundle_orphans_tell(const struct bundle_spec *spec, const struct obj *record,
			 const struct obj *said, bool rests, struct obj *status);
/* Something was looked for. */
bool bundle_orphans_known(const struct obj *record);

#endif
