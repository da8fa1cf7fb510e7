#include "alm/audit/transition.h"

#include <string.h>

#include "alm/obj/condition.h"

static const struct obj *condition_of(const struct obj *status, const char *type)
{
	return condition_find(obj_get(status, "conditions"), type);
}

/* ["Ready True", "Applied Removed"]: the conditions whose status is another. */
static void set_turned(const struct obj *before, const struct obj *after, struct obj *body)
{
	struct obj *turned = obj_list();
	const struct obj *is = obj_get(after, "conditions"), *was = obj_get(before, "conditions");
	for (size_t i = 0; i < obj_len(is); i++) {
		const char *type = obj_str(obj_at(is, i), "type");
		const char *status = obj_str(obj_at(is, i), "status");
		const struct obj *old = condition_of(before, type);
		if (type && status && !cstr_eq(obj_str(old, "status"), status))
			obj_append(turned, obj_stringf("%s %s", type, status));
	}
	for (size_t i = 0; i < obj_len(was); i++) {
		const char *type = obj_str(obj_at(was, i), "type");
		if (type && !condition_of(after, type))
			obj_append(turned, obj_stringf("%s Removed", type));
	}
	obj_set(body, "turned", turned);
}

void transition_facts(const struct obj *before, const struct obj *after, const char *reason,
		      const char *fallback, struct obj *body)
{
	const char *was = obj_str(before, "phase"), *is = obj_str(after, "phase");
	const char *version = obj_str(after, "installedVersion"), *plan;
	const char *from = obj_str(before, "installedVersion");
	if (!is && condition_of(before, "Ready"))
		was = obj_str(condition_of(before, "Ready"), "reason");
	if (was && *was)
		obj_set_str(body, "from", was);
	if (strcmp(reason, "Refreshed") != 0)
		obj_set_str(body, "to", is ? is : reason);
	set_turned(before, after, body);
	if (!version)
		version = fallback;
	if (version)
		obj_set_path(body, "version.to", obj_string(version));
	if (version && from && strcmp(from, version) != 0)
		obj_set_path(body, "version.from", obj_string(from));
	int64_t revision = obj_i64(after, "revision", 0);
	if (revision)
		obj_set_int(body, "revision", revision);
	plan = obj_str(after, "plan.digest");
	if (plan)
		obj_set_str(body, "plan", plan);
}
