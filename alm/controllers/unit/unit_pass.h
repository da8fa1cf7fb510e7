/*
 * unit_pass: one reconcile of one unit, and the words that all of its steps use (unit.c has the
 * table). A step is `enum ensured STEP(struct unit_pass *s)` (plan.h): the next one begins when it
 * is DONE.
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_PASS_H
#define ALM_CONTROLLERS_UNIT_UNIT_PASS_H

#include "alm/controllers/unit/unit_live.h"
#include "alm/controllers/unit/unit_side.h"
#include "alm/unit/inventory.h"

#define UNIT_ABSENT "absent" /* names the live read of what no informer shows */

struct unit_pass {
	const struct view *v;
	struct plan *plan;
	const char *key;
	const struct unit_job *job;
	const struct unit *unit;
	struct unit_entry *entries; /* of the document's objects */
	bool *foreign;              /* of each: there, and nobody's or another bundle's */
	size_t n;
	/* What was read live, once an attempt: the books, and the objects no informer shows. */
	const struct obj *found, *absent;
	const struct obj *inventory; /* the ConfigMap; NULL: there is none */
	struct inventory had;        /* its lines */
	struct obj *record;          /* under construction */
};

/* --- unit_survey.c: before anything is written --- */

/* Every informer has told, and what only a live read tells is read. */
enum ensured unit_look(struct unit_pass *s);
/* Each object is of a kind that is there or comes, and nobody else's. */
enum ensured unit_judge(struct unit_pass *s);

/* --- unit_inventory.c --- */

/* The inventory names all that will be there: before the first of it is written. */
enum ensured unit_note(struct unit_pass *s);
/* What the unit had and has no more is gone. */
enum ensured unit_prune(struct unit_pass *s);
/* The inventory is what is there. */
enum ensured unit_note_end(struct unit_pass *s);

/* --- unit_apply.c --- */

/* Group after group, until all steps are done. */
enum ensured unit_roll_out(struct unit_pass *s);
/* What has drifted since is put back. */
enum ensured unit_keep(struct unit_pass *s);

/* --- unit_main.c: the object that the unit is run for --- */

enum ensured unit_hold_main(struct unit_pass *s);
enum ensured unit_release_main(struct unit_pass *s);
/* Its status says how far the unit is. */
void unit_feedback(struct unit_pass *s);

/* --- words --- */

void unit_succeed(struct unit_pass *s);
/* The attempt is over. ENDED. */
enum ensured unit_fail(struct unit_pass *s, const char *reason, const char *message);
/* ... before anything was written: what was asked for is refused. ENDED. */
enum ensured unit_refuse(struct unit_pass *s, const char *reason, const char *message);
/* Does the object have the marks of this unit? */
bool unit_owns(const struct unit *u, const struct obj *live);
/* What a step does with an object of it: what the object says of itself counts. */
enum rollout_action unit_action(const struct unit_step *step, const struct unit_entry *e);
/* The i-th object as it is live, or was before the first write; NULL: absent. */
const struct obj *unit_found(const struct unit_pass *s, size_t i);
/* The name of the i-th step of a group in the record. */
const char *unit_step_id(const struct unit_pass *s, const struct unit_part *part, size_t g,
			 size_t i);
/* Names an outcome of this attempt. */
const char *unit_id(const struct unit_pass *s, const char *what);
/* A row of survey_work. */
void unit_survey_row(struct obj *rows, const char *key, const struct unit_entry *e);
/* What a live read of these rows (consumed) brought, not older than age_ns (0: any); NULL: it is
 * planned. */
const struct outcome *unit_survey(struct unit_pass *s, const char *id, struct obj *rows,
				  int64_t age_ns);

#endif
