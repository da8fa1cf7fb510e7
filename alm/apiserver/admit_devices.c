/* admit_devices: what the server adds to and takes from ResourceSlices; see admit_platform.h. */
#include "alm/apiserver/admit_platform.h"
#include "alm/base/clock.h"

#define DEVICES "spec.devices"

/* Since when a device has a taint, which is now unless it says so. */
static bool has_timeless(const struct obj *device)
{
	const struct obj *taints = obj_get(device, "taints");
	for (size_t i = 0; i < obj_len(taints); i++)
		if (obj_type(obj_at(taints, i)) == OBJ_MAP &&
		    !obj_is_set(obj_get(obj_at(taints, i), "timeAdded")))
			return true;
	return false;
}

static void set_times(struct obj *device, const char *now)
{
	struct obj *taints = obj_get_mut(device, "taints");
	for (size_t i = 0; i < obj_len(taints); i++) {
		struct obj *taint = obj_at_mut(taints, i);
		if (obj_type(taint) == OBJ_MAP && !obj_is_set(obj_get(taint, "timeAdded")))
			obj_set_str(taint, "timeAdded", now);
	}
}

/* Lists of values and mappings are of features that are off by default. */
static const char *const values[] = {"bools", "ints", "strings", "versions"};
static const char mappings[] = "nodeAllocatableResourceMappings";

static bool has_new(const struct obj *device)
{
	OBJ_EACH (it, obj_get(device, "attributes"))
		for (size_t k = 0; k < ARRAY_LEN(values); k++)
			if (obj_has(it.value, values[k]))
				return true;
	return obj_has(device, mappings);
}

static void drop_new(struct obj *device)
{
	struct obj *all = obj_get_mut(device, "attributes");
	OBJ_EACH (it, all)
		for (size_t k = 0; k < ARRAY_LEN(values); k++)
			obj_del(obj_get_mut(all, it.key), values[k]);
	obj_del(device, mappings);
}

static bool any(const struct obj *o, bool (*has)(const struct obj *device))
{
	const struct obj *list = obj_path(o, DEVICES);
	for (size_t i = 0; i < obj_len(list); i++)
		if (has(obj_at(list, i)))
			return true;
	return false;
}

/* Two lists are one too many, though both be empty; one that is empty is none. */
static void drop_empty(struct obj *o)
{
	static const char *const lists[] = {DEVICES, "spec.sharedCounters"};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (obj_path(o, lists[i]) && !obj_len(obj_path(o, lists[i])) &&
		    !obj_path(o, lists[1 - i]))
			obj_del_path(o, lists[i]);
}

void admit_devices_default(struct mutation *m)
{
	char now[CLOCK_TEXT_MAX];
	drop_empty(m->after);
	if (!any(m->after, has_timeless))
		return;
	struct obj *list = obj_copy(obj_path(m->after, DEVICES)); /* what was read stays */
	clock_format(request_now(m->r), CLOCK_SECONDS, now);
	for (size_t i = 0; i < obj_len(list); i++)
		set_times(obj_at_mut(list, i), now);
	obj_set_path(m->after, DEVICES, list);
}

void admit_devices_late(struct mutation *m)
{
	if (!any(m->after, has_new) || any(m->before, has_new))
		return;
	struct obj *list = obj_copy(obj_path(m->after, DEVICES));
	for (size_t i = 0; i < obj_len(list); i++)
		drop_new(obj_at_mut(list, i));
	obj_set_path(m->after, DEVICES, list);
}
