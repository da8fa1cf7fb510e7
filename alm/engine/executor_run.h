/* executor_run: shared by executor.c (the runs), executor_append.c (entries), executor_status.c,
 * executor_write.c (API writes), executor_record.c (how they ended) and executor_work.c (slow work). */
#ifndef ALM_ENGINE_EXECUTOR_RUN_H
#define ALM_ENGINE_EXECUTOR_RUN_H

#include <sys/queue.h>

#include "alm/engine/chain.h"
#include "alm/engine/executor.h"
#include "alm/engine/tries.h"

/* What becomes of a status: executor_status.c. */
enum status_turn {
	STATUS_NEXT,    /* record S+1, then the status */
	STATUS_REPEAT,  /* the status of record S once more */
	STATUS_SAID,    /* nothing: the server keeps what it made of it */
	STATUS_LOOK,    /* status_look(), after the commit */
	STATUS_RESTORE, /* status_restore(): nothing else of the plan is done */
	STATUS_BEHIND,  /* status_behind(), likewise */
};

struct executor_run {
	TAILQ_ENTRY(executor_run) link;
	struct executor *x;
	char *controller, *key;
	struct plan plan;
	struct action *dropped; /* of the plan: what is back if the log does not say why it went */
	struct arena *a;
	executor_done done;
	void *done_arg;
	struct action *next; /* to be started */
	size_t in_flight;
	unsigned starting; /* run_continue() is at work: an action may be done at once */
	size_t index;      /* of the next action, for op */
	int64_t plan_seq;
	unsigned attempt;             /* at what that entry announces: tries.h */
	const char *unit;             /* its name there */
	char plan_digest[SHA256_HEX]; /* "" until an attempt failed */
	const struct obj *status; /* the whole object to write, with transitionSeq; NULL: none */
	struct action *status_action;
	int64_t status_seq; /* row that announces it */
	int64_t status_tseq;
	unsigned said_again; /* the executor's, when the status was sent */
	int64_t last_seq;    /* of this run's rows */
	bool changed, refreshed, failed, live, waits, knows_secrets;
	enum status_turn turn;
	bool looks; /* whether the status is a regressed one shows the live object */
	struct error err;
	TAILQ_HEAD(, step_call) calls;
};

/* One action that is under way. */
struct step_call {
	TAILQ_ENTRY(step_call) link;
	struct executor_run *run;
	struct action *action;
	struct client_call *call;
	char *op;
	size_t index; /* of the action, as in op */
	const struct resource *resource;
	struct obj *before; /* what it writes over, redacted, for its Write record; owned */
	const char *rv_before;
	struct work *work; /* of ACT_WORK; owned */
};

TAILQ_HEAD(run_list, executor_run);

#define WORK_KINDS_BOUNDED_MAX 4

struct executor {
	struct executor_config c;
	struct chain *chain;
	struct run_list starting, appended, running;
	size_t n, n_starting,
		n_seen; /* all; of starting, now and when a commit was last thought of */
	struct {
		const struct work_kind *kind;
		size_t n;
	} bounded[WORK_KINDS_BOUNDED_MAX]; /* under way, of kinds with a bound */
	struct task commit, started;
	struct timer flush;
	struct timer halt;
	bool halted;
	struct tries *tries;
	struct map *kept;    /* uid -> what the server made of its status: executor_status.c */
	unsigned said_again; /* executor_say_again() so many times */
};

void run_fail(struct executor_run *r, const struct error *err);
/* Whatever enters here is shown by logs, statuses, Events and entries: without the run's secrets. */
struct error run_hide(struct executor_run *r, const struct error *err);
const char *run_hide_text(struct executor_run *r, const char *text);
/* An outcome for the next reconcile, its error hidden. */
void run_put(struct executor_run *r, const char *id, const struct error *err, struct str bytes,
	     struct obj *value);
/* Its entries are in a commit that the server is at: it goes on behind that, or fails with it. */
void run_await_commit(struct executor_run *r);
struct step_call *call_new(struct executor_run *r, struct action *a);
void call_done(struct step_call *c); /* the run goes on */

/* executor_append.c */
/* The entries of a run, within a transaction. */
int run_append(struct executor_run *r, struct error *err);

/* executor_status.c */
int status_turn(struct executor_run *r, const struct action *a, int64_t seen, int64_t logged,
		int64_t row_seq, enum status_turn *ret_turn, struct error *err);
int status_restore(struct executor_run *r, const struct obj *live, int64_t logged,
		   const char *reason, struct error *err);
int status_behind(struct executor_run *r, int64_t seen, int64_t logged, struct error *err);
void status_look(struct executor_run *r);
/* body.status of a Transition record. */
int status_put(struct executor_run *r, struct obj *body, const struct obj *status,
	       struct error *err);
void status_note_written(struct executor_run *r, const struct obj *returned);
struct map *status_kept_new(void);
/* executor_append.c: r->status is live with this status. */
void set_status(struct executor_run *r, const struct obj *live, const struct obj *status,
		int64_t tseq);

/* executor_record.c */
void record_init(struct executor *x);
/* As audit_append_now(), of what has happened already; durable some milliseconds later. */
int record_soon(struct executor *x, const struct audit_row *row, int64_t *ret_seq,
		struct error *err);
/* Makes them durable now: before an entry that must be so before something is done. */
void record_flush(struct executor *x);
/* After a commit and what waits for it; one that fails shows in the next commit. Beside the server it is the
 * server's. */
void record_checkpoint(struct executor *x);

/* Start one action; they end in call_done() or run_fail(). */
void write_status(struct executor_run *r);
void write_farewell(struct executor_run *r); /* the Event of a row_only status */
void write_row_event(struct executor_run *r,
		     struct action *a); /* of an entry that is new; nothing waits */
void write_action(struct executor_run *r, struct action *a);

/* executor_work.c */
bool work_has_room(const struct executor *x, const struct action *a);
void work_start(struct executor_run *r, struct action *a);
void work_free(struct step_call *c); /* cancels what is under way */

#endif
