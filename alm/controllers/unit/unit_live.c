#include "alm/controllers/unit/unit_live.h"

#include <string.h>

#include "alm/controllers/work/watched.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/unit/theirs.h"
#include "crds/marks.h"

#define SCALE_DEPTH_MAX 8

static void look_up(const struct view *v, const char *selector, struct unit_entry *e,
		    struct plan *plan)
{
	if (e->is_crd) {
		e->live = view_get(v, WATCH_CRD, e->name);
		return;
	}
	if (!e->resource)
		return;
	int found = view_live(v, e->resource, e->ns, e->name, &e->live);
	e->unknown = found < 0;
	if (e->unknown && plan)
		plan_watch(plan, e->resource, selector, false);
}

/* --- what an autoscaler has set --- */

/* People scale by kubectl, and that is drift. Whatever else writes through the subresource is an
 * autoscaler: the HPA as kube-controller-manager, or one of its own. */
static bool is_autoscaler(const struct obj *field_set)
{
	const char *manager = obj_str(field_set, "manager");
	return cstr_eq(obj_str(field_set, "subresource"), "scale") && manager &&
	       !cstr_has_prefix(manager, "kubectl") && !cstr_has_prefix(manager, "alm");
}

/* Takes the fields of a fieldsV1 out of o; a scale has one, at specReplicasPath. */
static void drop_fields(struct obj *o, const struct obj *fields)
{
	for (int depth = 0; depth < SCALE_DEPTH_MAX && obj_type(o) == OBJ_MAP; depth++) {
		const char *name = NULL;
		const struct obj *below = NULL;
		OBJ_EACH (it, fields)
			if (cstr_has_prefix(it.key, "f:") && !cstr_eq(it.key, "f:status")) {
				name = it.key + 2;
				below = it.value;
			}
		if (!name)
			return;
		if (!obj_len(below)) {
			obj_del(o, name);
			return;
		}
		o = obj_get_mut(o, name);
		fields = below;
	}
}

/* The object as ALM wants it, without what an autoscaler owns by now (lifecycle.md 7.1). */
static const struct obj *without_scaled(const struct obj *want, const struct obj *live,
					struct arena *a)
{
	const struct obj *fields = obj_path(live, "metadata.managedFields");
	struct obj *copy = NULL;
	for (size_t i = 0; i < obj_len(fields); i++) {
		if (!is_autoscaler(obj_at(fields, i)))
			continue;
		if (!copy)
			copy = obj_keep(a, obj_copy(want));
		drop_fields(copy, obj_get(obj_at(fields, i), "fieldsV1"));
	}
	return copy ? copy : want;
}

void unit_entry_spare(struct unit_entry *e, const struct obj *row, const struct obj *live,
		      struct arena *a)
{
	e->object = theirs_take(e->object, live, obj_get(row, "ignore"), a);
	if (live && !e->is_crd)
		e->object = without_scaled(e->object, live, a);
}

static struct obj *share(const struct obj *map)
{
	struct obj *o = obj_map();
	OBJ_EACH (it, map)
		obj_set(o, it.key, obj_ref(it.value));
	return o;
}

/* Each pass asks for each object: what stays as it is is not copied. */
static struct obj *in_namespace(const struct obj *o, const char *ns, struct arena *a)
{
	struct obj *copy = obj_keep(a, share(o)), *metadata = share(obj_get(o, "metadata"));
	obj_set_str(metadata, "namespace", ns);
	obj_set(copy, "metadata", metadata);
	return copy;
}

void unit_entry_load(const struct view *v, const struct obj *row, const char *ns,
		     const char *selector, struct unit_entry *e, struct plan *plan)
{
	struct gvk g = {"", "", ""};
	const struct obj *o = obj_get(row, "object");
	gvk_of(o, v->a, &g);
	e->kind = g.kind;
	e->digest = obj_str(row, "digest");
	e->group = (int)obj_i64(row, "stage", UNIT_GROUP_FIRST);
	e->name = meta_name(o) ? meta_name(o) : "";
	e->is_crd = e->group == UNIT_GROUP_CRD;
	e->keep = unit_is_kept(o);
	e->resource = v->ops->resource(v->ops_arg, g.group, g.version, g.kind);
	bool namespaced = e->resource ? e->resource->namespaced : meta_namespace(o) != NULL;
	if (!e->resource || !namespaced || meta_namespace(o)) {
		e->object = o;
	} else {
		e->object = in_namespace(o, ns, v->a);
	}
	e->ns = namespaced ? meta_namespace(e->object) : NULL;
	look_up(v, selector, e, plan);
	unit_entry_spare(e, row, e->live, v->a);
}

bool unit_is_applied(const struct unit_entry *e)
{
	return e->live && !meta_is_deleting(e->live) &&
	       cstr_eq(meta_annotation(e->live, ANNOTATION_APPLIED), e->digest);
}

bool unit_is_as_left(const struct view *v, const struct unit_entry *e)
{
	char digest[SHA256_HEX];
	const char *uid = meta_uid(e->live);
	if (!stash_applied_ns(v->stash, uid))
		return false;
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy(e->live);
	obj_del(bare, "status");
	v->ops->digest(v->ops_arg, bare, digest);
	return stash_is_applied(v->stash, uid, digest);
}
