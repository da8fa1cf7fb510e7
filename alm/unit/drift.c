#include "alm/unit/drift.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/patch/owned.h"
#include "alm/unit/unit.h"

#define SEGMENT_MAX 256

/* --- paths --- */

static void add(struct drift *d, const char *path, const char *at)
{
	if (d->n < DRIFT_PATHS_MAX) {
		d->live[d->n] = at;
		d->paths[d->n++] = path;
	} else {
		d->cut = true;
	}
}

static const char *member_path(const char *path, const char *key, struct arena *a)
{
	if (strpbrk(key, ".[\"/"))
		return arena_fmt(a, "%s[\"%s\"]", path, key);
	return *path ? arena_fmt(a, "%s.%s", path, key) : key;
}

/* The item of live that is compared with want's i-th one, as unit_holds() does it. */
static size_t partner_at(const struct obj *live, const struct obj *item, size_t i)
{
	const char *name = obj_str(item, "name");
	for (size_t k = 0; name && k < obj_len(live); k++)
		if (cstr_eq(obj_str(obj_at(live, k), "name"), name))
			return k;
	return i;
}

static const struct obj *partner(const struct obj *live, const struct obj *item, size_t i)
{
	return obj_at(live, partner_at(live, item, i));
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void find(const struct obj *want, const struct obj *live, const char *path, const char *at,
		 struct arena *a, struct drift *d)
{
	if (d->cut || unit_holds(live, want))
		return;
	if (obj_type(want) == OBJ_MAP && obj_type(live) == OBJ_MAP) {
		OBJ_EACH (it, want)
			find(it.value, obj_get(live, it.key), member_path(path, it.key, a),
			     member_path(at, it.key, a), a, d);
	} else if (obj_type(want) == OBJ_LIST && obj_len(live) >= obj_len(want)) {
		for (size_t i = 0; i < obj_len(want); i++) {
			size_t k = partner_at(live, obj_at(want, i), i);
			find(obj_at(want, i), obj_at(live, k), arena_fmt(a, "%s[%zu]", path, i),
			     arena_fmt(a, "%s[%zu]", at, k), a, d);
		}
	} else {
		add(d, path, at);
	}
}
/* NOLINTEND(misc-no-recursion) */

/* --- who --- */

/* fieldsV1 has the path, as far as it goes by names of members: items of lists and names with dots
 * are written in it in ways of their own. */
static bool covers(const struct obj *fields, const char *path)
{
	char member[SEGMENT_MAX];
	struct str rest = str_of(path), part;
	ptrdiff_t end = str_find_char(rest, '[');
	if (end >= 0)
		rest = str_sub(rest, 0, (size_t)end);
	while (fields && rest.len && str_next(&rest, '.', &part)) {
		(void)snprintf(member, sizeof(member), "f:%.*s", STR_ARG(part));
		fields = obj_get(fields, member);
	}
	return fields != NULL;
}

static bool touches(const struct obj *entry, const struct drift *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (covers(obj_get(entry, "fieldsV1"), d->paths[i]))
			return true;
	return false;
}

/* The newest one that has one of the fields. Who took a field away has none: then the newest. */
static void find_manager(const struct obj *live, const char *ours, struct drift *d)
{
	const struct obj *entries = obj_path(live, "metadata.managedFields");
	bool has_field = false;
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *manager = obj_str(e, "manager"), *time = obj_str(e, "time");
		if (!manager || !time || cstr_eq(manager, ours) ||
		    cstr_eq(obj_str(e, "subresource"), "status"))
			continue;
		bool has = touches(e, d);
		if (has < has_field || (has == has_field && d->time && strcmp(time, d->time) < 0))
			continue;
		d->manager = manager;
		d->time = time;
		has_field = has;
	}
}

void drift_find(const struct obj *want, const struct obj *live, const char *ours, struct arena *a,
		struct drift *ret)
{
	*ret = (struct drift){0};
	if (!live)
		return;
	find(want, live, "", "", a, ret);
	find_manager(live, ours, ret);
}

const char *drift_tell(const struct obj *want, const struct obj *live, const char *ours,
		       struct arena *a, struct obj *body)
{
	struct drift d;
	struct obj *paths = obj_list();
	drift_find(want, live, ours, a, &d);
	for (size_t i = 0; i < d.n; i++)
		obj_append(paths, obj_string(d.paths[i]));
	obj_set(body, "paths", paths);
	if (d.cut)
		obj_set_bool(body, "more", true);
	if (d.manager) {
		obj_set_str(body, "changedAt", d.time);
		obj_set_path(body, "who.trust", obj_string("managedFields"));
		obj_set_path(body, "who.via", obj_string(d.manager));
	}
	return d.manager;
}

/* --- what is of our own apply --- */

static bool is_made(const struct obj *want, const struct obj *live, const struct obj *owned);

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool is_list_made(const struct obj *want, const struct obj *live, const struct obj *owned)
{
	for (size_t i = 0; i < obj_len(want); i++) {
		const struct obj *item = obj_at(want, i), *mine = partner(owned, item, i);
		if (!cstr_eq(obj_str(item, "name"), obj_str(mine, "name")))
			mine = NULL;
		if (!is_made(item, partner(live, item, i), mine))
			return false;
	}
	return obj_len(live) >= obj_len(want);
}

/* owned: what of live is ours. */
static bool is_made(const struct obj *want, const struct obj *live, const struct obj *owned)
{
	if (unit_holds(live, want))
		return true;
	if (obj_type(want) == OBJ_LIST && obj_type(live) == OBJ_LIST)
		return is_list_made(want, live, owned);
	if (obj_type(want) != OBJ_MAP || obj_type(live) != OBJ_MAP)
		return obj_type(owned) != OBJ_ABSENT;
	OBJ_EACH (it, want)
		if (!is_made(it.value, obj_get(live, it.key), obj_get(owned, it.key)))
			return false;
	return true;
}
/* NOLINTEND(misc-no-recursion) */

bool drift_is_ours(const struct obj *want, const struct obj *live, const char *ours)
{
	CLEANUP(obj_unrefp) struct obj *owned = live ? owned_fields(live, live, ours) : NULL;
	return owned && is_made(want, live, owned);
}
