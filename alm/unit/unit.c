#include "alm/unit/unit.h"

#include <string.h>

#include "alm/base/arena.h"
#include "alm/obj/meta.h"
#include "alm/obj/schema/api_decode.h"

static bool is_kind(const struct obj *o, const char *kind)
{
	return cstr_eq(meta_kind(o), kind);
}

/* --- rows --- */

static void add_row(struct obj *rows, const struct obj *object, int group,
		    const struct unit_digest *digest)
{
	char hex[SHA256_HEX];
	struct obj *row = obj_map();
	digest->fn(digest->arg, object, hex);
	obj_set_int(row, "stage", group);
	obj_set_str(row, "digest", hex);
	obj_set(row, "object", obj_ref(object));
	obj_append(rows, row);
}

static bool has_object(const struct obj *rows, const char *kind, const char *name)
{
	for (size_t i = 0; i < obj_len(rows); i++) {
		const struct obj *o = obj_get(obj_at(rows, i), "object");
		if (is_kind(o, kind) && cstr_eq(meta_name(o), name))
			return true;
	}
	return false;
}

struct obj *unit_rows(const struct obj *crds, const struct obj *objects,
		      const struct unit_digest *digest)
{
	struct obj *rows = obj_list();
	const char *last_kind = NULL;
	int group = UNIT_GROUP_FIRST - 1;
	for (size_t i = 0; i < obj_len(crds); i++)
		add_row(rows, obj_at(crds, i), UNIT_GROUP_CRD, digest);
	for (size_t i = 0; i < obj_len(objects); i++) {
		const struct obj *o = obj_at(objects, i);
		if (is_kind(o, "CustomResourceDefinition") &&
		    !has_object(rows, "CustomResourceDefinition", meta_name(o)))
			add_row(rows, o, UNIT_GROUP_CRD, digest);
	}
	for (size_t i = 0; i < obj_len(objects); i++) {
		const struct obj *o = obj_at(objects, i);
		if (is_kind(o, "CustomResourceDefinition"))
			continue;
		if (!cstr_eq(meta_kind(o), last_kind))
			group++;
		last_kind = meta_kind(o);
		add_row(rows, o, is_kind(o, "Namespace") ? UNIT_GROUP_NAMESPACE : group, digest);
	}
	return rows;
}

/* --- objects --- */

static const char *const kept_kinds[] = {"CustomResourceDefinition", "Namespace",
					 "PersistentVolumeClaim"};

/* In any case, as Helm compares. */
static bool is_word(struct str s, const char *word)
{
	for (size_t i = 0; i < s.len; i++)
		if (!word[i] || char_lower(s.ptr[i]) != word[i])
			return false;
	return s.len == strlen(word);
}

bool unit_is_kept(const struct obj *o)
{
	const char *policy = meta_annotation(o, "helm.sh/resource-policy");
	for (size_t i = 0; i < ARRAY_LEN(kept_kinds); i++)
		if (is_kind(o, kept_kinds[i]))
			return true;
	return policy && is_word(str_trim(str_of(policy)), "keep");
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool holds_item(const struct obj *live, const struct obj *item, size_t i)
{
	const char *name = obj_str(item, "name");
	for (size_t k = 0; name && k < obj_len(live); k++)
		if (cstr_eq(obj_str(obj_at(live, k), "name"), name))
			return unit_holds(obj_at(live, k), item);
	return unit_holds(obj_at(live, i), item);
}

bool unit_holds(const struct obj *live, const struct obj *want)
{
	switch (obj_type(want)) {
	case OBJ_MAP:
		OBJ_EACH (it, want)
			if (!unit_holds(obj_get(live, it.key), it.value))
				return false;
		return true;
	case OBJ_LIST:
		if (obj_len(live) < obj_len(want))
			return false;
		for (size_t i = 0; i < obj_len(want); i++)
			if (!holds_item(live, obj_at(want, i), i))
				return false;
		return true;
	case OBJ_NULL:
		return true;
	case OBJ_ABSENT:
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_STRING:
		break;
	}
	return obj_equal(live, want);
}
/* NOLINTEND(misc-no-recursion) */

/* Decoding is what a server does to it, and costs a copy: only what differs as it is written. */
bool unit_holds_object(const struct obj *live, const struct obj *want)
{
	struct error err = ERROR_INIT;
	const char *version = meta_api_version(want), *kind = meta_kind(want);
	const struct api_type *t = version && kind ? api_type_of_kind(version, kind) : NULL;
	if (!live || !t || unit_holds(live, want))
		return unit_holds(live, want);
	CLEANUP(obj_unrefp) struct obj *served = obj_copy(want);
	return api_decode(t, API_JSON_TEXT, served, NULL, NULL, &err) >= 0 &&
	       unit_holds(live, served);
}

/* --- entries --- */

const char *unit_entry_text(const struct unit_entry *e, struct arena *a)
{
	return arena_fmt(a, "%s %s%s%s", e->kind, e->ns ? e->ns : "", e->ns ? "/" : "", e->name);
}

bool unit_entry_is(const struct unit_entry *e, const struct unit_entry *other)
{
	return !strcmp(e->kind, other->kind) && !strcmp(e->name, other->name) &&
	       cstr_eq(e->ns, other->ns);
}
