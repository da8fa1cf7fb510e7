/*
 * work: what a plan wants done that is no write of an object: something is read, asked, rendered.
 * The engine starts it when its turn comes, keeps to its bound, and cancels it with its run; what
 * it is, and what it makes of the answer, is in its kind, which the action names (plan_work).
 *
 * To add a kind: a struct work_kind in alm/controllers/work, and who plans it.
 */
#ifndef ALM_ENGINE_WORK_H
#define ALM_ENGINE_WORK_H

#include "alm/audit/audit.h"
#include "alm/client/client.h"
#include "alm/client/discovery.h"
#include "alm/engine/plan.h"
#include "alm/engine/stash.h"

struct step_call;

#define WORK_STATE_BYTES 128

/* One that is under way; it lives until work_done() or work_fail(). */
struct work {
	struct action *action;
	struct arena *a; /* of the run */
	struct client *client;
	struct discovery *discovery;
	struct loop *loop;
	struct stash *stash;
	void *host; /* of executor_config */
	struct step_call *of;
	/* The kind's own */
	struct client_call *call; /* under way; cancelled with the run */
	size_t at;                /* of a list that is done one by one */
	struct obj *found;        /* unreferenced at the end */
	_Alignas(max_align_t) unsigned char state[WORK_STATE_BYTES]; /* zeroed */
};

struct work_kind {
	const char *name; /* in the line of a reconcile (pass_text.h) */
	/* Ends in work_done() or work_fail(), in this turn or a later one. */
	void (*start)(struct work *w);
	void (*cancel)(struct work *w); /* besides call and found; NULL: nothing */
	/* What the action has that no log may tell; NULL: nothing. */
	void (*secrets)(const struct action *a, struct secrets *s);
	size_t at_once;   /* of one executor; the plan whose turn is beyond it waits. 0: no bound */
	bool is_for_next; /* of the plan: without room for that it is not begun either */
};

/* The outcome of the action for the next reconcile, its error without the run's secrets. Consumes
 * bytes and value; err NULL: success. */
void work_put(struct work *w, const struct error *err, struct str bytes, struct obj *value);
void work_changed(struct work *w); /* no outcome, but the key is worth another reconcile */
void work_done(struct work *w);    /* the plan goes on; w is gone */
/* The run ends with this error, unless it has failed before; w is gone. */
void work_fail(struct work *w, const struct error *err);
/* What follows it in the plan: the next action may be changed, or nothing of it is done. */
struct action *work_next(struct work *w);
void work_stop(struct work *w);
/* An entry of the log, at once, unless key is that of the last one of its type and subject. Its
 * chain's later entries have it as cause. */
int work_append(struct work *w, const struct audit_row *row, const char *key, const char *chain,
		struct error *err);
/* Whatever is shown by logs, statuses, Events and entries, without the run's secrets. */
struct error work_hide(struct work *w, const struct error *err);
const char *work_hide_text(struct work *w, const char *text);

#endif
