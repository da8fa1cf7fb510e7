/*
 * migration_scan: what all objects of a kind, read once, say of its older versions: who still writes
 * through them (catalog/gate/usage.h), and what forgets the entries of clients that write no more.
 */
#ifndef ALM_LIVE_MIGRATION_SCAN_H
#define ALM_LIVE_MIGRATION_SCAN_H

#include "alm/client/client.h"
#include "alm/live/migration.h"
#include "catalog/gate/usage.h"

#define MIGRATION_VERSIONS_MAX 64 /* beside the new one; of more, the rest is not looked at */

struct migration_scan {
	struct arena *a;
	const struct resource *r; /* in the new version */
	int64_t since_ns;         /* the last change of spec.versions */
	struct usage usages[MIGRATION_VERSIONS_MAX];
	size_t n_usages;
	size_t n;          /* objects seen */
	const char *first; /* one of them */
	int64_t newest_ns; /* the last write through another version; 0: none */
	const char *writers[MIGRATION_WRITERS_MAX], *forget[MIGRATION_WRITERS_MAX];
	size_t n_writers, n_forget;
};

/* From nothing, also while one is under way. Texts live in a; r is borrowed until the end. */
void migration_scan_begin(struct migration_scan *s, const struct obj *crd, const struct resource *r,
			  int64_t since_ns, struct arena *a);
void migration_scan_object(struct migration_scan *s, const struct obj *o);
void migration_scan_end(struct migration_scan *s); /* newest_ns and writers are known */

#endif
