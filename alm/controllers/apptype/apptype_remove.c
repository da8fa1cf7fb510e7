/* Removal of an app (lifecycle.md 8): what any applied plan lists is deleted, in reverse install
 * order; CRDs are released, never deleted; the entry comes before the finalizer is removed. */
#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/account.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/apptype/crds_remove.h"
#include "alm/controllers/apptype/trouble.h"
#include "alm/controllers/apptype/uninstall.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static bool has_run_hooks(const struct app *app, const struct obj *hooks)
{
	return obj_len(hooks) || obj_len(obj_path(app->o, "status.hooks"));
}

/* What the removal waits for; without hooks it is over before anybody could read it. */
static void tell(const struct uninstall *u)
{
	const struct app *app = u->app;
	struct obj *status = obj_copy_map(obj_get(app->o, "status"));
	struct obj *list = obj_copy_list(obj_get(status, "conditions"));
	struct condition ready = {.type = "Ready",
				  .status = "False",
				  .reason = "Deleting",
				  .message = u->why ? u->why : "",
				  .observed_generation = meta_generation(app->o)};
	struct condition blocked = ready, was;
	blocked.type = "DeletionBlocked";
	blocked.reason = u->reason ? u->reason : "";
	blocked.status = "True";
	const char *state = condition_get(app->o, "Ready", &was) ? was.reason : "";
	condition_set(list, &ready, u->v->now_ns);
	if (u->blocked)
		condition_set(list, &blocked, u->v->now_ns);
	else
		condition_remove(list, "DeletionBlocked");
	obj_set(status, "conditions", list);
	obj_set(status, "hooks", obj_ref(u->hooks));
	struct action *x = status_plan(u->plan, app->o, status, state, "Deleting", ready.message);
	if (!x)
		return;
	x->chain = app->name;
	if (u->blocked)
		x->event_type = "Warning";
}

/* The CRDs that the app's plans have brought, with the revision that the cache has of each. */
static struct obj *brought_crds(const struct view *v, const struct app *app, struct plan *plan)
{
	struct obj *rows = obj_keep(v->a, obj_list());
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		const struct obj *doc =
			s->revision ? install_plan_stored(v, s->name, s->revision, NULL) : NULL;
		struct install_plan *p = doc ? install_plan_load(v, doc, plan) : NULL;
		for (size_t k = 0; p && k < p->n; k++) {
			const char *name = p->entries[k].name;
			if (!p->entries[k].is_crd)
				continue;
			const struct obj *seen = view_crd(v, name);
			struct obj *row = obj_map();
			obj_set_str(row, "key", name);
			obj_set_str(row, "group", "apiextensions.k8s.io");
			obj_set_str(row, "version", "v1");
			obj_set_str(row, "kind", "CustomResourceDefinition");
			obj_set_str(row, "name", name);
			obj_set_str(row, "seen", seen ? meta_resource_version(seen) : "");
			obj_append(rows, row);
		}
	}
	return rows;
}

/* A list from the past may lack a CRD, and nobody would release it once the app is gone: each is
 * read live, and the cache must show the same. */
static enum ensured ensure_crds_seen(const struct view *v, const struct app *app, struct plan *plan)
{
	char hex[SHA256_HEX];
	const struct obj *rows = brought_crds(v, app, plan);
	json_digest(rows, hex);
	const char *id = arena_fmt(v->a, "survey:%s:%s", meta_uid(app->o), hex);
	const struct outcome *o = view_outcome(v, id);
	int64_t age = o ? v->now_ns - o->at_ns : 0;
	if (obj_len(rows) && (!o || o->code || age < 0 || age > SURVEY_AGE_NS)) {
		struct action *x = plan_work(plan, &survey_work, id);
		x->body = rows;
		return WAITING;
	}
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *row = obj_at(rows, i);
		assert(o);
		const struct obj *live = obj_get(o->value, obj_str(row, "key"));
		if (obj_type(live) == OBJ_MAP &&
		    !cstr_eq(meta_resource_version(live), obj_str(row, "seen"))) {
			plan_requeue_after(plan, SURVEY_AGE_NS);
			return WAITING;
		}
	}
	return DONE;
}

/* The CRD forgets its owner but for the annotation, and is marked so that loop 2 leaves it alone.
 */
static enum ensured release_crds(const struct view *v, struct app *app, struct plan *plan)
{
	size_t n;
	enum ensured state = DONE;
	const struct obj *const *crds = view_list(v, WATCH_CRD, app->self_ref, &n);
	for (size_t i = 0; i < n; i++) {
		if (!cstr_eq(meta_annotation(crds[i], ANNOTATION_OWNER), app->self_ref) ||
		    (meta_annotation(crds[i], ANNOTATION_RELEASED) &&
		     !meta_is_owned_by(crds[i], meta_uid(app->o))))
			continue;
		struct obj *copy = obj_keep(v->a, obj_copy(crds[i])), *patch = obj_map();
		struct obj *annotations = obj_map();
		meta_remove_owner(copy, meta_uid(app->o));
		const struct obj *owners = obj_path(copy, "metadata.ownerReferences");
		obj_set_str(annotations, ANNOTATION_RELEASED, app->self_ref);
		obj_set(patch, "metadata", obj_map());
		obj_set_path(patch, "metadata.annotations", annotations);
		obj_set_path(patch, "metadata.ownerReferences",
			     owners ? obj_ref(owners) : obj_null());
		plan_own_patch(plan, crds[i], patch);
		state = WAITING;
	}
	return state;
}

int apptype_remove(const struct view *v, struct app *app, struct plan *plan)
{
	if (!meta_has_finalizer(app->o, APP_FINALIZER))
		return STEP_STOP;
	struct action *asked =
		plan_row(plan, "Observe", app->o, "DeletionAsked",
			 arena_fmt(v->a, "deletion %s", meta_uid(app->o)), obj_map());
	asked->chain = app->name;
	asked->touches = "metadata.deletionTimestamp";
	struct uninstall u = {.v = v, .plan = plan, .app = app};
	u.hooks = obj_keep(v->a, obj_copy_list(obj_path(app->o, "status.hooks")));
	bool done = uninstall_ensure(&u) == DONE;
	bool told = condition_is(app->o, "DeletionBlocked", "True");
	if (!done && !u.blocked && trouble_await_deletion(v, app, plan) == DONE) {
		u.blocked = true;
		u.reason = "FinalizerHeld";
	}
	if ((told || u.blocked || has_run_hooks(app, u.hooks)) && !done)
		tell(&u);
	if (!done || ensure_crds_seen(v, app, plan) == WAITING ||
	    release_crds(v, app, plan) == WAITING || account_remove(v, plan, app) == WAITING)
		return STEP_STOP;
	for (size_t i = 0; i < app->n; i++)
		if (!meta_is_deleting(app->strategies[i].o))
			plan_own_delete(plan, app->strategies[i].o);
	if (app->n)
		return STEP_STOP;
	struct obj *patch = obj_map();
	const struct obj *old = obj_get(app->o, "status");
	const char *crds = crds_removed(app->o, v->a);
	struct action *x = plan_status(
		plan, app->o, obj_copy_map(old), "Deleted",
		crds ? arena_fmt(v->a, "the operator is gone, and so are the CRDs named: %s", crds)
		     : "the operator is gone; CRDs and custom resources stay");
	x->chain = app->name;
	x->row_only = true;
	x->event_type = "Normal";
	struct obj *copy = obj_keep(v->a, obj_copy(app->o));
	meta_remove_finalizer(copy, APP_FINALIZER);
	const struct obj *left = obj_path(copy, "metadata.finalizers");
	obj_set_path(patch, "metadata.finalizers", left ? obj_ref(left) : obj_null());
	plan_own_patch(plan, app->o, patch);
	return STEP_STOP;
}
