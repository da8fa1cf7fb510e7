/* value: constructors, types, truth, equality, copies. Maps are in vmap.c, text in print.c. */
#include "installers/value/value.h"

#include <assert.h>
#include <string.h>

#include "alm/base/error.h"

struct value value_bool(bool b)
{
	return (struct value){.type = VALUE_BOOL, .b = b};
}

struct value value_int(int64_t i)
{
	return (struct value){.type = VALUE_INT, .i = i};
}

struct value value_int64(int64_t i)
{
	return (struct value){.type = VALUE_INT64, .i = i};
}

struct value value_float(double f)
{
	return (struct value){.type = VALUE_FLOAT, .f = f};
}

struct value value_str(struct str s)
{
	assert(s.len <= UINT32_MAX);
	return (struct value){
		.type = VALUE_STRING, .len = (uint32_t)s.len, .s = s.ptr ? s.ptr : ""};
}

struct value value_cstr(const char *s)
{
	return value_str(str_of(s));
}

struct value value_bytes(struct str s)
{
	struct value v = value_str(s);
	v.type = VALUE_BYTES;
	v.s = s.ptr; /* NULL: a nil slice */
	return v;
}

struct value value_strcpy(struct arena *a, struct str s)
{
	return value_str(str_n(arena_memdup(a, s.ptr, s.len), s.len));
}

struct value value_take(struct arena *a, const struct strbuf *b)
{
	return value_strcpy(a, strbuf_str(b));
}

struct value value_list(struct arena *a, enum value_type type, size_t n)
{
	assert(n <= UINT32_MAX);
	struct value v = {.type = (uint8_t)type, .len = (uint32_t)n};
	v.items = ARENA_ARRAY(a, struct value, n ? n : 1);
	return v;
}

struct value value_map(struct vmap *m)
{
	return (struct value){.type = VALUE_MAP, .map = m};
}

struct value value_map_as(struct vmap *m, enum value_type type)
{
	return (struct value){.type = (uint8_t)type, .map = m};
}

struct value value_struct(const struct vstruct *st, bool pointer)
{
	return (struct value){.type = pointer ? VALUE_PTR : VALUE_STRUCT, .st = st};
}

bool value_is_string(struct value v, const char *text)
{
	return v.type == VALUE_STRING && str_is(value_text(v), text);
}

bool value_is_map(struct value v)
{
	return v.type >= VALUE_MAP && v.type <= VALUE_FILES;
}

bool value_is_list(struct value v)
{
	return v.type >= VALUE_LIST && v.type <= VALUE_STRUCTS;
}

bool value_is_anymap(struct value v)
{
	return v.type == VALUE_MAP || v.type == VALUE_VALUES;
}

bool value_is_int(struct value v)
{
	return v.type >= VALUE_INT && v.type <= VALUE_UINT64;
}

bool value_truth(struct value v)
{
	switch ((enum value_type)v.type) {
	case VALUE_NIL:
		return false;
	case VALUE_BOOL:
		return v.b;
	case VALUE_INT:
	case VALUE_INT64:
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
	case VALUE_DURATION:
	case VALUE_UINT8:
	case VALUE_UINT64:
		return v.i != 0;
	case VALUE_FLOAT:
		return v.f != 0;
	case VALUE_COMPLEX:
		return v.z[0] != 0 || v.z[1] != 0;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_LIST:
	case VALUE_STRINGS:
	case VALUE_INTS:
	case VALUE_LISTS:
	case VALUE_MAPS:
	case VALUE_VERSIONS:
	case VALUE_STRUCTS:
		return v.len > 0;
	case VALUE_MAP:
	case VALUE_VALUES:
	case VALUE_STRMAP:
	case VALUE_FILES:
		return vmap_count(v.map) > 0;
	case VALUE_STRUCT:
	case VALUE_TIME:
		return true;
	case VALUE_PTR:
		return v.st != NULL;
	case VALUE_SEMVER:
		return v.ver != NULL;
	case VALUE_TYPES:
		break;
	}
	return false;
}

/* Go's kind and type of each; names in profile 3 differ for three of them. */
/* clang-format off */
static const struct {
	const char *kind, *name;
} types[VALUE_TYPES] = {
	[VALUE_NIL] = {"invalid", "<nil>"},
	[VALUE_BOOL] = {"bool", "bool"},
	[VALUE_INT] = {"int", "int"},
	[VALUE_INT64] = {"int64", "int64"},
	[VALUE_MONTH] = {"int", "time.Month"},
	[VALUE_WEEKDAY] = {"int", "time.Weekday"},
	[VALUE_DURATION] = {"int64", "time.Duration"},
	[VALUE_UINT8] = {"uint8", "uint8"},
	[VALUE_UINT64] = {"uint64", "uint64"},
	[VALUE_FLOAT] = {"float64", "float64"},
	[VALUE_COMPLEX] = {"complex128", "complex128"},
	[VALUE_STRING] = {"string", "string"},
	[VALUE_BYTES] = {"slice", "[]uint8"},
	[VALUE_LIST] = {"slice", "[]interface {}"},
	[VALUE_STRINGS] = {"slice", "[]string"},
	[VALUE_INTS] = {"slice", "[]int"},
	[VALUE_LISTS] = {"slice", "[][]interface {}"},
	[VALUE_MAPS] = {"slice", "[]map[string]interface {}"},
	[VALUE_VERSIONS] = {"slice", "common.VersionSet"},
	[VALUE_STRUCTS] = {"slice", "[]interface {}"},
	[VALUE_MAP] = {"map", "map[string]interface {}"},
	[VALUE_VALUES] = {"map", "common.Values"},
	[VALUE_STRMAP] = {"map", "map[string]string"},
	[VALUE_FILES] = {"map", "engine.files"},
	[VALUE_STRUCT] = {"struct", "struct"},
	[VALUE_PTR] = {"ptr", "ptr"},
	[VALUE_TIME] = {"struct", "time.Time"},
	[VALUE_SEMVER] = {"ptr", "*semver.Version"},
};
/* clang-format on */

const char *value_kind(struct value v)
{
	return types[v.type].kind;
}

static const char *struct_name(struct value v, enum tmpl_profile profile)
{
	const struct vstruct_type *t = v.st->type;
	if (v.type == VALUE_STRUCT)
		return profile == TMPL_PROFILE_3 && t->name_v3 ? t->name_v3 : t->name;
	return profile == TMPL_PROFILE_3 && t->pointer_v3 ? t->pointer_v3 : t->pointer;
}

const char *value_type_name(struct value v, enum tmpl_profile profile)
{
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR)
		return struct_name(v, profile);
	if (v.type == VALUE_STRUCTS && v.len > 0)
		return v.items[0].st->type->list;
	if (profile == TMPL_PROFILE_3 && v.type == VALUE_VALUES)
		return "chartutil.Values";
	if (profile == TMPL_PROFILE_3 && v.type == VALUE_VERSIONS)
		return "chartutil.VersionSet";
	return types[v.type].name;
}

static bool maps_equal(const struct vmap *a, const struct vmap *b, int depth);
static bool equal_at(struct value a, struct value b, int depth);

/* NOLINTBEGIN(misc-no-recursion): at most VALUE_DEPTH_MAX deep */
static bool items_equal(const struct value *a, const struct value *b, size_t n, int depth)
{
	for (size_t i = 0; i < n; i++) {
		if (!equal_at(a[i], b[i], depth))
			return false;
	}
	return true;
}

static bool maps_equal(const struct vmap *a, const struct vmap *b, int depth)
{
	if (a == b)
		return true;
	if (!a != !b || vmap_count(a) != vmap_count(b))
		return false;
	for (size_t i = 0; i < vmap_count(a); i++) {
		if (!str_eq(a->entries[i].key, b->entries[i].key) ||
		    !equal_at(a->entries[i].value, b->entries[i].value, depth))
			return false;
	}
	return true;
}

static bool structs_equal(const struct vstruct *a, const struct vstruct *b, int depth)
{
	if (a == b)
		return true;
	return a && b && a->type == b->type &&
	       items_equal(a->fields, b->fields, a->type->n_fields, depth);
}

static bool equal_at(struct value a, struct value b, int depth)
{
	if (a.type != b.type)
		return false;
	if (depth > VALUE_DEPTH_MAX)
		return false;
	if (value_is_map(a))
		return maps_equal(a.map, b.map, depth + 1);
	if (value_is_list(a))
		return !a.items == !b.items && a.len == b.len &&
		       (a.items == b.items || items_equal(a.items, b.items, a.len, depth + 1));
	switch (a.type) {
	case VALUE_NIL:
		return true;
	case VALUE_BOOL:
		return a.b == b.b;
	case VALUE_FLOAT:
		return a.f == b.f;
	case VALUE_COMPLEX:
		return a.z[0] == b.z[0] && a.z[1] == b.z[1];
	case VALUE_STRING:
	case VALUE_BYTES:
		return str_eq(value_text(a), value_text(b));
	case VALUE_STRUCT:
	case VALUE_PTR:
		return structs_equal(a.st, b.st, depth + 1);
	case VALUE_TIME:
		return a.t->sec == b.t->sec && a.t->nsec == b.t->nsec && a.t->zone == b.t->zone;
	case VALUE_SEMVER:
		return a.ver == b.ver || value_semver_equal(a, b);
	default: /* the integers */
		return a.i == b.i;
	}
}

bool value_deep_equal(struct value a, struct value b)
{
	return equal_at(a, b, 0);
}

static int copy_at(struct arena *a, struct value v, int depth, struct value *ret, struct error *err)
{
	if (depth > VALUE_DEPTH_MAX)
		return error_set(err, E_LIMIT, "values are nested deeper than %d", VALUE_DEPTH_MAX);
	if (value_is_map(v) && v.map) {
		struct vmap *m = vmap_new_sized(a, v.map->n);
		m->n = v.map->n;
		for (size_t i = 0; i < m->n; i++) {
			m->entries[i].key = v.map->entries[i].key;
			int r = copy_at(a, v.map->entries[i].value, depth + 1, &m->entries[i].value,
					err);
			if (r < 0)
				return r;
		}
		*ret = value_map_as(m, v.type);
		return 0;
	}
	if (value_is_list(v) && v.items) {
		struct value list = value_list(a, v.type, v.len);
		for (size_t i = 0; i < v.len; i++) {
			int r = copy_at(a, v.items[i], depth + 1, &list.items[i], err);
			if (r < 0)
				return r;
		}
		*ret = list;
		return 0;
	}
	*ret = v;
	ret->iface = 0;
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

int value_copy(struct arena *a, struct value v, struct value *ret, struct error *err)
{
	return copy_at(a, v, 0, ret, err);
}
