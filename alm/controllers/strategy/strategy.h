/* strategy: shared by the files of the strategy controller (strategy.c, strategy_plan.c,
 * strategy_apply.c). */
#ifndef ALM_CONTROLLERS_STRATEGY_STRATEGY_H
#define ALM_CONTROLLERS_STRATEGY_STRATEGY_H

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/crd_moves.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/engine/controller.h"
#include "alm/live/ready.h"

/* One pass over one strategy: what the steps hand on to each other. */
struct strategy_pass {
	const struct view *v;
	struct plan *plan;
	struct app *app;                /* NULL: no such AppType */
	const struct strategy_ref *ref; /* entry of app->strategies, or own without app */
	struct strategy_ref own;
	enum phase was, phase;
	const char *reason, *message; /* of the transition and of the condition that tells why */
	struct obj *conditions;       /* under construction */
	struct obj *steps;            /* list of strings */
	struct obj *approval;         /* under construction, or NULL */
	struct obj *hooks;            /* status.hooks, under construction */
	int64_t former_revision;      /* what runs while changed values are tried; 0: none */
	const char *former_digest;    /* of its plan; NULL */
	struct obj *failed;           /* status.failed, or NULL */
	int64_t rollback_revision;    /* of the release record of a rollback; 0: none */
	int64_t revision;
	const char *archive, *digest; /* of the archive; of the install plan */
	const char *fetch;            /* outcome of a fetch that a render needs first; or NULL */
	bool refetch;                 /* it failed before */
	struct install_plan *install;
	const struct obj *findings;     /* of the gate; status.plan shows the weightiest */
	const struct obj *waivers;      /* that would lift what the gate refuses; NULL: none */
	int64_t n_unlisted;             /* findings that the gate itself has only counted */
	const struct obj *judged;       /* [{crd, digest}]: each definition, and what was found */
	const struct obj *finding_keys; /* the same without counts: what the digest covers */
	const struct obj *permissions;  /* what the upgrade gives more: status.plan.permissions */
	struct account_check account;   /* of the account of the app, once it was asked for */
	const char *lacks;              /* optional requirements that are not met; NULL: none */
	const char *refused; /* why nothing may be written as it; NULL: it may, or not known */
	bool waits_for_time; /* pause, window or soak: it rests in Pending */
	bool judged_anew;    /* planned only to see whether what blocked it is gone */
	bool is_upgrade;     /* for the chart: something of the release is there */
	const char *former;  /* manifest of the release that helm made and this plan takes over */
	const struct obj *answers, *inputs; /* of the stored plan, for another render; or NULL */
	bool stop;                          /* nothing more in this pass but the status */
	bool keep_status;                   /* nor that: what is known is not complete */
};

struct strategy_pass *strategy_pass(const struct view *v);
void strategy_condition(struct strategy_pass *s, const char *type, const char *status,
			const char *reason, const char *message);
/* Into the phase; the reason is that of the condition, and the pass ends with its status. */
void strategy_enter(struct strategy_pass *s, enum phase phase, const char *condition,
		    const char *reason, const char *message);
bool strategy_is_planning(
	const struct strategy_pass *s); /* New, Pending, Blocked, AwaitingApproval */

/* Blocked, with the time since when it is so. */
void strategy_block(struct strategy_pass *s, const char *condition, const char *reason,
		    const char *message);
/* Where the app's objects go. */
const char *strategy_namespace(const struct strategy_pass *s);
/* May objects of the app be planned? Asked once a pass. False: the plan has what is waited for, or
 * s->refused tells why not. */
bool strategy_may_write(struct strategy_pass *s);
/* The same while planning: false ends the pass. */
bool strategy_has_account(struct strategy_pass *s);
/* Did the account read all that the answers of this lookup tell? False: it is told what not, or
 * asked again, and the pass ends. */
bool strategy_may_look_up(struct strategy_pass *s, const char *id, const struct obj *needs,
			  const struct outcome *answers);
/* Nothing more until the outcome brings the key back; what a person reads stays until then. */
void strategy_wait_for_outcome(struct strategy_pass *s);
/* A definition that is somebody else's by now: it is left alone. */
bool strategy_crd_is_taken(const struct strategy_pass *s, const struct plan_entry *e);
/* "adds 2 permissions: ..."; "" */
const char *strategy_permissions_text(const struct strategy_pass *s);

/* Before a status with another plan is written anew: an approval that the live object has is
 * recorded, bound to the plan that it shows now (lifecycle.md 6). */
void strategy_note_approval(struct strategy_pass *s);
/* status.approval: of the plan with this digest, from now on. */
void strategy_set_approval(struct strategy_pass *s, const char *bound, const char *by,
			   const char *trust);
/* An approval given or taken back while the plan waits for time: recorded when it is seen. */
void strategy_follow_approval(struct strategy_pass *s);
/* Does spec.upgrade.approveVersion of the app approve this plan (lifecycle.md 6)? It has a version
 * of that range, nothing that the gate warns of, and no permission more. Then it is recorded. */
bool strategy_range_approves(struct strategy_pass *s);
/* May a failure be tried again now? Asks for the pass when it may. */
bool strategy_is_tried_again(struct strategy_pass *s, const struct outcome *failed);
/* Slow work was asked for: the pass ends. What is tried again stays as it is until then. */
int strategy_work_begins(struct strategy_pass *s, bool again);
/* What the rendering depends on (install_plan_inputs). */
const char *strategy_inputs(struct strategy_pass *s);
/* Are the lookups of the stored plan answered today as they were? False: not known yet, and the
 * pass ends; or they changed, and the chart is rendered again with s->answers and s->inputs. */
bool strategy_answers_hold(struct strategy_pass *s, const struct obj *doc);

/* --- changed values of what is installed (strategy_values.c, lifecycle.md 7.6) --- */

/* What differs from the plan s->install: "the values changed"; NULL: nothing. */
const char *strategy_inputs_changed(const struct strategy_pass *s);
/* Another revision of this version, from Pending on. */
void strategy_start_revision(struct strategy_pass *s, const char *message);
/* Is the former revision of this very strategy what a failure goes back to? */
bool strategy_tries_values(const struct strategy_pass *s);
/* The former revision runs again: Succeeded, and what failed is marked. back: its plan. */
void strategy_values_back(struct strategy_pass *s, struct install_plan *back);
void strategy_set_values(const struct strategy_pass *s, struct obj *status);

/* As helm describes the record of a rollback. */
const char *strategy_back_text(const struct strategy_pass *s, int64_t revision);

/* The next free revision of the app's release. */
int64_t strategy_next_revision(const struct app *app);
/* The hooks of an event of this plan: true once they have run. Else the pass waits, or ends with
 * the failure; condition is the one that tells. */
bool strategy_hooks_done(struct strategy_pass *s, const struct obj *doc, const char *event,
			 const char *condition);
/* What helm does to a release that is installed, told apart by the records. */
struct helm_change {
	bool busy;                /* helm is at work, or that is not known: nothing is repaired */
	bool told;                /* false: history is to tell the repair */
	const struct obj *newest; /* record; NULL: none */
};
struct helm_change strategy_helm_change(struct strategy_pass *s);
/* helm rolled back, upgraded or uninstalled what is installed, and that is repaired: what helm
 * brought goes, and history tells it as a revision of its own. */
void strategy_record_repair(struct strategy_pass *s, const struct helm_change *c);
/* The release record of s->install has this status; true once it has. */
bool strategy_recorded(struct strategy_pass *s, const char *status);

/* The plan's revision is still free or ours; else back to Pending with the next one. */
bool strategy_has_number(struct strategy_pass *s);
/* Records and objects of a release that helm made carry our marks: true once all do. */
bool strategy_is_adopted(struct strategy_pass *s);
/* What helm's manifest had and the chart has not is deleted: true once it is gone. */
bool strategy_former_gone(struct strategy_pass *s);
/* The same of any list of helm_leftovers(); id names the question. */
bool strategy_leftover_rows_gone(struct strategy_pass *s, const struct obj *rows, const char *id);

int strategy_takeover(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_fetch(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_require(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_render(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_review(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_survey(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_try(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_gate(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_approve(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_deadline(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_apply(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_verify(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_handoff(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_keep(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_rollback(const struct view *v, const char *key, struct plan *plan, struct error *err);
/* The gate warns of something that no waiver covers. */
bool strategy_has_warnings(const struct strategy_pass *s);
/* findings, findingsOmitted, judged and waivers of status.plan. */
void strategy_set_findings(const struct strategy_pass *s, struct obj *plan);
/* Back to Pending if the gate's newest outcome is not the one the plan was made with. */
bool strategy_gate_voids(struct strategy_pass *s);
/* The only way a CRD is written: judged first, and right before. planned: the findings must be
 * those of the plan. */
void strategy_write_crd(struct strategy_pass *s, const struct install_plan *p,
			const struct plan_entry *e, bool handoff, bool planned);
/* Does the live object have all that the plan says of it? */
bool strategy_holds(const struct plan_entry *e);
/* What ACT_ASK brought for these needs (taken), not older than age_ns (0: any); NULL: asked now. */
const struct outcome *strategy_asked(struct strategy_pass *s, const char *id, struct obj *needs,
				     int64_t age_ns);
/* False ends the pass: the plan has a kind that neither the server nor a CRD of the plan knows, and
 * is Blocked; or the server is asked first. */
bool strategy_kinds_are_served(struct strategy_pass *s);
/* Where a definition is on its way (crd_moves.h), and what a write of it leads to now. */
enum crd_move strategy_crd_at(const struct plan_entry *e);
enum crd_move strategy_crd_move(const struct strategy_pass *s, const struct plan_entry *e);
/* As far as this phase takes it. */
bool strategy_crd_is_placed(const struct strategy_pass *s, const struct plan_entry *e);
/* True once every converter of the plan is switched to, and answers; else the pass waits. */
bool strategy_converted(struct strategy_pass *s);
/* True once no converter of s->install, the plan that failed, is in force. */
bool strategy_reverted(struct strategy_pass *s);
/* A CRD is never downgraded: what a newer version applied stays (lifecycle.md 7.4). */
bool strategy_has_newer_crd(const struct strategy_pass *s, const struct plan_entry *e);
/* Does the server take the custom resources of this plan, whose definitions stay newer ones? False:
 * not known yet, the plan has what brings the key back. *ret_why: what it refuses; NULL: nothing.
 */
bool strategy_way_back_is_known(struct strategy_pass *s, const struct strategy_ref *to,
				const struct install_plan *p, const char **ret_why);
/* --- shared by what follows the first write --- */

/* The live object has the marks of this strategy, or is none of its business. */
bool strategy_owns(const struct strategy_pass *s, const struct plan_entry *e);
/* Time left of the deadline of this phase (phases.h), which runs since the condition last turned; <=
 * 0: over. */
int64_t strategy_time_left(const struct strategy_pass *s, const char *condition);
/* Failed at once, or the way back to what runs (lifecycle.md 7.4). */
void strategy_give_up(struct strategy_pass *s, const char *condition, const char *reason,
		      const char *message);
enum readiness strategy_all_ready(struct strategy_pass *s, const char **ret_why);
/* Objects of another strategy's plan that keep does not have; false while one is left. */
bool strategy_leftovers_gone(struct strategy_pass *s, const struct install_plan *keep,
			     const struct strategy_ref *other);
/* Deletes what only earlier plans of the app have; true once nothing of it is left. */
bool strategy_delete_leftovers(struct strategy_pass *s);

#endif
