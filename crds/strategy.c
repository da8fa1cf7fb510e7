/* strategy: see strategy.h. */
#include "crds/strategy.h"

#define FIELD(path, type, member, flags) {path, type, offsetof(struct strategy, member), flags}

/* clang-format off */
static const struct decode_field fields[] = {
	FIELD("metadata.name",           DECODE_STR,  name, DECODE_REQUIRED),
	FIELD("spec.appTypeRef.name",    DECODE_STR,  app, DECODE_REQUIRED),
	FIELD("spec.version",            DECODE_TEXT, version, DECODE_REQUIRED),
	FIELD("spec.replaces",           DECODE_TEXT, replaces, 0),
	FIELD("spec.strategy.type",      DECODE_STR,  type, DECODE_REQUIRED),
	FIELD("spec.strategy.helmChart", DECODE_STR,  chart, 0),
	FIELD("spec.strategy.image",     DECODE_STR,  image, 0),
	FIELD("spec.strategy.sha256",    DECODE_STR,  sha256, 0),
	FIELD("spec.strategy.namespace", DECODE_STR,  target_namespace, 0),
	FIELD("spec.strategy.jsonnet",   DECODE_OBJ,  jsonnet, 0),
	FIELD("spec.strategy.values",    DECODE_OBJ,  values, 0),
	FIELD("spec.resources",          DECODE_STRS, resources, 0),
	FIELD("spec.requirements",       DECODE_LIST, requirements, 0),
	FIELD("spec.rolloutRef.name",    DECODE_STR,  rollout, 0),
	FIELD("spec.approved",           DECODE_BOOL, approved, 0),
	FIELD("spec.approvedPlan",       DECODE_STR,  approved_plan, 0),
	FIELD("spec.approvedBy",         DECODE_STR,  approved_by, 0),
	FIELD("spec.approvalReason",     DECODE_STR,  approval_reason, 0),
	{0},
};
/* clang-format on */

int strategy_decode(const struct obj *o, struct arena *a, struct strategy *ret, struct error *err)
{
	struct strategy s = {0};
	if (decode(o, fields, &s, a, err) < 0)
		return -err->code;
	*ret = s;
	return 0;
}
