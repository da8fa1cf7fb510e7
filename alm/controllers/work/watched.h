/* watched: what the manager watches, and what the controllers ask of it: view.h. */
#ifndef ALM_CONTROLLERS_WORK_WATCHED_H
#define ALM_CONTROLLERS_WORK_WATCHED_H

#include "alm/engine/view.h"

enum {
	WATCH_APPTYPE,
	WATCH_STRATEGY,
	WATCH_CATALOG,
	WATCH_ROLLOUT,
	WATCH_CRD,
	WATCH_NAMESPACE,
	WATCH_PLAN_SECRET, /* stored install plans in alm-system */
	WATCH_BUNDLE,      /* only where programs can be run */
	WATCH_INSTALL,     /* with these */
	WATCH_OWNED, /* objects of any kind that carry our label: one informer a kind, on demand */
	WATCH_INSTANCE, /* custom resources of managed CRDs: metadata only, on demand */
	WATCHED_MAX,
};

/* watch_rule.means */
enum watch_means {
	MEANS_KEY,
	MEANS_STRATEGIES, /* key gives an app's name: all its strategies */
	MEANS_INSTANCES,  /* the same: the instances of these */
	MEANS_CRDS,       /* key gives NAME.TYPE: all CRDs that name it as owner */
};

/* A CRD for all but its schemas and managedFields, which it may lack. */
static inline const struct obj *view_crd(const struct view *v, const char *name)
{
	return view_outline(v, WATCH_CRD, name);
}

/* Strategies whose spec.appTypeRef names the app, in order of name. */
static inline const struct obj *const *view_strategies(const struct view *v, const char *app,
						       size_t *ret_n)
{
	return view_referring(v, WATCH_STRATEGY, "spec.appTypeRef.name", app, ret_n);
}

#endif
