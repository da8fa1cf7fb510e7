/* impersonate: Impersonate-* headers (kube-api.md 6). Each thing that is asked for, user, group,
 * uid and extra value, needs the right for itself. It must not know how the asker was
 * authenticated. */
#include <string.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/status.h"
#include "alm/obj/gvk.h"

#define AUTHN_GROUP "authentication.k8s.io"

static int check(struct auth *a, struct request *r, struct rbac_attributes at, struct error *err)
{
	at.verb = "impersonate";
	at.is_resource = true;
	at.path = "";
	return rbac_allows(&a->source, &r->user, &at) ? 0 : auth_forbidden(r, &at, err);
}

/* "system:serviceaccount:NS:NAME" with names that an account can have; anything else is a user. */
static bool account_of(const char *user, struct arena *arena, const char **ret_ns,
		       const char **ret_name)
{
	struct str rest = str_of(user), ns, name;
	if (!cstr_has_prefix(user, ACCOUNT_USER_PREFIX))
		return false;
	rest = str_skip(rest, strlen(ACCOUNT_USER_PREFIX));
	if (!str_cut(rest, ':', &ns, &name) || !name_is_dns_label(ns) ||
	    !name_is_dns_subdomain(name))
		return false;
	*ret_ns = arena_strndup(arena, ns.ptr, ns.len);
	*ret_name = arena_strndup(arena, name.ptr, name.len);
	return true;
}

/* The user, and of an account the groups that it has for being one; stated groups replace them. */
static int add_user(struct auth *a, struct request *r, struct user_info *u, bool groups_stated,
		    struct error *err)
{
	const char *ns, *name;
	if (!account_of(u->name, r->arena, &ns, &name))
		return check(a, r,
			     (struct rbac_attributes){.group = "",
						      .resource = "users",
						      .subresource = "",
						      .ns = "",
						      .name = u->name},
			     err);
	if (!groups_stated)
		auth_account_groups(u, ns, r->arena);
	return check(a, r,
		     (struct rbac_attributes){.group = "",
					      .resource = "serviceaccounts",
					      .subresource = "",
					      .ns = ns,
					      .name = name},
		     err);
}

static int add_group(struct auth *a, struct request *r, struct user_info *u, const char *group,
		     struct error *err)
{
	auth_add_group(u, group, r->arena);
	return check(a, r,
		     (struct rbac_attributes){.group = "",
					      .resource = "groups",
					      .subresource = "",
					      .ns = "",
					      .name = group},
		     err);
}

/* The key of an extra is the rest of the header's name, escaped as in an URL and in lower case. */
static const char *extra_key(const char *header, struct arena *arena)
{
	char *lower = arena_strdup(arena, header);
	for (char *p = lower; *p; p++)
		*p = char_lower(*p);
	const char *plain = url_decode(str_of(lower), false, arena);
	return plain ? plain : lower;
}

static int add_extra(struct auth *a, struct request *r, struct user_info *u, const char *header,
		     const char *value, struct error *err)
{
	const char *key = extra_key(header, r->arena);
	auth_add_extra(u, key, value, r->arena);
	return check(a, r,
		     (struct rbac_attributes){.group = AUTHN_GROUP,
					      .resource = "userextras",
					      .subresource = key,
					      .ns = "",
					      .name = value},
		     err);
}

static int set_uid(struct auth *a, struct request *r, struct user_info *u, const char *uid,
		   struct error *err)
{
	u->uid = uid;
	return check(a, r,
		     (struct rbac_attributes){.group = AUTHN_GROUP,
					      .resource = "uids",
					      .subresource = "",
					      .ns = "",
					      .name = uid},
		     err);
}

enum part { PART_NONE, PART_GROUP, PART_UID, PART_EXTRA };

#define EXTRA_PREFIX "impersonate-extra-"

static enum part part_of(const struct http_header *h)
{
	struct str name = str_of(h->name);
	if (str_is_nocase(name, "impersonate-group"))
		return PART_GROUP;
	if (str_is_nocase(name, "impersonate-uid"))
		return *h->value ? PART_UID : PART_NONE;
	return str_is_nocase(str_sub(name, 0, strlen(EXTRA_PREFIX)), EXTRA_PREFIX) ? PART_EXTRA
										   : PART_NONE;
}

static int add_part(struct auth *a, struct request *r, struct user_info *u,
		    const struct http_header *h, struct error *err)
{
	switch (part_of(h)) {
	case PART_GROUP:
		return add_group(a, r, u, h->value, err);
	case PART_UID:
		return *u->uid ? 0 : set_uid(a, r, u, h->value, err); /* the first one counts */
	case PART_EXTRA:
		return add_extra(a, r, u, h->name + strlen(EXTRA_PREFIX), h->value, err);
	case PART_NONE:
		break;
	}
	return 0;
}

/* Who is impersonated is authenticated, unless his groups say otherwise. */
static void add_authenticated(struct user_info *u, struct arena *arena)
{
	if (cstr_eq(u->name, "system:anonymous"))
		auth_add_group(u, UNAUTHENTICATED, arena);
	else if (!auth_has_group(u, UNAUTHENTICATED))
		auth_add_group(u, AUTHENTICATED, arena);
}

int auth_impersonate(struct auth *a, struct request *r, struct error *err)
{
	const struct http_headers *h = &r->exchange->request->headers;
	const char *name = request_header(r, "Impersonate-User");
	bool parts = false, groups = false;
	for (size_t i = 0; i < h->n; i++) {
		parts = parts || part_of(&h->items[i]) != PART_NONE;
		groups = groups || part_of(&h->items[i]) == PART_GROUP;
	}
	if (!name || !*name)
		return parts ? fail_code(
				       r, E_BADREQUEST, err,
				       "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* "
				       "need Impersonate-User")
			     : 0;
	struct user_info u = {.name = name, .uid = "", .impersonator = r->user.name};
	if (add_user(a, r, &u, groups, err) < 0)
		return -err->code;
	for (size_t i = 0; i < h->n; i++)
		if (add_part(a, r, &u, &h->items[i], err) < 0)
			return -err->code;
	add_authenticated(&u, r->arena);
	r->user = u;
	return 0;
}
