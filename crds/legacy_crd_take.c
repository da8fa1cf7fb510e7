#include "crds/legacy_crd_take.h"

#include "alm/base/str.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define TEXT_MAX     100 /* of a value in a warning */

struct take {
	struct arena *a;
	const char *name; /* of the definition */
	void (*warn)(void *arg, const char *text);
	void *arg;
	size_t n_warnings;
};

static const char *text_of(const struct take *t, const struct obj *o)
{
	CLEANUP(xfreep) char *text = json_text(o);
	return arena_fmt(t->a, "%.*s", TEXT_MAX, text);
}

static void tell(struct take *t, const char *path, const struct obj *is, const struct obj *said)
{
	if (++t->n_warnings < LEGACY_TAKE_WARNINGS_MAX)
		t->warn(t->arg,
			arena_fmt(
				t->a,
				"%.200s stays %s, as %s has it for all of its versions, and is not "
				"%s; kubectl edit crd %s changes it",
				path, text_of(t, is), t->name, text_of(t, said), t->name));
	else if (t->n_warnings == LEGACY_TAKE_WARNINGS_MAX)
		t->warn(t->arg, "more fields stay as they are");
}

static bool has(const struct obj *list, const struct obj *item)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_equal(obj_at(list, i), item))
			return true;
	return false;
}

static struct obj *united(const struct obj *is, const struct obj *said)
{
	struct obj *list = obj_copy(is);
	for (size_t i = 0; i < obj_len(said); i++)
		if (!has(list, obj_at(said, i)))
			obj_append(list, obj_ref(obj_at(said, i)));
	return list;
}

/* What now has none of, or only the word that there is none. */
static bool is_none(const struct obj *o)
{
	return !o || cstr_eq(obj_str(o, "strategy"), "None");
}

static void take_member(struct take *t, struct obj *to, const char *key, const char *path,
			const struct obj *said)
{
	const struct obj *is = obj_get(to, key);
	if (!said || (is && obj_equal(is, said)))
		return;
	if (is_none(is))
		obj_set(to, key, obj_ref(said));
	else if (obj_type(is) == OBJ_LIST && obj_type(said) == OBJ_LIST)
		obj_set(to, key, united(is, said));
	else
		tell(t, path, is, said);
}

static void take_map(struct take *t, struct obj *to, const char *key, const char *path,
		     const struct obj *said)
{
	struct obj *map = obj_copy_map(obj_get(to, key));
	OBJ_EACH (it, obj_type(said) == OBJ_MAP ? said : NULL) {
		bool own =
			cstr_eq(it.key, ANNOTATION_LEGACY_GROUP) || cstr_eq(it.key, LAST_APPLIED);
		if (!own)
			take_member(t, map, it.key, arena_fmt(t->a, "%s.%s", path, it.key),
				    it.value);
	}
	if (obj_len(map))
		obj_set(to, key, map);
	else
		obj_unref(map);
}

void legacy_crd_take(struct obj *now, const struct obj *said, struct arena *a,
		     void (*warn)(void *arg, const char *text), void *arg)
{
	struct take t = {.a = a, .name = meta_name(now), .warn = warn, .arg = arg};
	struct obj *meta = obj_get_mut(now, "metadata"), *spec = obj_get_mut(now, "spec");
	take_map(&t, meta, "labels", "metadata.labels", obj_path(said, "metadata.labels"));
	take_map(&t, meta, "annotations", "metadata.annotations",
		 obj_path(said, "metadata.annotations"));
	take_map(&t, spec, "names", "spec.names", obj_path(said, "spec.names"));
	take_member(&t, spec, "conversion", "spec.conversion", obj_path(said, "spec.conversion"));
}
