#include "alm/cli/kube/declared_form.h"

#include "alm/obj/meta.h"

#define HIDDEN "***"

static bool is_a_mark(const char *key)
{
	return cstr_eq(key, "kubectl.kubernetes.io/last-applied-configuration") ||
	       cstr_eq(key, "app.coreos.com/bundle") || cstr_eq(key, "app.coreos.com/instance") ||
	       cstr_eq(key, "app.coreos.com/owner-id") || cstr_eq(key, "app.coreos.com/applied") ||
	       cstr_eq(key, "app.coreos.com/intent") || cstr_eq(key, "app.coreos.com/fence");
}

static void drop_marks(struct obj *o, const char *path)
{
	struct obj *kept = obj_map();
	OBJ_EACH (it, obj_path(o, path))
		if (!is_a_mark(it.key))
			obj_set(kept, it.key, obj_ref(it.value));
	if (obj_len(kept)) {
		obj_set_path(o, path, kept);
	} else {
		obj_unref(kept);
		obj_del_path(o, path);
	}
}

static void hide(struct obj *o, const char *field)
{
	if (obj_type(obj_get(o, field)) != OBJ_MAP)
		return;
	struct obj *hidden = obj_map();
	OBJ_EACH (it, obj_get(o, field))
		obj_set_str(hidden, it.key, HIDDEN);
	obj_set(o, field, hidden);
}

struct obj *declared_form(const struct obj *live, bool hides)
{
	static const char *const kept_by_server[] = {"status",
						     "metadata.managedFields",
						     "metadata.resourceVersion",
						     "metadata.uid",
						     "metadata.generation",
						     "metadata.selfLink",
						     "metadata.creationTimestamp",
						     "metadata.deletionTimestamp",
						     "metadata.deletionGracePeriodSeconds"};
	struct obj *o = obj_copy(live);
	for (size_t i = 0; i < ARRAY_LEN(kept_by_server); i++)
		obj_del_path(o, kept_by_server[i]);
	drop_marks(o, "metadata.labels");
	drop_marks(o, "metadata.annotations");
	if (hides && cstr_eq(meta_kind(o), "Secret")) {
		hide(o, "data");
		hide(o, "stringData");
	}
	return o;
}
