/*
 * account_rights: the roles and bindings that ALM keeps for the default account of an app (account.h):
 * what is in them, not whether they are there. Objects are owned by the caller.
 */
#ifndef ALM_CONTROLLERS_APP_ACCOUNT_RIGHTS_H
#define ALM_CONTROLLERS_APP_ACCOUNT_RIGHTS_H

#include "alm/controllers/app/account.h"

#define ACCOUNT_RBAC       "rbac.authorization.k8s.io"
#define ACCOUNT_IN_NS_ROLE ACCOUNT_RESERVED "app-namespace"

/* What an app may in its namespace; the same for all. */
struct obj *account_namespace_role(void);
/* What it may in the cluster: definitions, ClusterRoles, the custom resources of the CRDs that name
 * it, and, while it is deleted, the CRDs that shall go with it. */
struct obj *account_app_role(const struct view *v, const struct app *app, const char *name);
/* ns NULL: of the cluster. */
struct obj *account_binding(const char *kind, const char *ns, const char *name, const char *role,
			    const struct app *app);

#endif
