/*
 * executor: performs plans; the controllers' only writer to the API and their only caller of
 * audit_append() (audit.md 1). Rows of all plans of one turn share one commit; effects start after
 * it.
 *
 * A run is one plan. It is done when every action has its outcome; the first failed write ends it,
 * as the next pass starts from what is then live. Outcomes of slow work go into the stash.
 */
#ifndef ALM_ENGINE_EXECUTOR_H
#define ALM_ENGINE_EXECUTOR_H

#include "alm/audit/audit.h"
#include "alm/audit/disk_watch.h"
#include "alm/client/client.h"
#include "alm/client/discovery.h"
#include "alm/engine/plan.h"
#include "alm/engine/stash.h"
#include "alm/render/render_job.h"
#include "catalog/index/index.h"

struct executor;

/* Consumes index; NULL without err: unchanged. bad_digest: of content that was refused, or "". */
typedef void (*synced_fn)(void *arg, struct catalog_index *index, const char *bad_digest,
			  const struct error *err);
typedef void (*fetched_fn)(void *arg, struct str bytes, const struct error *err);

/* What the executor needs done by others; the simulation has its own. */
struct executor_host {
	/* Renders an archive in the sandbox: {release, namespace, revision, isUpgrade, kubeVersion,
	 * values}. */
	void (*render)(void *arg, struct str archive, const struct obj *request,
		       struct render_call *call);
	/* Reads a catalog's source into a new index. */
	void (*sync)(void *arg, const char *name, const struct obj *catalog, synced_fn done,
		     void *done_arg);
	/* The archive with this digest, checked against it. */
	void (*fetch)(void *arg, const char *digest, fetched_fn done, void *done_arg);
	/* The pointer swap; consumes. before may be NULL. */
	void (*swap_index)(void *arg, const char *catalog, struct catalog_index *index);
	const struct catalog_index *(*index)(void *arg, const char *catalog);
	/* The cached object; owned, NULL: not known. */
	struct obj *(*cached)(void *arg, const struct resource *r, const char *ns,
			      const char *name);
	void (*watch)(void *arg, const struct resource *r, const char *selector,
		      bool metadata_only);
	void (*observed)(void *arg, const struct resource *r, const struct obj *o);
	void (*observed_deleted)(void *arg, const struct resource *r, const char *ns,
				 const char *name, const char *uid);
	/* NULL: nothing is run that is recorded. */
	void (*record)(void *arg, const char *key, const struct obj *record);
	void *arg;
};

struct executor_config {
	struct loop *loop;
	struct client *client;
	struct discovery *discovery;
	struct audit *audit;
	struct db *db;
	struct disk_watch *disk; /* or NULL; nothing is done while it is full */
	struct stash *stash;
	bool same_process; /* the server of this process writes the Write rows */
	struct executor_host host;
};

struct executor *executor_new(const struct executor_config *c);
void executor_free(struct executor *x); /* cancels what is in flight */
DEFINE_FREEP(executor)

/* At once; each holds its input, and a file, until its turn in the sandbox comes. */
#define EXECUTOR_RENDERS_MAX 8

enum run_result {
	RUN_UNCHANGED,
	RUN_CHANGED, /* wrote, or brought outcomes: the key is worth another pass */
	RUN_WAITS,   /* there was no room for its render: another pass when there is */
};
typedef void (*executor_done)(void *arg, const char *controller, const char *key,
			      enum run_result result, int64_t requeue_after_ns,
			      const struct error *err);

/* Consumes the arena, in which the plan lives. */
void executor_start(struct executor *x, const char *controller, const char *key, struct plan *plan,
		    struct arena *a, executor_done done, void *arg);
size_t executor_running(const struct executor *x);
size_t executor_room(const struct executor *x); /* for renders; it grows only when a run ends */

#endif
