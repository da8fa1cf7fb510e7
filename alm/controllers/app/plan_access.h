/*
 * plan_access: which rights an install plan takes and hands on (installers/access.h), read from its
 * document. Pure; for the controllers and `alm rbac`.
 */
#ifndef ALM_CONTROLLERS_APP_PLAN_ACCESS_H
#define ALM_CONTROLLERS_APP_PLAN_ACCESS_H

#include "alm/client/resource.h"
#include "alm/controllers/app/app.h"
#include "installers/access.h"

/* What the server has. */
struct plan_kinds {
	/* NULL: it does not serve the kind. */
	const struct resource *(*resource)(void *arg, const char *group, const char *version,
					   const char *kind);
	bool (*has_crd)(void *arg, const char *name);
	void *arg;
};

/* All that the plan writes, hooks too. is_default: of custom resources whose definition comes with
 * the plan nothing is asked, ALM gives the account these with it. */
struct access_input plan_access(const struct obj *doc, const struct plan_kinds *kinds,
				bool is_default, struct arena *a);
/* Its roles, bindings and accounts, for access_grants(). own: "plural.group", ended by NULL. */
struct access_input plan_grants(const struct obj *doc, const char *const *own, struct arena *a);
/* Manifests for the account of the app, with its label: ALM sees at once that they are applied. */
struct access_grantee plan_grantee(const struct app *app, struct arena *a);

#endif
