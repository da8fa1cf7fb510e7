/*
 * uninstall: removal of what an app's plans have put into the cluster (charts.md 10.6): the record
 * says uninstalling, pre-delete hooks, custom resources of the release's own CRDs, all other
 * objects in uninstall order with a barrier between kinds, post-delete hooks, what is left of
 * hooks, records. CRDs, Namespaces, claims and kept objects stay, and all of an app in alm-system:
 * it is ALM itself, which `alm uninstall --from-cluster` takes off. Pure and level-triggered.
 */
#ifndef ALM_CONTROLLERS_APPTYPE_UNINSTALL_H
#define ALM_CONTROLLERS_APPTYPE_UNINSTALL_H

#include "alm/controllers/app/install_plan.h"

#define ANNOTATION_NO_HOOKS "app.coreos.com/no-hooks" /* on the AppType: delete without them */

struct uninstall {
	const struct view *v;
	struct plan *plan;
	struct app *app;
	struct obj *hooks;  /* status.hooks of the AppType, under construction */
	const char *why;    /* what is waited for; NULL: nothing to tell */
	bool blocked;       /* a person must act: */
	const char *reason; /* HookFailed, or Forbidden: the account of the app may not be used */
};

enum ensured uninstall_ensure(struct uninstall *u);

#endif
