/*
 * run_internal: shared by run.c (triggers, life), run_watch.c (objects that are watched), run_left.c (what is left of
 * those that are gone), run_unit.c (units and their attempts) and run_host.c (a process with one attempt).
 */
#ifndef ALM_CONTROLLERS_RUN_INTERNAL_H
#define ALM_CONTROLLERS_RUN_INTERNAL_H

#include <sys/queue.h>

#include "alm/base/map.h"
#include "alm/client/discovery.h"
#include "alm/controllers/run.h"
#include "alm/controllers/unit/unit_failing.h"

#define RUN_INSTANCE_MAX 63 /* it is a label */

/* One unit: what it is to be, and how far the attempt is. */
struct run_unit {
	struct run *r;
	char *key, *instance; /* "BUNDLE/INSTANCE" */
	struct unit_job job;
	struct unit_arenas arenas; /* of the job's */
	struct obj *record;        /* of this attempt; owned */
	struct obj *main;          /* the watched object; owned; NULL: none, or gone */
	struct obj *config;        /* of its key; owned; NULL: none */
	struct run_render call;
	struct timer end;
	struct timer retry; /* of a watched object whose attempt failed */
	unsigned failed;    /* attempts in a row */
	unsigned tries;     /* of this unit that were rolled back, in a row */
	int64_t back_ns;    /* when the last one was */
	struct unit_failing failing;
	bool rendering, ended; /* ended: this attempt; at first, too */
	bool adrift; /* the Lease was lost while it was rendered: it goes when that is over */
	bool again;  /* it changed while an attempt was rendered */
	struct error err;
	LIST_ENTRY(run_unit) link; /* of the run's adrift */
};

struct informer;
struct watched_kind; /* run_watch.c */

/* run_left.c */
struct run_left {
	const struct informer *mains;
	struct client_call *call;
	struct obj *page; /* of the list of inventories, their metadata; owned */
	size_t at;        /* of those, the one that is looked at */
	size_t pages;     /* of this look */
	/* By instance, of this look and of the last whole one: whose object is gone, or could not be read. Owned. */
	struct obj *missing, *before;
	struct timer again;
};

struct run {
	struct run_config c;
	struct manager *manager; /* NULL: the Lease is not held */
	struct leader *leader;   /* NULL: none is taken */
	struct unit_side side;
	struct map *units; /* key -> struct run_unit */
	LIST_HEAD(, run_unit) adrift;
	struct timer tick;
	struct discovery *discovery; /* of the watch */
	struct watched_kind *watched;
	size_t n_watched;
	struct run_left left;
};

/* --- run_unit.c --- */
/* "BUNDLE/INSTANCE"; owned. */
char *run_unit_key(const struct run *r, const char *instance);
/* Made if it is not there; borrowed. */
struct run_unit *run_unit_of(struct run *r, const char *instance);
/* An attempt; while one is under way, it is followed by another. */
void run_unit_begin(struct run_unit *u);
void run_unit_free(struct run_unit *u);
/* Nothing of it goes on: it is free, or will be when what is rendered for it has come. */
void run_unit_drop(struct run_unit *u);
/* What the manager of r asks and tells. */
struct unit_side run_unit_side(struct run *r);

/* --- run_watch.c --- */
void run_watch_start(struct run *r);
void run_watch_stop(struct run *r);

/* --- run_left.c --- */
/* Once the main objects are all known; for as long as their informer is there. */
void run_left_start(struct run *r, const struct informer *mains);
void run_left_stop(struct run *r);

/* --- run_host.c --- */
/* What fails of the Lease in one attempt. While it is held nothing is counted: it is lost first (leader.h). */
struct run_tries {
	int failures;
	bool held;
};
void run_tries_lead(struct run_tries *t, bool held);
/* True: the attempt ends. */
bool run_tries_fail(struct run_tries *t, const struct error *err);

#endif
