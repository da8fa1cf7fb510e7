#include "alm/controllers/fleet/bundle_orphans.h"

static struct obj *first_of(const struct obj *all, bool rests)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(all) && i < ORPHANS_TOLD; i++) {
		struct obj *o = obj_copy(obj_at(all, i));
		if (rests)
			obj_del(o, "deleteAt");
		obj_append(list, o);
	}
	return list;
}

void bundle_orphans_tell(const struct bundle_spec *spec, const struct obj *record, bool rests,
			 struct obj *status)
{
	static const char *const copied[] = {"orphanCount", "orphansDigest"};
	const struct obj *was = obj_get(status, "orphans"), *now = obj_get(record, "orphans");
	struct obj *list = first_of(now ? now : was, rests);
	for (size_t i = 0; now && i < ARRAY_LEN(copied); i++) {
		obj_del(status, copied[i]);
		if (obj_has(record, copied[i]))
			obj_set(status, copied[i], obj_ref(obj_get(record, copied[i])));
	}
	if (spec->sweeps && obj_len(list)) {
		obj_set(status, "orphans", list);
		return;
	}
	obj_unref(list);
	obj_del(status, "orphans");
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		obj_del(status, copied[i]);
}
