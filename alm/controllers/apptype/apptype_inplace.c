/*
 * A package that stands in its AppType has a Catalog of its own (alm/sources/inplace.h), which ALM writes: it is
 * made, follows the fields, and goes with them or with the AppType.
 */
#include <string.h>

#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"

#define TAG_RETRY_NS (30 * NS_PER_S)

/* DONE: *ret is the digest of the operator's chart, NULL for one that is named by it, or that cannot be had: then the
 * Catalog, which asks by the tag too, tells why. What a registry said last holds while it is silent. */
static enum ensured ensure_digest(const struct view *v, struct plan *plan, const struct app *app,
				  const char **ret)
{
	const char *tag = inplace_tag(app->o, v->a);
	*ret = NULL;
	if (!tag)
		return DONE;
	const char *secret = obj_str(app->o, "spec.operator.secretRef.name");
	const char *id = arena_fmt(v->a, "tag:%s %s", tag, secret ? secret : "");
	const struct outcome *o = view_outcome(v, id);
	int64_t age = o ? v->now_ns - o->at_ns : 0;
	int64_t interval = o && o->code ? TAG_RETRY_NS : INPLACE_TAG_NS;
	if (!o || age < 0 || age >= interval) {
		struct action *x = plan_work(plan, &tag_work, id);
		x->key = tag;
		x->name = secret;
		return WAITING;
	}
	plan_requeue_after(plan, interval - age);
	*ret = o->code ? NULL : obj_str(o->value, "digest");
	return DONE;
}

/* The digest that the Catalog has for the same tag. */
static const char *former_digest(const struct view *v, const struct app *app,
				 const struct obj *catalog)
{
	struct obj *package = NULL;
	struct error ignored;
	const char *text = obj_str(catalog, "spec.inPlace.package"),
		   *tag = obj_str(app->o, "spec.operator.helmChart.template");
	struct str name, digest;
	if (!text || json_parse(str_of(text), &package, &ignored) < 0)
		return NULL;
	const char *ref = obj_str(obj_keep(v->a, package), "operator.helmChart.template");
	return ref && str_cut(str_of(ref), '@', &name, &digest) && str_is(name, tag)
		       ? digest.ptr + strlen("sha256:")
		       : NULL;
}

static struct obj *spec_of(const struct view *v, const struct app *app, const struct obj *catalog,
			   const char *digest)
{
	if (!digest && inplace_tag(app->o, v->a))
		digest = former_digest(v, app, catalog);
	struct obj *spec = obj_map();
	obj_set(spec, "source", obj_map());
	obj_set_path(spec, "source.url", obj_stringf("%s%s", INPLACE_URL, app->name));
	const struct obj *secret = obj_path(app->o, "spec.operator.secretRef");
	if (obj_type(secret) == OBJ_MAP)
		obj_set_path(spec, "source.secretRef", obj_copy(secret));
	obj_set(spec, "inPlace",
		inplace_of(app->o, app->self_ref, digest, obj_path(catalog, "spec.inPlace")));
	return spec;
}

static void own(const struct app *app, struct obj *catalog)
{
	const struct owner_ref owner = {.api_version = meta_api_version(app->o),
					.kind = meta_kind(app->o),
					.name = app->name,
					.uid = meta_uid(app->o),
					.controller = true};
	meta_set_label(catalog, LABEL_APP, app->name);
	meta_set_annotation(catalog, ANNOTATION_MADE_BY, "alm");
	meta_add_owner(catalog, &owner);
}

/* What a person has changed in it is put back; a Catalog that outlived its AppType finds the new one. */
static void follow(const struct view *v, const struct app *app, const struct obj *catalog,
		   const char *digest, struct plan *plan)
{
	struct obj *spec = obj_keep(v->a, spec_of(v, app, catalog, digest)), *patch = obj_map();
	bool is_owned = meta_is_owned_by(catalog, meta_uid(app->o));
	bool is_same = obj_equal(obj_get(spec, "inPlace"), obj_path(catalog, "spec.inPlace")) &&
		       cstr_eq(obj_str(spec, "source.url"), obj_str(catalog, "spec.source.url")) &&
		       cstr_eq(obj_str(spec, "source.secretRef.name"),
			       obj_str(catalog, "spec.source.secretRef.name"));
	if (is_same && is_owned) {
		obj_unref(patch);
		return;
	}
	obj_set(patch, "spec", obj_map());
	obj_set_path(patch, "spec.source", obj_copy(obj_get(spec, "source")));
	if (!obj_path(spec, "source.secretRef"))
		obj_set_path(patch, "spec.source.secretRef", obj_null());
	obj_set_path(patch, "spec.inPlace", obj_copy(obj_get(spec, "inPlace")));
	if (!is_owned) {
		struct obj *copy = obj_keep(v->a, obj_map());
		obj_set(copy, "metadata", obj_map());
		own(app, copy);
		obj_set_path(patch, "metadata.ownerReferences",
			     obj_ref(obj_path(copy, "metadata.ownerReferences")));
	}
	plan_own_patch(plan, catalog, patch);
}

int apptype_inplace(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct app *app = apptype_pass(v);
	const char *digest;
	const char *name = inplace_catalog_name(app->name, v->a);
	const struct obj *catalog = view_get(v, WATCH_CATALOG, name);
	bool is_ours = catalog && meta_annotation(catalog, ANNOTATION_MADE_BY) &&
		       !meta_is_deleting(catalog);
	if (!inplace_is(app->o)) {
		if (is_ours && meta_is_owned_by(catalog, meta_uid(app->o)))
			plan_own_delete(plan, catalog);
		return STEP_CONTINUE;
	}
	if (app->in.unsupported)
		return STEP_CONTINUE;
	if (ensure_digest(v, plan, app, &digest) != DONE)
		return catalog ? STEP_CONTINUE : STEP_STOP;
	if (is_ours) {
		follow(v, app, catalog, digest, plan);
	} else if (!catalog) {
		struct obj *o = meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, name);
		own(app, o);
		obj_set(o, "spec", spec_of(v, app, NULL, digest));
		plan_own_create(plan, o);
	}
	return STEP_CONTINUE;
}
