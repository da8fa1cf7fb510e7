/* cel_authorizer: see cel_authorizer.h. */
#include "alm/obj/cel/cel_authorizer.h"

#include "alm/obj/gvk.h"

struct cel_value cel_authorizer(const struct cel_authz *what, enum cel_kind kind)
{
	return (struct cel_value){.kind = kind, .authz = what};
}

/* A copy to add a step to. */
static struct cel_authz *next(const struct cel_value *v, struct cel_call *c)
{
	return arena_memdup(c->a, v->authz, sizeof(*v->authz));
}

static const char *text(const struct cel_value *v, struct cel_call *c)
{
	return arena_strndup(c->a, v->str.ptr, v->str.len);
}

struct cel_value cel_authz_path(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	if (v[1].str.len == 0)
		return cel_error(c->a, "path must not be empty");
	w->path = text(&v[1], c);
	return cel_authorizer(w, CEL_PATH_CHECK);
}

struct cel_value cel_authz_group(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	w->group = text(&v[1], c);
	return cel_authorizer(w, CEL_GROUP_CHECK);
}

struct cel_value cel_authz_account(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	if (name_fault(NAME_DNS_LABEL, v[1].str))
		return cel_error(c->a, "Invalid service account namespace");
	if (name_fault(NAME_DNS_SUBDOMAIN, v[2].str))
		return cel_error(c->a, "Invalid service account name");
	w->account_ns = text(&v[1], c);
	w->account = text(&v[2], c);
	return cel_authorizer(w, CEL_AUTHORIZER);
}

struct cel_value cel_authz_resource(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	if (v[1].str.len == 0)
		return cel_error(c->a, "resource must not be empty");
	w->resource = text(&v[1], c);
	w->subresource = w->ns = w->name = "";
	return cel_authorizer(w, CEL_RESOURCE_CHECK);
}

struct cel_value cel_authz_subresource(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	w->subresource = text(&v[1], c);
	return cel_authorizer(w, CEL_RESOURCE_CHECK);
}

struct cel_value cel_authz_namespace(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	w->ns = text(&v[1], c);
	return cel_authorizer(w, CEL_RESOURCE_CHECK);
}

struct cel_value cel_authz_name(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	w->name = text(&v[1], c);
	return cel_authorizer(w, CEL_RESOURCE_CHECK);
}

struct cel_value cel_authz_selector(const struct cel_value *v, struct cel_call *c)
{
	return cel_spend(c, v[1].str.len / 10) ? v[0] : cel_over_budget(c);
}

struct cel_value cel_authz_check(const struct cel_value *v, struct cel_call *c)
{
	struct cel_authz *w = next(v, c);
	if (!cel_spend(c, CEL_AUTHZ_COST))
		return cel_over_budget(c);
	w->verb = text(&v[1], c);
	w->reason = NULL;
	w->allowed = w->allows(w->arg, w, c->a, &w->reason);
	return cel_authorizer(w, CEL_DECISION);
}

struct cel_value cel_authz_allowed(const struct cel_value *v, UNUSED struct cel_call *c)
{
	return cel_bool(v->authz->allowed);
}

struct cel_value cel_authz_reason(const struct cel_value *v, UNUSED struct cel_call *c)
{
	return cel_string(str_of(v->authz->reason ? v->authz->reason : ""));
}

struct cel_value cel_authz_errored(UNUSED const struct cel_value *v, UNUSED struct cel_call *c)
{
	return cel_bool(false);
}

struct cel_value cel_authz_error(UNUSED const struct cel_value *v, UNUSED struct cel_call *c)
{
	return cel_string(STR(""));
}
