/*
 * run: the engine for one process and what it was told: a trigger, a renderer, one cluster
 * (`alm run`). No resource says what to do, so what would be a status is in memory and in the
 * inventory on the cluster.
 *
 * The manager does the work, with the unit controller alone: view, plan and executor are those of
 * every other controller. Here are only the trigger, and how a run ends. Without watch there is one
 * unit; with it one for each object that is watched.
 */
#ifndef ALM_CONTROLLERS_RUN_H
#define ALM_CONTROLLERS_RUN_H

#include "alm/controllers/manager.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/source/keymap.h"

#define RUN_HUB       "cli"
#define RUN_UNITS_MAX 2000     /* objects of a watch that are run; more are told of, and left out */
#define RUN_LEASE     "alm."   /* and the bundle: the Lease, beside the inventory */
#define RUN_LOOK_NS   NS_PER_S /* how often who waits for it looks */

struct run;

/* What is to be there for one unit now; made and given back by done(), once, in whatever turn. */
struct run_render {
	struct arena *a;          /* the unit lives in it */
	const struct obj *main;   /* the object that is watched; NULL: none */
	const struct obj *config; /* what the key's trigger gave; NULL: nothing */
	const char *bundle, *instance;
	struct unit *unit; /* returned */
	void (*done)(struct run_render *call, const struct error *err);
};

/* The objects that begin a run each: those of the map's main resource. A change of another one
 * begins that of the object which its key concerns. */
struct run_watch {
	struct keymap *map;
	bool touches; /* finalizer and status of the main objects are written */
};

struct run_config {
	struct loop *loop;
	struct client *client;
	struct audit *audit; /* of this process: nobody else writes to it */
	struct db *db;
	struct metrics *metrics; /* or NULL */
	struct plugins *plugins; /* that rollouts name; NULL: they name none */
	const char *bundle;
	int64_t interval_ns;           /* 0: once */
	const struct run_watch *watch; /* NULL: none */
	bool keyed;                    /* units come by run_key() alone */
	/* What this process is called as the holder of the Lease RUN_LEASE bundle, in the namespace of the
	 * inventory: it is held while anything may be written, so that of several processes that run one
	 * bundle one acts. NULL: none is taken, and nobody else may run the bundle. */
	const char *holder;
	bool (*holder_is_dead)(
		const char *holder); /* leader.h; NULL: a dead one's Lease runs out */
	struct unit_job job; /* as it is in every attempt; without unit, main, record, attempt */
	void (*render)(void *arg, struct run_render *call);
	/* An attempt has ended; err NULL: well. record: how far it came, or NULL. */
	void (*ended)(void *arg, const char *instance, const struct obj *record,
		      const struct error *err);
	/* A step began or ended: "grafana/deployment.yaml", Finished, why; texts are borrowed. */
	void (*said)(void *arg, const char *instance, const char *step, const char *state,
		     const char *message);
	/* Of the Lease: it is held from now on, and interval or watch have begun (who calls run_key()
	 * begins now); or it is lost, and all is stopped until it is held again. Optional, as the two
	 * below. */
	void (*leads)(void *arg, bool held);
	void (*waits)(void *arg, const char *holder);        /* somebody else holds it */
	void (*failing)(void *arg, const struct error *err); /* it cannot be read or written */
	void *arg;
};

struct run *run_new(const struct run_config *c);
void run_start(struct run *r);
/* Of a keyed trigger: a run of this key begins with this configuration (NULL: none). While one is under
 * way, and without the Lease, none does: 0 all the same, and the caller comes again. What was made of a
 * key that comes no more stays. E_LIMIT for more than RUN_UNITS_MAX keys. */
int run_key(struct run *r, const char *key, const struct obj *config, struct error *err);
/* Stops, and gives the Lease up, so that another need not wait; done is called once, within seconds. No
 * render may be under way. Without it the Lease runs out (leader.h). */
void run_end(struct run *r, void (*done)(void *arg), void *arg);
void run_free(struct run *r); /* stops at once; no render may be under way */
DEFINE_FREEP(run)

/* How objects of a unit are hashed that no log knows: without the values of Secrets. */
extern const struct unit_digest run_digest;

#endif
