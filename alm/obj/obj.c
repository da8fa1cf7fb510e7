/* obj: scalars, lists, life and comparison of obj.h; maps are in obj_map.c. */
#include "alm/obj/obj.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/pool.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/number.h"
#include "alm/obj/obj_node.h"

#define FORMATTED_BYTES_MAX ((size_t)64 << 20)
#define INTEGER_TEXT_MAX    24
#define LIST_CAP_MIN        4

/* Memory. */

static size_t live_bytes;

void *node_alloc(size_t n)
{
	live_bytes += pool_taken(n);
	return pool_alloc(n);
}

static void *node_realloc(void *p, size_t before, size_t n)
{
	void *to = node_alloc(n);
	if (p) {
		memcpy(to, p, before < n ? before : n);
		node_free(p, before);
	}
	return to;
}

void node_free(void *p, size_t n)
{
	live_bytes -= pool_taken(n);
	pool_free(p, n);
}

size_t obj_bytes(void)
{
	return live_bytes;
}

/* Life. */

/* The values that are everywhere. The text of a scalar stands behind its head. */
#define FIXED(t, n) {.type = (t), .fixed = true, .len = (n)}
static struct obj null_value = FIXED(OBJ_NULL, 0);
static struct obj true_value = FIXED(OBJ_BOOL, 0), false_value = FIXED(OBJ_BOOL, 0);
static struct {
	struct obj head;
	char text[4];
} empty_string = {FIXED(OBJ_STRING, 0), ""},
  digits[] = {{FIXED(OBJ_INT, 1), "0"}, {FIXED(OBJ_INT, 1), "1"}, {FIXED(OBJ_INT, 1), "2"},
	      {FIXED(OBJ_INT, 1), "3"}, {FIXED(OBJ_INT, 1), "4"}, {FIXED(OBJ_INT, 1), "5"},
	      {FIXED(OBJ_INT, 1), "6"}, {FIXED(OBJ_INT, 1), "7"}, {FIXED(OBJ_INT, 1), "8"},
	      {FIXED(OBJ_INT, 1), "9"}};

static bool is_type(const struct obj *o, enum obj_type type)
{
	return o && o->type == type;
}

static struct obj_list_node *list_node(const struct obj *o)
{
	return mem_unconst(o);
}

static struct obj **elements(const struct obj *list)
{
	struct obj_list_node *l = list_node(list);
	return l->cap > 1 ? l->many : &l->one;
}

struct obj *obj_ref(const struct obj *o)
{
	struct obj *node = mem_unconst(o);
	if (node && !node->fixed)
		node->refs++;
	return node;
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most 2 * OBJ_DEPTH_MAX deep */
static void list_release(struct obj *o)
{
	struct obj_list_node *l = list_node(o);
	for (size_t i = 0; i < o->len; i++)
		obj_unref(elements(o)[i]);
	if (l->cap > 1)
		node_free(l->many, l->cap * sizeof(*l->many));
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most 2 * OBJ_DEPTH_MAX deep */
void obj_unref(struct obj *o)
{
	if (!o || o->fixed || --o->refs > 0)
		return;
	if (o->type == OBJ_LIST) {
		list_release(o);
		node_free(o, sizeof(struct obj_list_node));
	} else if (o->type == OBJ_MAP) {
		node_map_release(o);
		node_free(o, sizeof(struct obj_map_node));
	} else {
		node_free(o, sizeof(*o) + o->len + 1);
	}
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
	if (o && !o->fixed)
		arena_defer(a, keep_unref, o);
	return o;
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
struct obj *obj_copy(const struct obj *o)
{
	if (is_type(o, OBJ_MAP))
		return node_map_copy(o);
	if (!is_type(o, OBJ_LIST))
		return obj_ref(o);
	struct obj *copy = obj_list();
	struct obj_list_node *l = list_node(copy);
	if (o->len > 1) {
		l->cap = o->len;
		l->many = node_alloc(l->cap * sizeof(*l->many));
	}
	for (; copy->len < o->len; copy->len++)
		elements(copy)[copy->len] = obj_copy(elements(o)[copy->len]);
	return copy;
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most 2 * OBJ_DEPTH_MAX deep */
size_t obj_depth(const struct obj *o)
{
	size_t deepest = 0;
	if (!is_type(o, OBJ_MAP) && !is_type(o, OBJ_LIST))
		return 0;
	OBJ_EACH (it, o) {
		size_t d = obj_depth(it.value);
		deepest = d > deepest ? d : deepest;
	}
	for (size_t i = 0; is_type(o, OBJ_LIST) && i < o->len; i++) {
		size_t d = obj_depth(elements(o)[i]);
		deepest = d > deepest ? d : deepest;
	}
	return deepest + 1;
}

struct obj *obj_copy_list(const struct obj *o)
{
	return is_type(o, OBJ_LIST) ? obj_copy(o) : obj_list();
}

struct obj *obj_copy_map(const struct obj *o)
{
	return is_type(o, OBJ_MAP) ? obj_copy(o) : obj_map();
}

/* Scalars. */

struct obj *node_scalar(enum obj_type type, struct str text)
{
	assert(text.len < UINT32_MAX / 2);
	struct obj *o = node_alloc(sizeof(*o) + text.len + 1);
	char *to = (char *)(o + 1);
	*o = (struct obj){.refs = 1, .len = (uint32_t)text.len, .type = (uint8_t)type};
	if (text.len)
		memcpy(to, text.ptr, text.len);
	to[text.len] = '\0';
	return o;
}

struct obj *obj_null(void)
{
	return &null_value;
}

struct obj *obj_bool(bool v)
{
	return v ? &true_value : &false_value;
}

static struct obj *integer(struct str text)
{
	if (text.len == 1)
		return &digits[text.ptr[0] - '0'].head;
	return node_scalar(OBJ_INT, text);
}

struct obj *obj_int(int64_t v)
{
	char text[INTEGER_TEXT_MAX];
	snprintf(text, sizeof(text), "%lld", (long long)v);
	return integer(str_of(text));
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
	double d;
	assert(number_scan(text, &fault) == text.len && !fault && text.len);
	if (number_is_integer(text) && !str_is(text, "-0") &&
	    (str_parse_i64(text, &i) || str_parse_u64(text, &u)))
		return integer(text);
	bool in_range = str_parse_double(text, &d);
	assert(in_range);
	return node_scalar(OBJ_DOUBLE, text);
}

struct obj *obj_string(const char *s)
{
	return obj_stringn(str_of(s));
}

struct obj *obj_stringn(struct str s)
{
	return s.len ? node_scalar(OBJ_STRING, s) : &empty_string.head;
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

enum obj_type obj_type(const struct obj *o)
{
	return o ? (enum obj_type)o->type : OBJ_ABSENT;
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
	return o == &true_value;
}

bool obj_is_number(const struct obj *o)
{
	return is_type(o, OBJ_INT) || is_type(o, OBJ_DOUBLE);
}

static struct str text_of(const struct obj *o)
{
	return str_n(node_text(o), o->len);
}

bool obj_as_i64(const struct obj *o, int64_t *ret)
{
	double d = 0;
	if (is_type(o, OBJ_INT))
		return str_parse_i64(text_of(o), ret);
	if (!is_type(o, OBJ_DOUBLE) || !str_parse_double(text_of(o), &d))
		return false;
	if (d != trunc(d) || d < -0x1p63 || d >= 0x1p63)
		return false;
	*ret = (int64_t)d;
	return true;
}

bool obj_as_double(const struct obj *o, double *ret)
{
	int64_t i;
	uint64_t u;
	if (is_type(o, OBJ_DOUBLE))
		return str_parse_double(text_of(o), ret);
	if (!is_type(o, OBJ_INT))
		return false;
	if (str_parse_i64(text_of(o), &i))
		*ret = (double)i;
	else if (str_parse_u64(text_of(o), &u))
		*ret = (double)u;
	return true;
}

const char *obj_as_string(const struct obj *o)
{
	return is_type(o, OBJ_STRING) ? node_text(o) : NULL;
}

struct str obj_as_str(const struct obj *o)
{
	return is_type(o, OBJ_STRING) ? text_of(o) : STR_NONE;
}

struct str obj_number_text(const struct obj *o)
{
	return obj_is_number(o) ? text_of(o) : STR_NONE;
}

/* Lists. */

struct obj *obj_list(void)
{
	struct obj_list_node *l = node_alloc(sizeof(*l));
	*l = (struct obj_list_node){.head = {.refs = 1, .type = OBJ_LIST}, .cap = 1};
	return &l->head;
}

size_t obj_len(const struct obj *o)
{
	return is_type(o, OBJ_LIST) || is_type(o, OBJ_MAP) ? o->len : 0;
}

const struct obj *obj_at(const struct obj *list, size_t i)
{
	return is_type(list, OBJ_LIST) && i < list->len ? elements(list)[i] : NULL;
}

/* Room for one more. */
static void list_grow(struct obj *o)
{
	struct obj_list_node *l = list_node(o);
	if (o->len < l->cap)
		return;
	assert(l->cap < UINT32_MAX / 2);
	uint32_t cap = l->cap == 1 ? LIST_CAP_MIN : l->cap + l->cap / 2;
	struct obj *first = l->cap == 1 ? l->one : NULL;
	struct obj **many = l->cap == 1 ? NULL : l->many;
	many = node_realloc(many, l->cap * sizeof(struct obj *), cap * sizeof(struct obj *));
	if (first)
		many[0] = first;
	l->many = many;
	l->cap = cap;
}

void obj_append(struct obj *list, struct obj *value)
{
	assert(is_type(list, OBJ_LIST) && value);
	list_grow(list);
	elements(list)[list->len++] = value;
}

void obj_set_at(struct obj *list, size_t i, struct obj *value)
{
	assert(is_type(list, OBJ_LIST) && value && i < list->len);
	struct obj *before = elements(list)[i];
	elements(list)[i] = value;
	obj_unref(before);
}

void obj_insert_at(struct obj *list, size_t i, struct obj *value)
{
	assert(is_type(list, OBJ_LIST) && value && i <= list->len);
	list_grow(list);
	struct obj **at = elements(list) + i;
	memmove(at + 1, at, (list->len - i) * sizeof(struct obj *));
	*at = value;
	list->len++;
}

void obj_del_at(struct obj *list, size_t i)
{
	assert(is_type(list, OBJ_LIST) && i < list->len);
	struct obj **at = elements(list) + i, *gone = *at;
	memmove(at, at + 1, (list->len - i - 1) * sizeof(struct obj *));
	list->len--;
	obj_unref(gone);
}

/* Comparison. */

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

static bool numbers_equal(const struct obj *a, const struct obj *b)
{
	int64_t i = 0, j = 0;
	uint64_t u = 0, v = 0;
	double x = 0, y = 0;
	bool a_fits = obj_as_i64(a, &i), b_fits = obj_as_i64(b, &j);
	if (a_fits && b_fits)
		return i == j;
	if (is_type(a, OBJ_INT) && is_type(b, OBJ_INT)) { /* what does not fit is above */
		str_parse_u64(text_of(a), &u);
		str_parse_u64(text_of(b), &v);
		return !a_fits && !b_fits && u == v;
	}
	obj_as_double(a, &x);
	obj_as_double(b, &y);
	return x == y;
}

bool obj_equal(const struct obj *a, const struct obj *b)
{
	enum obj_type type = obj_type(a);
	if (a == b)
		return true;
	if (obj_is_number(a) && obj_is_number(b))
		return numbers_equal(a, b);
	if (type != obj_type(b) || obj_len(a) != obj_len(b))
		return false;
	if (type == OBJ_MAP)
		return maps_equal(a, b);
	if (type == OBJ_LIST)
		return lists_equal(a, b);
	if (type == OBJ_STRING)
		return str_eq(obj_as_str(a), obj_as_str(b));
	return obj_is_true(a) == obj_is_true(b);
}

/* NOLINTEND(misc-no-recursion) */

/* Changing. */

struct obj *obj_get_mut(struct obj *map, const char *key)
{
	return mem_unconst(obj_get(map, key));
}

struct obj *obj_at_mut(struct obj *list, size_t i)
{
	return mem_unconst(obj_at(list, i));
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
