/* reviews: POST-only kinds that ask about users and rights; nothing is stored (kube-api.md 14). */
#include "alm/apiserver/auth/auth_internal.h"
#include "alm/apiserver/options.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/apply.h"

/* spec NULL: it tells of who asks, and nothing of what was sent. */
static struct obj *answer(struct request *r, const struct obj *body, const struct obj *spec)
{
	struct obj *o = obj_map();
	const struct obj *meta = spec ? obj_get(body, "metadata") : NULL;
	obj_set_str(o, "kind", r->kind->kind);
	obj_set_str(o, "apiVersion", kind_api_version(r->kind, r->arena));
	obj_set(o, "metadata", obj_copy_map(meta));
	if (spec)
		obj_set(o, "spec", obj_copy(spec));
	return o;
}

static const char *text(const struct obj *o, const char *path)
{
	const char *s = obj_str(o, path);
	return s ? s : "";
}

static bool attributes_of(const struct obj *spec, struct rbac_attributes *ret)
{
	const struct obj *res = obj_get(spec, "resourceAttributes");
	const struct obj *path = obj_get(spec, "nonResourceAttributes");
	if ((obj_type(res) == OBJ_MAP) == (obj_type(path) == OBJ_MAP))
		return false;
	*ret = (struct rbac_attributes){
		.verb = text(res ? res : path, "verb"),
		.is_resource = res != NULL,
		.group = text(res, "group"),
		.resource = text(res, "resource"),
		.subresource = text(res, "subresource"),
		.ns = text(res, "namespace"),
		.name = text(res, "name"),
		.path = text(path, "path"),
	};
	return true;
}

static struct obj *access_status(struct auth *a, const struct user_info *u,
				 const struct rbac_attributes *at, const struct obj *spec,
				 struct arena *arena)
{
	struct obj *status = obj_map();
	const char *reason, *unread = reviews_unread(spec, arena);
	obj_set_bool(status, "allowed", auth_may(a, u, at, arena, &reason));
	if (*reason)
		obj_set_str(status, "reason", reason);
	if (*unread)
		obj_set_str(status, "evaluationError", unread);
	return status;
}

/* As the real server does with all that it hands on (golden G178), before it answers: a status that came is the sender's, too. Their lists
 * are of one piece, with a schema or without. */
static void track(struct request *r, const struct obj *body, struct obj *o)
{
	const struct obj *came = obj_get(body, "status");
	if (obj_type(came) == OBJ_MAP)
		obj_set(o, "status", obj_copy(came));
	struct write_options opt;
	struct error ignored = ERROR_INIT;
	if (options_write(r, "CreateOptions", false, false, &opt, &ignored) < 0)
		return;
	const char *api_version = kind_api_version(r->kind, r->arena);
	const struct update_request u = {.after = o,
					 .manager = opt.manager,
					 .api_version = api_version,
					 .subresource = "",
					 .now_ns = request_now(r),
					 .bytes_max = STORE_VALUE_BYTES_MAX};
	(void)apply_track_update(&u, &ignored);
}

static int access_review(struct auth *a, struct request *r, const struct obj *body,
			 const struct user_info *u, struct obj **ret, struct error *err)
{
	const struct obj *spec = obj_get(body, "spec");
	struct rbac_attributes at;
	if (reviews_check(r, body, err) < 0)
		return -err->code;
	if (!attributes_of(spec, &at))
		return error_set(err, E_INTERNAL, "a review without attributes");
	struct obj *o = answer(r, body, spec);
	track(r, body, o);
	obj_set(o, "status", access_status(a, u, &at, spec, r->arena));
	*ret = o;
	return 0;
}

static struct user_info subject_of(const struct obj *spec, struct arena *arena)
{
	struct user_info u = {.name = text(spec, "user"), .uid = text(spec, "uid")};
	const struct obj *groups = obj_get(spec, "groups");
	for (size_t i = 0; i < obj_len(groups); i++) {
		const char *g = obj_as_string(obj_at(groups, i));
		if (g)
			auth_add_group(&u, g, arena);
	}
	return u;
}

struct rules {
	struct obj *resource, *path;
};

static void copy_list(struct obj *to, const struct obj *from, const char *key)
{
	if (obj_has(from, key))
		obj_set(to, key, obj_copy(obj_get(from, key)));
}

static bool add_rule(void *arg, const struct obj *rule, const struct rbac_via *via)
{
	struct rules *out = arg;
	struct obj *o = obj_map();
	copy_list(o, rule, "verbs");
	if (obj_len(obj_get(rule, "resources"))) {
		copy_list(o, rule, "apiGroups");
		copy_list(o, rule, "resources");
		copy_list(o, rule, "resourceNames");
		obj_append(out->resource, o);
	} else if (!via->ns[0]) {
		copy_list(o, rule, "nonResourceURLs");
		obj_append(out->path, o);
	} else {
		obj_unref(o);
	}
	return false;
}

static int rules_review(struct auth *a, struct request *r, const struct obj *body, struct obj **ret,
			struct error *err)
{
	const char *ns = text(body, "spec.namespace");
	if (!*ns)
		return error_set(err, E_BADREQUEST, "no namespace on request");
	struct rules rules = {obj_list(), obj_list()};
	struct obj *status = obj_map(), *spec = obj_map();
	struct obj *o = answer(r, body, NULL);
	rbac_visit(&a->source, &r->user, ns, r->arena, add_rule, &rules);
	obj_set(o, "spec", spec);
	obj_set(status, "resourceRules", rules.resource);
	obj_set(status, "nonResourceRules", rules.path);
	obj_set_bool(status, "incomplete", false);
	obj_set(o, "status", status);
	*ret = o;
	return 0;
}

static int self_review(struct request *r, struct obj **ret)
{
	struct obj *o = answer(r, NULL, NULL);
	char now[CLOCK_TEXT_MAX];
	clock_format(request_now(r), CLOCK_SECONDS, now);
	obj_set_path(o, "metadata.creationTimestamp", obj_string(now));
	obj_set_path(o, "status.userInfo", auth_user_obj(&r->user));
	*ret = o;
	return 0;
}

static int token_review(struct auth *a, struct request *r, const struct obj *body, struct obj **ret,
			struct error *err)
{
	const struct obj *spec = obj_get(body, "spec"), *audiences = obj_get(spec, "audiences");
	const char *token = text(spec, "token");
	struct user_info u;
	struct obj *both;
	struct error inner = ERROR_INIT;
	if (!*token)
		return error_set(err, E_BADREQUEST,
				 "token is required for TokenReview in authentication");
	if (obj_len(audiences) > TOKEN_AUDIENCES_MAX)
		return error_set(err, E_BADREQUEST, "spec.audiences has more than %d items",
				 TOKEN_AUDIENCES_MAX);
	struct obj *o = answer(r, body, spec);
	track(r, body, o);
	struct obj *status = obj_copy_map(obj_get(o, "status"));
	if (!str_trim(str_of(token)).len) { /* as a request without one */
		u = (struct user_info){.name = "system:anonymous"};
		auth_add_group(&u, UNAUTHENTICATED, r->arena);
		both = obj_keep(
			r->arena,
			obj_copy(obj_len(audiences) ? audiences : issuer_audiences(a->issuer)));
		inner.code = E_OK;
	} else {
		auth_token_user(a, str_of(token), audiences, r->arena, &u, &both, &inner);
	}
	/* What is not said stays as it came. */
	obj_del(status, "authenticated");
	if (!inner.code) {
		obj_set_bool(status, "authenticated", true);
		obj_set(status, "user", auth_user_obj(&u));
		obj_set(status, "audiences", obj_ref(both));
	} else {
		if (!obj_has(status, "user"))
			obj_set(status, "user", obj_map());
		obj_set_str(status, "error", "invalid bearer token");
	}
	obj_set(o, "status", status);
	*ret = o;
	return 0;
}

int auth_review(struct auth *a, struct request *r, const struct obj *body, struct obj **ret,
		struct error *err)
{
	const char *kind = r->kind->kind;
	if (cstr_eq(r->subresource, "token"))
		return issuer_request(a->issuer, r, body, ret, err);
	if (obj_type(body) != OBJ_MAP)
		return error_set(err, E_BADREQUEST, "the body is no %s", kind);
	if (cstr_eq(kind, "SelfSubjectReview"))
		return self_review(r, ret);
	if (cstr_eq(kind, "SelfSubjectRulesReview"))
		return rules_review(a, r, body, ret, err);
	if (cstr_eq(kind, "TokenReview"))
		return token_review(a, r, body, ret, err);
	if (cstr_eq(kind, "SelfSubjectAccessReview"))
		return access_review(a, r, body, &r->user, ret, err);
	struct user_info u = subject_of(obj_get(body, "spec"), r->arena);
	return access_review(a, r, body, &u, ret, err);
}
