/* strategy: shared by the files of the strategy controller (strategy.c, strategy_plan.c,
 * strategy_apply.c). */
#ifndef ALM_CONTROLLERS_STRATEGY_H
#define ALM_CONTROLLERS_STRATEGY_H

#include "alm/controllers/controller.h"
#include "alm/controllers/install_plan.h"

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
	int64_t revision;
	const char *archive, *digest; /* of the archive; of the install plan */
	struct install_plan *install;
	const struct obj *findings;
	bool stop; /* nothing more in this pass but the status */
};

struct strategy_pass *strategy_pass(const struct view *v);
void strategy_condition(struct strategy_pass *s, const char *type, const char *status,
			const char *reason, const char *message);
/* Into the phase; the reason is that of the condition, and the pass ends with its status. */
void strategy_enter(struct strategy_pass *s, enum phase phase, const char *condition,
		    const char *reason, const char *message);
bool strategy_is_planning(
	const struct strategy_pass *s); /* New, Pending, Blocked, AwaitingApproval */

int strategy_fetch(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_render(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_survey(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_approve(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_apply(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_verify(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_handoff(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_keep(const struct view *v, const char *key, struct plan *plan, struct error *err);
int strategy_rollback(const struct view *v, const char *key, struct plan *plan, struct error *err);
/* Deletes what only earlier plans of the app have; true once nothing of it is left. */
bool strategy_delete_leftovers(struct strategy_pass *s);

#endif
