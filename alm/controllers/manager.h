/*
 * manager: informers -> queues -> reconciles -> executor. Runs no queue before every informer is
 * synced.
 *
 * On a shared cluster a Lease decides which manager exists (leader.h); the embedded server has one.
 */
#ifndef ALM_CONTROLLERS_MANAGER_H
#define ALM_CONTROLLERS_MANAGER_H

#include "alm/client/informer.h"
#include "alm/engine/executor.h"
#include "alm/engine/view.h"
#include "alm/io/metrics.h"
#include "alm/io/sandbox.h"
#include "alm/sources/sync.h"

struct manager;
struct programs;
struct unit_side;

struct manager_config {
	struct loop *loop;
	struct client *client;
	struct audit *audit;
	struct db *db;
	struct disk_watch *disk; /* or NULL */
	bool same_process;
	const struct source_files *files; /* what dir:// and file:// may reach: source_roots.h */
	const struct address_policy *addresses; /* what https:// and oci:// may reach */
	bool watch_dirs;                        /* inotify on dir:// catalogs */
	bool brief;                             /* it ends soon: time counts, not memory */
	struct view_settings settings;          /* kube_version NULL: asked from the server */
	struct sandbox *sandbox;                /* with the job of render_job.h */
	struct metrics *metrics;                /* or NULL */
	struct alerts *alerts;                  /* or NULL */
	/* What this process was told to run (alm run): the unit controller alone works, and of the
	 * server nothing is asked for but what its units name. NULL: all controllers. */
	const struct unit_side *units;
	bool is_settled; /* another manager of this process has looked at the log's end: settle.h */
	struct plugins *plugins; /* of the steps of units; NULL: no unit has one */
	/* The program git, and the folder of its mirrors, which exists; NULL: Bundles are not served. */
	struct programs *programs;
	const char *git_dir;
	/* Each CustomResourceDefinition that the watch shows; gone: it was this. NULL: nobody asks. */
	void (*crd_seen)(void *arg, const struct obj *crd, bool gone);
	void *crd_seen_arg;
};

struct manager *manager_new(const struct manager_config *c);
void manager_start(struct manager *m);
void manager_free(struct manager *m); /* stops at once; what is in flight is cancelled */
DEFINE_FREEP(manager)

/* The definitions of ALM's own kinds are as they must be again: what an older one has cut off a status
 * is written. */
void manager_kinds_back(struct manager *m);

/* Of units: this one has changed, or is to be looked at again. */
void manager_notice_unit(struct manager *m, const char *key);

bool manager_is_synced(const struct manager *m);
/* Nothing ready, processing or in flight; timers may wait. */
bool manager_is_idle(const struct manager *m);
/* Every cache of whole objects, for who checks that nobody changed one. */
void manager_each_cache(const struct manager *m,
			void (*fn)(void *arg, const struct informer *cache), void *arg);
/* A catalog's folder changed. */
void manager_notice_catalog(struct manager *m, const char *name);

#endif
