/*
 * catalog_store: the last good revision of every catalog, kept in the local database, so that a
 * restart with the source down changes nothing (lifecycle.md 1.4). What is kept are the entry lines
 * the revision was built of.
 */
#ifndef ALM_CONTROLLERS_CATALOG_STORE_H
#define ALM_CONTROLLERS_CATALOG_STORE_H

#include "alm/base/strbuf.h"
#include "alm/controllers/sync.h"
#include "alm/io/db.h"

/* source: what it was read from. A failure is an error to log, no more: the source is still there.
 */
int catalog_store_save(struct db *d, const char *name, const char *source, const char *revision,
		       const struct sync_validators *v, struct str lines, struct error *err);
/* E_NOTFOUND: nothing kept of this source. */
int catalog_store_load(struct db *d, const char *name, const char *source,
		       struct sync_validators *ret_validators, struct strbuf *ret_lines,
		       struct error *err);
int catalog_store_drop(struct db *d, const char *name, struct error *err);

#endif
