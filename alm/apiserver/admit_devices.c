/* admit_devices: what the server adds to and takes from ResourceSlices, and who may see devices as an administrator; see
 * admit_platform.h. */
#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"

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

#define ADMIN "resource.kubernetes.io/admin-access"

/* The first of the list that wants it; SIZE_MAX: none does. */
static size_t find_admin(const struct obj *list, const char *field)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), field, false))
			return i;
	return SIZE_MAX;
}

/* Of a request when it is made, and of what is given to it, which is given once. */
void admit_device_validate(struct mutation *m, struct field_errors *e)
{
	static const char results[] = "status.allocation.devices.results";
	bool of_template = cstr_eq(m->resource->plural, "resourceclaimtemplates");
	const char *path = m->is_status  ? results
			   : of_template ? "spec.spec.devices.requests"
					 : "spec.devices.requests";
	const char *field = m->is_status ? "adminAccess" : "exactly.adminAccess";
	struct head *h = store_find(m->r->server->store, "", "namespaces", "", m->ns);
	const char *may = h ? meta_label(head_obj_hot(h), ADMIN) : NULL;
	const size_t from = e->n, i = find_admin(obj_path(m->after, path), field);
	bool was = m->is_status ? find_admin(obj_path(m->before, path), field) != SIZE_MAX
				: m->head != NULL;
	if (was || i == SIZE_MAX || cstr_eq(may, "true"))
		return;
	if (!m->is_status)
		path = "spec.devices.requests"; /* of a template, too */
	check_forbidden(e, arena_fmt(e->arena, "%s[%zu].adminAccess", path, i),
			"admin access to devices requires the `" ADMIN
			": true` label on the containing namespace");
	field_errors_swap(e, 0, from, e->n); /* told first of all */
}
