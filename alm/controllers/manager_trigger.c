/* Why a key is reconciled that an object led to (audit.md 2, body.trigger). */
#include "alm/controllers/manager_internal.h"

#include "alm/obj/meta.h"

/* A new generation is somebody's wish; a status that changed is what became of one. */
const char *manager_trigger_of(unsigned kind, const struct obj *o)
{
	switch (kind) {
	case WATCH_APPTYPE:
	case WATCH_STRATEGY:
	case WATCH_ROLLOUT:
	case WATCH_BUNDLE:
		return obj_i64(o, "status.observedGeneration", 0) == meta_generation(o) ? "Resource"
											: "Spec";
	case WATCH_CATALOG:
		return "Catalog";
	default:
		return "Resource";
	}
}
