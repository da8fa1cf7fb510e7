/*
 * cel_authorizer: the variable authorizer, as k8s.io/apiserver/pkg/cel/library (authz.go) has it:
 *
 *	authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()
 *	authorizer.path('/healthz').check('get'), authorizer.serviceAccount('ns', 'name')...
 *	authorizer.requestResource.check('delete').reason()
 *
 * Each step copies what is asked into the arena of the evaluation; check() asks.
 */
#ifndef ALM_OBJ_CEL_CEL_AUTHORIZER_H
#define ALM_OBJ_CEL_CEL_AUTHORIZER_H

#include "alm/obj/cel/cel.h"

/* What one check costs, as there: no expression makes more than two. */
#define CEL_AUTHZ_COST 350000

struct cel_authz {
	/* May he? With why, or NULL; lives as long as a. */
	bool (*allows)(void *arg, const struct cel_authz *what, struct arena *a,
		       const char **ret_reason);
	void *arg;
	const char *account_ns, *account; /* NULL: who asks */
	const char *path;                 /* NULL: a resource */
	const char *group, *resource, *subresource, *ns, *name, *verb;
	bool allowed; /* of a DECISION */
	const char *reason;
};

struct cel_value cel_authorizer(const struct cel_authz *what, enum cel_kind kind);

struct cel_value cel_authz_path(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_group(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_account(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_resource(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_subresource(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_namespace(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_name(const struct cel_value *v, struct cel_call *c);
/* fieldSelector(), labelSelector(): a check of less. Rights of roles are of all objects (RBAC), so it changes no answer. */
struct cel_value cel_authz_selector(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_check(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_allowed(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_reason(const struct cel_value *v, struct cel_call *c);
/* Rights are judged here and now: there is nothing that could fail. */
struct cel_value cel_authz_errored(const struct cel_value *v, struct cel_call *c);
struct cel_value cel_authz_error(const struct cel_value *v, struct cel_call *c);

#endif
