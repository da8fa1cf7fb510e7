/* object_meta: see object_meta.h. */
#include "alm/apiserver/object_meta.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/obj/meta.h"

enum meta_type { META_STR, META_INT, META_MAP, META_STRS, META_LIST };

static const struct {
	const char *name;
	enum meta_type type;
} meta_fields[] = {
	{"name", META_STR},
	{"generateName", META_STR},
	{"namespace", META_STR},
	{"selfLink", META_STR},
	{"uid", META_STR},
	{"resourceVersion", META_STR},
	{"generation", META_INT},
	{"creationTimestamp", META_STR},
	{"deletionTimestamp", META_STR},
	{"deletionGracePeriodSeconds", META_INT},
	{"labels", META_MAP},
	{"annotations", META_MAP},
	{"ownerReferences", META_LIST},
	{"finalizers", META_STRS},
	{"managedFields", META_LIST},
};

static const char *go_name(enum meta_type t)
{
	switch (t) {
	case META_INT:
		return "int64";
	case META_MAP:
		return "map[string]string";
	case META_STRS:
		return "[]string";
	case META_LIST:
		return "[]v1.OwnerReference";
	case META_STR:
		break;
	}
	return "string";
}

static const char *json_name(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_INT:
	case OBJ_DOUBLE:
		return "number";
	case OBJ_LIST:
		return "array";
	case OBJ_MAP:
		return "object";
	case OBJ_STRING:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "string";
}

static int wrong_type(const char *field, const struct obj *v, const char *want, struct error *err)
{
	return error_set(err, E_BADREQUEST,
			 "json: cannot unmarshal %s into Go struct field ObjectMeta.%s of type %s",
			 json_name(v), field, want);
}

static int check_field(size_t f, const struct obj *v, struct error *err)
{
	enum meta_type t = meta_fields[f].type;
	enum obj_type want = t == META_STR   ? OBJ_STRING
			     : t == META_INT ? OBJ_INT
			     : t == META_MAP ? OBJ_MAP
					     : OBJ_LIST;
	if (obj_type(v) != want)
		return wrong_type(meta_fields[f].name, v, go_name(t), err);
	if (t == META_MAP)
		OBJ_EACH (it, v)
			if (obj_type(it.value) != OBJ_STRING && obj_type(it.value) != OBJ_NULL)
				return wrong_type(meta_fields[f].name, it.value, "string", err);
	for (size_t i = 0; want == OBJ_LIST && i < obj_len(v); i++) {
		enum obj_type item = t == META_STRS ? OBJ_STRING : OBJ_MAP;
		if (obj_type(obj_at(v, i)) != item)
			return wrong_type(meta_fields[f].name, obj_at(v, i),
					  t == META_STRS ? "string" : "object", err);
	}
	return 0;
}

static bool is_empty(const struct obj *v)
{
	struct str s = obj_as_str(v);
	int64_t n = 1;
	return obj_type(v) == OBJ_NULL || (obj_type(v) == OBJ_STRING && s.len == 0) ||
	       ((obj_type(v) == OBJ_MAP || obj_type(v) == OBJ_LIST) && obj_len(v) == 0) ||
	       (obj_type(v) == OBJ_INT && obj_as_i64(v, &n) && n == 0);
}

/* Is it more than nothing, though it is empty? applied: whoever applies owns empty maps and lists. */
static bool is_told(const char *key, const struct obj *v, bool applied)
{
	return cstr_eq(key, "managedFields") ||
	       (obj_type(v) == OBJ_INT && cstr_eq(key, "deletionGracePeriodSeconds")) ||
	       (applied && (obj_type(v) == OBJ_MAP || obj_type(v) == OBJ_LIST));
}

static size_t field_index(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(meta_fields); i++)
		if (cstr_eq(meta_fields[i].name, name))
			return i;
	return ARRAY_LEN(meta_fields);
}

int object_meta_coerce(struct obj *o, void (*unknown)(void *arg, const char *path), void *arg,
		       struct error *err)
{
	const struct obj *meta = obj_get(o, "metadata");
	if (meta && obj_type(meta) != OBJ_MAP && obj_type(meta) != OBJ_NULL)
		return error_set(err, E_BADREQUEST,
				 "json: cannot unmarshal %s into Go struct field .metadata of type "
				 "v1.ObjectMeta",
				 json_name(meta));
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct obj *out = obj_map();
	OBJ_EACH (it, meta) {
		size_t f = field_index(it.key);
		if (f == ARRAY_LEN(meta_fields)) {
			if (unknown)
				unknown(arg, arena_fmt(a, "metadata.%s", it.key));
			continue;
		}
		if (is_empty(it.value) && !is_told(it.key, it.value, !unknown))
			continue;
		if (obj_type(it.value) != OBJ_NULL && check_field(f, it.value, err) < 0) {
			obj_unref(out);
			return -err->code;
		}
		if (obj_type(it.value) != OBJ_NULL)
			obj_set(out, it.key, obj_ref(it.value));
	}
	obj_set(o, "metadata", out);
	return 0;
}

void object_meta_create(const struct kind *k, struct obj *o, const char *uid, int64_t now_ns)
{
	char now[CLOCK_TEXT_MAX];
	struct obj *meta = obj_get_mut(o, "metadata");
	clock_format(now_ns, CLOCK_SECONDS, now);
	obj_del(meta, "selfLink");
	obj_del(meta, "deletionTimestamp");
	obj_del(meta, "deletionGracePeriodSeconds");
	if ((k->flags & (KIND_GENERATION | KIND_CUSTOM)) || meta_generation(o) >= 0)
		obj_del(meta, "generation"); /* one below zero is told */
	obj_set_str(meta, "uid", uid);
	obj_set_str(meta, "creationTimestamp", now);
	if (k->flags & KIND_GENERATION || k->flags & KIND_CUSTOM)
		obj_set_int(meta, "generation", 1);
}

void object_meta_update(struct obj *o, const struct obj *before)
{
	static const char *const kept[] = {"name", "namespace", "uid", "generation",
					   "creationTimestamp"};
	static const char *const unless_stated[] = {"deletionTimestamp",
						    "deletionGracePeriodSeconds"};
	struct obj *meta = obj_get_mut(o, "metadata");
	const struct obj *old = obj_get(before, "metadata");
	obj_del(meta, "selfLink");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct obj *v = obj_get(old, kept[i]);
		if (v)
			obj_set(meta, kept[i], obj_ref(v));
		else
			obj_del(meta, kept[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(unless_stated); i++) {
		const struct obj *v = obj_get(old, unless_stated[i]);
		if (v && !obj_has(meta, unless_stated[i]))
			obj_set(meta, unless_stated[i], obj_ref(v));
	}
}

bool object_meta_spec_changed(const struct kind *k, const struct obj *before, const struct obj *o)
{
	size_t n_before = 0, n_after = 0;
	if (!(k->flags & (KIND_GENERATION | KIND_CUSTOM)))
		return false;
	OBJ_EACH (it, before) {
		if (cstr_eq(it.key, "metadata") || cstr_eq(it.key, "apiVersion") ||
		    (cstr_eq(it.key, "status") && (k->flags & KIND_STATUS)))
			continue;
		n_before++;
		if (!obj_has(o, it.key) || !obj_equal(it.value, obj_get(o, it.key)))
			return true;
	}
	OBJ_EACH (it, o)
		n_after += !(cstr_eq(it.key, "metadata") || cstr_eq(it.key, "apiVersion") ||
			     (cstr_eq(it.key, "status") && (k->flags & KIND_STATUS)));
	return n_before != n_after;
}

void object_meta_uid(struct loop *l, char out[STORE_UID_TEXT])
{
	unsigned char b[16];
	char hex[33];
	loop_random(l, b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4 */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	hex_encode(b, sizeof(b), hex);
	size_t n = 0;
	for (size_t i = 0; i < 32; i++) {
		if (i == 8 || i == 12 || i == 16 || i == 20)
			out[n++] = '-';
		out[n++] = hex[i];
	}
	out[n] = '\0';
}
