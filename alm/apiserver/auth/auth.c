/* auth: credentials -> user, user and request -> allowed or not. */
#include "alm/apiserver/auth/auth.h"

#include <string.h>

#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/auth/rbac_index.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/obj/query/selector.h"

#define AUTH_BYTES_MAX ((size_t)8 << 20)

static void source_each_role(void *arg, bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	struct auth *a = arg;
	const struct store_table *res = store_resource(a->store, RBAC_GROUP, "clusterroles");
	for (size_t i = 0; i < res->n_heads; i++) {
		const struct obj *o = head_obj_hot(res->heads[i]);
		if (o && fn(fn_arg, o))
			return;
	}
}

static void source_each_binding(void *arg, const char *ns, const struct user_info *u,
				bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	struct auth *a = arg;
	rbac_index_each(a->store, ns, u, fn, fn_arg);
}

static const struct obj *source_get(void *arg, const char *plural, const char *ns, const char *name)
{
	struct auth *a = arg;
	struct head *h = store_find(a->store, RBAC_GROUP, plural, ns, name);
	return h ? head_obj_hot(h) : NULL;
}

int auth_new(const struct apiserver_config *c, struct store *store, struct auth **ret,
	     struct error *err)
{
	struct auth *a = xcalloc(1, sizeof(*a));
	a->arena = arena_new(AUTH_BYTES_MAX);
	a->store = store;
	a->loop = c->loop;
	a->source = (struct rbac_source){a, source_each_role, source_each_binding, source_get};
	rbac_index_new(store);
	a->tokens = ARENA_ARRAY(a->arena, struct known_token, c->n_tokens);
	for (size_t i = 0; i < c->n_tokens; i++) {
		const struct apiserver_token *t = &c->tokens[i];
		struct known_token *k = &a->tokens[i];
		if (!t->token || !*t->token || !t->user || !*t->user) {
			auth_free(a);
			return error_set(err, E_INVALID, "token %zu has no token or no user",
					 i + 1);
		}
		sha256(str_of(t->token), k->digest);
		k->user.name = arena_strdup(a->arena, t->user);
		k->user.uid = arena_strdup(a->arena, t->uid ? t->uid : "");
		for (size_t j = 0; j < t->n_groups; j++)
			auth_add_group(&k->user, arena_strdup(a->arena, t->groups[j]), a->arena);
		auth_add_group(&k->user, AUTHENTICATED, a->arena);
	}
	a->n_tokens = c->n_tokens;
	if (issuer_new(c, &a->issuer, err) < 0) {
		auth_free(a);
		return -err->code;
	}
	*ret = a;
	return 0;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	issuer_free(a->issuer);
	arena_free(a->arena);
	xfree(a);
}

bool auth_page(struct auth *a, struct request *r)
{
	return issuer_page(a->issuer, r);
}

struct obj *auth_bootstrap(size_t n)
{
	return rbac_default(n);
}

static int unauthorized(struct error *err)
{
	return error_set(err, E_UNAUTHORIZED, "Unauthorized");
}

/* The account a token names, as the store has it now. */
static int account_user(struct auth *a, struct str token, const struct obj *audiences,
			struct arena *arena, struct user_info *ret, struct obj **ret_audiences,
			struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct obj *claims;
	if (issuer_verify(a->issuer, token, audiences, loop_now(a->loop) / NS_PER_S, &claims,
			  &ignored) < 0)
		return unauthorized(err);
	obj_keep(arena, claims);
	const struct obj *k = obj_get(claims, "kubernetes.io");
	const char *ns = obj_str(k, "namespace"), *name = obj_str(k, "serviceaccount.name");
	const char *uid = obj_str(k, "serviceaccount.uid"), *id = obj_str(claims, "jti");
	if (!ns || !name || !uid)
		return unauthorized(err);
	struct head *h = store_find(a->store, "", "serviceaccounts", ns, name);
	if (!h || !cstr_eq(h->uid, uid))
		return unauthorized(err); /* the account is gone, or another of its name */
	struct user_info u = auth_account(ns, name, arena);
	u.uid = arena_strdup(arena, uid);
	if (!cstr_eq(obj_str(claims, "sub"), u.name))
		return unauthorized(err);
	if (id)
		auth_add_extra(&u, "authentication.kubernetes.io/credential-id",
			       arena_fmt(arena, "JTI=%s", id), arena);
	*ret = u;
	*ret_audiences = obj_keep(arena, token_audiences(obj_get(claims, "aud"), audiences));
	return 0;
}

int auth_token_user(struct auth *a, struct str token, const struct obj *audiences,
		    struct arena *arena, struct user_info *ret, struct obj **ret_audiences,
		    struct error *err)
{
	unsigned char digest[SHA256_BYTES];
	const struct known_token *found = NULL;
	if (!obj_len(audiences))
		audiences = issuer_audiences(a->issuer);
	sha256(token, digest); /* so that comparing tells nothing about the token's length */
	for (size_t i = 0; i < a->n_tokens; i++)
		if (mem_equal(a->tokens[i].digest, digest, sizeof(digest)))
			found = &a->tokens[i];
	if (!found)
		return account_user(a, token, audiences, arena, ret, ret_audiences, err);
	/* Static tokens are for this server. */
	struct obj *both = obj_keep(arena, token_audiences(issuer_audiences(a->issuer), audiences));
	if (!obj_len(both))
		return unauthorized(err);
	*ret = found->user;
	*ret_audiences = both;
	return 0;
}

int auth_authenticate(struct auth *a, struct request *r, struct error *err)
{
	static const char scheme[] = "bearer ";
	const char *header = request_header(r, "Authorization");
	struct str token = str_trim(str_of(header));
	if (token.len < sizeof(scheme) - 1)
		return unauthorized(err);
	for (size_t i = 0; i < sizeof(scheme) - 1; i++)
		if (char_lower(token.ptr[i]) != scheme[i])
			return unauthorized(err);
	token = str_trim(str_skip(token, sizeof(scheme) - 1));
	if (!token.len || token.len > TOKEN_BYTES_MAX)
		return unauthorized(err);
	struct obj *audiences;
	if (auth_token_user(a, token, NULL, r->arena, &r->user, &audiences, err) < 0)
		return -err->code;
	r->by_admin = rbac_is_master(&r->user);
	return auth_impersonate(a, r, err);
}

static bool only_name(void *arg, struct str field)
{
	(void)arg;
	(void)field;
	return true;
}

/* A list or watch of one name counts as a request for it. */
static const char *asked_name(struct request *r)
{
	const char *text = request_query(r, "fieldSelector");
	CLEANUP(field_selector_freep) struct field_selector *s = NULL;
	struct error ignored = ERROR_INIT;
	if (r->name[0] || !text || (!cstr_eq(r->verb, "list") && !cstr_eq(r->verb, "watch")) ||
	    field_selector_parse(str_of(text), only_name, NULL, &s, &ignored) < 0)
		return r->name;
	const char *name = field_selector_exact(s, "metadata.name");
	return name ? arena_strdup(r->arena, name) : r->name;
}

struct rbac_attributes auth_attributes(struct request *r)
{
	struct rbac_attributes at = {.verb = r->verb,
				     .is_resource = r->is_resource,
				     .group = r->group,
				     .resource = r->resource,
				     .subresource = r->subresource,
				     .ns = r->ns,
				     .name = "",
				     .path = r->path};
	if (r->is_resource) {
		at.name = asked_name(r);
		/* a namespace lies in itself: a Role in it may give rights to it */
		if (cstr_eq(at.resource, "namespaces") && !at.ns[0])
			at.ns = r->name;
	}
	return at;
}

int auth_forbid(struct request *r, struct error *err)
{
	struct rbac_attributes at = auth_attributes(r);
	return auth_forbidden(r, &at, err);
}

int auth_authorize(struct auth *a, struct request *r, struct error *err)
{
	if (rbac_is_master(&r->user))
		return 0;
	struct rbac_attributes at = auth_attributes(r);
	return rbac_allows(&a->source, &r->user, &at) ? 0 : auth_forbidden(r, &at, err);
}

int auth_authorize_also(struct auth *a, struct request *r, const char *verb, struct error *err)
{
	struct rbac_attributes at = {.verb = verb,
				     .is_resource = true,
				     .group = r->group,
				     .resource = r->resource,
				     .subresource = r->subresource,
				     .ns = r->ns,
				     .name = r->name,
				     .path = r->path};
	return rbac_allows(&a->source, &r->user, &at) ? 0 : auth_forbidden(r, &at, err);
}

const char *auth_share(const struct request *r)
{
	const char *user = r->user.impersonator ? r->user.impersonator : r->user.name;
	size_t prefix = strlen(ACCOUNT_USER_PREFIX);
	if (!cstr_has_prefix(user, ACCOUNT_USER_PREFIX))
		return user;
	return arena_strndup(r->arena, user, prefix + strcspn(user + prefix, ":"));
}
