/*
 * spec_seen: the Observe record SpecChanged (audit.md 3). On a server whose writes are in another
 * log (view_settings.foreign) it says as well whose manager wrote the spec and which paths changed
 * since the record before, whose `object` has the spec as it was, redacted. Pure.
 */
#ifndef ALM_CONTROLLERS_APP_SPEC_SEEN_H
#define ALM_CONTROLLERS_APP_SPEC_SEEN_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"

/* body: what the record says besides; consumed. */
struct action *spec_seen_row(const struct view *v, struct plan *plan, const struct obj *o,
			     const char *key, struct obj *body);
/* Of a kind whose newest Observe record may be another: NULL if there is a record of this
 * generation. */
struct action *spec_seen_once(const struct view *v, struct plan *plan, const struct obj *o);

#endif
