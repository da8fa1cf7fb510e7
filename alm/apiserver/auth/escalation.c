/*
 * escalation: nobody gives rights that he lacks (kube-api.md 6). Every write of a role or binding
 * needs the rights it grants, verb escalate on the role, or bind on the role that is referred to;
 * also one that leaves the rules as they are, for labels decide which roles an aggregated one
 * gathers. Only what the garbage collector needs is exempt.
 */
#include <assert.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/status.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static bool may(struct auth *a, struct request *r, const char *verb, const char *plural,
		const char *ns, const char *name)
{
	struct rbac_attributes at = {.verb = verb,
				     .is_resource = true,
				     .group = RBAC_GROUP,
				     .resource = plural,
				     .subresource = "",
				     .ns = ns,
				     .name = name,
				     .path = ""};
	return rbac_allows(&a->source, &r->user, &at);
}

static const char *groups_text(const struct user_info *u, struct arena *arena)
{
	const char *text = "";
	for (size_t i = 0; i < u->n_groups; i++)
		text = arena_fmt(arena, "%s%s\"%s\"", text, i ? " " : "", u->groups[i]);
	return text;
}

static int escalation(struct request *r, const struct obj *after, const char *missing,
		      struct error *err)
{
	const char *name = meta_name(after);
	return error_set(err, E_FORBIDDEN,
			 "%s.%s \"%s\" is forbidden: user \"%s\" (groups=[%s]) is attempting to "
			 "grant RBAC permissions not currently held:\n%s",
			 r->resource, r->group, name ? name : "", r->user.name,
			 groups_text(&r->user, r->arena), missing);
}

/* {* * *} and {* of every path}: whoever sets an aggregation rule gets what it gathers later. */
static const struct obj *all_rights(struct arena *arena)
{
	static const char text[] =
		"[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},"
		"{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]";
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	int r = json_parse(str_of(text), &o, &err);
	assert(r == 0); /* no rules at all would be held by everybody */
	return obj_keep(arena, o);
}

static int check_role(struct auth *a, struct request *r, const struct obj *before,
		      const struct obj *after, struct error *err)
{
	const char *name = meta_name(after);
	if (may(a, r, "escalate", r->resource, r->ns, name ? name : ""))
		return 0;
	const char *missing =
		rbac_missing(&a->source, &r->user, r->ns, obj_get(after, "rules"), r->arena);
	if (!missing && (obj_has(after, "aggregationRule") || obj_has(before, "aggregationRule")))
		missing = rbac_missing(&a->source, &r->user, r->ns, all_rights(r->arena), r->arena);
	return missing ? escalation(r, after, missing, err) : 0;
}

static int check_binding(struct auth *a, struct request *r, const struct obj *after,
			 struct error *err)
{
	const char *kind = obj_str(after, "roleRef.kind"), *role = obj_str(after, "roleRef.name");
	bool cluster = cstr_eq(kind, "ClusterRole");
	const char *plural = cluster ? "clusterroles" : "roles";
	if (!role || (!cluster && !cstr_eq(kind, "Role")) || may(a, r, "bind", plural, r->ns, role))
		return 0;
	const struct obj *target = a->source.get(a, plural, cluster ? "" : r->ns, role);
	if (!target)
		return error_set(err, E_NOTFOUND, "%s.%s \"%s\" not found", plural, RBAC_GROUP,
				 role);
	const char *missing = rbac_missing(&a->source, &r->user, r->ns,
					   rbac_rules(&a->source, target, r->arena), r->arena);
	return missing ? escalation(r, after, missing, err) : 0;
}

static struct obj *without_collected(const struct obj *o, struct arena *arena)
{
	static const char *const fields[] = {"ownerReferences", "finalizers", "selfLink",
					     "managedFields", "resourceVersion"};
	struct obj *copy = obj_keep(arena, obj_copy(o));
	struct obj *meta = obj_get_mut(copy, "metadata");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		obj_del(meta, fields[i]);
	return copy;
}

/* Does the write change owners and finalizers at most? */
static bool is_for_collector(struct request *r, const struct obj *before, const struct obj *after)
{
	return before &&
	       obj_equal(without_collected(before, r->arena), without_collected(after, r->arena));
}

int auth_check_write(struct auth *a, struct request *r, const struct obj *before,
		     const struct obj *after, struct error *err)
{
	bool role = cstr_eq(r->resource, "roles") || cstr_eq(r->resource, "clusterroles");
	bool binding =
		cstr_eq(r->resource, "rolebindings") || cstr_eq(r->resource, "clusterrolebindings");
	if (!cstr_eq(r->group, RBAC_GROUP) || (!role && !binding))
		return signers_check_write(a, r, before, after, err);
	if (rbac_is_master(&r->user) || is_for_collector(r, before, after))
		return 0;
	return role ? check_role(a, r, before, after, err) : check_binding(a, r, after, err);
}
