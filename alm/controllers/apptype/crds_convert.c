#include "alm/controllers/apptype/crds_convert.h"

#include <inttypes.h>

#include "alm/controllers/app/named_crds.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/meta.h"

#define CLIENT         "spec.conversion.webhook.clientConfig.service"
#define COUNT_RETRY_NS (2 * NS_PER_S)

static bool is_stored(const struct obj *crd, const char *version)
{
	const struct obj *stored = obj_path(crd, "status.storedVersions");
	for (size_t i = 0; i < obj_len(stored); i++)
		if (cstr_eq(obj_as_string(obj_at(stored, i)), version))
			return true;
	return false;
}

/* Would its objects be read as they are now without a converter? */
static bool needs_none(const struct obj *crd, size_t n_objects)
{
	const struct obj *versions = obj_path(crd, "spec.versions"), *first = NULL;
	for (size_t i = 0; n_objects && i < obj_len(versions); i++) {
		const struct obj *v = obj_at(versions, i);
		const struct obj *schema = obj_path(v, "schema.openAPIV3Schema");
		if (!obj_flag(v, "served", false) && !is_stored(crd, obj_str(v, "name")))
			continue; /* nobody reads or has it */
		if (first && !obj_equal(first, schema))
			return false;
		first = schema;
	}
	return true;
}

static bool has_text(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), text))
			return true;
	return false;
}

/* By a Service that goes with the app? */
static bool is_converted_by(const struct obj *crd, const struct obj *services, struct arena *a)
{
	const char *ns = obj_str(crd, CLIENT ".namespace"), *name = obj_str(crd, CLIENT ".name");
	return cstr_eq(obj_str(crd, "spec.conversion.strategy"), "Webhook") && ns && name &&
	       has_text(services, arena_fmt(a, "%s/%s", ns, name));
}

static bool is_named(const struct uninstall *u, const char *crd)
{
	struct named_crd *list;
	const char *why;
	int n = named_crds(u->app->o, u->v->a, &list, &why);
	for (int i = 0; i < n; i++)
		if (cstr_eq(list[i].name, crd))
			return true;
	return false;
}

static enum ensured stop(struct uninstall *u, const char *crd, int64_t n)
{
	u->blocked = true;
	u->reason = "ConversionNeeded";
	u->why = arena_fmt(u->v->a,
			   "CRD %s stays and has %" PRId64
			   " objects that nobody could read without this app, which converts them: "
			   "delete them, or name the CRD in annotation " ANNOTATION_DELETE_CRDS
			   "=%s=%" PRId64,
			   crd, n, crd, n);
	return ENDED;
}

static void take_converter(struct uninstall *u, const struct obj *crd)
{
	struct obj *patch = obj_map(), *none = obj_map();
	obj_set_str(none, "strategy", "None");
	obj_set(none, "webhook", obj_null());
	obj_set(patch, "spec", obj_map());
	obj_set_path(patch, "spec.conversion", none);
	plan_patch(u->plan, crd, patch);
	u->why = arena_fmt(u->v->a, "CRD %s goes back to no conversion", meta_name(crd));
}

enum ensured crds_convert_ensure(struct uninstall *u, const struct obj *services)
{
	size_t n;
	enum ensured state = DONE;
	const struct obj *const *crds =
		obj_len(services) ? view_list(u->v, WATCH_CRD, u->app->self_ref, &n) : NULL;
	for (size_t i = 0; crds && i < n; i++) {
		const struct obj *crd = crds[i];
		if (!cstr_eq(meta_annotation(crd, ANNOTATION_OWNER), u->app->self_ref) ||
		    meta_is_deleting(crd) || is_named(u, meta_name(crd)) ||
		    !is_converted_by(crd, services, u->v->a))
			continue;
		int64_t objects = usage_count(u->v, meta_name(crd));
		if (objects < 0) {
			plan_requeue_after(u->plan, COUNT_RETRY_NS);
			return WAITING;
		}
		if (!needs_none(crd, (size_t)objects))
			return stop(u, meta_name(crd), objects);
		take_converter(u, crd);
		state = WAITING;
	}
	return state;
}
