#include "alm/controllers/apptype/crds_remove.h"

#include <inttypes.h>

#include "alm/controllers/app/named_crds.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/kinds.h"

#define COUNT_RETRY_NS (2 * NS_PER_S) /* until the informer of a definition is there */

struct inventory {
	struct arena *a;
	const struct obj **items;
	size_t n, cap;
};

static bool add_instance(void *arg, struct str json)
{
	struct inventory *in = arg;
	struct error ignored;
	struct obj *o = NULL;
	if (json_parse(json, &o, &ignored) < 0)
		return true;
	ARENA_GROW(in->a, in->items, in->cap, in->n, 16);
	in->items[in->n++] = obj_keep(in->a, o);
	return true;
}

static enum ensured stop(struct uninstall *u, const char *why)
{
	u->blocked = true;
	u->reason = "InventoryChanged";
	u->why = why;
	return ENDED;
}

/* DONE: *ret has them all. */
static enum ensured count(struct uninstall *u, const struct named_crd *x, const struct obj *crd,
			  struct inventory *ret)
{
	const struct view *v = u->v;
	const char *owner = meta_annotation(crd, ANNOTATION_OWNER);
	*ret = (struct inventory){.a = v->a};
	if (crd_group_is_ours(obj_str(crd, "spec.group")))
		return stop(u, arena_fmt(v->a,
					 "annotation " ANNOTATION_DELETE_CRDS
					 ": CRD %s is of ALM itself and goes with no app; remove "
					 "it from the annotation",
					 x->name));
	if (!cstr_eq(owner, u->app->self_ref))
		return stop(u, arena_fmt(v->a,
					 "annotation " ANNOTATION_DELETE_CRDS
					 ": CRD %s is marked for %s, not for %s; remove it from "
					 "the annotation",
					 x->name, owner ? owner : "nobody", u->app->self_ref));
	if (!v->ops->instances(v->ops_arg, obj_str(crd, "spec.group"),
			       obj_str(crd, "spec.names.plural"), add_instance, ret)) {
		plan_requeue_after(u->plan, COUNT_RETRY_NS);
		u->why = arena_fmt(v->a, "the objects of %s are being counted", x->name);
		return WAITING;
	}
	if ((int64_t)ret->n > x->count)
		return stop(u, arena_fmt(v->a,
					 "annotation " ANNOTATION_DELETE_CRDS
					 ": %s has %zu objects, not %" PRId64
					 "; say %s=%zu, or remove the annotation and it stays",
					 x->name, ret->n, x->count, x->name, ret->n));
	return DONE;
}

/* All at once; each as the version that the informer reads. */
static void delete_all(struct uninstall *u, const struct obj *crd, const struct inventory *in)
{
	const struct view *v = u->v;
	for (size_t i = 0; i < in->n; i++) {
		const struct resource *r = NULL;
		struct obj *live = NULL;
		if (meta_is_deleting(in->items[i]) ||
		    v->ops->instance(v->ops_arg, meta_name(crd), meta_namespace(in->items[i]),
				     meta_name(in->items[i]), &r, &live) <= 0)
			continue;
		struct obj *o = obj_keep(v->a, obj_copy(live));
		obj_unref(live);
		obj_set(o, "apiVersion", obj_stringf("%s/%s", r->group, r->version));
		obj_set_str(o, "kind", r->kind);
		plan_delete(u->plan, o, "Background");
	}
	const struct obj *held = obj_path(in->items[0], "metadata.finalizers");
	u->why = arena_fmt(v->a, "%zu objects of %s are being deleted, %s%s%s first", in->n,
			   meta_name(crd), meta_name(in->items[0]),
			   obj_len(held) ? ", held by finalizer " : "",
			   obj_len(held) ? obj_as_string(obj_at(held, 0)) : "");
}

static int named(struct uninstall *u, struct named_crd **ret)
{
	const char *why;
	int n = named_crds(u->app->o, u->v->a, ret, &why);
	if (n < 0)
		stop(u, why);
	return n;
}

/* Nothing is deleted before all counts are known to be right. */
enum ensured crds_remove_instances(struct uninstall *u)
{
	struct named_crd *list;
	int n = named(u, &list);
	struct inventory *all = ARENA_ARRAY(u->v->a, struct inventory, (size_t)(n < 0 ? 0 : n) + 1);
	enum ensured state = n < 0 ? ENDED : DONE;
	for (int i = 0; i < n && state == DONE; i++) {
		const struct obj *crd = view_crd(u->v, list[i].name);
		if (crd && !meta_is_deleting(crd))
			state = count(u, &list[i], crd, &all[i]);
	}
	if (state != DONE)
		return state;
	for (int i = 0; i < n; i++) {
		if (!all[i].n)
			continue;
		delete_all(u, view_crd(u->v, list[i].name), &all[i]);
		state = WAITING;
	}
	return state;
}

enum ensured crds_remove_definitions(struct uninstall *u)
{
	struct named_crd *list;
	int n = named(u, &list);
	enum ensured state = n < 0 ? ENDED : DONE;
	for (int i = 0; i < n; i++) {
		const struct obj *crd = view_crd(u->v, list[i].name);
		if (!crd)
			continue;
		if (!meta_is_deleting(crd))
			plan_delete(u->plan, crd, "Background");
		u->why = arena_fmt(u->v->a, "CustomResourceDefinition %s is being deleted",
				   list[i].name);
		state = WAITING;
	}
	return state;
}

const char *crds_removed(const struct obj *app, struct arena *a)
{
	struct named_crd *list;
	const char *text = NULL, *why;
	int n = named_crds(app, a, &list, &why);
	for (int i = 0; i < n; i++)
		text = text ? arena_fmt(a, "%s, %s", text, list[i].name) : list[i].name;
	return text;
}
