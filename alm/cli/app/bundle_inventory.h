/* bundle_inventory: what a Bundle has on the cluster, as its inventory names it (alm/unit/inventory.h). */
#ifndef ALM_CLI_APP_BUNDLE_INVENTORY_H
#define ALM_CLI_APP_BUNDLE_INVENTORY_H

#include "alm/cli/session.h"
#include "alm/unit/inventory.h"

struct bundle_inventory {
	struct inventory objects;
	const char *unit; /* that succeeded last, as it is stored: "DIGEST.SLOT"; NULL: none */
	bool is_there;
	const char *blind; /* why it may not name all; NULL: it does */
};

/* All in a. A Bundle that has none yet has no objects. */
int bundle_inventory_read(struct session *s, const char *bundle, struct arena *a,
			  struct bundle_inventory *ret, struct error *err);
/* It was deleted by hand: the Bundle was Synced once, and has none. Sets blind. */
void bundle_inventory_miss(struct bundle_inventory *i, const struct obj *bundle, struct arena *a);

/* By file; as it is read it is in the inventory's own order. */
void bundle_inventory_sort(struct bundle_inventory *i);
/* The document of that unit, with its objects as they are wanted, out of the Secrets of alm-system. E_NOTFOUND: none
 * is stored. */
int bundle_inventory_unit(struct session *s, const char *bundle, const struct bundle_inventory *i,
			  struct arena *a, const struct obj **ret, struct error *err);

#endif
