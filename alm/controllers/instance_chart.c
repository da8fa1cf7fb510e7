/*
 * The chart that an instance of a resource in place names: it becomes an AppType (app/instance_app.h), whose state the
 * instance's status tells. The key is one instance: "PLURAL.GROUP/NAMESPACE/NAME". The informer keeps metadata alone, so
 * the object is read live.
 */
#include <string.h>

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/instance_app.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/diff.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

#define UNKNOWN_RETRY_NS (5 * NS_PER_S) /* until the instances of a kind are listed */

struct instance {
	const struct view *v;
	struct plan *plan;
	const char *key;
	struct instance_key names;
	const struct resource *resource;
	const struct obj *crd;      /* NULL: gone */
	const struct obj *metadata; /* NULL: it is gone */
	const struct obj *app;      /* what was made of it; NULL: nothing */
	const struct obj *taken;    /* another AppType of that name */
	const struct obj *parent;   /* NULL: nobody offers the resource any more */
	const struct obj *declared; /* its row of spec.resources */
};

/* --- what is there --- */

static void find_parent(struct instance *i)
{
	const char *owner = meta_annotation(i->crd, ANNOTATION_OWNER);
	struct str name, type;
	if (!owner || !str_cut(str_of(owner), '.', &name, &type))
		return;
	const struct obj *app =
		view_get(i->v, WATCH_APPTYPE, arena_strndup(i->v->a, name.ptr, name.len));
	const struct obj *list = obj_path(app, "spec.resources");
	if (!app || meta_is_deleting(app) || !cstr_eq(app_self_ref(app, i->v->a), owner))
		return;
	for (size_t k = 0; k < obj_len(list); k++)
		if (cstr_eq(obj_str(obj_at(list, k), "name"), i->names.crd)) {
			i->parent = app;
			i->declared = obj_at(list, k);
		}
}

/* 1: all is known; 0: not yet. */
static int look(struct instance *i)
{
	const struct view *v = i->v;
	struct obj *o = NULL;
	const struct obj *app = view_get(v, WATCH_APPTYPE, instance_app_name(i->key, v->a));
	if (app && cstr_eq(instance_of(app), i->key))
		i->app = app;
	else
		i->taken = app;
	i->crd = view_crd(v, i->names.crd);
	if (!i->crd)
		return 1;
	int found = v->ops->instance(v->ops_arg, i->names.crd, i->names.ns, i->names.name,
				     &i->resource, &o);
	i->metadata = o ? obj_keep(v->a, o) : NULL;
	find_parent(i);
	return found >= 0;
}

/* 1: *ret is the object as it is now, NULL: it is gone. 0: asked for. */
static int read_live(const struct instance *i, const char *id, const struct obj **ret)
{
	const struct outcome *done = view_outcome(i->v, id);
	if (done && !done->code && outcome_is_younger(done, i->v->now_ns, SURVEY_AGE_NS)) {
		*ret = obj_get(done->value, "object");
		if (!*ret || meta_generation(*ret) >= meta_generation(i->metadata))
			return 1;
	}
	struct obj *rows = obj_list(), *o = obj_map();
	obj_set_str(o, "key", "object");
	obj_set_str(o, "group", i->resource->group);
	obj_set_str(o, "version", i->resource->version);
	obj_set_str(o, "kind", i->resource->kind);
	obj_set_str(o, "namespace", i->names.ns ? i->names.ns : "");
	obj_set_str(o, "name", i->names.name);
	obj_append(rows, o);
	plan_app_work(i->plan, &survey_work, id)->body = obj_keep(i->v->a, rows);
	return 0;
}

/* The instance is read and its status written as the account of the app that brought the resource: the only one that
 * has these rights. */
static const char *account_of_parent(const struct instance *i)
{
	struct app app = {.o = i->parent, .name = meta_name(i->parent)};
	app.install_namespace = obj_str(i->parent, "spec.installNamespace");
	if (!app.install_namespace)
		app.install_namespace = app.name;
	account_of(&app, i->v->a);
	return app.account.user;
}

/* --- what is told --- */

static struct condition ready_of(const struct instance *i, const char *problem)
{
	struct condition c = {.type = "Ready", .status = "False", .reason = "Invalid"};
	if (problem) {
		c.message = problem;
	} else if (i->taken) {
		c.reason = "NameTaken";
		c.message = arena_fmt(i->v->a, "AppType %s was not made of this object",
				      meta_name(i->taken));
	} else if (!i->app || !condition_get(i->app, "Ready", &c)) {
		c.reason = "Pending";
		c.message = "its AppType is being made";
	}
	c.observed_generation = meta_generation(i->metadata);
	return c;
}

static const struct obj *outputs_of_chart(const struct instance *i)
{
	static const struct resource configmaps = {.group = "",
						   .version = "v1",
						   .plural = "configmaps",
						   .kind = "ConfigMap",
						   .namespaced = true};
	const struct obj *o = NULL;
	const char *name = arena_fmt(i->v->a, "%s-outputs", meta_name(i->app));
	int found = view_live(i->v, &configmaps, i->names.ns, name, &o);
	if (found < 0)
		plan_watch(i->plan, &configmaps, LABEL_APP, false);
	return found > 0 && cstr_eq(meta_label(o, LABEL_APP), meta_name(i->app))
		       ? obj_get(o, "data")
		       : NULL;
}

static void tell_app(const struct instance *i, const struct obj *live, struct obj *status)
{
	const char *version = obj_str(i->app, "status.installedVersion");
	obj_set_str(status, "appType", meta_name(i->app));
	if (!version)
		return;
	obj_set_str(status, "installedVersion", version);
	obj_set(status, "outputs",
		instance_outputs(obj_get(i->declared, "outputs"), outputs_of_chart(i),
				 obj_path(live, "spec.helmChart.values")));
}

/* What others have written there stays theirs. */
static struct obj *status_of(const struct instance *i, const struct obj *live, const char *problem)
{
	const struct obj *before = obj_get(live, "status");
	struct obj *status = obj_copy_map(before);
	struct obj *conditions = obj_copy_list(obj_get(before, "conditions"));
	if (instance_is_app(live)) {
		struct condition c = ready_of(i, problem);
		condition_set(conditions, &c, i->v->now_ns);
		if (i->app)
			tell_app(i, live, status);
	} else {
		static const char *const ours[] = {"appType", "installedVersion", "outputs"};
		condition_remove(conditions, "Ready");
		for (size_t k = 0; k < ARRAY_LEN(ours); k++)
			obj_del(status, ours[k]);
	}
	obj_set(status, "conditions", conditions);
	return status;
}

static void tell(const struct instance *i, const struct obj *live, const char *problem)
{
	struct obj *status = obj_keep(i->v->a, status_of(i, live, problem));
	struct obj *changes = diff_merge_patch(obj_get(live, "status"), status);
	if (!changes)
		return;
	struct obj *patch = obj_map();
	obj_set(patch, "status", changes);
	plan_patch(i->plan, live, patch)->subresource = "status";
}

/* --- what is done --- */

/* What a person has changed of it is put back; what he asks of it besides (an approval, a pause) is his. */
static void follow(const struct instance *i, const struct obj *want)
{
	static const char *const fields[] = {"spec.installNamespace", "spec.operator",
					     "spec.upgrade.mode"};
	struct obj *patch = obj_map();
	bool differs = false;
	for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
		struct obj *x =
			diff_merge_patch(obj_path(i->app, fields[k]), obj_path(want, fields[k]));
		if (x)
			obj_set_path(patch, fields[k], x);
		differs = differs || x;
	}
	if (differs)
		plan_own_patch(i->plan, i->app, patch);
	else
		obj_unref(patch);
}

static int instance_chart(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)err;
	struct instance i = {.v = v, .plan = plan, .key = key};
	const struct obj *live;
	if (!instance_key_read(key, v->a, &i.names))
		return STEP_STOP;
	if (!look(&i)) {
		if (i.app)
			plan_requeue_after(plan, UNKNOWN_RETRY_NS);
		return STEP_STOP;
	}
	if (i.app && meta_is_deleting(i.app))
		return STEP_STOP; /* its end brings the key back */
	if (!i.metadata) {
		if (i.app)
			plan_own_delete(plan, i.app);
		return STEP_STOP;
	}
	if (!i.parent || meta_is_deleting(i.metadata))
		return STEP_STOP; /* what runs goes on */
	const char *id = arena_fmt(v->a, "instance-chart:%s", key);
	plan->as = account_of_parent(&i);
	if (!read_live(&i, id, &live) || !live)
		return STEP_STOP;
	plan_add(plan, ACT_FORGET)->id = id;
	bool is_app = instance_is_app(live);
	const char *problem = is_app ? instance_problem(live, v->a) : NULL;
	if (is_app && !problem && !i.taken) {
		struct obj *want = instance_app(live, key, i.parent, i.declared, v->a);
		if (i.app)
			follow(&i, obj_keep(v->a, want));
		else
			plan_own_create(plan, want);
	}
	if (!is_app && i.app)
		plan_own_delete(plan, i.app);
	if (is_app || obj_str(live, "status.appType"))
		tell(&i, live, problem);
	return STEP_STOP;
}

/* --- who brings it back --- */

static const char *key_of_app(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	const char *key = instance_of(o);
	return key ? arena_strdup(a, key) : NULL;
}

static const char *key_of_owned(const struct view *v, const struct obj *o, struct arena *a)
{
	const char *name = meta_label(o, LABEL_APP);
	if (!cstr_eq(meta_kind(o), "ConfigMap") || !name)
		return NULL;
	const struct obj *app = view_get(v, WATCH_APPTYPE, name);
	return app ? key_of_app(v, app, a) : NULL;
}

/* One that offers resources in place: all instances of these. */
static const char *key_of_parent(const struct view *v, const struct obj *o, struct arena *a)
{
	(void)v;
	return obj_len(obj_path(o, "spec.resources")) ? app_self_ref(o, a) : NULL;
}

static const struct watch_rule watches[] = {
	{WATCH_APPTYPE, key_of_app, MEANS_KEY},
	{WATCH_APPTYPE, key_of_parent, MEANS_INSTANCES},
	{WATCH_OWNED, key_of_owned, MEANS_KEY},
	{0},
};

static const struct step steps[] = {
	{"chart", instance_chart},
	{0},
};

const struct controller instance_chart_controller = {
	.name = "instancechart", .watches = watches, .steps = steps};
