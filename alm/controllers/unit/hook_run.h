/*
 * hook_run: the hooks of one event, one after the other by weight, each waited for (charts.md
 * 10.5). Pure and level-triggered: call it in every reconcile until it is done or failed.
 *
 * What ran is known from status.hooks, which is written before each act, and from the annotation of
 * the live object, which names the run: a hook is created only in a reconcile whose status says
 * Running, and never again once its object was seen. So a crash anywhere repeats nothing.
 *
 *	status.hooks: [{"run", "event", "kind", "name", "namespace", "phase": Running|Succeeded|
 *	Failed, "startedAt", "completedAt", "uid", "message"}]
 */
#ifndef ALM_CONTROLLERS_UNIT_HOOK_RUN_H
#define ALM_CONTROLLERS_UNIT_HOOK_RUN_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"

#define HOOKS_MAX           128 /* of one chart; one with more is not planned */
#define ANNOTATION_HOOK_RUN "app.coreos.com/hook-run"

struct hook_run {
	const struct view *v;
	struct plan *plan;
	const char *app;    /* label of the objects */
	const char *label;  /* its name; NULL: LABEL_APP */
	bool keeps_foreign; /* a cluster-scoped object of somebody else is never deleted for a hook
			     */
	const struct obj *owner; /* the hook objects go with it: strategy or AppType */
	bool unowned; /* not so: on foreground deletion of the owner they would go before they ran
		       */
	const struct obj *doc; /* install plan */
	const char *event;     /* "pre-install" */
	const char *run;       /* names this run: "r2", "delete" */
	struct obj *records;   /* status.hooks, under construction */
};

/* ENDED: one has failed. ret_why: the hook that is waited for or has failed, and why; arena text.
 */
enum ensured hook_run(const struct hook_run *h, const char **ret_why);
/* Deletes what hooks of the plan have left, but for what is to be kept. */
enum ensured hook_objects_delete(const struct view *v, struct plan *plan, const char *app,
				 const struct obj *doc);
/* Forgets the records of other runs. */
void hook_records_keep(struct obj *records, const char *run);

#endif
