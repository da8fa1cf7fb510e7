/* cel_value.c: values of CEL over JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/version.h"
#include "alm/obj/cel/cel_message.h"
#include "alm/obj/schema/schema_node.h"

#define SECONDS_PER_DAY   INT64_C(86400)
#define DECODED_BYTES_MAX ((size_t)4 << 20)

struct cel_value cel_error(struct arena *a, const char *fmt, ...)
{
	struct cel_value v = {.kind = CEL_ERROR};
	va_list args;
	va_start(args, fmt);
	v.str = str_of(arena_vfmt(a, fmt, args));
	va_end(args);
	return v;
}

struct cel_value cel_bool(bool b)
{
	return (struct cel_value){.kind = CEL_BOOL, .b = b};
}

struct cel_value cel_int(int64_t i)
{
	return (struct cel_value){.kind = CEL_INT, .i = i};
}

struct cel_value cel_string(struct str s)
{
	return (struct cel_value){.kind = CEL_STRING, .str = s};
}

struct cel_value cel_list(const struct cel_value *items, size_t n)
{
	struct cel_value v = {.kind = CEL_LIST};
	v.list.items = items;
	v.list.n = n;
	return v;
}

const char *cel_kind_name(enum cel_kind kind)
{
	static const char *const names[] = {
		[CEL_ERROR] = "!error!",
		[CEL_DYN] = "dyn",
		[CEL_NULL] = "null",
		[CEL_BOOL] = "bool",
		[CEL_INT] = "int",
		[CEL_UINT] = "uint",
		[CEL_DOUBLE] = "double",
		[CEL_STRING] = "string",
		[CEL_BYTES] = "bytes",
		[CEL_LIST] = "list",
		[CEL_MAP] = "map",
		[CEL_OBJECT] = "object",
		[CEL_TYPE] = "type",
		[CEL_DURATION] = "google.protobuf.Duration",
		[CEL_TIMESTAMP] = "google.protobuf.Timestamp",
		[CEL_URL] = "kubernetes.URL",
		[CEL_AUTHORIZER] = "kubernetes.authorization.Authorizer",
		[CEL_PATH_CHECK] = "kubernetes.authorization.PathCheck",
		[CEL_GROUP_CHECK] = "kubernetes.authorization.GroupCheck",
		[CEL_RESOURCE_CHECK] = "kubernetes.authorization.ResourceCheck",
		[CEL_DECISION] = "kubernetes.authorization.Decision",
		[CEL_QUANTITY] = "kubernetes.Quantity",
		[CEL_IP] = "net.IP",
		[CEL_CIDR] = "net.CIDR",
		[CEL_OPTIONAL] = "optional_type",
		[CEL_FORMAT] = "kubernetes.NamedFormat",
		[CEL_SEMVER] = "kubernetes.Semver",
		[CEL_MESSAGE] = "object",
	};
	return names[kind];
}

/* NOLINTNEXTLINE(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep */
const char *cel_type_text(const struct cel_type *t, struct arena *a)
{
	if (t->kind == CEL_LIST)
		return arena_fmt(a, "list(%s)", t->inner ? cel_type_text(t->inner, a) : "dyn");
	if (t->kind == CEL_MAP)
		return t->inner ? arena_fmt(a, "map(string, %s)", cel_type_text(t->inner, a))
				: "map(dyn, dyn)";
	if (t->kind == CEL_OPTIONAL)
		return arena_fmt(a, "optional_type(%s)",
				 t->inner ? cel_type_text(t->inner, a) : "dyn");
	if (t->kind == CEL_TYPE && t->inner)
		return arena_fmt(a, "type(%s)", cel_type_text(t->inner, a));
	if (t->kind == CEL_DURATION || t->kind == CEL_TIMESTAMP)
		return t->kind == CEL_DURATION ? "duration" : "timestamp";
	return t->kind == CEL_MESSAGE ? t->name : cel_kind_name(t->kind);
}

static struct cel_value of_number(const struct obj *o, const struct schema *s)
{
	struct cel_value v = {.kind = CEL_DOUBLE};
	bool wants_double = s && (s->type & SCHEMA_NUMBER);
	bool wants_int = s && (s->type & SCHEMA_INTEGER);
	if (!wants_double && (obj_type(o) == OBJ_INT || wants_int) && obj_as_i64(o, &v.i)) {
		v.kind = CEL_INT;
		return v;
	}
	obj_as_double(o, &v.d);
	return v;
}

enum cel_kind cel_format_kind(const char *format)
{
	if (!format)
		return CEL_STRING;
	if (strcmp(format, "duration") == 0)
		return CEL_DURATION;
	if (strcmp(format, "date-time") == 0 || strcmp(format, "date") == 0)
		return CEL_TIMESTAMP;
	return strcmp(format, "byte") == 0 ? CEL_BYTES : CEL_STRING;
}

bool cel_is_timestamp(int64_t seconds)
{
	return seconds >= days_from_civil(1, 1, 1) * SECONDS_PER_DAY &&
	       seconds < days_from_civil(10000, 1, 1) * SECONDS_PER_DAY;
}

bool cel_parse_time(enum cel_kind kind, struct str text, struct cel_value *ret)
{
	struct error ignored = ERROR_INIT;
	char date[32];
	*ret = (struct cel_value){.kind = kind};
	if (kind == CEL_DURATION)
		return duration_parse(text, &ret->i, &ignored) >= 0;
	if (text.len == 10) {
		snprintf(date, sizeof(date), "%.*sT00:00:00Z", STR_ARG(text));
		text = str_of(date);
	}
	return clock_parse_seconds(text, &ret->at.s, &ret->at.ns) && cel_is_timestamp(ret->at.s);
}

static struct cel_value of_base64(struct str text, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(DECODED_BYTES_MAX);
	if (!a || !base64_decode(text, &b))
		return cel_string(text);
	struct cel_value v = cel_string(str_n(arena_memdup(a, b.buf, b.len + 1), b.len));
	v.kind = CEL_BYTES;
	return v;
}

/* A text whose format the schema names is what the format says, as upstream. */
static struct cel_value of_string(struct str text, const struct schema *s, struct arena *a)
{
	struct cel_value v = {.kind = cel_format_kind(s ? s->format : NULL)};
	if (v.kind == CEL_BYTES)
		return of_base64(text, a);
	if (v.kind == CEL_STRING || !cel_parse_time(v.kind, text, &v))
		return cel_string(text);
	return v;
}

struct cel_value cel_of(const struct obj *o, const struct schema *s, struct arena *a)
{
	switch (obj_type(o)) {
	case OBJ_BOOL:
		return cel_bool(obj_is_true(o));
	case OBJ_INT:
	case OBJ_DOUBLE:
		return of_number(o, s);
	case OBJ_STRING:
		return of_string(obj_as_str(o), s, a);
	case OBJ_LIST:
		return (struct cel_value){.kind = CEL_LIST, .o = o, .s = s};
	case OBJ_MAP:
		return (struct cel_value){.kind = CEL_MAP, .o = o, .s = s};
	case OBJ_ABSENT:
	case OBJ_NULL:
		break;
	}
	return (struct cel_value){.kind = CEL_NULL};
}

size_t cel_size(const struct cel_value *v)
{
	if (v->o)
		return obj_len(v->o);
	return v->kind == CEL_MAP ? v->list.n / 2 : v->list.n;
}

struct cel_value cel_item(const struct cel_value *list, size_t i, struct arena *a)
{
	if (list->o)
		return cel_of(obj_at(list->o, i), schema_items(list->s), a);
	return list->list.items[i];
}

/* NOLINTBEGIN(misc-no-recursion): lists that a rule makes nest at most CEL_DEPTH_MAX deep, objects
 * OBJ_DEPTH_MAX */
bool cel_lookup(const struct cel_value *map, const struct cel_value *key, struct cel_budget *budget,
		struct cel_value *ret)
{
	if (map->o) {
		if (key->kind != CEL_STRING ||
		    memchr(key->str.ptr ? key->str.ptr : "", '\0', key->str.len))
			return false;
		char *name = str_dup(key->str);
		const struct obj *value = obj_get(map->o, name);
		const struct schema *s = schema_field(map->s, name);
		xfree(name);
		if (value)
			*ret = cel_of(value, s, budget->decoded);
		return value != NULL;
	}
	for (size_t i = 0; i < cel_size(map) && !budget->over; i++)
		if (cel_equal(&map->list.items[2 * i], key, budget)) {
			*ret = map->list.items[2 * i + 1];
			return true;
		}
	return false;
}
/* NOLINTEND(misc-no-recursion) */

static bool is_number(const struct cel_value *v)
{
	return v->kind == CEL_INT || v->kind == CEL_UINT || v->kind == CEL_DOUBLE;
}

static double as_double(const struct cel_value *v)
{
	return v->kind == CEL_INT ? (double)v->i : v->kind == CEL_UINT ? (double)v->u : v->d;
}

static int compare_numbers(const struct cel_value *x, const struct cel_value *y)
{
	if (x->kind == CEL_INT && y->kind == CEL_INT)
		return (x->i > y->i) - (x->i < y->i);
	if (x->kind == CEL_UINT && y->kind == CEL_UINT)
		return (x->u > y->u) - (x->u < y->u);
	if (x->kind == CEL_INT && y->kind == CEL_UINT)
		return x->i < 0 ? -1 : ((uint64_t)x->i > y->u) - ((uint64_t)x->i < y->u);
	if (x->kind == CEL_UINT && y->kind == CEL_INT)
		return y->i < 0 ? 1 : (x->u > (uint64_t)y->i) - (x->u < (uint64_t)y->i);
	double p = as_double(x), q = as_double(y);
	return (p > q) - (p < q);
}

bool cel_compare(const struct cel_value *x, const struct cel_value *y, int *ret)
{
	if (is_number(x) && is_number(y)) {
		*ret = compare_numbers(x, y);
		return true;
	}
	if (x->kind != y->kind)
		return false;
	if (x->kind == CEL_STRING || x->kind == CEL_BYTES || x->kind == CEL_URL) {
		int c = str_cmp(x->str, y->str);
		*ret = (c > 0) - (c < 0);
		return true;
	}
	if (x->kind == CEL_DURATION) {
		*ret = (x->i > y->i) - (x->i < y->i);
		return true;
	}
	if (x->kind == CEL_TIMESTAMP) {
		int64_t a = x->at.s != y->at.s ? x->at.s : x->at.ns;
		int64_t b = x->at.s != y->at.s ? y->at.s : y->at.ns;
		*ret = (a > b) - (a < b);
		return true;
	}
	if (x->kind != CEL_BOOL)
		return false;
	*ret = (int)x->b - (int)y->b;
	return true;
}

bool cel_spend(struct cel_call *c, uint64_t cost)
{
	if (c->budget->left < cost) {
		c->budget->left = 0;
		c->budget->over = true;
		return false;
	}
	c->budget->left -= cost;
	return true;
}

struct cel_value cel_over_budget(struct cel_call *c)
{
	return cel_error(c->a, "operation cancelled: actual cost limit exceeded");
}

struct cel_value cel_built(struct strbuf *b, struct cel_call *c)
{
	if (b->over || !cel_spend(c, b->len / 10))
		return cel_over_budget(c);
	return cel_string(str_n(arena_memdup(c->a, b->buf, b->len + 1), b->len));
}

static bool spend(struct cel_budget *b)
{
	if (b->left == 0) {
		b->over = true;
		return false;
	}
	b->left--;
	return true;
}

/* Lists declared as sets and maps have no order. */
static bool is_unordered(const struct cel_value *v)
{
	return v->o && v->s && schema_list_type(v->s) != LIST_ATOMIC;
}

static bool ips_equal(const struct cel_ip *x, const struct cel_ip *y)
{
	return x->n == y->n && x->prefix == y->prefix && memcmp(x->bytes, y->bytes, x->n) == 0;
}

/* NOLINTBEGIN(misc-no-recursion): lists that a rule makes nest at most CEL_DEPTH_MAX deep, objects
 * OBJ_DEPTH_MAX */
static bool lists_equal(const struct cel_value *x, const struct cel_value *y,
			struct cel_budget *budget)
{
	size_t n = cel_size(x);
	bool any_order = is_unordered(x) || is_unordered(y);
	if (n != cel_size(y))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct cel_value a = cel_item(x, i, budget->decoded);
		struct cel_value b = cel_item(y, i, budget->decoded);
		if (!spend(budget))
			return false;
		bool found = cel_equal(&a, &b, budget);
		for (size_t j = 0; any_order && !found && j < n && !budget->over; j++) {
			b = cel_item(y, j, budget->decoded);
			found = cel_equal(&a, &b, budget);
		}
		if (!found)
			return false;
	}
	return true;
}

static bool maps_equal(const struct cel_value *x, const struct cel_value *y,
		       struct cel_budget *budget)
{
	if (cel_size(x) != cel_size(y))
		return false;
	if (x->o) {
		OBJ_EACH (it, x->o) {
			struct cel_value key = cel_string(str_of(it.key)), other;
			struct cel_value value =
				cel_of(it.value, schema_field(x->s, it.key), budget->decoded);
			if (!spend(budget) || !cel_lookup(y, &key, budget, &other) ||
			    !cel_equal(&value, &other, budget))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < cel_size(x); i++) {
		struct cel_value other;
		if (!spend(budget) || !cel_lookup(y, &x->list.items[2 * i], budget, &other) ||
		    !cel_equal(&x->list.items[2 * i + 1], &other, budget))
			return false;
	}
	return true;
}

bool cel_equal(const struct cel_value *x, const struct cel_value *y, struct cel_budget *budget)
{
	int order;
	if (!spend(budget))
		return false;
	if (x->kind == CEL_NULL || y->kind == CEL_NULL)
		return x->kind == y->kind;
	if (cel_compare(x, y, &order))
		return order == 0;
	if (x->kind != y->kind)
		return false;
	if (x->kind == CEL_TYPE)
		return x->type == y->type;
	if (x->kind == CEL_QUANTITY)
		return x->nanos.high == y->nanos.high && x->nanos.low == y->nanos.low;
	if (x->kind == CEL_FORMAT)
		return x->format == y->format;
	if (x->kind == CEL_SEMVER)
		return version_precedence(x->version, y->version) == 0;
	if (x->kind == CEL_IP || x->kind == CEL_CIDR)
		return ips_equal(x->ip, y->ip);
	if (x->kind == CEL_OPTIONAL)
		return x->inner && y->inner ? cel_equal(x->inner, y->inner, budget)
					    : x->inner == y->inner;
	if (x->kind == CEL_LIST)
		return lists_equal(x, y, budget);
	if (x->kind == CEL_MESSAGE) {
		struct cel_value a = cel_message_map(x), b = cel_message_map(y);
		return cstr_eq(x->message->name, y->message->name) && maps_equal(&a, &b, budget);
	}
	return x->kind == CEL_MAP && maps_equal(x, y, budget);
}
/* NOLINTEND(misc-no-recursion) */
