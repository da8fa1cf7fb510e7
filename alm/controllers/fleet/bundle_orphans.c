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

bool bundle_orphans_known(const struct obj *record)
{
	return obj_has(record, "orphans");
}

void bundle_orphans_tell(const struct bundle_spec *spec, const struct obj *record,
			 const struct obj *said, bool rests, struct obj *status)
{
	static const char *const copied[] = {"orphanCount", "orphansDigest"};
	const struct obj *from = bundle_orphans_known(record) ? record : said;
	obj_del(status, "orphans");
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		obj_del(status, copied[i]);
	if (!spec->sweeps || !obj_len(obj_get(from, "orphans")))
		return;
	obj_set(status, "orphans", first_of(obj_get(from, "orphans"), rests));
	for (size_t i = 0; i < ARRAY_LEN(copied); i++)
		if (obj_has(from, copied[i]))
			obj_set(status, copied[i], obj_ref(obj_get(from, copied[i])));
}
