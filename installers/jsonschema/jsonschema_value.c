#include <math.h>

#include "installers/jsonschema/jsonschema_tree.h"

/* The English locale of golang.org/x/text: 1,234.5 and 1×10⁰⁶. */
const char *jsonschema_number_text(struct arena *a, double f)
{
	static const char *const high[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	CLEANUP(strbuf_release) struct strbuf g = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	value_float_text(&g, f, 'g', 64);
	ptrdiff_t e = str_find_char(strbuf_str(&g), 'e');
	if (e >= 0) {
		strbuf_add(&b, g.buf, (size_t)e);
		strbuf_adds(&b, "×10");
		for (const char *p = g.buf + e + 1; *p; p++)
			strbuf_adds(&b, *p == '-' ? "⁻" : *p == '+' ? "" : high[*p - '0']);
		return arena_strdup(a, b.buf);
	}
	ptrdiff_t dot = str_find_char(strbuf_str(&g), '.');
	size_t whole = dot < 0 ? g.len : (size_t)dot, from = g.buf[0] == '-';
	for (size_t i = 0; i < g.len; i++) {
		if (i > from && i < whole && (whole - i) % 3 == 0)
			strbuf_addc(&b, ',');
		strbuf_addc(&b, g.buf[i]);
	}
	return arena_strdup(a, b.buf);
}

bool jsonschema_is_number(struct value v)
{
	return v.type == VALUE_FLOAT || v.type == VALUE_INT || v.type == VALUE_INT64 ||
	       v.type == VALUE_UINT64;
}

double jsonschema_number(struct value v)
{
	return v.type == VALUE_FLOAT ? v.f : v.type == VALUE_UINT64 ? (double)v.u : (double)v.i;
}

/* An integer against a double, without rounding the integer. */
static int compare_whole(struct value i, double f)
{
	if (isnan(f))
		return 0;
	if (i.type == VALUE_UINT64) {
		if (f < 0 || f >= 0x1p64)
			return f < 0 ? 1 : -1;
		uint64_t whole = (uint64_t)f;
		return i.u != whole ? (i.u > whole) - (i.u < whole) : -(f > (double)whole);
	}
	if (f >= 0x1p63)
		return -1;
	if (f < -0x1p63)
		return 1;
	int64_t whole = (int64_t)floor(f);
	return i.i != whole ? (i.i > whole) - (i.i < whole) : -(f > (double)whole);
}

int jsonschema_compare(struct value a, struct value b)
{
	if (a.type == VALUE_FLOAT && b.type == VALUE_FLOAT)
		return (a.f > b.f) - (a.f < b.f);
	if (a.type == VALUE_FLOAT)
		return -compare_whole(b, a.f);
	if (b.type == VALUE_FLOAT)
		return compare_whole(a, b.f);
	if (a.type == VALUE_UINT64 && b.type == VALUE_UINT64)
		return (a.u > b.u) - (a.u < b.u);
	if (a.type == VALUE_UINT64)
		return b.i < 0 || a.u > (uint64_t)b.i ? 1 : -(a.u < (uint64_t)b.i);
	if (b.type == VALUE_UINT64)
		return a.i < 0 || (uint64_t)a.i < b.u ? -1 : (uint64_t)a.i > b.u;
	return (a.i > b.i) - (a.i < b.i);
}

const char *jsonschema_type(struct value v)
{
	if (jsonschema_is_number(v))
		return "number";
	if (v.type == VALUE_NIL)
		return "null";
	if (v.type == VALUE_BOOL)
		return "boolean";
	if (v.type == VALUE_STRING)
		return "string";
	return value_is_list(v) ? "array" : "object";
}

bool jsonschema_has_type(struct value v, struct str type)
{
	if (str_is(type, "integer"))
		return jsonschema_is_number(v) &&
		       jsonschema_number(v) == floor(jsonschema_number(v));
	return str_is(type, jsonschema_type(v));
}

/* NOLINTNEXTLINE(misc-no-recursion): VALUE_DEPTH_MAX bounds the depth */
static bool equal(struct value a, struct value b, int depth)
{
	if (depth > VALUE_DEPTH_MAX)
		return false;
	if (jsonschema_is_number(a) && jsonschema_is_number(b))
		return jsonschema_number(a) == jsonschema_number(b);
	if (value_is_map(a) && value_is_map(b)) {
		bool same = vmap_count(a.map) == vmap_count(b.map);
		for (size_t i = 0; same && i < vmap_count(a.map); i++) {
			const struct value *o = vmap_get(b.map, a.map->entries[i].key);
			same = o && equal(a.map->entries[i].value, *o, depth + 1);
		}
		return same;
	}
	if (value_is_list(a) && value_is_list(b)) {
		bool same = a.len == b.len;
		for (size_t i = 0; same && i < a.len; i++)
			same = equal(a.items[i], b.items[i], depth + 1);
		return same;
	}
	return a.type == b.type && value_deep_equal(a, b);
}

bool jsonschema_equal(struct value a, struct value b)
{
	return equal(a, b, 0);
}
