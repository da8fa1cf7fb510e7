/*
 * Loop 3: an operator for every instance. This controller keeps the metadata informers of managed
 * resources alive; that an instance without its operator brings it back is decided where the
 * installed objects are kept (strategy_keep), so there is one place that repairs.
 */
#include <string.h>

#include "alm/controllers/app/app.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/controller.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"

/* The version through which metadata is read: the storage version, as managed ones may go. */
static const char *read_version(const struct obj *crd)
{
	const struct obj *versions = obj_path(crd, "spec.versions");
	const char *served = NULL;
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *o = obj_at(versions, i);
		if (!obj_flag(o, "served", false))
			continue;
		if (obj_flag(o, "storage", false) || !served)
			served = obj_str(o, "name");
	}
	return served;
}

static int instance_watch(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)err;
	const struct obj *crd = view_crd(v, key);
	if (!crd || meta_is_deleting(crd) || !meta_annotation(crd, ANNOTATION_OWNER))
		return STEP_STOP;
	const char *version = read_version(crd);
	if (!version || !condition_is(crd, "Established", "True"))
		return STEP_STOP;
	struct resource r = {.group = obj_str(crd, "spec.group"),
			     .version = version,
			     .plural = obj_str(crd, "spec.names.plural"),
			     .kind = obj_str(crd, "spec.names.kind"),
			     .namespaced = cstr_eq(obj_str(crd, "spec.scope"), "Namespaced")};
	plan_watch(plan, &r, NULL, true);
	return STEP_CONTINUE;
}

static const struct watch_rule watches[] = {
	{WATCH_CRD, key_self, MEANS_KEY},
	{0},
};

static const struct step steps[] = {
	{"watch", instance_watch},
	{0},
};

const struct controller instance_controller = {
	.name = "instance", .watches = watches, .steps = steps};
