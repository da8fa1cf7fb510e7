/*
 * The AppType controller: adopt, resolve, decide, and the status that says it all
 * (lifecycle.md 4.1, 5). Removal is in apptype_remove.c, the status in apptype_status.c.
 */
#include <string.h>

#include "alm/base/hash.h"
#include "alm/controllers/app/asks.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/app/spec_seen.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_decision.h"
#include "catalog/resolve/resolve_record.h"
#include "crds/defaults.h"

static int apptype_adopt(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	struct app *app = app_load(v, key);
	*v->pass = app;
	if (!app)
		return STEP_STOP;
	plan->chain = app->name;
	if (app->deleting)
		return apptype_remove(v, app, plan);
	if (is_older_than_log(v, app->o)) {
		plan_redo(plan, app->o);
		return STEP_STOP;
	}
	if (app_check_age(v, app, NULL, err) < 0)
		return -err->code;
	if (meta_has_finalizer(app->o, APP_FINALIZER))
		return STEP_CONTINUE;
	struct obj *copy = obj_keep(v->a, obj_copy(app->o)), *patch = obj_map();
	meta_add_finalizer(copy, APP_FINALIZER);
	obj_set_path(patch, "metadata.finalizers", obj_ref(obj_path(copy, "metadata.finalizers")));
	plan_own_patch(plan, app->o, patch);
	return STEP_STOP;
}

static void decision_row(const struct view *v, const struct app *app, struct plan *plan)
{
	struct resolve_decision d;
	resolve_decision(&app->in, &app->resolution, v->a, &d);
	if (!d.reason)
		return;
	struct action *x = plan_row(plan, "Decision", app->o, d.reason, d.key, d.body);
	x->chain = app->name;
	struct obj *inputs = resolve_record(&app->in, v->a);
	x->inputs = inputs ? obj_keep(v->a, inputs) : NULL;
	if (app->resolution.catalog)
		x->also_chain = arena_fmt(v->a, "catalog:%s", app->resolution.catalog);
}

static int apptype_resolve(const struct view *v, const char *key, struct plan *plan,
			   struct error *err)
{
	(void)key;
	(void)err;
	struct app *app = apptype_pass(v);
	int64_t generation = meta_generation(app->o);
	if (obj_i64(app->o, "status.observedGeneration", 0) != generation) {
		struct obj *body = obj_map();
		obj_set(body, "asked", asks_of(app));
		struct action *x = spec_seen_row(
			v, plan, app->o, arena_fmt(v->a, "generation %lld", (long long)generation),
			body);
		x->chain = app->name;
		x->touches = "spec.";
		asks_plan(v, app, plan);
	}
	if (!app->resolution.not_ready)
		decision_row(v, app, plan);
	return STEP_CONTINUE;
}

static struct obj *new_strategy(const struct view *v, const struct app *app,
				const struct candidate *c)
{
	const char *name = strategy_name(c->version, app->self_ref, v->a);
	struct obj *o =
		meta_skeleton("opinstaller.coreos.com/v1beta1", "InstallStrategy", NULL, name);
	struct obj *spec = obj_map(), *strategy = obj_map(), *resources = obj_list();
	struct owner_ref owner = {.api_version = meta_api_version(app->o),
				  .kind = meta_kind(app->o),
				  .name = app->name,
				  .uid = meta_uid(app->o),
				  .controller = true};
	meta_set_label(o, LABEL_APP, app->name);
	meta_set_annotation(o, ANNOTATION_MADE_BY, "alm");
	meta_add_finalizer(o, STRATEGY_FINALIZER);
	meta_add_owner(o, &owner);
	obj_set_str(strategy, "type", "helm");
	obj_set_str(strategy, "helmChart", c->entry->package);
	obj_set_str(strategy, "sha256", c->entry->digest);
	for (size_t i = 0; i < c->entry->n_provides; i++)
		obj_append(resources, obj_string(c->entry->provides[i]));
	obj_set(o, "spec", spec);
	obj_set(spec, "appTypeRef", obj_map());
	obj_set_path(o, "spec.appTypeRef.name", obj_string(app->name));
	obj_set_str(spec, "version", c->version);
	if (app->installed)
		obj_set_str(spec, "replaces", app->installed->version);
	obj_set(spec, "strategy", strategy);
	obj_set(spec, "resources", resources);
	if (c->entry->requirements)
		obj_set(spec, "requirements", obj_ref(c->entry->requirements));
	return o;
}

/* One unfinished strategy of ours at a time; a waiting one steps aside by itself (strategy_plan.c).
 */
static bool another_is_unfinished(const struct app *app, const char *version)
{
	for (size_t i = 0; i < app->n; i++)
		if (strcmp(app->strategies[i].version, version) != 0 &&
		    (phase_is_unfinished(app->strategies[i].phase) ||
		     app->strategies[i].phase == PHASE_NEW))
			return true;
	return false;
}

/* `--retry` is used up once its version runs again: another failure counts. */
static void end_retry(const struct app *app, struct plan *plan)
{
	const char *version = meta_annotation(app->o, ANNOTATION_RETRY);
	const struct strategy_ref *s = version ? app_strategy(app, version) : NULL;
	if (!s || (s->phase != PHASE_INSTALLING && s->phase != PHASE_VERIFYING))
		return;
	struct obj *patch = obj_map(), *annotations = obj_map();
	obj_set(annotations, ANNOTATION_RETRY, obj_null());
	obj_set_path(patch, "metadata.annotations", annotations);
	plan_own_patch(plan, app->o, patch);
}

/* An added dependency is an AppType of its own, with the asking app's mode (lifecycle.md 2.4). */
static void add_dependencies(const struct view *v, const struct app *app, const struct candidate *c,
			     struct plan *plan)
{
	for (size_t i = 0; i < c->n_dependencies; i++) {
		const struct dependency *d = &c->dependencies[i];
		const char *dot = d->self_ref ? strchr(d->self_ref, '.') : NULL;
		if (!d->add || !dot || view_get(v, WATCH_APPTYPE, d->app))
			continue;
		struct obj *o = meta_skeleton("app.coreos.com/v1beta1", "AppType", NULL, d->app);
		meta_set_annotation(o, ANNOTATION_REQUIRED_BY, app->name);
		obj_set_path(o, "spec.type", obj_string(dot + 1));
		obj_set_path(o, "spec.package", obj_string(d->package));
		obj_set_path(o, "spec.upgrade.mode", obj_string(app->mode));
		if (d->range)
			obj_set_path(o, "spec.version", obj_string(d->range));
		plan_own_create(plan, o);
	}
}

static int apptype_decide(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)key;
	(void)err;
	struct app *app = apptype_pass(v);
	if (app->resolution.until_ns)
		plan_requeue_after(plan, app->resolution.until_ns - v->now_ns);
	end_retry(app, plan);
	const struct candidate *c = app->next ? app_candidate(app, app->next) : NULL;
	if (!c || c->manual || !c->entry || app->busy || another_is_unfinished(app, app->next))
		return STEP_CONTINUE;
	const struct strategy_ref *s = app_strategy(app, app->next);
	add_dependencies(v, app, c, plan);
	if (!s) {
		plan_own_create(plan, new_strategy(v, app, c));
	} else if (s->by_alm && !cstr_eq(s->sha256, c->entry->digest) && !meta_is_deleting(s->o) &&
		   s != app->installed && !phase_is_busy(s->phase)) {
		plan_own_delete(plan, s->o); /* the same version with another archive: made again */
	}
	return STEP_CONTINUE;
}

/* History beyond historyLimit is deleted, oldest first; the last one before the installed stays for
 * rollback. */
static int apptype_retire(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)v;
	(void)key;
	(void)err;
	struct app *app = apptype_pass(v);
	int64_t limit = obj_i64(app->o, "spec.historyLimit", APPTYPE_HISTORY_LIMIT), n = 0;
	const struct strategy_ref *oldest = NULL;
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		if (s->phase != PHASE_SUPERSEDED || meta_is_deleting(s->o))
			continue;
		n++;
		if (!oldest || s->revision < oldest->revision)
			oldest = s;
	}
	if (n > limit && oldest)
		plan_own_delete(plan, oldest->o);
	return STEP_CONTINUE;
}

/* clang-format off */
static const struct watch_rule watches[] = {
	{WATCH_APPTYPE,  key_self,      MEANS_KEY},
	{WATCH_STRATEGY, key_app_ref,   MEANS_KEY},
	{WATCH_CRD,      key_crd_owner, MEANS_KEY},
	{WATCH_INSTANCE, key_crd_owner, MEANS_KEY},
	{WATCH_OWNED,    key_app_label, MEANS_KEY},
	{WATCH_CATALOG,  key_app_label, MEANS_KEY},
	{0},
};
/* clang-format on */

static const struct step steps[] = {
	{"adopt", apptype_adopt},     /* finalizer; deletion undoes */
	{"inplace", apptype_inplace}, /* Catalog of spec.resources and spec.operator */
	{"read", apptype_read},       /* archives of candidates that only an index reported */
	{"resolve", apptype_resolve}, /* candidates, decision entries */
	{"decide", apptype_decide},   /* create the strategy whose turn it is */
	{"retire", apptype_retire},   /* history */
	{"status", apptype_status},   {0},
};

const struct controller apptype_controller = {
	.name = "apptype", .awaits_sources = true, .watches = watches, .steps = steps};
