/*
 * run: the engine for one process and what it was told: a trigger, a renderer, one cluster
 * (`alm run`). No resource says what to do, so what would be a status is in memory and in the
 * inventory on the cluster.
 *
 * The manager does the work, with the unit controller alone: view, plan and executor are those of
 * every other controller. Here are only the trigger, and how a run ends.
 */
#ifndef ALM_CONTROLLERS_RUN_H
#define ALM_CONTROLLERS_RUN_H

#include "alm/controllers/manager.h"
#include "alm/controllers/unit/unit_side.h"

struct run;

struct run_config {
	struct loop *loop;
	struct client *client;
	struct audit *audit; /* of this process: nobody else writes to it */
	struct db *db;
	struct metrics *metrics; /* or NULL */
	int64_t interval_ns;     /* 0: once */
	struct unit_job job;     /* as it is in every attempt; without unit, record and attempt */
	/* What is to be there now, in a new arena. Called at each tick; an error is that of this
	 * attempt. */
	int (*render)(void *arg, struct arena *a, struct unit **ret, struct error *err);
	/* An attempt has ended; err NULL: well. record: how far it came, or NULL. Of a run without
	 * interval: once. */
	void (*ended)(void *arg, const struct obj *record, const struct error *err);
	/* A step began or ended: "grafana/deployment.yaml", Finished, why; texts are borrowed. */
	void (*said)(void *arg, const char *step, const char *state, const char *message);
	void *arg;
};

struct run *run_new(const struct run_config *c);
void run_start(struct run *r);
void run_free(struct run *r); /* stops at once */
DEFINE_FREEP(run)

/* How objects of a unit are hashed that no log knows: without the values of Secrets. */
extern const struct unit_digest run_digest;

#endif
