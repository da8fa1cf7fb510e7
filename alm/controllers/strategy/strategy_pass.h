/*
 * strategy_pass: one reconcile of one InstallStrategy, and the words that all of its steps use.
 *
 * A step is `enum ensured STEP(struct strategy_pass *s)` (plan.h). DONE: the next step of the
 * phase. WAITING or ENDED: no further step; the status is written, unless s->keep_status. Whoever
 * changes the phase does so by strategy_enter(), or one of its kin here, and returns what that
 * returns.
 */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_PASS_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_PASS_H

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/install_plan.h"

struct unit;

/* What the steps hand on to each other. */
struct strategy_pass {
	const struct view *v;
	struct plan *plan;
	struct app *app;                /* NULL: no such AppType */
	const struct strategy_ref *ref; /* entry of app->strategies, or own without app */
	struct strategy_ref own;
	enum phase was, phase;
	const char *reason, *message; /* of the transition and of the condition that says why */
	struct obj *conditions;       /* under construction */
	struct obj *steps;            /* list of strings */
	struct obj *approval;         /* under construction, or NULL */
	struct obj *hooks;            /* status.hooks, under construction */
	int64_t failures;             /* in a row, of the same values and account */
	int64_t former_revision;      /* what runs while changed values are tried; 0: none */
	const char *former_digest;    /* of its plan; NULL */
	struct obj *failed;           /* status.failed, or NULL */
	int64_t rollback_revision;    /* of the release record of a rollback; 0: none */
	int64_t revision;
	const char *archive, *digest; /* of the archive; of the install plan */
	const char *fetch;            /* outcome of a fetch that a render needs first; or NULL */
	bool refetch;                 /* it failed before */
	struct install_plan
		*install;           /* what status.plan shows; NULL: it shows what it did before */
	struct install_plan *back;  /* what a rollback goes back to */
	const struct obj *findings; /* of the gate; status.plan shows the weightiest */
	const struct obj *waivers;  /* that would lift what the gate refuses; NULL: none */
	int64_t n_unlisted;         /* findings that the gate itself has only counted */
	const struct obj *judged;   /* [{crd, digest}]: each definition, and what was found */
	const struct obj *finding_keys; /* the same without counts: what the digest covers */
	const struct obj *permissions;  /* what the upgrade gives more: status.plan.permissions */
	struct account_check account;   /* of the account of the app, once it was asked for */
	struct obj *unmet;              /* requirements that block it, as list of strings; NULL */
	const char *lacks;              /* optional requirements that are not met; NULL: none */
	bool waits_for_time;            /* pause, window or soak: it rests in Pending */
	bool judged_anew;               /* planned only to see whether what blocked it is gone */
	bool is_upgrade;                /* for the chart: something of the release is there */
	const char *former; /* manifest of the release that helm made and this plan takes over */
	const struct obj *answers, *inputs; /* of the stored plan, for another render; or NULL */
	const struct obj *rollout;          /* that is named by spec.rolloutRef; NULL: none is */
	struct obj *course;                 /* status.rollout, under construction; NULL: as it is */
	const struct unit *rolled;          /* the groups of course */
	bool keep_status;                   /* as it is: what is known is not complete */
	const char *repaired; /* what had drifted and is as planned again; NULL: nothing */
	const char *
		decided; /* keys of what this reconcile has decided, a line each; NULL: nothing yet */
	struct error error; /* code 0: none; else the reconcile has failed */
};

typedef enum ensured (*strategy_step)(struct strategy_pass *s);

/* --- the ways to end a reconcile --- */

/* Into the phase; the reason is that of the condition. ENDED. */
enum ensured strategy_enter(struct strategy_pass *s, enum phase phase, const char *condition,
			    const char *reason, const char *message);
/* Blocked, with the time since when it is so; a refusal that is decided by what was read, and not by what
 * failed, has its Decision. ENDED. */
enum ensured strategy_block(struct strategy_pass *s, const char *condition, const char *reason,
			    const char *message);
/* Failed at once, or the way back to what runs (lifecycle.md 7.4). ENDED. */
enum ensured strategy_give_up(struct strategy_pass *s, const char *condition, const char *reason,
			      const char *message);
/* While planning: nothing more until an outcome comes, and Blocked and AwaitingApproval stay what a
 * person reads until then. WAITING. */
enum ensured strategy_wait(struct strategy_pass *s);
/* The same for slow work that begins: Pending, but what is tried again stays as it is. WAITING. */
enum ensured strategy_wait_for_work(struct strategy_pass *s, bool again);

/* The reconcile fails: nothing is planned, and it is tried again. ENDED. */
enum ensured strategy_fail_pass(struct strategy_pass *s, const struct error *err);

/* An entry of a Decision (audit.md 3), unless the last reconcile that decided did so too: key, one line, names the
 * outcome beside the decision. Consumes body. */
void strategy_decision(struct strategy_pass *s, const char *decision, const char *key,
		       struct obj *body);
/* The same by a rule, verdict "allow" or "wait". */
void strategy_decide(struct strategy_pass *s, const char *decision, const char *verdict,
		     const char *rule, const char *detail, const char *key);
/* A refusal as an entry of its own (audit.md 3), unless it was the last outcome: key names that beside
 * the reason. more is consumed; NULL: it has no more than the rule and the detail. */
void strategy_deny(struct strategy_pass *s, const char *decision, const char *rule,
		   const char *detail, const char *key, struct obj *more);

/* --- words --- */

struct strategy_pass *strategy_pass(const struct view *v);
void strategy_condition(struct strategy_pass *s, const char *type, const char *status,
			const char *reason, const char *message);
bool strategy_has_condition(const struct strategy_pass *s, const char *type);
/* The condition that says why it failed, Applied or Verified; NULL: neither did. */
const struct obj *strategy_failure(const struct strategy_pass *s);
/* Where the app's objects go. */
const char *strategy_namespace(const struct strategy_pass *s);
/* The next free revision of the app's release. */
int64_t strategy_next_revision(const struct app *app);
/* Is the former revision of this very strategy what a failure goes back to? */
bool strategy_tries_values(const struct strategy_pass *s);
/* Of a deadline that runs since that time (NULL: now). Monotonic: a clock that jumps ends nothing. */
int64_t strategy_left_since(const struct strategy_pass *s, const char *what, const char *since,
			    int64_t deadline);
/* When the condition last turned; NULL: there is none. */
const char *strategy_turned_at(const struct strategy_pass *s, const char *condition);
/* The deadline of this phase: phases.h, or the field of the app that says another. */
int64_t strategy_deadline(const struct strategy_pass *s);
/* Time left of the deadline of this phase (phases.h), which runs since the condition last turned; <=
 * 0: over. */
int64_t strategy_time_left(const struct strategy_pass *s, const char *condition);
#define STORED_PLAN_GONE "the stored plan is gone" /* somebody deleted it: it is made anew */
/* The stored plan of a strategy at a revision; *ret NULL: it is gone. WAITING: not known yet. */
enum ensured strategy_find_plan(struct strategy_pass *s, const char *strategy, int64_t revision,
				struct install_plan **ret);
/* s->install is the stored plan of the revision; WAITING: it is not (wholly) there. */
enum ensured strategy_load(struct strategy_pass *s);
/* Objects of the app may be planned from here on. ENDED: s->account.message says why not. */
enum ensured strategy_ensure_account(struct strategy_pass *s);
/* A failure that no input changes may pass: the child was killed, the disk was full. DONE: it is to
 * be tried again now. ENDED: never. */
enum ensured strategy_await_retry(struct strategy_pass *s, const struct outcome *failed);
/* What ask_work brought for these needs (taken), younger than age_ns (0: any); NULL: asked now. */
const struct outcome *strategy_ask(struct strategy_pass *s, const char *id, struct obj *needs,
				   int64_t age_ns);

#endif
