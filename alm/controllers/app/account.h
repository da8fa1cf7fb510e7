/*
 * account: as whom an app's objects are written, and whether they may be now (reliability.md 10).
 * Pure and level-triggered, like every step.
 *
 * The law: a thing is used for an app only where it says so itself; whoever may write the thing
 * decides. A Namespace that ALM has not made for the app, and a ServiceAccount that
 * spec.serviceAccountName names (in installNamespace), carry the annotation app.coreos.com/apps:
 * names of AppTypes with commas between, or "*". A CRD names its app by app.coreos.com/owner.
 * Without the law any author of an AppType could borrow any account of the cluster.
 *
 * Namespace alm-system takes an app only with an account that spec.serviceAccountName names, and by
 * the app's name ("*" does not mean it): ALM as an app of ALM. What is there stays when such an app
 * is deleted (uninstall.h).
 *
 * Without spec.serviceAccountName it is the default account of the app,
 * system:serviceaccount:alm-system:app-NAME. No ServiceAccount object is made for it, so that no
 * token of it can be: it exists as a subject of RBAC alone, and ALM alone impersonates it. ALM
 * gives it what the operator of a namespace needs, and keeps that so:
 *	ClusterRole alm:app-namespace, bound in the namespace of the app: its built-in kinds
 *	ClusterRole and ClusterRoleBinding alm:app:NAME: the custom resources of the CRDs that name
 *	the app, definitions, and ClusterRoles (which the server's escalation check bounds)
 * One that was made of an instance has the first alone (instance_app.h).
 * What an administrator gives it besides (`alm rbac`) stays. A Namespace that ALM makes takes no
 * privileged Pods (Pod Security "baseline"), or whoever may have Pods would have the nodes; the
 * account cannot change that, an administrator can.
 */
#ifndef ALM_CONTROLLERS_APP_ACCOUNT_H
#define ALM_CONTROLLERS_APP_ACCOUNT_H

#include "alm/controllers/app/app.h"

#define ACCOUNT_PREFIX   "app-"
#define ACCOUNT_RESERVED "alm:"          /* Roles and bindings of these names are ALM's */
#define ACCOUNT_RETRY_NS (10 * NS_PER_S) /* a refusal that no informer lifts is looked at again */

#define ACCOUNT_STEPS_MAX 3

struct account_check {
	const char *message;
	const char *steps[ACCOUNT_STEPS_MAX];
	size_t n_steps;
	int64_t changed_ns; /* when this process last wrote a right of the account; 0: it did not */
};

/* Sets app->account. */
void account_of(struct app *app, struct arena *a);
/* What ALM has to make before the app's objects in ns may be planned: then plan->as is set. ENDED:
 * somebody must consent. removing: the app goes, so nothing is made anew but rights. *ret is filled
 * when it ended, changed_ns when it is done. */
enum ensured account_ensure(const struct view *v, struct plan *plan, const struct app *app,
			    const char *ns, bool removing, struct account_check *ret);
/* Takes the default account's rights away, in every namespace. */
enum ensured account_remove(const struct view *v, struct plan *plan, const struct app *app);

/* May the CRD be written, and its custom resources be used, as the app's account? live NULL: it is
 * to be made. False: *ret_why tells, *ret_step helps. A CRD of ALM itself never may. */
bool account_may_define(const struct app *app, const struct obj *crd, const struct obj *live,
			struct arena *a, const char **ret_why, const char **ret_step);
/* Changes with every RBAC object that carries the label of an app: what was denied may be allowed.
 */
uint64_t account_rights_version(const struct view *v);

#endif
