/*
 * rbac_rule: whether a rule of a Role allows a request (kube-api.md 6). Pure; for the server that
 * decides by its Roles, and for who has got a user's rules from a SelfSubjectRulesReview.
 */
#ifndef ALM_OBJ_QUERY_RBAC_RULE_H
#define ALM_OBJ_QUERY_RBAC_RULE_H

#include "alm/obj/obj.h"

/* What is asked. All strings "" when absent, never NULL. */
struct rbac_attributes {
	const char *verb;
	bool is_resource;
	const char *group, *resource, *subresource, *ns, *name;
	const char *path; /* of !is_resource */
};

/* A rule has verbs and apiGroups, resources, resourceNames or nonResourceURLs; it says nothing about
 * a namespace. */
bool rbac_rule_allows(const struct obj *rule, const struct rbac_attributes *a);

/* A string without U+0000, else NULL: an object that an alm of old stored gives nobody more than it
 * says (texts.h). */
const char *rbac_text(const struct obj *o);
bool rbac_list_has(const struct obj *list, const char *s);
/* One of nonResourceURLs, each with a trailing * or without, matches the path. */
bool rbac_path_matches(const struct obj *urls, const char *path);

#endif
