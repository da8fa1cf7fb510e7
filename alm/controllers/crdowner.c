/*
 * Loop 2: a CRD annotated with an owner finds its AppType, or brings the highest installable
 * version that provides it (lifecycle.md 5). The ownerReference to the AppType never stands alone:
 * a second one to Namespace kube-system keeps foreground deletion from taking every custom resource
 * (lifecycle.md 8).
 */
#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "crds/kinds.h"

#define CONDITION_TYPE   "app.coreos.com/Resolved"
#define REFUSED_RETRY_NS NS_PER_MIN

struct crd_pass {
	const struct obj *crd;
	const char *owner;         /* NAME.TYPE, or "alm" */
	const struct obj *apptype; /* with that selfRef, or NULL */
	bool released;             /* left behind, and nobody looks for another */
	const char *status, *reason, *message;
};

static bool is_refused(const struct obj *apptype)
{
	return !obj_str(apptype, "status.installedVersion") &&
	       condition_is(apptype, "Resolved", "False");
}

static struct crd_pass *pass(const struct view *v)
{
	return *v->pass;
}

/* A selfRef is the name, a dot and the type, and both may have dots. */
static const struct obj *find_app(const struct view *v, const char *self_ref)
{
	for (const char *p = strchr(self_ref, '.'); p; p = strchr(p + 1, '.')) {
		const char *name = arena_strndup(v->a, self_ref, (size_t)(p - self_ref));
		const struct obj *o = view_get(v, WATCH_APPTYPE, name);
		if (o && !strcmp(app_self_ref(o, v->a), self_ref))
			return o;
	}
	return NULL;
}

/* What was seen must still be so: a patch of nothing, refused when the object is newer or gone. It
 * stands before what a stale view must not do. */
static void plan_check(struct plan *plan, const struct obj *seen)
{
	struct obj *nothing = obj_map();
	obj_set(nothing, "metadata", obj_map());
	plan_own_patch(plan, seen, nothing);
}

static void plan_owners(const struct view *v, struct crd_pass *p, struct plan *plan)
{
	const struct obj *system = view_get(v, WATCH_NAMESPACE, "kube-system");
	bool released = meta_annotation(p->crd, ANNOTATION_RELEASED) != NULL;
	if (!system || (meta_is_owned_by(p->crd, meta_uid(p->apptype)) &&
			meta_is_owned_by(p->crd, meta_uid(system)) && !released))
		return;
	struct obj *copy = obj_keep(v->a, obj_copy(p->crd)), *patch = obj_map();
	struct owner_ref owner = {.api_version = meta_api_version(p->apptype),
				  .kind = meta_kind(p->apptype),
				  .name = meta_name(p->apptype),
				  .uid = meta_uid(p->apptype)};
	struct owner_ref second = {.api_version = "v1",
				   .kind = "Namespace",
				   .name = "kube-system",
				   .uid = meta_uid(system)};
	meta_add_owner(copy, &owner);
	meta_add_owner(copy, &second);
	obj_set_path(patch, "metadata.ownerReferences",
		     obj_ref(obj_path(copy, "metadata.ownerReferences")));
	if (released) {
		struct obj *annotations = obj_map();
		plan_check(plan, p->apptype);
		obj_set(annotations, ANNOTATION_RELEASED, obj_null());
		obj_set_path(patch, "metadata.annotations", annotations);
	}
	plan_own_patch(plan, p->crd, patch);
}

/* What its app said of it is over with the app. The last reconcile before the AppType is deleted is
 * that of the mark itself, so it is reported then. */
static int tell_released(struct crd_pass *p)
{
	struct condition was;
	p->released = true;
	p->status = "False";
	p->reason = "Released";
	p->message = "its app was deleted and has left it behind; an AppType of that name takes it "
		     "again";
	return condition_get(p->crd, CONDITION_TYPE, &was) ? STEP_CONTINUE : STEP_STOP;
}

/* Of an app that nothing can be installed of, the CRD says why nobody serves its objects. */
static void tell_refused(const struct view *v, struct crd_pass *p, struct plan *plan)
{
	struct condition c;
	if (!is_refused(p->apptype) || !condition_get(p->apptype, "Resolved", &c))
		return;
	p->status = "False";
	p->reason = "NotInstallable";
	p->message =
		arena_fmt(v->a, "AppType %s: %s: %s", meta_name(p->apptype), c.reason, c.message);
	plan_requeue_after(plan, REFUSED_RETRY_NS);
}

/* A released CRD is adopted again only by an app made by a person. */
static int crdowner_match(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)err;
	const struct obj *crd = view_crd(v, key);
	const char *owner = crd ? meta_annotation(crd, ANNOTATION_OWNER) : NULL;
	if (!owner || meta_is_deleting(crd) || crd_group_is_ours(obj_str(crd, "spec.group")))
		return STEP_STOP; /* ours belong to no app, whatever is written on them */
	struct crd_pass *p = ARENA_NEW(v->a, struct crd_pass);
	*v->pass = p;
	p->crd = crd;
	p->owner = owner;
	p->apptype = find_app(v, owner);
	bool leaves = !p->apptype || meta_is_deleting(p->apptype);
	if (leaves && meta_annotation(crd, ANNOTATION_RELEASED))
		return tell_released(p);
	if (p->apptype && meta_is_deleting(p->apptype))
		return STEP_STOP;
	if (!p->apptype)
		return STEP_CONTINUE;
	plan_owners(v, p, plan);
	p->status = "True";
	p->reason = "Installed";
	p->message = arena_fmt(v->a, "owned by AppType %s", meta_name(p->apptype));
	tell_refused(v, p, plan);
	return STEP_CONTINUE;
}

static const char *served_resource(const struct view *v, const struct obj *crd)
{
	struct error err;
	size_t n = 0;
	const char **all = NULL;
	if (package_crd_resources(crd, v->a, &all, &n, &err) < 0 || !n)
		return meta_name(crd);
	return all[0];
}

/* "community, 1 package, 2 versions" for each catalog that was asked. */
static const char *asked(const struct view *v)
{
	const char *text = "";
	for (size_t i = 0; i < v->shared->n_indexes; i++) {
		const struct catalog_index *x = v->shared->indexes[i];
		text = arena_fmt(v->a, "%s%s%s, %zu package%s, %zu version%s", text,
				 *text ? "; " : "", x->name, x->n_packages,
				 x->n_packages == 1 ? "" : "s", x->n, x->n == 1 ? "" : "s");
	}
	return *text ? text : "no catalog";
}

/* The app type whose highest installable version provides this CRD; NULL with p->reason set. */
static const char *find_provider(const struct view *v, struct crd_pass *p)
{
	struct resolve_provider found;
	struct resolution r;
	const struct resolve_input ask = {.app = "",
					  .self_ref = "",
					  .indexes = v->shared->indexes,
					  .n_indexes = v->shared->n_indexes,
					  .now_ns = v->now_ns};
	resolve_find_provider(&ask, meta_name(p->crd), strcmp(p->owner, "alm") ? p->owner : NULL,
			      v->a, &found);
	p->reason = found.reason;
	p->message = found.message;
	if (!found.package && !strcmp(found.reason, "NoPackageProvides"))
		p->message = arena_fmt(v->a, "no catalog provides %s (asked: %s)",
				       served_resource(v, p->crd), asked(v));
	if (!found.package)
		return NULL;
	resolve_run(app_input_new(v, found.app_type, found.package), v->a, &r);
	if (r.chosen)
		return found.app_type;
	p->reason = "NotInstallable";
	p->message = arena_fmt(v->a, "%s: %s", r.reason, r.message);
	return NULL;
}

static int crdowner_install(const struct view *v, const char *key, struct plan *plan,
			    struct error *err)
{
	(void)key;
	(void)err;
	struct crd_pass *p = pass(v);
	if (p->apptype || p->released)
		return STEP_CONTINUE;
	p->status = "False";
	const char *self_ref = find_provider(v, p);
	if (!self_ref)
		return STEP_CONTINUE;
	const char *dot = strchr(self_ref, '.');
	if (!dot || dot == self_ref) {
		p->reason = "OwnerUnknown";
		p->message = arena_fmt(v->a, "%s is no NAME.TYPE", self_ref);
		return STEP_CONTINUE;
	}
	const char *name = arena_strndup(v->a, self_ref, (size_t)(dot - self_ref));
	if (view_get(v, WATCH_APPTYPE, name)) {
		p->reason = "OwnerUnknown";
		p->message = arena_fmt(v->a, "AppType %s exists with another type than %s", name,
				       dot + 1);
		return STEP_CONTINUE;
	}
	struct obj *o = meta_skeleton("app.coreos.com/v1beta1", "AppType", NULL, name);
	meta_set_annotation(o, ANNOTATION_REQUIRED_BY, meta_name(p->crd));
	obj_set_path(o, "spec.type", obj_string(dot + 1));
	plan_check(plan, p->crd); /* it may have been released meanwhile */
	plan_own_create(plan, o);
	p->reason = "NotInstallable";
	p->message = arena_fmt(v->a, "AppType %s is being created", name);
	return STEP_CONTINUE;
}

static int crdowner_status(const struct view *v, const char *key, struct plan *plan,
			   struct error *err)
{
	(void)key;
	(void)err;
	struct crd_pass *p = pass(v);
	const struct obj *old = obj_path(p->crd, "status.conditions");
	struct obj *list = obj_copy_list(old);
	struct condition c = {.type = CONDITION_TYPE,
			      .status = p->status,
			      .reason = p->reason,
			      .message = p->message};
	if (!condition_set(list, &c, v->now_ns)) {
		obj_unref(list);
		return STEP_CONTINUE;
	}
	struct obj *patch = obj_map();
	obj_set(patch, "status", obj_map());
	obj_set_path(patch, "status.conditions", list);
	plan_own_patch(plan, p->crd, patch);
	struct action *x = CONTAINER_OF(plan->tail, struct action, next);
	x->subresource = "status";
	x->reason = p->reason;
	x->message = p->message;
	bool bad = strcmp(p->status, "True") != 0 && !p->released;
	x->event_type = bad ? "Warning" : "Normal";
	x->subject = p->crd;
	return STEP_CONTINUE;
}

/* Only what the CRDs cannot tell: that the app they wait for is there, is refused, or is ready again,
 * which may write none of them. What it is in between is not for them. */
static const char *key_of_new_app(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	bool between = obj_has(o, "status") && !is_refused(o) && !condition_is(o, "Ready", "True");
	return between ? NULL : app_self_ref(o, a);
}

/* clang-format off */
static const struct watch_rule watches[] = {
	{WATCH_CRD,     key_self,       MEANS_KEY},
	{WATCH_APPTYPE, key_of_new_app, MEANS_CRDS},
	{0},
};
/* clang-format on */

static const struct step steps[] = {
	{"match", crdowner_match},     /* an app with that selfRef: set owners */
	{"install", crdowner_install}, /* else the AppType of a package that provides it */
	{"status", crdowner_status},   /* condition on the CRD */
	{0},
};

const struct controller crdowner_controller = {
	.name = "crdowner", .watches = watches, .steps = steps};
