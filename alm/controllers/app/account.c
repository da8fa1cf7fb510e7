#include "alm/controllers/app/account.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/account_rights.h"
#include "alm/controllers/app/instance_app.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"
#include "crds/kinds.h"

#define NAME_CUT       180                 /* of an app's name that has no room in an account's */
#define MARK_BYTES_MAX ((size_t)512 << 10) /* more than an annotation holds */

/* --- which --- */

/* One name an app, whatever its length: a cut one cannot be another's whole one. */
static const char *default_name(const char *app, struct arena *a)
{
	char hex[SHA256_HEX];
	if (strlen(ACCOUNT_PREFIX) + strlen(app) <= GVK_NAME_MAX)
		return arena_fmt(a, ACCOUNT_PREFIX "%s", app);
	sha256_hex(str_of(app), hex);
	return arena_fmt(a, "apps-%.*s-%.32s", NAME_CUT, app, hex);
}

void account_of(struct app *app, struct arena *a)
{
	const char *named = obj_str(app->o, "spec.serviceAccountName");
	struct account *x = &app->account;
	x->is_default = !named || !*named;
	x->ns = x->is_default ? SYSTEM_NAMESPACE : app->install_namespace;
	x->name = x->is_default ? default_name(app->name, a) : named;
	x->user = arena_fmt(a, "system:serviceaccount:%s:%s", x->ns, x->name);
}

/* --- consent --- */

static bool has_name(const char *list, const char *app)
{
	struct str rest = str_of(list ? list : ""), one;
	while (list && str_next(&rest, ',', &one))
		if (str_is(str_trim(one), app))
			return true;
	return false;
}

static bool is_marked(const struct obj *o, const struct app *app)
{
	const char *list = meta_annotation(o, ANNOTATION_APPS);
	return has_name(list, app->name) || has_name(list, "*");
}

/* The annotation that names what an app may use: it, or for what was made of an instance the app that brought its
 * resource. */
static const char *mark_of(const struct app *app)
{
	return instance_of(app->o) ? ANNOTATION_INSTANCES : ANNOTATION_APPS;
}

static const char *marked_name(const struct app *app)
{
	const char *parent = instance_parent(app->o);
	return instance_of(app->o) && parent && name_is_dns_subdomain(str_of(parent)) ? parent
										      : app->name;
}

/* What the annotation shall be; the other apps in it stay. What is no name, anybody may have
 * written: it is left out of a command that a person copies. */
static const char *mark_with(const struct obj *o, const struct app *app, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(MARK_BYTES_MAX);
	const char *old = o ? meta_annotation(o, mark_of(app)) : NULL;
	struct str rest = str_of(old ? old : ""), one;
	strbuf_addf(&b, "%s=", mark_of(app));
	while (str_next(&rest, ',', &one)) {
		one = str_trim(one);
		if (name_is_dns_subdomain(one))
			strbuf_addf(&b, "%.*s,", STR_ARG(one));
	}
	strbuf_addf(&b, "%s%s", marked_name(app), old ? " --overwrite" : "");
	return arena_strdup(a, b.buf);
}

static enum ensured refuse(struct account_check *ret, const char *message)
{
	ret->message = message;
	return ENDED;
}

static void add_step(struct account_check *ret, const char *step)
{
	if (ret->n_steps < ACCOUNT_STEPS_MAX)
		ret->steps[ret->n_steps++] = step;
}

/* --- the namespace --- */

static bool is_protected(const char *ns)
{
	return cstr_has_prefix(ns, "kube-") || cstr_eq(ns, "default") ||
	       cstr_eq(ns, SYSTEM_NAMESPACE);
}

/* Of what ALM made in earlier versions the label tells. */
static bool is_made_for(const struct obj *o, const struct app *app)
{
	return cstr_eq(meta_label(o, LABEL_APP), app->name) && !is_protected(meta_name(o));
}

/* Where ALM itself is: "*" of who once marked every namespace does not mean it. */
static bool consents(const struct obj *o, const struct app *app)
{
	if (cstr_eq(meta_name(o), SYSTEM_NAMESPACE))
		return !app->account.is_default && !instance_of(app->o) &&
		       has_name(meta_annotation(o, ANNOTATION_APPS), app->name);
	return is_marked(o, app) || is_made_for(o, app) || instance_is_welcome(o, app->o);
}

static struct obj *new_namespace(const struct app *app, const char *ns)
{
	struct obj *o = meta_skeleton("v1", "Namespace", NULL, ns);
	meta_set_label(o, LABEL_APP, app->name);
	meta_set_label(o, "pod-security.kubernetes.io/enforce", "baseline");
	meta_set_annotation(o, ANNOTATION_APPS, app->name);
	meta_set_annotation(o, ANNOTATION_MADE_BY, "alm");
	return o;
}

static enum ensured check_namespace(const struct view *v, struct plan *plan, const struct app *app,
				    const char *ns, bool removing, struct account_check *ret)
{
	const struct obj *o = view_get(v, WATCH_NAMESPACE, ns);
	bool is_ours =
		cstr_eq(ns, SYSTEM_NAMESPACE) && (app->account.is_default || instance_of(app->o));
	if (is_ours || !name_is_dns_label(str_of(ns)))
		return refuse(ret, arena_fmt(v->a,
					     "%s is no namespace for an app: set "
					     "spec.installNamespace",
					     ns));
	if (o && consents(o, app))
		return DONE;
	if (!o && removing)
		return DONE; /* what was in it is gone */
	if (!o && !is_protected(ns)) {
		plan_own_create(plan, new_namespace(app, ns));
		return WAITING;
	}
	if (!o)
		add_step(ret, nextstep_new(v->a, NULL, "kubectl create namespace %s", ns));
	add_step(ret, nextstep_new(v->a, NULL, "kubectl annotate namespace %s %s", ns,
				   mark_with(o, app, v->a)));
	return refuse(ret,
		      o && instance_of(app->o)
			      ? arena_fmt(v->a,
					  "namespace %s takes no charts of instances of %s: its "
					  "annotation " ANNOTATION_INSTANCES " does not name it",
					  ns, marked_name(app))
		      : o ? arena_fmt(v->a,
				      "namespace %s was not made for app %s, and its "
				      "annotation " ANNOTATION_APPS " does not name it",
				      ns, app->name)
			  : arena_fmt(v->a,
				      "namespace %s is missing, and ALM makes none of the system",
				      ns));
}

/* --- a named account --- */

static const char *survey_id(const struct account *x, struct arena *a)
{
	return arena_fmt(a, "account:%s/%s", x->ns, x->name);
}

static void look(const struct view *v, struct plan *plan, const struct account *x)
{
	struct obj *rows = obj_list(), *row = obj_map();
	obj_set_str(row, "key", "account");
	obj_set_str(row, "group", "");
	obj_set_str(row, "version", "v1");
	obj_set_str(row, "kind", "ServiceAccount");
	obj_set_str(row, "namespace", x->ns);
	obj_set_str(row, "name", x->name);
	obj_append(rows, row);
	struct action *s = plan_work(plan, &survey_work, survey_id(x, v->a));
	s->body = obj_keep(v->a, rows);
}

static enum ensured check_named(const struct view *v, struct plan *plan, const struct app *app,
				struct account_check *ret)
{
	const struct account *x = &app->account;
	if (!name_is_dns_subdomain(str_of(x->name)))
		return refuse(ret, "spec.serviceAccountName is no name of a ServiceAccount");
	const struct outcome *o = view_outcome(v, survey_id(x, v->a));
	int64_t age = o ? v->now_ns - o->at_ns : 0;
	if (!o || o->code || age < 0 || age > SURVEY_AGE_NS) {
		look(v, plan, x);
		return WAITING;
	}
	const struct obj *live = obj_get(o->value, "account");
	if (obj_type(live) == OBJ_MAP && is_marked(live, app))
		return DONE;
	if (obj_type(live) != OBJ_MAP)
		add_step(ret, nextstep_new(v->a, NULL, "kubectl create serviceaccount %s -n %s",
					   x->name, x->ns));
	add_step(ret, nextstep_new(v->a, NULL, "kubectl annotate serviceaccount %s -n %s %s",
				   x->name, x->ns, mark_with(live, app, v->a)));
	return refuse(ret, obj_type(live) == OBJ_MAP
				   ? arena_fmt(v->a,
					       "ServiceAccount %s/%s does not name app %s in its "
					       "annotation " ANNOTATION_APPS,
					       x->ns, x->name, app->name)
				   : arena_fmt(v->a, "ServiceAccount %s/%s does not exist", x->ns,
					       x->name));
}

/* --- the default account --- */

/* clang-format off */
static const struct resource kinds[] = {
	{.group = ACCOUNT_RBAC, .version = "v1", .plural = "clusterroles",        .kind = "ClusterRole"},
	{.group = ACCOUNT_RBAC, .version = "v1", .plural = "clusterrolebindings", .kind = "ClusterRoleBinding"},
	{.group = ACCOUNT_RBAC, .version = "v1", .plural = "rolebindings",        .kind = "RoleBinding", .namespaced = true},
	{.group = ACCOUNT_RBAC, .version = "v1", .plural = "roles",               .kind = "Role",        .namespaced = true},
};
/* clang-format on */

static const struct resource *kind_called(const char *kind)
{
	const struct resource *r = kinds;
	while (!cstr_eq(r->kind, kind))
		r++;
	return r;
}

/* 1, 0, -1 as view_live; asks for the informer. */
static int live_of(const struct view *v, struct plan *plan, const struct resource *r,
		   const char *ns, const char *name, const struct obj **ret)
{
	*ret = NULL;
	int found = view_live(v, r, ns, name, ret);
	if (found < 0)
		plan_watch(plan, r, LABEL_APP, false);
	return found;
}

static bool is_as(const struct obj *live, const struct obj *want)
{
	return cstr_eq(meta_label(live, LABEL_APP), meta_label(want, LABEL_APP)) &&
	       obj_equal(obj_get(live, "rules"), obj_get(want, "rules")) &&
	       obj_equal(obj_get(live, "subjects"), obj_get(want, "subjects"));
}

struct keeping {
	const struct view *v;
	struct plan *plan;
	struct account_check *check;
	enum ensured state;
};

static void note_change(struct keeping *k, const struct obj *live)
{
	int64_t at_ns = stash_applied_ns(k->v->stash, meta_uid(live));
	if (at_ns > k->check->changed_ns)
		k->check->changed_ns = at_ns;
}

/* Consumes want. */
static void keep(struct keeping *k, struct obj *want)
{
	const struct obj *live;
	const struct obj *o = obj_keep(k->v->a, want);
	int found = live_of(k->v, k->plan, kind_called(meta_kind(o)), meta_namespace(o),
			    meta_name(o), &live);
	if (live && is_as(live, o) && !meta_is_deleting(live) &&
	    obj_equal(obj_get(live, "roleRef"), obj_get(o, "roleRef"))) {
		note_change(k, live);
		return;
	}
	k->state = WAITING;
	if (found < 0 || (live && meta_is_deleting(live)))
		return;
	if (live && !obj_equal(obj_get(live, "roleRef"), obj_get(o, "roleRef")))
		plan_own_delete(k->plan, live); /* it cannot be changed */
	else
		plan_own_apply(k->plan, obj_ref(o));
}

static const char *rights_name(const struct app *app, struct arena *a)
{
	return arena_fmt(a, ACCOUNT_RESERVED "app:%s", app->name);
}

static enum ensured keep_default(const struct view *v, struct plan *plan, const struct app *app,
				 const char *ns, struct account_check *ret)
{
	const char *name = rights_name(app, v->a);
	const struct obj *space = view_get(v, WATCH_NAMESPACE, ns);
	struct keeping k = {v, plan, ret, DONE};
	keep(&k, account_namespace_role());
	if (space && !meta_is_deleting(space))
		keep(&k, account_binding("RoleBinding", ns, name, ACCOUNT_IN_NS_ROLE, app));
	if (instance_of(app->o))
		return k.state; /* instance_app.h: nothing in the cluster */
	keep(&k, account_app_role(v, app, name));
	keep(&k, account_binding("ClusterRoleBinding", NULL, name, name, app));
	return k.state;
}

/* --- consent taken back --- */

struct revocation {
	const struct view *v;
	struct plan *plan;
	const struct app *app;
	enum ensured state;
};

static bool revoke_one(void *arg, struct obj *o)
{
	struct revocation *x = arg;
	obj_keep(x->v->a, o);
	const struct obj *space = view_get(x->v, WATCH_NAMESPACE, meta_namespace(o));
	if (!space || consents(space, x->app))
		return true;
	x->state = WAITING;
	if (!meta_is_deleting(o))
		plan_own_delete(x->plan, o);
	return true;
}

/* The rights end with the consent, also in a namespace that the app has left: manifests may name
 * any. */
static enum ensured revoke(const struct view *v, struct plan *plan, const struct app *app)
{
	const struct resource *r = kind_called("RoleBinding");
	struct revocation x = {v, plan, app, DONE};
	const char *name = rights_name(app, v->a);
	if (v->ops->owned(v->ops_arg, r->group, r->plural, name, revoke_one, &x))
		return x.state;
	plan_watch(plan, r, LABEL_APP, false);
	return WAITING;
}

enum ensured account_ensure(const struct view *v, struct plan *plan, const struct app *app,
			    const char *ns, bool removing, struct account_check *ret)
{
	*ret = (struct account_check){0};
	enum ensured state = check_namespace(v, plan, app, ns, removing, ret);
	if (app->account.is_default && revoke(v, plan, app) == WAITING && state == DONE)
		state = WAITING;
	if (state == DONE)
		state = app->account.is_default ? keep_default(v, plan, app, ns, ret)
						: check_named(v, plan, app, ret);
	if (state == DONE)
		plan->as = app->account.user;
	if (state == ENDED)
		plan_requeue_after(plan, ACCOUNT_RETRY_NS);
	return state;
}

/* --- and away --- */

struct removal {
	const struct view *v;
	struct plan *plan;
	enum ensured state;
};

/* Wherever they are: a namespace that the app has left, too. */
static bool remove_right(void *arg, struct obj *o)
{
	struct removal *x = arg;
	obj_keep(x->v->a, o);
	x->state = WAITING;
	if (!meta_is_deleting(o))
		plan_own_delete(x->plan, o);
	return true;
}

enum ensured account_remove(const struct view *v, struct plan *plan, const struct app *app)
{
	struct removal x = {v, plan, DONE};
	const char *name = rights_name(app, v->a);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!v->ops->owned(v->ops_arg, kinds[i].group, kinds[i].plural, name, remove_right,
				   &x)) {
			plan_watch(plan, &kinds[i], LABEL_APP, false);
			x.state = WAITING;
		}
	return x.state;
}

/* --- definitions --- */

bool account_may_define(const struct app *app, const struct obj *crd, const struct obj *live,
			struct arena *a, const char **ret_why, const char **ret_step)
{
	const char *name = meta_name(crd), *group = obj_str(crd, "spec.group");
	const char *owner = live ? meta_annotation(live, ANNOTATION_OWNER) : NULL;
	*ret_step = NULL;
	if (group && crd_group_is_ours(group)) {
		*ret_why = arena_fmt(a, "CRD %s: group %s is ALM's own", name, group);
		return false;
	}
	if (!app->account.is_default)
		return true; /* the server decides */
	if (group && crd_group_is_reserved(group)) {
		*ret_why = arena_fmt(a,
				     "CRD %s: group %s is reserved; it takes an account that "
				     "may, see spec.serviceAccountName",
				     name, group);
		return false;
	}
	if (!live || cstr_eq(owner, app->self_ref) || cstr_eq(owner, OWNER_ANYBODY))
		return true;
	*ret_why = owner ? arena_fmt(a, "CRD %s is marked for %s, not for %s", name, owner,
				     app->self_ref)
			 : arena_fmt(a, "CRD %s was there before and is marked for nobody", name);
	*ret_step = nextstep_new(a, NULL, "kubectl annotate crd %s " ANNOTATION_OWNER "=%s%s", name,
				 app->self_ref, owner ? " --overwrite" : "");
	return false;
}

uint64_t account_rights_version(const struct view *v)
{
	uint64_t n = 1;
	for (size_t i = 0; v->ops->owned_version && i < ARRAY_LEN(kinds); i++)
		n += v->ops->owned_version(v->ops_arg, kinds[i].group, kinds[i].plural);
	return n;
}
