/*
 * obj: the value of an API object, on json-c. A struct obj is a json_object under another name;
 * json-c has NULL for JSON null, here it is the address of a static, so that absent stays distinct.
 */
#include "alm/obj/obj.h"

#include <assert.h>
#include <json-c/json_object.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/number.h"

#define FORMATTED_BYTES_MAX ((size_t)64 << 20)

static char null_value;
#define OBJ_NULL_VALUE ((struct obj *)(void *)&null_value)

/* The json-c value; NULL for null and absent. */
static struct json_object *js(const struct obj *o)
{
	if (o == OBJ_NULL_VALUE)
		return NULL;
	union {
		const struct obj *in;
		struct json_object *out;
	} u = {.in = o};
	return u.out;
}

/* A stored value; json-c's NULL is null here. */
static struct obj *stored(struct json_object *j)
{
	return j ? (struct obj *)(void *)j : OBJ_NULL_VALUE;
}

/* json-c gives NULL only when memory is short. */
static struct obj *made(struct json_object *j)
{
	assert(j);
	return (struct obj *)(void *)j;
}

static bool is_type(const struct obj *o, enum json_type type)
{
	return js(o) && json_object_is_type(js(o), type);
}

struct obj *obj_ref(const struct obj *o)
{
	if (!o)
		return NULL;
	return stored(json_object_get(js(o)));
}

void obj_unref(struct obj *o)
{
	json_object_put(js(o));
}

void obj_unrefp(struct obj **o)
{
	obj_unref(*o);
}

static void keep_unref(void *p)
{
	obj_unref(p);
}

struct obj *obj_keep(struct arena *a, struct obj *o)
{
	if (js(o))
		arena_defer(a, keep_unref, o);
	return o;
}

struct obj *obj_copy(const struct obj *o)
{
	struct json_object *copy = NULL;
	if (!js(o))
		return obj_ref(o);
	int r = json_object_deep_copy(js(o), &copy, NULL);
	assert(r == 0);
	return made(copy);
}

struct obj *obj_null(void)
{
	return OBJ_NULL_VALUE;
}

struct obj *obj_bool(bool v)
{
	return made(json_object_new_boolean(v));
}

struct obj *obj_int(int64_t v)
{
	return made(json_object_new_int64(v));
}

struct obj *obj_uint(uint64_t v)
{
	return v > INT64_MAX ? made(json_object_new_uint64(v)) : obj_int((int64_t)v);
}

struct obj *obj_double(double v)
{
	char text[NUMBER_TEXT_MAX];
	number_format(v, text);
	return obj_number(str_of(text));
}

struct obj *obj_number(struct str text)
{
	const char *fault;
	int64_t i;
	uint64_t u;
	double d = 0;
	assert(number_scan(text, &fault) == text.len && !fault && text.len);
	if (number_is_integer(text) && !str_is(text, "-0")) {
		if (str_parse_i64(text, &i))
			return obj_int(i);
		if (str_parse_u64(text, &u))
			return obj_uint(u);
	}
	bool in_range = str_parse_double(text, &d);
	assert(in_range);
	CLEANUP(xfreep) char *copy = str_dup(text);
	return made(json_object_new_double_s(d, copy));
}

struct obj *obj_string(const char *s)
{
	return obj_stringn(str_of(s));
}

struct obj *obj_stringn(struct str s)
{
	assert(s.len < INT_MAX);
	return made(json_object_new_string_len(s.ptr ? s.ptr : "", (int)s.len));
}

struct obj *obj_stringf(const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FORMATTED_BYTES_MAX);
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	assert(!b.over);
	return obj_stringn(strbuf_str(&b));
}

struct obj *obj_list(void)
{
	return made(json_object_new_array());
}

struct obj *obj_map(void)
{
	return made(json_object_new_object());
}

enum obj_type obj_type(const struct obj *o)
{
	if (!o)
		return OBJ_ABSENT;
	switch (json_object_get_type(js(o))) {
	case json_type_boolean:
		return OBJ_BOOL;
	case json_type_int:
		return OBJ_INT;
	case json_type_double:
		return OBJ_DOUBLE;
	case json_type_string:
		return OBJ_STRING;
	case json_type_array:
		return OBJ_LIST;
	case json_type_object:
		return OBJ_MAP;
	case json_type_null:
	default:
		return OBJ_NULL;
	}
}

const char *obj_type_name(enum obj_type type)
{
	static const char *const names[] = {
		[OBJ_ABSENT] = "absent", [OBJ_NULL] = "null",     [OBJ_BOOL] = "boolean",
		[OBJ_INT] = "integer",   [OBJ_DOUBLE] = "number", [OBJ_STRING] = "string",
		[OBJ_LIST] = "array",    [OBJ_MAP] = "object",
	};
	return names[type];
}

bool obj_is_true(const struct obj *o)
{
	return is_type(o, json_type_boolean) && json_object_get_boolean(js(o));
}

bool obj_is_number(const struct obj *o)
{
	return is_type(o, json_type_int) || is_type(o, json_type_double);
}

/* A json_type_int holds int64 or uint64, and clamps when asked for the other. */
static bool is_above_i64(const struct obj *o)
{
	return json_object_get_uint64(js(o)) > INT64_MAX;
}

bool obj_as_i64(const struct obj *o, int64_t *ret)
{
	if (is_type(o, json_type_int)) {
		if (is_above_i64(o))
			return false;
		*ret = json_object_get_int64(js(o));
		return true;
	}
	if (!is_type(o, json_type_double))
		return false;
	double d = json_object_get_double(js(o));
	if (d != trunc(d) || d < -0x1p63 || d >= 0x1p63)
		return false;
	*ret = (int64_t)d;
	return true;
}

bool obj_as_double(const struct obj *o, double *ret)
{
	if (is_type(o, json_type_double))
		*ret = json_object_get_double(js(o));
	else if (is_type(o, json_type_int))
		*ret = is_above_i64(o) ? (double)json_object_get_uint64(js(o))
				       : (double)json_object_get_int64(js(o));
	else
		return false;
	return true;
}

const char *obj_as_string(const struct obj *o)
{
	return is_type(o, json_type_string) ? json_object_get_string(js(o)) : NULL;
}

struct str obj_as_str(const struct obj *o)
{
	if (!is_type(o, json_type_string))
		return STR_NONE;
	return str_n(json_object_get_string(js(o)), (size_t)json_object_get_string_len(js(o)));
}

struct str obj_number_text(const struct obj *o)
{
	size_t len = 0;
	if (!obj_is_number(o))
		return STR_NONE;
	/* json-c keeps the text with the value: a double prints the text it was made with */
	const char *text = json_object_to_json_string_length(js(o), JSON_C_TO_STRING_PLAIN, &len);
	assert(text);
	return str_n(text, len);
}

size_t obj_len(const struct obj *o)
{
	if (is_type(o, json_type_array))
		return json_object_array_length(js(o));
	if (is_type(o, json_type_object))
		return (size_t)json_object_object_length(js(o));
	return 0;
}

const struct obj *obj_at(const struct obj *list, size_t i)
{
	if (!is_type(list, json_type_array) || i >= json_object_array_length(js(list)))
		return NULL;
	return stored(json_object_array_get_idx(js(list), i));
}

const struct obj *obj_get(const struct obj *map, const char *key)
{
	struct json_object *value;
	if (!is_type(map, json_type_object) || !json_object_object_get_ex(js(map), key, &value))
		return NULL;
	return stored(value);
}

bool obj_has(const struct obj *map, const char *key)
{
	return obj_get(map, key) != NULL;
}

struct obj_iter obj_iter(const struct obj *map)
{
	struct obj_iter it = {0};
	if (is_type(map, json_type_object))
		it.entry = lh_table_head(json_object_get_object(js(map)));
	return it;
}

bool obj_iter_next(struct obj_iter *it)
{
	const struct lh_entry *e = it->entry;
	if (!e)
		return false;
	it->key = e->k;
	union {
		const void *in;
		struct json_object *out;
	} value = {.in = e->v};
	it->value = stored(value.out);
	it->entry = e->next;
	return true;
}

/* NOLINTBEGIN(misc-no-recursion): depth <= OBJ_DEPTH_MAX, the parsers see to it */
static bool maps_equal(const struct obj *a, const struct obj *b)
{
	OBJ_EACH (it, a) {
		const struct obj *other = obj_get(b, it.key);
		if (!other || !obj_equal(it.value, other))
			return false;
	}
	return true;
}

static bool lists_equal(const struct obj *a, const struct obj *b)
{
	for (size_t i = 0; i < obj_len(a); i++)
		if (!obj_equal(obj_at(a, i), obj_at(b, i)))
			return false;
	return true;
}

bool obj_equal(const struct obj *a, const struct obj *b)
{
	enum obj_type type = obj_type(a);
	if (a == b)
		return true;
	if (obj_is_number(a) && obj_is_number(b))
		return obj_cmp(a, b) == 0;
	if (type != obj_type(b) || obj_len(a) != obj_len(b))
		return false;
	if (type == OBJ_MAP)
		return maps_equal(a, b);
	if (type == OBJ_LIST)
		return lists_equal(a, b);
	return obj_cmp(a, b) == 0;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int cmp_numbers(const struct obj *a, const struct obj *b)
{
	int64_t i = 0, j = 0;
	double x = 0, y = 0;
	bool a_fits = obj_as_i64(a, &i), b_fits = obj_as_i64(b, &j);
	if (a_fits && b_fits)
		return i < j ? -1 : i > j;
	if (is_type(a, json_type_int) && is_type(b, json_type_int))
		return a_fits || b_fits ? (a_fits ? -1 : 1)
					: cmp_u64(json_object_get_uint64(js(a)),
						  json_object_get_uint64(js(b)));
	obj_as_double(a, &x);
	obj_as_double(b, &y);
	return x < y ? -1 : x > y;
}

static int cmp_lists(const struct obj *a, const struct obj *b)
{
	size_t n = obj_len(a) < obj_len(b) ? obj_len(a) : obj_len(b);
	for (size_t i = 0; i < n; i++) {
		int c = obj_cmp(obj_at(a, i), obj_at(b, i));
		if (c)
			return c;
	}
	return cmp_u64(obj_len(a), obj_len(b));
}

static int cmp_maps(const struct obj *a, const struct obj *b)
{
	CLEANUP(strbuf_release) struct strbuf x = STRBUF_INIT(FORMATTED_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf y = STRBUF_INIT(FORMATTED_BYTES_MAX);
	json_print_canonical(a, &x);
	json_print_canonical(b, &y);
	return str_cmp(strbuf_str(&x), strbuf_str(&y));
}

int obj_cmp(const struct obj *a, const struct obj *b)
{
	enum obj_type s = obj_type(a), t = obj_type(b);
	if (obj_is_number(a) && obj_is_number(b))
		return cmp_numbers(a, b);
	if (s != t)
		return s < t ? -1 : 1;
	switch (s) {
	case OBJ_BOOL:
		return (int)obj_is_true(a) - (int)obj_is_true(b);
	case OBJ_STRING:
		return str_cmp(obj_as_str(a), obj_as_str(b));
	case OBJ_LIST:
		return cmp_lists(a, b);
	case OBJ_MAP:
		return cmp_maps(a, b);
	case OBJ_ABSENT:
	case OBJ_NULL:
	case OBJ_INT:
	case OBJ_DOUBLE:
	default:
		return 0;
	}
}
/* NOLINTEND(misc-no-recursion) */

void obj_set(struct obj *map, const char *key, struct obj *value)
{
	assert(is_type(map, json_type_object) && value);
	int r = json_object_object_add(js(map), key, js(value));
	assert(r == 0);
}

void obj_set_new(struct obj *map, const char *key, struct obj *value)
{
	assert(is_type(map, json_type_object) && value);
	int r = json_object_object_add_ex(js(map), key, js(value), JSON_C_OBJECT_ADD_KEY_IS_NEW);
	assert(r == 0);
}

void obj_del(struct obj *map, const char *key)
{
	if (is_type(map, json_type_object))
		json_object_object_del(js(map), key);
}

void obj_append(struct obj *list, struct obj *value)
{
	assert(is_type(list, json_type_array) && value);
	int r = json_object_array_add(js(list), js(value));
	assert(r == 0);
}

void obj_set_at(struct obj *list, size_t i, struct obj *value)
{
	assert(is_type(list, json_type_array) && value && i < obj_len(list));
	int r = json_object_array_put_idx(js(list), i, js(value));
	assert(r == 0);
}

/* json-c 0.16 cannot insert: the tail moves up by references. */
void obj_insert_at(struct obj *list, size_t i, struct obj *value)
{
	assert(i <= obj_len(list));
	obj_append(list, obj_null());
	for (size_t to = obj_len(list) - 1; to > i; to--)
		obj_set_at(list, to, obj_ref(obj_at(list, to - 1)));
	obj_set_at(list, i, value);
}

void obj_del_at(struct obj *list, size_t i)
{
	assert(is_type(list, json_type_array) && i < obj_len(list));
	json_object_array_del_idx(js(list), i, 1);
}

/* Drops the const of a getter: the caller owns the object that is being built. */
static struct obj *unconst(const struct obj *o)
{
	return o ? stored(js(o)) : NULL;
}

struct obj *obj_get_mut(struct obj *map, const char *key)
{
	return unconst(obj_get(map, key));
}

struct obj *obj_at_mut(struct obj *list, size_t i)
{
	return unconst(obj_at(list, i));
}

void obj_set_str(struct obj *map, const char *key, const char *s)
{
	if (s)
		obj_set(map, key, obj_string(s));
}

void obj_set_int(struct obj *map, const char *key, int64_t v)
{
	obj_set(map, key, obj_int(v));
}

void obj_set_bool(struct obj *map, const char *key, bool v)
{
	obj_set(map, key, obj_bool(v));
}

struct obj *obj_copy_list(const struct obj *o)
{
	return obj_type(o) == OBJ_LIST ? obj_copy(o) : obj_list();
}

struct obj *obj_copy_map(const struct obj *o)
{
	return obj_type(o) == OBJ_MAP ? obj_copy(o) : obj_map();
}
