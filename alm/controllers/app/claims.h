/*
 * claims: what every app has, or is getting, as the resolver of each of them wants to know it.
 *
 * Kept from event to event, so that a reconcile reads its own app and not all there are:
 * claims_update() looks at the one object that changed, and the tables are made again only when
 * what it claims changed, which most writes of a status do not.
 */
#ifndef ALM_CONTROLLERS_APP_CLAIMS_H
#define ALM_CONTROLLERS_APP_CLAIMS_H

#include "alm/base/mem.h"
#include "alm/engine/view.h"
#include "catalog/resolve/resolve.h"

struct claims *claims_new(void);
void claims_free(struct claims *c);
DEFINE_FREEP(claims)

/* An AppType or InstallStrategy as the cache now has it, or, with gone, as it was last; others are
 * ignored. */
void claims_update(struct claims *c, const struct obj *o, bool gone);
/* An index came, went or learned of an archive: what was said of its versions may be another. */
void claims_drop_entries(struct claims *c);
/* Versions as the catalogs of the view have them. Borrowed until the next change of c. */
const struct resolve_claims *claims_all(struct claims *c, const struct view *v);

#endif
