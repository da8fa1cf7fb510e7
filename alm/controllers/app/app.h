/*
 * app: one AppType as the controllers see it: its strategies, what is installed, what the resolver
 * says and what shall run next. Pure; every controller that needs it computes it again from the
 * view, so there is nothing that could be stale.
 */
#ifndef ALM_CONTROLLERS_APP_APP_H
#define ALM_CONTROLLERS_APP_APP_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"
#include "catalog/resolve/resolve.h"
#include "crds/marks.h"

enum phase {
	PHASE_NEW,
	PHASE_PENDING,
	PHASE_BLOCKED,
	PHASE_AWAITING,
	PHASE_INSTALLING,
	PHASE_VERIFYING,
	PHASE_SUCCEEDED,
	PHASE_ROLLING_BACK,
	PHASE_ROLLED_BACK,
	PHASE_FAILED,
	PHASE_SUPERSEDED,
};

struct strategy_ref {
	const struct obj *o;
	const char *name, *version, *sha256;
	enum phase phase;
	int64_t revision;
	int64_t former; /* the revision that runs while changed values are tried; 0: none */
	bool by_alm;
	const char **managed; /* NULL-ended spec.resources */
};

/* The ServiceAccount that the app's objects are written as (account.h). */
struct account {
	const char *ns, *name;
	const char *user; /* system:serviceaccount:NS:NAME */
	bool is_default;  /* ALM's own for this app; else what spec.serviceAccountName names */
};

struct app {
	const struct obj *o;
	const char *name, *self_ref, *mode, *install_namespace;
	struct account account;
	bool paused, deleting;
	struct strategy_ref *strategies;
	size_t n;
	const struct strategy_ref *installed; /* NULL: nothing */
	const struct strategy_ref *busy; /* in Installing, Verifying or RollingBack; NULL: none */
	struct resolve_input in; /* this and what follows but values: empty when it is deleted */
	struct resolution resolution;
	const char *next;   /* version that shall be installed now, NULL: none */
	const char *gate;   /* why an installable newer version waits (resolution.gate); NULL */
	struct obj *values; /* of AppType.spec.values; {} */
};

enum phase phase_of(const struct obj *strategy);
const char *phase_name(enum phase p);
bool phase_is_unfinished(
	enum phase p); /* Pending, AwaitingApproval, Installing, Verifying, RollingBack */
bool phase_is_busy(enum phase p); /* Installing, Verifying, RollingBack */

const char *strategy_version(const struct obj *strategy, struct arena *a);
/* Of a list, NULL-ended: what is no string is left out. */
const char **app_strings(const struct obj *list, struct arena *a);
/* spec.resources, NULL-ended. */
const char **strategy_managed(const struct obj *strategy, struct arena *a);
const char *app_self_ref(const struct obj *apptype, struct arena *a);
/* NULL: no such AppType. */
struct app *app_load(const struct view *v, const char *name);
/* What another app resolves with; claims are those of the app that asks. NULL: no such AppType. */
const struct resolve_input *app_input(const struct view *v, const char *name,
				      const struct resolve_claims *claims);
/* Does the view show a status that is older than the log's newest entry about it? An older view
 * means wait: only the object's own reconcile repeats what a crash has left between entry and
 * status. */
bool is_older_than_log(const struct view *v, const struct obj *o);
/* The app and its strategies but for one, as the view shows them; E_CONFLICT: one is older. */
int app_check_age(const struct view *v, const struct app *app, const char *but, struct error *err);
/* Plans the status again that the newest entry has, and the executor repeats. */
void plan_redo(struct plan *p, const struct obj *o);
/* What an AppType of this selfRef would resolve with that only names the package. */
const struct resolve_input *app_input_new(const struct view *v, const char *self_ref,
					  const char *package);
/* The revision that runs of what is installed: while other values are planned, the one before. */
int64_t strategy_running_revision(const struct strategy_ref *installed);
struct strategy_ref *app_strategy(const struct app *app, const char *version);
/* Is what is installed planned again, for changed values? Nothing else of ALM's is until it is over
 * (lifecycle.md 7.6): one unfinished strategy an app. */
bool app_replans(const struct app *app);
/* Of the release's records that ALM knows; 0: none. */
int64_t app_highest_revision(const struct app *app);
const struct candidate *app_candidate(const struct app *app, const char *version);
/* install.<version>.<selfRef>, made fit for a name (lifecycle.md 1.2). */
const char *strategy_name(const char *version, const char *self_ref, struct arena *a);
/* A label value of any text: the text, or cut with 8 hex digits of its SHA-256. */
const char *app_label_value(const char *text, struct arena *a);
/* First 12 hex digits of the values' digest. */
const char *values_digest(const struct obj *values, struct arena *a);
/* The user's values for a strategy: AppType.spec.values under the strategy's own. Owned. */
struct obj *strategy_values(const struct app *app, const struct obj *strategy);
/* The entry of this archive digest (or prefix) in any catalog; NULL. */
const struct package_version *entry_by_digest(const struct view *v, const char *sha256,
					      const char **ret_catalog);

#endif
