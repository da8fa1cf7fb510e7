#include "alm/controllers/apptype/uninstall.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/controllers/app/account.h"
#include "alm/controllers/app/release_record.h"
#include "alm/controllers/apptype/crds_convert.h"
#include "alm/controllers/apptype/crds_remove.h"
#include "alm/controllers/unit/hook_run.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "installers/order.h"

#define RUN "delete"

static const struct obj *doc_of(const struct uninstall *u, const struct strategy_ref *s)
{
	return s && s->revision ? install_plan_stored(u->v, s->name, s->revision, NULL) : NULL;
}

/* A list from the past may lack a plan, and what it has applied would stay. */
static enum ensured ensure_plans_known(const struct uninstall *u)
{
	enum ensured known = DONE;
	for (size_t i = 0; i < u->app->n; i++) {
		const struct strategy_ref *s = &u->app->strategies[i];
		if (s->revision && !doc_of(u, s) &&
		    install_plan_confirm_gone(u->v, s->name, s->revision, NULL, u->plan) == WAITING)
			known = WAITING;
	}
	return known;
}

/* The plan that tells name and namespace of the release: of what is installed, else of any try. */
static const struct obj *any_doc(const struct uninstall *u)
{
	const struct obj *doc = doc_of(u, u->app->installed);
	for (size_t i = u->app->n; !doc && i-- > 0;)
		doc = doc_of(u, &u->app->strategies[i]);
	return doc;
}

/* --- objects --- */

struct doomed {
	const struct unit_entry *e;
	bool custom; /* of a CRD that the release brings */
};

static bool is_own_custom(const struct install_plan *p, const struct unit_entry *e, struct arena *a)
{
	struct gvk g = {"", "", ""};
	gvk_of(e->object, a, &g);
	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].is_crd &&
		    cstr_eq(obj_str(p->entries[i].object, "spec.group"), g.group) &&
		    cstr_eq(obj_str(p->entries[i].object, "spec.names.kind"), g.kind))
			return true;
	return false;
}

/* Which is deleted first; 0: together. */
static int doomed_cmp(const struct doomed *a, const struct doomed *b)
{
	if (a->custom || b->custom)
		return (int)b->custom - (int)a->custom;
	return order_uninstall_cmp(str_of(a->e->kind), str_of(b->e->kind));
}

/* What is still there of a plan; WAITING: not all is known. */
static enum ensured collect(struct uninstall *u, const struct obj *doc, struct doomed **list,
			    size_t *n)
{
	struct install_plan *p = install_plan_load(u->v, doc, u->plan);
	struct doomed *all = ARENA_ARRAY(u->v->a, struct doomed, *n + p->n + 1);
	enum ensured known = DONE;
	if (*n)
		memcpy(all, *list, *n * sizeof(*all));
	*list = all;
	for (size_t i = 0; i < p->n; i++) {
		const struct unit_entry *e = &p->entries[i];
		if (e->unknown)
			known = WAITING;
		if (!e->live || e->keep || install_plan_is_alm(p) ||
		    !cstr_eq(meta_label(e->live, LABEL_APP), u->app->name))
			continue;
		all[(*n)++] = (struct doomed){e, is_own_custom(p, e, u->v->a)};
	}
	return known;
}

static void tell_first(struct uninstall *u, const struct unit_entry *e)
{
	const struct outcome *x = view_refusal(u->v, e->object, e->ns);
	u->why = arena_fmt(u->v->a, "%s %s is being deleted", e->kind, e->name);
	const struct obj *held = obj_path(e->live, "metadata.finalizers");
	for (size_t i = 0; i < obj_len(held); i++)
		u->why = arena_fmt(u->v->a, "%s%s %s", u->why, i ? "," : ", held by finalizer",
				   obj_as_string(obj_at(held, i)));
	if (!x || x->code != E_FORBIDDEN)
		return;
	u->blocked = true;
	u->reason = "Forbidden";
	u->why = arena_strdup(u->v->a, x->msg);
}

static enum ensured delete_objects(struct uninstall *u)
{
	struct app *app = u->app;
	struct doomed *list = NULL;
	const struct doomed *first = NULL;
	size_t n = 0;
	enum ensured known = DONE;
	for (size_t i = 0; i < app->n; i++) {
		const struct obj *doc = doc_of(u, &app->strategies[i]);
		if (doc && collect(u, doc, &list, &n) == WAITING)
			known = WAITING;
	}
	if (known == WAITING)
		return WAITING; /* the informers bring the key back */
	for (size_t i = 0; i < n; i++)
		if (!first || doomed_cmp(&list[i], first) < 0)
			first = &list[i];
	CLEANUP(map_freep) struct map *asked =
		map_new(NULL); /* by uid: several plans may list it */
	for (size_t i = 0; first && i < n; i++) {
		const struct obj *live = list[i].e->live;
		if (doomed_cmp(&list[i], first) || meta_is_deleting(live) ||
		    map_has(asked, meta_uid(live)))
			continue;
		(void)map_set(asked, meta_uid(live), NULL);
		plan_delete(u->plan, live, "Background");
	}
	if (first)
		tell_first(u, first->e);
	return first ? WAITING : DONE;
}

/* Before the operator goes: its Services may be what its CRDs are read by. */
static enum ensured ensure_readable(struct uninstall *u)
{
	struct obj *services = obj_keep(u->v->a, obj_list());
	for (size_t i = 0; i < u->app->n; i++) {
		const struct obj *doc = doc_of(u, &u->app->strategies[i]);
		const struct install_plan *p = doc ? install_plan_load(u->v, doc, u->plan) : NULL;
		for (size_t k = 0; p && k < p->n; k++) {
			const struct unit_entry *e = &p->entries[k];
			if (!cstr_eq(e->kind, "Service"))
				continue;
			if (e->unknown)
				return WAITING; /* the informer brings the key back */
			if (!e->keep && cstr_eq(meta_label(e->live, LABEL_APP), u->app->name))
				obj_append(services, obj_stringf("%s/%s", meta_namespace(e->live),
								 meta_name(e->live)));
		}
	}
	return crds_convert_ensure(u, services);
}

/* --- hooks --- */

/* Only of a version that succeeded. */
static enum ensured run_hooks(struct uninstall *u, const char *event)
{
	const struct obj *doc = doc_of(u, u->app->installed);
	if (!doc || meta_annotation(u->app->o, ANNOTATION_NO_HOOKS))
		return DONE;
	struct hook_run h = {.v = u->v,
			     .plan = u->plan,
			     .app = u->app->name,
			     .keeps_foreign = u->app->account.is_default,
			     .owner = u->app->o,
			     .unowned = true,
			     .doc = doc,
			     .event = event,
			     .run = RUN,
			     .records = u->hooks};
	enum ensured state = hook_run(&h, &u->why);
	u->blocked = state == ENDED;
	u->reason = "HookFailed";
	if (u->blocked)
		u->why = arena_fmt(u->v->a,
				   "%s; annotate " ANNOTATION_NO_HOOKS
				   "=true to delete without hooks",
				   u->why);
	return state;
}

/* Helm never deletes what its hooks leave. */
static enum ensured delete_hooks(struct uninstall *u)
{
	enum ensured state = DONE;
	for (size_t i = 0; i < u->app->n; i++) {
		const struct obj *doc = doc_of(u, &u->app->strategies[i]);
		if (doc && hook_objects_delete(u->v, u->plan, u->app->name, doc) == WAITING)
			state = WAITING;
	}
	return state;
}

/* --- records --- */

static enum ensured record(struct uninstall *u, const struct obj *doc)
{
	struct release_record r = {.v = u->v,
				   .plan = u->plan,
				   .app = u->app,
				   .doc = doc,
				   .revision = app_highest_revision(u->app),
				   .status = "uninstalling",
				   .runs = u->hooks};
	return release_record_ensure(&r);
}

static enum ensured take_steps(struct uninstall *u)
{
	const struct obj *doc = any_doc(u);
	enum ensured state = crds_remove_instances(u);
	if (state == DONE)
		state = ensure_readable(u);
	if (doc && state == DONE)
		state = record(u, doc);
	if (doc && state == DONE)
		state = run_hooks(u, "pre-delete");
	if (state == DONE)
		state = delete_objects(u);
	if (doc && state == DONE)
		state = run_hooks(u, "post-delete");
	if (doc && state == DONE)
		state = delete_hooks(u);
	if (state == DONE)
		state = crds_remove_definitions(u);
	if (doc && state == DONE)
		state = release_record_remove(u->v, u->plan, doc, app_highest_revision(u->app));
	return state;
}

/* --- the account --- */

static bool writes(const struct plan *p)
{
	for (const struct action *x = p->head; x; x = x->next)
		if (x->as)
			return true;
	return false;
}

static size_t add_once(const char **list, size_t n, const char *ns)
{
	for (size_t k = 0; k < n; k++)
		if (cstr_eq(list[k], ns))
			return n;
	list[n] = ns;
	return ns ? n + 1 : n;
}

/* Where the app's objects are: every namespace once; without any, where they would be. */
static size_t namespaces(const struct uninstall *u, const char ***ret)
{
	const char **list = ARENA_ARRAY(u->v->a, const char *, u->app->n + 1);
	size_t n = 0;
	for (size_t i = 0; i < u->app->n; i++)
		n = add_once(list, n, obj_str(doc_of(u, &u->app->strategies[i]), "namespace"));
	*ret = list;
	return n ? n : add_once(list, n, u->app->install_namespace);
}

/* Whatever is removed is removed as the account. */
static enum ensured ensure_account(struct uninstall *u)
{
	const char **ns;
	size_t n = namespaces(u, &ns);
	enum ensured ready = DONE;
	for (size_t i = 0; i < n; i++) {
		struct account_check check;
		enum ensured state = account_ensure(u->v, u->plan, u->app, ns[i], true, &check);
		if (state == WAITING)
			ready = WAITING;
		if (state != ENDED)
			continue;
		u->blocked = true;
		u->reason = "Forbidden";
		u->why = check.message;
		for (size_t k = 0; k < check.n_steps; k++)
			u->why = arena_fmt(u->v->a, "%s; %s", u->why, check.steps[k]);
		return ENDED;
	}
	return ready;
}

/* What is to be done is planned beside, and asked for then: nothing left to do needs no account. */
enum ensured uninstall_ensure(struct uninstall *u)
{
	struct plan beside, *plan = u->plan;
	if (ensure_plans_known(u) == WAITING)
		return WAITING;
	plan_init(&beside, u->v->a);
	beside.as = u->app->account.user;
	u->plan = &beside;
	enum ensured state = take_steps(u);
	u->plan = plan;
	if (writes(&beside) && ensure_account(u) != DONE)
		return WAITING;
	plan_take(plan, &beside);
	return state;
}
