/*
 * catalog_work: one sync of a catalog or one fetch of an archive, as far as both are alike: first the
 * keys of the catalog's policy, then its Secret, then the source. Private to the manager's files.
 *
 * Owned by itself: it ends with catalog_work_free(), after synced() or fetched() was called, or when
 * the manager stops.
 */
#ifndef ALM_CONTROLLERS_CATALOG_WORK_H
#define ALM_CONTROLLERS_CATALOG_WORK_H

#include "alm/controllers/manager_internal.h"
#include "alm/sources/sync.h"

struct catalog_work {
	TAILQ_ENTRY(catalog_work) link;
	struct manager *m;
	char *name;
	struct obj *catalog, *secret;
	void (*keys_known)(struct catalog_work *w); /* goes on to catalog_work_start() */
	void (*run)(struct catalog_work *w);        /* catalog, secret and keys are there */
	struct obj *keys;                           /* of the policy; NULL: none */
	char policy[SHA256_HEX];                    /* its digest */
	struct client_call *call;
	struct sync *sync;
	struct archive_fetch *fetch;
	char *digest;                         /* of the archive */
	size_t tried;                         /* catalogs that have it and could not give it */
	bool (*next)(struct catalog_work *w); /* another catalog is asked instead; NULL: none is */
	synced_fn synced;
	fetched_fn fetched;
	void *arg;
	struct task refuse; /* what cannot be started is reported in a later turn */
	struct error refused;
};

/* NULL: there is none of the name. */
struct catalog_slot *catalog_slot_get(struct manager *m, const char *name);
struct catalog_work *catalog_work_new(struct manager *m, const char *name,
				      const struct obj *catalog);
void catalog_work_free(struct catalog_work *w);
/* The next catalog is asked, or whoever asked is told, and it is freed. */
void catalog_work_fail(struct catalog_work *w, const struct error *err);
/* The same in a later turn: nobody is called back from where he asks. */
void catalog_work_refuse(struct catalog_work *w, const struct error *err);
/* Reads the keys of w->catalog; each time anew, as the Secret: what was taken out counts no more. */
void catalog_work_begin(struct catalog_work *w);
/* Reads its Secret, if there is one, and runs it. */
void catalog_work_start(struct catalog_work *w);
struct sync_host catalog_work_host(struct manager *m);

#endif
