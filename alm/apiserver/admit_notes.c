/* admit_notes: annotations of Pods that Kubernetes reads, as a write changes them; see kinds/pod_notes.h. */
#include <string.h>

#include "alm/apiserver/admit_platform.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/pod_notes.h"
#include "alm/obj/meta.h"

#define PROFILE_BYTES_MAX 4095 /* as a path on a node */

static void check(const struct obj *o, struct field_errors *e)
{
	pod_notes_check(e, "metadata.annotations", obj_path(o, "metadata.annotations"),
			obj_get(o, "spec"));
}

/* But for what was said of the same annotation before. */
static void check_anew(const struct mutation *m, struct field_errors *e)
{
	size_t from = e->n;
	check(m->after, e);
	if (e->n == from)
		return;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	struct field_errors was;
	field_errors_init(&was, a);
	check(m->before, &was);
	check_forgive(e, from, &was);
}

/* Of a new Pod that its fields say the same; of another one what came and went, and all once more. */
void admit_notes_validate(struct mutation *m, struct field_errors *e)
{
	const struct obj *notes = obj_path(m->after, "metadata.annotations");
	if (m->is_status || m->whole || *m->r->subresource)
		return;
	if (!m->head) {
		pod_notes_match(e, "spec", notes, obj_get(m->after, "spec"));
		return;
	}
	if (obj_equal(obj_get(m->before, "spec"), obj_get(m->after, "spec")))
		check_anew(m, e); /* else it was checked with the rest */
	pod_notes_kept(e, notes, obj_path(m->before, "metadata.annotations"));
	check_anew(m, e);
}

/* NULL: it says none. */
static struct obj *profile_of(const char *note)
{
	static const char local[] = "localhost/";
	struct obj *o = obj_map();
	struct str path = str_of(cstr_has_prefix(note, local) ? note + strlen(local) : "");
	bool is_good = str_trim(path).len == path.len && path.len <= PROFILE_BYTES_MAX;
	if (path.len && is_good) {
		obj_set_str(o, "localhostProfile", path.ptr);
		obj_set_str(o, "type", "Localhost");
	} else if (strcmp(note, "unconfined") == 0) {
		obj_set_str(o, "type", "Unconfined");
	} else if (strcmp(note, "runtime/default") == 0) {
		obj_set_str(o, "type", "RuntimeDefault");
	} else {
		obj_unref(o);
		return NULL;
	}
	return o;
}

/* common: the profile of the Pod, or NULL. */
static void give_profile(struct mutation *m, struct obj *c, const struct obj *common)
{
	static const char field[] = "securityContext.appArmorProfile";
	const char *name = obj_str(c, "name");
	const char *key = arena_fmt(m->r->arena, POD_NOTE_APPARMOR "%s", name ? name : "");
	const char *note = meta_annotation(m->after, key);
	if (!note || obj_path(c, field))
		return;
	CLEANUP(obj_unrefp) struct obj *profile = profile_of(note);
	if (profile && common && obj_equal(profile, common))
		return;
	if (profile)
		obj_set_path(c, field, obj_ref(profile));
	request_warn(m->r,
		     "metadata.annotations[%s]: deprecated since v1.30; use the "
		     "\"appArmorProfile\" field instead",
		     key);
}

void admit_notes_late(struct mutation *m)
{
	static const char *const lists[] = {"initContainers", "containers"};
	const struct obj *spec = obj_get(m->after, "spec");
	const struct obj *common = obj_path(spec, "securityContext.appArmorProfile");
	bool some = false;
	OBJ_EACH (it, obj_path(m->after, "metadata.annotations"))
		some = some || cstr_has_prefix(it.key, POD_NOTE_APPARMOR);
	if (!some || cstr_eq(obj_str(spec, "os.name"), "windows"))
		return;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		if (!obj_len(obj_get(spec, lists[k])))
			continue;
		struct obj *list = obj_copy(obj_get(spec, lists[k]));
		for (size_t i = 0; i < obj_len(list); i++)
			if (obj_type(obj_at(list, i)) == OBJ_MAP)
				give_profile(m, obj_at_mut(list, i), common);
		obj_set_path(m->after, k ? "spec.containers" : "spec.initContainers", list);
	}
}
