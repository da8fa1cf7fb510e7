/* asked: see asked.h. */
#include "alm/apiserver/admission/asked.h"

#include "alm/apiserver/auth/auth.h"
#include "alm/apiserver/auth/rbac.h"
#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/scale.h"
#include "alm/obj/meta.h"

/* --- rights --- */

static bool allows(void *arg, const struct cel_authz *what, struct arena *a,
		   const char **ret_reason)
{
	const struct asked *asked = arg;
	struct user_info u =
		what->account ? auth_account(what->account_ns, what->account, a) : asked->r->user;
	const struct rbac_attributes at = {
		.verb = what->verb,
		.is_resource = !what->path,
		.path = what->path ? what->path : "",
		.group = what->group ? what->group : "",
		.resource = what->resource ? what->resource : "",
		.subresource = what->subresource ? what->subresource : "",
		.ns = what->ns ? what->ns : "",
		.name = what->name ? what->name : "",
	};
	return auth_may(asked->r->server->auth, &u, &at, a, ret_reason);
}

static void set_authorizers(struct asked *a)
{
	a->who = (struct cel_authz){.allows = allows, .arg = a};
	a->about = a->who;
	a->about.group = a->w.group;
	a->about.resource = a->w.resource;
	a->about.subresource = a->w.subresource;
	a->about.ns = a->w.ns;
	a->about.name = a->w.name;
}

/* --- the write --- */

static bool serves(void *arg, const char *version)
{
	const struct asked *a = arg;
	return kinds_find(a->r->server->kinds, a->w.group, version, a->w.resource);
}

/* They do not govern themselves: nobody could mend them. */
static bool is_admission(const struct kind *k)
{
	static const char *const plurals[] = {"validatingadmissionpolicies",
					      "validatingadmissionpolicybindings",
					      "mutatingadmissionpolicies",
					      "mutatingadmissionpolicybindings",
					      "validatingwebhookconfigurations",
					      "mutatingwebhookconfigurations",
					      NULL};
	return cstr_eq(k->group, ADMISSION_GROUP) && cstr_in(k->plural, plurals);
}

static bool is_space(const struct admission *w)
{
	return *w->group == '\0' && cstr_eq(w->resource, "namespaces");
}

static const struct obj *space_of(const struct asked *a)
{
	struct head *h = NULL;
	if (is_space(&a->w))
		return a->w.object ? a->w.object : a->w.old;
	if (*a->w.ns)
		h = store_find(a->r->server->store, "", "namespaces", "", a->w.ns);
	return h ? head_obj_hot(h) : NULL;
}

static void begin(struct asked *ret, struct request *r, const char *operation, const char *name,
		  const struct obj *object, const struct obj *old)
{
	const struct kind *k = r->kind;
	*ret = (struct asked){.r = r,
			      .w = {.operation = operation,
				    .group = k->group,
				    .version = k->version,
				    .resource = k->plural,
				    .subresource = r->subresource ? r->subresource : "",
				    .ns = r->ns,
				    .name = name ? name : "",
				    .serves = serves,
				    .arg = ret,
				    .object = object,
				    .old = old},
			      .body_group = k->group,
			      .body_version = k->version,
			      .body_kind = k->kind};
	ret->w.space = space_of(ret);
	set_authorizers(ret);
}

/* Of replicas alone it is the Scale that is written. */
static void show_scale(struct asked *a)
{
	struct error ignored = ERROR_INIT;
	struct obj *before = NULL, *after = NULL;
	if (scale_of(a->r, a->w.old, &before, &ignored) < 0 ||
	    scale_of(a->r, a->w.object, &after, &ignored) < 0)
		return;
	a->w.old = before;
	a->w.object = after;
	a->body_group = "autoscaling";
	a->body_version = "v1";
	a->body_kind = "Scale";
}

/* The revision that the object has until it is written. */
static const struct obj *with_revision(const struct mutation *m)
{
	struct obj *o = obj_keep(m->r->arena, obj_copy_shallow(m->after));
	struct obj *meta = obj_copy_shallow(obj_get(o, "metadata"));
	obj_set_str(meta, "resourceVersion", meta_resource_version(m->stored));
	obj_set(o, "metadata", meta);
	return o;
}

static bool ask_about(struct asked *ret, struct mutation *m, const char *name,
		      const struct obj *object)
{
	const char *sub = m->r->subresource ? m->r->subresource : "";
	if (is_admission(m->kind) || cstr_eq(sub, "binding"))
		return false;
	begin(ret, m->r, m->head ? "UPDATE" : "CREATE", name, object, m->head ? m->before : NULL);
	ret->dry_run = m->opt.dry_run;
	if (cstr_eq(sub, "scale"))
		show_scale(ret);
	return true;
}

bool asked_write(struct asked *ret, struct mutation *m)
{
	return ask_about(ret, m, m->asked_name ? m->asked_name : m->name,
			 m->head ? with_revision(m) : m->after);
}

bool asked_draft(struct asked *ret, struct mutation *m)
{
	return ask_about(ret, m, m->head ? m->name : meta_name(m->after), m->after);
}

bool asked_delete(struct asked *ret, struct mutation *m)
{
	const char *sub = m->r->subresource ? m->r->subresource : "";
	if (is_admission(m->kind) || *sub)
		return false;
	/* of a deletecollection it has no name there */
	begin(ret, m->r, "DELETE", m->r->name, NULL, m->before);
	ret->w.ns = m->ns;
	ret->dry_run = m->opt.dry_run;
	ret->stated = m->delete_options;
	return true;
}

void asked_body(struct asked *ret, struct request *r, const struct obj *body, const char *group,
		const char *version, const char *kind, bool dry_run)
{
	begin(ret, r, "CREATE", r->name, body, NULL);
	ret->body_group = group;
	ret->body_version = version;
	ret->body_kind = kind;
	ret->dry_run = dry_run;
}

/* --- what expressions see --- */

static struct obj *names(const char *group, const char *version, const char *key, const char *value)
{
	struct obj *o = obj_map();
	obj_set_str(o, "group", group);
	obj_set_str(o, "version", version);
	obj_set_str(o, key, value);
	return o;
}

static void set_unless_empty(struct obj *o, const char *key, const char *value)
{
	if (*value)
		obj_set_str(o, key, value);
}

/* As in options_delete(). */
static void set_delete_options(const struct asked *a, struct obj *o)
{
	static const char *const keys[] = {"gracePeriodSeconds", "preconditions",
					   "orphanDependents", "propagationPolicy"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *text = a->stated ? NULL : request_query(a->r, keys[i]);
		int64_t n;
		if (obj_is_set(obj_get(a->stated, keys[i])))
			obj_set(o, keys[i], obj_copy(obj_get(a->stated, keys[i])));
		else if (i == 0 && text && str_parse_i64(str_of(text), &n))
			obj_set_int(o, keys[i], n);
		else if (i == 2 && text)
			obj_set_bool(o, keys[i], cstr_eq(text, "true"));
		else if (i == 3 && text)
			obj_set_str(o, keys[i], text);
	}
}

static struct obj *options_of(const struct asked *a)
{
	struct obj *o = obj_map(), *all = obj_list();
	const char *manager = request_query(a->r, "fieldManager");
	obj_set_str(o, "kind",
		    cstr_eq(a->w.operation, "CREATE")   ? "CreateOptions"
		    : cstr_eq(a->w.operation, "UPDATE") ? "UpdateOptions"
							: "DeleteOptions");
	obj_set_str(o, "apiVersion", "meta.k8s.io/v1");
	if (a->dry_run) {
		obj_append(all, obj_string("All"));
		obj_set(o, "dryRun", obj_ref(all));
	}
	obj_unref(all);
	if (cstr_eq(a->w.operation, "DELETE")) {
		set_delete_options(a, o);
		return o;
	}
	obj_set_str(o, "fieldManager", manager);
	obj_set_str(o, "fieldValidation", request_query(a->r, "fieldValidation"));
	return o;
}

static struct obj *request_of(const struct asked *a, const char *version)
{
	const struct admission *w = &a->w;
	bool own = cstr_eq(a->body_group, w->group) && cstr_eq(a->body_version, w->version);
	struct obj *o = obj_map();
	obj_set(o, "kind",
		names(a->body_group, own ? version : a->body_version, "kind", a->body_kind));
	obj_set(o, "resource", names(w->group, version, "resource", w->resource));
	obj_set(o, "requestKind", names(a->body_group, a->body_version, "kind", a->body_kind));
	obj_set(o, "requestResource", names(w->group, w->version, "resource", w->resource));
	set_unless_empty(o, "subResource", w->subresource);
	set_unless_empty(o, "requestSubResource", w->subresource);
	set_unless_empty(o, "name", w->name);
	set_unless_empty(o, "namespace", is_space(w) ? w->name : w->ns);
	obj_set_str(o, "operation", w->operation);
	obj_set(o, "userInfo", auth_user_obj(&a->r->user));
	obj_set_bool(o, "dryRun", a->dry_run);
	obj_set(o, "options", options_of(a));
	return o;
}

/* The same object where it cannot be told. */
static const struct obj *form_of(struct asked *a, struct asked_as *f, const struct kind *to,
				 const struct obj *o)
{
	const struct kind *from = a->r->kind;
	const struct obj *made = o;
	if (!o || from == to || !converting_is_needed(to))
		return convert_between(from, to, o, a->r->arena);
	if (!f->wrong.code)
		(void)converting_between(a->r, to, o, &made, &f->wrong);
	return made;
}

const struct asked_as *asked_in(struct asked *a, const char *version)
{
	struct request *r = a->r;
	const struct kind *from = r->kind;
	const struct kind *to = kinds_find(r->server->kinds, a->w.group, version, a->w.resource);
	bool own = cstr_eq(a->body_kind, from->kind) && to;
	for (struct asked_as *f = a->forms; f; f = f->next)
		if (cstr_eq(f->version, version))
			return f;
	struct asked_as *f = ARENA_NEW(r->arena, struct asked_as);
	f->version = version;
	f->in = (struct policy_input){
		.object = own ? form_of(a, f, to, a->w.object) : a->w.object,
		.old = own ? form_of(a, f, to, a->w.old) : a->w.old,
		.request = obj_keep(r->arena, request_of(a, version)),
		.space = a->w.space,
		.who = &a->who,
		.about = &a->about,
	};
	f->next = a->forms;
	a->forms = f;
	return f;
}
