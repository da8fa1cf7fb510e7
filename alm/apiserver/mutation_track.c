/* mutation_track: who owns what of a write, in the object's managedFields; see mutation.h. */
#include "alm/apiserver/kinds/autoscale.h"
#include "alm/apiserver/kinds/defaults.h"
#include "alm/apiserver/limits.h"
#include "alm/apiserver/mutation_internal.h"
#include "alm/obj/json.h"
#include "alm/obj/patch/apply.h"

static const struct schema *schema_of(const struct mutation *m)
{
	return m->kind->schema ? m->kind->schema
			       : apply_builtin_schema(kind_api_version(m->kind, m->r->arena),
						      m->kind->kind);
}

/* What managedFields may take of the object's size. Far below the limit that is not counted: an
 * object is written before it is stored, and refused then. */
static int room_for_managers(const struct mutation *m, size_t *ret, struct error *err)
{
	const struct exchange *x = m->r->exchange;
	size_t about = (x ? x->request->body.len : 0) + (m->head ? m->head->text->len : 0);
	*ret = STORE_VALUE_BYTES_MAX;
	if (about < STORE_VALUE_BYTES_MAX / 4)
		return 0;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STORE_VALUE_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy_shallow(m->after);
	struct obj *meta = obj_copy_shallow(obj_get(bare, "metadata"));
	obj_del(meta, "managedFields");
	obj_set(bare, "metadata", meta);
	json_print(bare, &b);
	*ret -= b.len;
	return b.over ? store_too_large(err) : 0;
}

/* Pointers that Go writes though they point at nothing: null, which is owned as a value is. */
static const struct {
	const char *of, *name;
} nulls[] = {{"spec.azureFile", "secretNamespace"}, {"spec.scaleIO", "secretRef"}};

static bool has_null(const struct obj *volume, size_t i)
{
	const struct obj *source = obj_path(volume, nulls[i].of);
	return obj_type(source) == OBJ_MAP && !obj_has(source, nulls[i].name);
}

/* Which of them a volume has, number i of `nulls` as bit i; 0: it is none. */
static unsigned nulls_of(const struct mutation *m, const struct obj *volume)
{
	unsigned found = 0;
	bool asked = cstr_eq(m->kind->plural, "persistentvolumes") && !*m->kind->group;
	for (size_t i = 0; i < ARRAY_LEN(nulls) && asked; i++)
		found |= (unsigned)has_null(volume, i) << i;
	return found;
}

static void set_nulls(struct mutation *m, struct obj *volume, unsigned which, bool there)
{
	for (size_t i = 0; i < ARRAY_LEN(nulls); i++) {
		if (!(which >> i & 1))
			continue;
		const char *path = arena_fmt(m->r->arena, "%s.%s", nulls[i].of, nulls[i].name);
		if (there)
			obj_set_path(volume, path, obj_null());
		else
			obj_del_path(volume, path);
	}
}

static const struct obj *read_form(void *arg, const struct obj *o, const char *api_version)
{
	const struct mutation *m = arg;
	bool is_v1 = autoscaler_is_v1(m->kind), to_v1 = cstr_eq(api_version, "autoscaling/v1");
	if (is_v1 == to_v1 || (!to_v1 && !cstr_eq(api_version, "autoscaling/v2")))
		return NULL;
	struct obj *copy = obj_keep(m->r->arena, obj_copy(o));
	obj_set_str(copy, "apiVersion", api_version);
	if (to_v1) {
		autoscaler_to_v1(copy);
		return copy;
	}
	autoscaler_from_v1(copy);
	defaults_set(copy, m->resource->group, m->resource->plural);
	return copy;
}

const struct apply_forms *mutation_forms(struct mutation *m)
{
	if (!cstr_eq(m->kind->plural, "horizontalpodautoscalers") ||
	    !cstr_eq(m->kind->group, "autoscaling"))
		return NULL;
	struct apply_forms *forms = ARENA_NEW(m->r->arena, struct apply_forms);
	*forms = (struct apply_forms){.read = read_form, .arg = m};
	return forms;
}

int mutation_track(struct mutation *m, const struct obj *before, const char *manager,
		   const char *subresource, struct error *err)
{
	size_t room;
	if (room_for_managers(m, &room, err) < 0)
		return -err->code;
	unsigned had = nulls_of(m, before), has = nulls_of(m, m->after);
	if (had) {
		struct obj *o = obj_keep(m->r->arena, obj_copy(before));
		set_nulls(m, o, had, true);
		before = o;
	}
	set_nulls(m, m->after, has, true);
	struct update_request u = {
		.schema = schema_of(m),
		.before = before,
		.after = m->after,
		.manager = manager,
		.api_version = kind_api_version(m->kind, m->r->arena),
		.subresource = subresource,
		.has_status = m->kind->flags & KIND_STATUS && !m->whole,
		.forms = before ? mutation_forms(m) : NULL,
		.now_ns = request_now(m->r),
		.bytes_max = room,
	};
	int r = apply_track_update(&u, err) < 0 ? store_too_large(err) : 0;
	set_nulls(m, m->after, has, false);
	mutation_drop_empty(m);
	return r;
}
