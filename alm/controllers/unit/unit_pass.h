/*
 * unit_pass: one reconcile of one unit, and the words that all of its steps use (unit.c has the
 * table). A step is `enum ensured STEP(struct unit_pass *s)` (plan.h): the next one begins when it
 * is DONE.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_PASS_H
#define ALM_CONTROLLERS_UNIT_UNIT_PASS_H

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_live.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/unit/inventory.h"

#define UNIT_ABSENT "absent" /* names the live read of what no informer shows */

/* A unit as the inventory names it, "DIGEST.SLOT[.RUN]": its document is in the Secrets
 * unit.BUNDLE.INSTANCE.SLOT.N beside it. */
struct unit_stored {
	const char *text;   /* NULL: there is none */
	const char *digest; /* NULL: as text */
	const char *slot;   /* "0", "1"; "-": it is not stored */
	const char *run;    /* NULL: the digest says it all; else that of the attempt */
};

struct hook_run;
struct unit_pass;

/* Whose objects a rollout applies: the one walker (unit_walk()) asks it what differs. */
struct unit_host {
	/* Is the live object its owner's? */
	bool (*owns)(const struct unit_pass *s, const struct obj *live);
	/* As it is sent, with its owner's marks; owned. */
	struct obj *(*decorate)(const struct unit_pass *s, const struct unit_entry *e, size_t row);
	bool (*is_left)(const struct unit_pass *s, const struct unit_entry *e); /* by all steps */
	/* Why what is somebody else's is not taken over; NULL: it is. */
	const char *(*refuses)(const struct unit_pass *s, const struct unit_entry *e, size_t row);
	bool (*has_run_jobs)(const struct unit_pass *s);
	void (*own_jobs)(const struct unit_pass *s, struct hook_run *h); /* who has them */
};

struct unit_pass {
	const struct unit_host *host;
	const void *host_arg;
	const struct view *v;
	struct plan *plan;
	const char *key;
	const struct unit_job *job;
	const struct unit *unit; /* the one that is applied: job->unit, or the one before */
	bool back;               /* the one before it is */
	bool stands;             /* ... is there, and job->unit was refused: unit is job->former */
	int64_t former_ns;       /* how much longer a write of a former process may come */
	struct unit_entry *entries; /* of the document's objects */
	bool *foreign;              /* of each: there, and nobody's or another bundle's */
	size_t n;
	/* What was read live, once an attempt: the books, and the objects no informer shows. */
	const struct obj *found, *absent;
	int64_t absent_ns;            /* when absent was read */
	const struct obj *inventory;  /* its first ConfigMap; NULL: there is none */
	const struct obj **pieces;    /* all of them; NULL: one that is lost */
	size_t n_pieces;              /* at least one */
	size_t n_counted;             /* that the first one knows of */
	bool lost_piece;              /* one of these is not there */
	struct inventory had;         /* its lines */
	struct inventory spared;      /* those of it that are wanted no more, and stay */
	struct inventory late;        /* those of what was deleted, and may come back */
	struct inventory watched;     /* ... from now on: unit_prune() knows */
	const char **doubts;          /* of each object (inventory.h): unit_note() knows */
	bool incomplete;              /* it was lost, and not all kinds could be listed */
	struct unit_stored current;   /* the unit that was begun last */
	struct unit_stored succeeded; /* the one that was last through with all of its steps */
	struct obj *record;           /* under construction */
	struct obj *course;           /* its part with the steps of unit */
};

/* --- unit_survey.c: before anything is written --- */

/* Every informer has told, and what only a live read tells is read. */
enum ensured unit_look(struct unit_pass *s);
/* The second half of it: what no informer shows, and whose is what is there. */
enum ensured unit_look_absent(struct unit_pass *s);
/* Each object is of a kind that is there or comes, and nobody else's. */
enum ensured unit_judge(struct unit_pass *s);
/* An object that is taken over has no field managers and marks of whose it was (takeover.h). */
enum ensured unit_take_over(struct unit_pass *s, size_t row);

/* --- unit_pieces.c: the ConfigMaps of the inventory --- */

/* The live read that begins an attempt (NULL: it is under way): theirs, and who the cluster is. */
const struct obj *unit_read_books(struct unit_pass *s);
/* What they say, and the informers since. */
enum ensured unit_read_inventory(struct unit_pass *s);
/* n from 1; the first names the whole. */
const char *unit_piece_name(const struct unit_pass *s, size_t n);
/* All but the first are as they are to be. */
enum ensured unit_write_pieces(struct unit_pass *s, const struct inventory_pieces *now);
/* The n-th is there, and has these texts. */
bool unit_piece_has(const struct unit_pass *s, size_t n, struct str lines, struct str late);
/* It, as it is to be; owned. */
struct obj *unit_piece_new(const struct unit_pass *s, size_t n, struct str lines, struct str late);

/* --- unit_inventory.c --- */

/* It is there; or it was lost, and what it named is found by its marks: all lists, or none. */
enum ensured unit_rebuild(struct unit_pass *s);
/* At rest: what could not be listed then is asked for again, every 1 to 60 minutes; record.restored says that it
 * can be (unit_side.h). */
void unit_restore(struct unit_pass *s);
/* The inventory names all that will be there: before the first of it is written. */
enum ensured unit_note(struct unit_pass *s);
/* The inventory is what is there, and what may come back: after unit_prune(). */
enum ensured unit_note_end(struct unit_pass *s);
/* The latter alone. */
enum ensured unit_note_late(struct unit_pass *s);

/* --- unit_fence.c --- */

/* Which of the objects are doubtful, by their lines. */
void unit_note_doubtful(struct unit_pass *s, const struct inventory *wanted);
/* What a doubtful object that is there is to be marked with, by whoever writes it; NULL: it is, or is none. */
const char *unit_doubt(const struct unit_pass *s, size_t row);
/* The same of what no step writes: no deletion of before fits it. ENDED: *ret_why it cannot
 * be; record: of its step. */
enum ensured unit_fence(struct unit_pass *s, size_t row, const struct obj *record,
			const char **ret_why);

/* --- unit_schema.c --- */

/* The CRD of the unit whose kind the object is of; NULL: there is none. */
const struct obj *unit_definition(const struct unit_pass *s, const struct obj *o);
/* unit_refusal() of an object that is written, into *ret_no: unless that may be of a schema that such a CRD
 * replaces just now. WAITING: then it is tried again, later; *ret_no is what was said. */
enum ensured unit_await_schema(struct unit_pass *s, const struct unit_entry *e,
			       const struct obj *record, const char **ret_no);

/* --- unit_anew.c --- */

/* An object that is there and whose change was refused with this (NULL: it was not). DONE: it stays, or
 * has gone; WAITING: it goes, to be made anew; ENDED: its change is impossible. record: of its step. */
enum ensured unit_make_anew(struct unit_pass *s, size_t row, struct obj *record, const char *no,
			    const char **ret_why);

/* --- unit_prune.c --- */

/* That is not more than may go at once. */
enum ensured unit_judge_prune(struct unit_pass *s);
/* What the unit had and has no more is gone. */
enum ensured unit_prune(struct unit_pass *s);
/* Nothing of it comes back for which this attempt is to wait. */
enum ensured unit_await_late(struct unit_pass *s);
/* Of what was to go, and stays. */
void unit_tell_kept(struct unit_pass *s, const char *text);

/* --- unit_run_host.c --- */

extern const struct unit_host unit_run_host; /* of what this process was told to run */

/* --- unit_apply.c --- */

/* Every step acts whose turn it is. *ret_why: what is waited for; ENDED: all failures. */
enum ensured unit_walk(struct unit_pass *s, const char **ret_why);
/* A person has had enough of it, and no step is under way that would end for that: the attempt goes
 * back. DONE: nobody said so, or a step is. */
enum ensured unit_heed_abort(struct unit_pass *s);
/* Group after group, until all steps are done; aborted, none begins. */
enum ensured unit_roll_out(struct unit_pass *s);

/* --- unit_keep.c --- */

/* What has drifted since is put back. */
enum ensured unit_keep(struct unit_pass *s);

/* --- unit_health.c --- */

#define UNIT_AILING_NS (2 * NS_PER_MIN) /* what is unready for that long is told */

/* How what was rolled out does since: record.unhealthy and record.drifted (unit_side.h). */
void unit_health(struct unit_pass *s);

/* --- unit_sweep.c --- */

/* What is in the namespaces of job.sweep and nobody has declared is told, and goes in its time. */
void unit_sweep(struct unit_pass *s);

/* --- unit_back.c: the way back to the unit that succeeded before --- */

/* "DIGEST.SLOT[.RUN]" */
struct unit_stored unit_stored_parse(const char *text, struct arena *a);
/* What the inventory is to call the unit. */
const char *unit_stored_as(const struct unit_pass *s);
/* Plans its Secrets, where it is to be found again, and is not yet stored as that. ENDED: it is too
 * large. */
enum ensured unit_store(struct unit_pass *s, int stage);
/* A step has failed: the record says that the way back begins, or why there is none. ENDED. */
enum ensured unit_turn_back(struct unit_pass *s, const char *reason, const char *message);
/* s->unit is the unit before. */
enum ensured unit_find_former(struct unit_pass *s);
/* It runs again. */
void unit_end_back(struct unit_pass *s);

/* --- unit_main.c: the object that the unit is run for --- */

enum ensured unit_hold_main(struct unit_pass *s);
enum ensured unit_release_main(struct unit_pass *s);
/* Its status says how far the unit is. */
void unit_feedback(struct unit_pass *s);

/* --- unit_owner.c: it as the owner of what is made for it --- */

/* o, about to be applied over live (NULL: absent), has it as owner, if pruning may delete it. */
void unit_add_main(const struct unit_pass *s, const struct obj *live, struct obj *o);
/* It is the owner of a live object, is not to be, and goes with the next apply. A reference that was
 * rendered (want has it), or that somebody else has set, stays. */
bool unit_loses_main(const struct unit_pass *s, const struct obj *live, const struct obj *want);
/* What is left alone has it no more. WAITING: that is planned. */
enum ensured unit_part_main(struct unit_pass *s, const struct obj *live);

/* --- words --- */

/* An object of a row with the marks of the unit; digest: what is said to be applied. Owned. */
struct obj *unit_decorate(const struct unit_pass *s, const struct obj *from, const char *digest,
			  size_t row);
/* What the server said to the last write of it since the step began, if it says so again; record: of
 * the step. NULL: nothing. */
const char *unit_refusal(const struct unit_pass *s, const struct unit_entry *e,
			 const struct obj *record);

/* What a person told the unit that is applied (unit_job.steer), in one line; NULL: nothing. */
const char *unit_told(const struct unit_pass *s, const char *what);

void unit_succeed(struct unit_pass *s);
/* The attempt is over. ENDED. */
enum ensured unit_fail(struct unit_pass *s, const char *reason, const char *message);
/* ... before anything was written: what was asked for is refused. ENDED. */
enum ensured unit_refuse(struct unit_pass *s, const char *reason, const char *message);
/* Does the object have the marks of this unit? */
bool unit_owns(const struct unit *u, const struct obj *live);
/* It was, says the other mark; the one that a watch goes by somebody has taken off. */
bool unit_has_lost_mark(const struct unit *u, const struct obj *live);
/* Inventory and stored units are books of ALM, which the account of a unit may not even read. */
struct action *unit_write_book(struct unit_pass *s, struct obj *o, int stage);
void unit_create_book(struct unit_pass *s, struct obj *o);
/* It goes with the first ConfigMap of the inventory. */
void unit_own_book(const struct unit_pass *s, struct obj *o);
void unit_delete_book(struct unit_pass *s, const struct obj *live);
/* Of the informers of its kinds. */
const char *unit_selector(const struct unit_pass *s);
/* What a step does with an object of it: what the object says of itself counts. */
enum rollout_action unit_action(const struct unit_step *step, const struct unit_entry *e);
/* The i-th object as it is live, or was before the first write; NULL: absent. */
const struct obj *unit_found(const struct unit_pass *s, size_t i);
/* It lies, or is one, where the unit is kept (unit_job.namespaces). */
bool unit_is_within(const struct unit_pass *s, const struct unit_entry *e);
/* It is absent, and deletes itself once it has run: it was there. */
bool unit_has_run_out(const struct unit_pass *s, size_t i);
/* It is applied, its owner's, and as it was left. */
bool unit_is_placed(const struct unit_pass *s, const struct unit_entry *e);
/* What the unit is to have on the cluster. */
struct inventory unit_wanted_lines(const struct unit_pass *s);
/* The name of the i-th step of a group in the record. */
const char *unit_step_id(const struct unit_pass *s, const struct unit_part *part, size_t g,
			 size_t i);
/* Names an outcome of this attempt. */
const char *unit_id(const struct unit_pass *s, const char *what);
/* A row of survey_work. */
void unit_survey_row(struct obj *rows, const char *key, const struct unit_entry *e);
/* It is read again when it is asked for next, behind the writes of this plan. */
void unit_forget(struct unit_pass *s, const char *what);
/* What a live read of these rows (consumed) brought, younger than age_ns (0: any); NULL: it is
 * planned. */
const struct outcome *unit_survey(struct unit_pass *s, const char *id, struct obj *rows,
				  int64_t age_ns);

#endif
