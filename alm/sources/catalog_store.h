/*
 * catalog_store: the last good revision of every catalog, kept in the local database, so that a
 * restart with the source down changes nothing (lifecycle.md 1.4). What is kept are the entry lines
 * the revision was built of, with the verdicts on signatures: the log has the digest of what is
 * kept (kept.h), and what somebody put there instead is not used.
 */
#ifndef ALM_SOURCES_CATALOG_STORE_H
#define ALM_SOURCES_CATALOG_STORE_H

#include "alm/audit/kept.h"
#include "alm/audit/verify.h"
#include "alm/base/strbuf.h"
#include "alm/io/db.h"
#include "alm/sources/sync.h"

/* source: what it was read from. a: the log in the same database, or NULL. A failure is an error to
 * log, no more: the source is still there. */
int catalog_store_save(struct db *d, struct audit *a, const char *name, const char *source,
		       const char *revision, const struct sync_validators *v, struct str lines,
		       struct error *err);
/* E_NOTFOUND: nothing kept of this source. E_ALTERED: something else, or nothing, than the log says
 * that was kept of this catalog. */
int catalog_store_load(struct db *d, struct audit *a, const char *name, const char *source,
		       struct sync_validators *ret_validators, struct strbuf *ret_lines,
		       struct error *err);
int catalog_store_drop(struct db *d, struct audit *a, const char *name, struct error *err);
/* verify_options.each_kept; arg is the struct db, which may lack the table. */
int catalog_store_each(void *arg, verify_kept_fn fn, void *fn_arg, struct error *err);

#endif
