/*
 * executor: performs plans; the controllers' only writer to the API and their only caller of
 * audit_append() (audit.md 1). Entries of all plans of one turn share one commit; effects start after
 * it.
 *
 * A run is one plan. It is done when every action has its outcome; the first failed write ends it,
 * as the next reconcile starts from what is then live. Outcomes of slow work go into the stash.
 */
#ifndef ALM_ENGINE_EXECUTOR_H
#define ALM_ENGINE_EXECUTOR_H

#include "alm/audit/audit.h"
#include "alm/audit/disk_watch.h"
#include "alm/client/client.h"
#include "alm/client/discovery.h"
#include "alm/engine/plan.h"
#include "alm/engine/stash.h"
#include "alm/engine/work.h"

struct executor;
struct chain_rule;

/* The caches that its writes go through; the simulation has its own. */
struct executor_host {
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
	const struct chain_rule *chains; /* chain.h */
	bool same_process;               /* the server of this process writes the Write entries */
	struct executor_host host;
	void *work_host; /* what the kinds of work need: work.h */
};

struct executor *executor_new(const struct executor_config *c);
void executor_free(struct executor *x); /* cancels what is in flight */
DEFINE_FREEP(executor)

enum run_result {
	RUN_UNCHANGED,
	RUN_CHANGED, /* wrote, or brought outcomes: the key is worth another reconcile */
	RUN_WAITS,   /* there was no room for its work: another reconcile when there is */
};
typedef void (*executor_done)(void *arg, const char *controller, const char *key,
			      enum run_result result, int64_t requeue_after_ns,
			      const struct error *err);

/* Consumes the arena, in which the plan lives. */
void executor_start(struct executor *x, const char *controller, const char *key, struct plan *plan,
		    struct arena *a, executor_done done, void *arg);
/* What the server left out of the statuses that were written may be taken now. */
void executor_say_again(struct executor *x);
size_t executor_running(const struct executor *x);
/* For one more of a kind that has a bound; it grows only when a run ends. */
size_t executor_room(const struct executor *x, const struct work_kind *kind);

#endif
