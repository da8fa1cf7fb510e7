/* Users: their parts, and how it is said that they may not do something. */
#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/status.h"

bool auth_has_group(const struct user_info *u, const char *group)
{
	for (size_t i = 0; i < u->n_groups; i++)
		if (cstr_eq(u->groups[i], group))
			return true;
	return false;
}

void auth_add_group(struct user_info *u, const char *group, struct arena *arena)
{
	if (auth_has_group(u, group))
		return;
	const char **groups = ARENA_ARRAY(arena, const char *, u->n_groups + 1);
	for (size_t i = 0; i < u->n_groups; i++)
		groups[i] = u->groups[i];
	groups[u->n_groups] = group;
	u->groups = groups;
	u->n_groups++;
}

void auth_add_extra(struct user_info *u, const char *key, const char *value, struct arena *arena)
{
	struct user_extra *extra = ARENA_ARRAY(arena, struct user_extra, u->n_extra + 1);
	for (size_t i = 0; i < u->n_extra; i++)
		extra[i] = u->extra[i];
	extra[u->n_extra] = (struct user_extra){key, value};
	u->extra = extra;
	u->n_extra++;
}

void auth_account_groups(struct user_info *u, const char *ns, struct arena *arena)
{
	auth_add_group(u, "system:serviceaccounts", arena);
	auth_add_group(u, arena_fmt(arena, "system:serviceaccounts:%s", ns), arena);
}

struct user_info auth_account(const char *ns, const char *name, struct arena *arena)
{
	struct user_info u = {.name = arena_fmt(arena, ACCOUNT_USER_PREFIX "%s:%s", ns, name),
			      .uid = ""};
	auth_account_groups(&u, ns, arena);
	auth_add_group(&u, AUTHENTICATED, arena);
	return u;
}

static void add_extra(struct obj *user, const struct user_extra *e)
{
	if (!obj_has(user, "extra"))
		obj_set(user, "extra", obj_map());
	struct obj *extra = obj_get_mut(user, "extra");
	if (!obj_has(extra, e->key))
		obj_set(extra, e->key, obj_list());
	obj_append(obj_get_mut(extra, e->key), obj_string(e->value));
}

struct obj *auth_user_obj(const struct user_info *u)
{
	struct obj *o = obj_map(), *groups = obj_list();
	obj_set_str(o, "username", u->name);
	if (u->uid && *u->uid)
		obj_set_str(o, "uid", u->uid);
	for (size_t i = 0; i < u->n_groups; i++)
		obj_append(groups, obj_string(u->groups[i]));
	obj_set(o, "groups", groups);
	for (size_t i = 0; i < u->n_extra; i++)
		add_extra(o, &u->extra[i]);
	return o;
}

bool auth_may(struct auth *a, const struct user_info *u, const struct rbac_attributes *at,
	      struct arena *arena, const char **ret_reason)
{
	bool master = rbac_is_master(u);
	const char *reason = master ? "" : rbac_reason(&a->source, u, at, arena);
	*ret_reason = reason ? reason : "";
	return master || reason;
}

/* What cannot be done, as upstream words it of any attributes. */
static const char *forbidden_text(struct arena *arena, const char *user,
				  const struct rbac_attributes *at)
{
	const char *sub = at->subresource[0] ? "/" : "";
	if (!at->is_resource)
		return arena_fmt(arena, "User \"%s\" cannot %s path \"%s\"", user, at->verb,
				 at->path);
	const char *where = at->ns[0] ? arena_fmt(arena, "in the namespace \"%s\"", at->ns)
				      : "at the cluster scope";
	return arena_fmt(arena, "User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %s",
			 user, at->verb, at->resource, sub, at->subresource, at->group, where);
}

int auth_forbidden(struct request *r, const struct rbac_attributes *at, struct error *err)
{
	const char *text = forbidden_text(r->arena, r->user.name, at);
	const char *name = at->name[0] ? arena_fmt(r->arena, " \"%s\"", at->name) : "";
	int rc = at->is_resource
			 ? fail_code(r, E_FORBIDDEN, err, "%s%s is forbidden: %s",
				     status_resource(r->arena, at->resource, at->group), name, text)
			 : fail_code(r, E_FORBIDDEN, err, "forbidden: %s", text);
	r->failure.details = true;
	if (!at->is_resource)
		return rc;
	r->failure.name = at->name;
	r->failure.group = at->group;
	r->failure.kind = at->resource;
	return rc;
}
