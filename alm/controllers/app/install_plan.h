/*
 * install_plan: what a strategy does to the cluster, as one document (lifecycle.md 6, 7.1). Pure.
 *
 *	{"app", "release", "namespace", "account", "version", "archive", "values", "revision",
 *	 "isUpgrade",
 *	 "objects": [{"stage", "digest", "object", "key", "passing"}], "rollout", "hooks": [...], "notes", "unrecorded",
 *	 "hidden": what templates looked up and the objects have (secrets.h),
 *	 "inputs": {"now", "seed", "zone", "kubeVersion", "apiVersions", "lookups", "answers"}}
 *
 * It is rendered once and stored (gzip) in Secrets of alm-system before the first write, so random
 * values of a chart have one digest and a rollback needs no catalog. Stages are barriers: CRDs are
 * stage 0, Namespaces 1, then one stage per kind in install order. The Namespace of the release is
 * no part of it: ALM makes that, and the account's rights in it, before (account.h).
 */
#ifndef ALM_CONTROLLERS_APP_INSTALL_PLAN_H
#define ALM_CONTROLLERS_APP_INSTALL_PLAN_H

#include "alm/controllers/app/app.h"
#include "alm/controllers/unit/unit_live.h"
#include "alm/engine/plan.h"
#include "alm/unit/unit.h"

#define LABEL_PLAN       "app.coreos.com/plan"
#define PLAN_HISTORY_MAX 100 /* revisions */

struct install_plan {
	const struct obj *doc;
	const char *release, *ns, *version, *archive, *values;
	int64_t revision;
	struct unit_entry *entries; /* by group, then as rendered */
	size_t n;
};

/* "sha256:<64 hex>" over what is approved; findings, permissions: lists, or NULL. */
const char *install_plan_digest(const struct view *v, const struct install_plan *p,
				const struct app *app, const struct obj *findings,
				const struct obj *permissions);

/* From a rendered chart {objects, hooks, crds, notes} to the document. Owned. */
struct obj *install_plan_make(const struct view *v, const struct app *app,
			      const struct strategy_ref *s, const struct obj *rendered,
			      const char *archive, int64_t revision);

/* The stored plan of a strategy at this revision, inputs NULL: any; NULL if it is not (wholly)
 * there. */
const struct obj *install_plan_stored(const struct view *v, const char *strategy, int64_t revision,
				      const char *inputs);
/* The newest of its plans, of this revision or one of the PLAN_HISTORY_MAX before: a version that
 * ran once is planned anew under another number. */
const struct obj *install_plan_newest(const struct view *v, const char *strategy, int64_t revision,
				      const char *inputs);
/* That one out of the Secrets with LABEL_PLAN, as a client lists them. */
const struct obj *install_plan_of_secrets(const struct obj *items, const char *strategy,
					  int64_t revision, struct arena *a);
/* A list from the past may lack it: what install_plan_stored() does not find is read live before it
 * counts as gone. */
enum ensured install_plan_confirm_gone(const struct view *v, const char *strategy, int64_t revision,
				       const char *inputs, struct plan *plan);
/* Secrets that hold the document. ENDED: it is too large (unit_store.h). */
enum ensured install_plan_store(struct plan *plan, const struct strategy_ref *s, int64_t revision,
				const char *inputs, const struct obj *doc);
/* What the rendering depends on. */
const char *install_plan_inputs(const struct view *v, const char *archive,
				const struct obj *values);

/* Reads the document and looks every object up. Missing informers are requested through plan, whose
 * messages tell no secret of the document from now on. */
struct install_plan *install_plan_load(const struct view *v, const struct obj *doc,
				       struct plan *plan);

/* Is it ALM's own, in alm-system? Then its objects belong to nobody that goes, and stay with it: who
 * would end the work? */
bool install_plan_is_alm(const struct install_plan *p);
/* The object to apply: rendered, with ownership marks (charts.md 10.2) and the applied digest.
 * owner is the strategy it shall belong to; a live object keeps its owner unless handoff. Owned. */
struct obj *install_plan_decorate(const struct view *v, const struct app *app,
				  const struct strategy_ref *s, const struct install_plan *p,
				  const struct unit_entry *e, bool handoff);
/* The Namespace of the release, said without a word about it: ALM has made it already. Plans stored
 * by earlier versions have it. */
bool install_plan_is_bare_namespace(const struct obj *o, const char *ns);
/* Is it a definition that a version newer than this one applied? It stays (lifecycle.md 7.4). */
bool install_plan_keeps_newer(const struct unit_entry *e, const char *version);
/* Ours, or free to take? NULL: yes; else who has it. */
const char *install_plan_foreign(const struct app *app, const struct install_plan *p,
				 const struct unit_entry *e, const struct obj *live,
				 struct arena *a);

#endif
