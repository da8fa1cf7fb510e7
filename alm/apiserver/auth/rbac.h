/*
 * rbac: role-based access control, evaluated from stored roles and bindings (kube-api.md 6): the
 * union of all rules that reach a user, without deny. Pure; roles are read through rbac_source, so
 * that tests need no store. Objects are borrowed from the source during a call.
 */
#ifndef ALM_APISERVER_AUTH_RBAC_H
#define ALM_APISERVER_AUTH_RBAC_H

#include "alm/apiserver/request.h"
#include "alm/obj/query/rbac_rule.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

struct rbac_source {
	void *arg;
	/* Calls fn for each ClusterRole until it returns true. */
	void (*each_role)(void *arg, bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg);
	/* The same for the RoleBindings of the namespace ("": the ClusterRoleBindings) that have
	 * the user or one of his groups among their subjects, in the order of their names; others
	 * may come, too. */
	void (*each_binding)(void *arg, const char *ns, const struct user_info *u,
			     bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg);
	const struct obj *(*get)(void *arg, const char *plural, const char *ns, const char *name);
};

/* system:masters may everything. */
bool rbac_is_master(const struct user_info *u);
bool rbac_allows(const struct rbac_source *s, const struct user_info *u,
		 const struct rbac_attributes *a);
/* As rbac_allows(), and tells by which binding: 'RBAC: allowed by ClusterRoleBinding "x" of
 * ClusterRole "y" to Group "z"'; NULL if not allowed. */
const char *rbac_reason(const struct rbac_source *s, const struct user_info *u,
			const struct rbac_attributes *a, struct arena *arena);

/* By what a rule reaches the user; ns "" of a ClusterRoleBinding. */
struct rbac_via {
	const char *ns;
	const struct obj *binding, *subject;
};

/* Calls fn for each rule that reaches the user in the namespace ("": cluster-wide ones only), until
 * it returns true. */
typedef bool (*rbac_rule_fn)(void *arg, const struct obj *rule, const struct rbac_via *via);
bool rbac_visit(const struct rbac_source *s, const struct user_info *u, const char *ns,
		struct arena *arena, rbac_rule_fn fn, void *arg);

/* Does the user hold everything the rules grant (rbac_cover.c)? The first right he lacks is
 * reported as '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}'; NULL: he holds all.
 * The work is bounded: rules that need more than RBAC_COMPARISONS_MAX are reported as too many, so
 * not held. */
#define RBAC_COMPARISONS_MAX 1000000
const char *rbac_missing(const struct rbac_source *s, const struct user_info *u, const char *ns,
			 const struct obj *rules, struct arena *arena);
/* The rules of a role, aggregated ones included; a list kept by the arena. Selectors of one
 * aggregationRule beyond the limit do not count; admit.c refuses them. */
#define RBAC_SELECTORS_MAX 64
const struct obj *rbac_rules(const struct rbac_source *s, const struct obj *role,
			     struct arena *arena);

/* The n-th default role or binding (rbac_defaults.c), owned; NULL past the end. */
struct obj *rbac_default(size_t n);

#endif
