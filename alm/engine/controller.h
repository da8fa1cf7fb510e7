/*
 * controller: a table of pure steps (README, "Internals": observe -> plan -> act).
 *
 * A step reads the view, appends actions to the plan and returns STEP_CONTINUE, STEP_STOP or a
 * negative error. It does no I/O, reads no clock, sees no event: only the name of its object. What
 * a reconcile computes for its later steps lives in view->pass (arena).
 *
 * To add a controller: its file with watches, steps and the struct; a row in
 * alm/controllers/controllers.c; a test_X.c below tests/unit; a scenario in tests/sim.
 */
#ifndef ALM_ENGINE_CONTROLLER_H
#define ALM_ENGINE_CONTROLLER_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"

enum { STEP_CONTINUE = 0, STEP_STOP = 1 };

typedef int (*step_fn)(const struct view *view, const char *key, struct plan *plan,
		       struct error *err);

struct step {
	const char *name;
	step_fn fn;
};

/* Maps a changed object to the key it concerns; NULL: to none. a is the arena of the event. */
typedef const char *(*watch_key_fn)(const struct view *view, const struct obj *o, struct arena *a);

struct watch_rule {
	unsigned kind;
	watch_key_fn key; /* several rules may map one kind */
	int means;        /* 0: the key itself; else the manager's: which keys belong to it */
};

struct controller {
	const char *name;
	const struct watch_rule *watches; /* ended by a NULL key */
	const struct step *steps;         /* ended by a NULL fn */
	bool awaits_sources; /* works when each source was read, or could not be, once */
	bool reads_sources; /* other servers, for minutes: more of its keys are worked on at a time */
};

/* Runs the steps in order until one stops. */
int controller_run(const struct controller *c, const struct view *view, const char *key,
		   struct plan *plan, struct error *err);

#endif
