/*
 * migration: writes every object of a custom kind through the version that is stored by now, and
 * then takes the older ones out of status.storedVersions (lifecycle.md 7.5).
 *
 * Steps: read the definition (the version must be the storage version, for a minute on a server
 * that may have several processes); read all objects once (their number; who still writes through
 * an older version); note the beginning on the definition (app.coreos.com/migration), whose time is
 * the server's: what is written through an older version from that second on still counts as use;
 * write each object back unchanged with its resourceVersion (409: read and again, 404: done), at
 * most 8 at once and `rate` a second; note where it is after each page; at the end note the time
 * (app.coreos.com/migrated-from.V) and trim the list, both with the resourceVersion that was read.
 * It may die anywhere: started again it goes on where it noted to be, unless the definition changed
 * since, and a token that expired only starts over.
 *
 * Who writes: the newest managedFields entry per manager. One that is in an older version and newer
 * than the last change of spec.versions would bring the old form back into use: refused, unless
 * told otherwise. So is a migration whose server's clock was set back behind such an entry; told to
 * ignore writers, what is written until that time counts no longer as use.
 */
#ifndef ALM_LIVE_MIGRATION_H
#define ALM_LIVE_MIGRATION_H

#include "alm/client/client.h"

#define MIGRATION_MANAGER     "alm-migrate"
#define MIGRATION_ANNOTATION  "app.coreos.com/migration"
#define MIGRATION_PAGE        500
#define MIGRATION_RATE        2000 /* objects a second, by default */
#define MIGRATION_SETTLE_NS   ((int64_t)60 * 1000000000)
#define MIGRATION_WRITERS_MAX 8

struct migration;

struct migration_progress {
	const char *doing; /* "waiting", "reading", "writing", "done" */
	size_t done, total;
	int64_t wait_ns;
};

struct migration_result {
	size_t n;                   /* objects, written or to be written */
	const char *first;          /* one of them, as ns/name; NULL if none */
	const char *was, *is;       /* storedVersions as texts: "v1 v2"; is NULL on a dry run */
	const char *const *writers; /* "MANAGER: ns/name" */
	size_t n_writers;
	/* Entries stay in managedFields for ever where their client writes nothing more, as
	 * kubectl-create does: commands that forget them, one for each of the first such objects.
	 */
	const char *const *forget;
	size_t n_forget;
};

struct migration_config {
	struct client *client;
	const char *crd, *to;
	const char *by;      /* who asks, for the note at the end; NULL: nobody knows */
	bool dry_run;        /* only reads */
	bool ignore_writers; /* told so */
	unsigned rate;       /* a second; 0: as fast as the server takes them */
	unsigned page;       /* 0: MIGRATION_PAGE */
	int64_t settle_ns;   /* how long `to` must be the storage version; 0: not at all */
	void (*progress)(void *arg, const struct migration_progress *p); /* may be NULL */
	/* Once, in a later turn, unless freed before; r is borrowed, and filled on E_REFUSED too.
	 */
	void (*done)(void *arg, const struct migration_result *r, const struct error *err);
	void *arg;
};

struct migration *migration_start(const struct migration_config *c); /* texts are copied */
void migration_free(struct migration *m);                            /* cancels; not from done() */
DEFINE_FREEP(migration)

#endif
