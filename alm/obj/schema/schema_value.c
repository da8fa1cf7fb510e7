/* schema_value.c: values in the words of Go's fmt, which the messages of the API server quote. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/schema_node.h"

/* The shortest digits that read back equal, as d.ddde±xx. */
static void shortest(double d, char out[GO_DOUBLE_BYTES])
{
	for (int digits = 0; digits < 17; digits++) {
		double back = 0;
		snprintf(out, GO_DOUBLE_BYTES, "%.*e", digits, d);
		if (str_parse_double(str_of(out), &back) && back == d)
			return;
	}
}

/* strconv.FormatFloat(d, 'g', -1, 64): exponents below -4 and from 6 on take e notation; fmt's %v
 * is the same rule. */
void go_double(double d, char out[GO_DOUBLE_BYTES])
{
	char text[GO_DOUBLE_BYTES] = "";
	shortest(d, text);
	struct str mantissa, exponent_text;
	int64_t exponent = 0;
	str_cut(str_of(text), 'e', &mantissa, &exponent_text);
	if (!str_parse_i64(exponent_text, &exponent))
		exponent = 0;
	if (d != 0 && (exponent < -4 || exponent >= 6)) {
		snprintf(out, GO_DOUBLE_BYTES, "%s", text);
		return;
	}
	int64_t digits = (int64_t)mantissa.len - (text[0] == '-' ? 1 : 0);
	digits = digits > 1 ? digits - 1 : digits; /* without the point */
	int64_t decimals = digits - 1 - exponent;
	snprintf(out, GO_DOUBLE_BYTES, "%.*f", (int)(decimals > 0 ? decimals : 0), d);
}

static void quote_rune(uint32_t rune, struct strbuf *b)
{
	static const char *const names = "abtnvfr"; /* 7 to 13 */
	if (rune == '"' || rune == '\\') {
		strbuf_addc(b, '\\');
		strbuf_addc(b, (char)rune);
	} else if (rune >= 7 && rune <= 13) {
		strbuf_addc(b, '\\');
		strbuf_addc(b, names[rune - 7]);
	} else if (rune < 0x20 || rune == 0x7f) {
		strbuf_addf(b, "\\x%02x", rune);
	} else if ((rune >= 0x80 && rune < 0xa0) || rune == 0xad || rune == 0xfeff ||
		   (rune >= 0x2028 && rune <= 0x202e)) {
		strbuf_addf(b, "\\u%04x", rune);
	} else {
		strbuf_addrune(b, rune);
	}
}

void go_quote(struct str s, struct strbuf *b)
{
	strbuf_addc(b, '"');
	while (s.len > 0) {
		uint32_t rune = 0;
		size_t n = utf8_decode(s, &rune);
		if (n > 0)
			quote_rune(rune, b);
		else
			strbuf_addf(b, "\\x%02x", (unsigned)(unsigned char)s.ptr[0]);
		s = str_skip(s, n ? n : 1);
	}
	strbuf_addc(b, '"');
}

static void number(const struct obj *o, struct strbuf *b)
{
	int64_t i;
	double d;
	char text[GO_DOUBLE_BYTES];
	if (obj_type(o) == OBJ_INT && obj_as_i64(o, &i)) {
		strbuf_addf(b, "%lld", (long long)i);
	} else if (obj_as_double(o, &d)) {
		go_double(d, text);
		strbuf_adds(b, text);
	} else {
		strbuf_addstr(b, obj_number_text(o));
	}
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void map_syntax(const struct obj *o, struct strbuf *b)
{
	struct map *sorted = map_new(NULL);
	OBJ_EACH (it, o)
		map_set(sorted, it.key, NULL);
	CLEANUP(xfreep) struct map_entry **keys = map_sorted(sorted);
	strbuf_adds(b, "map[string]interface {}{");
	for (size_t i = 0; i < map_count(sorted); i++) {
		if (i > 0)
			strbuf_adds(b, ", ");
		go_quote(str_of(keys[i]->key), b);
		strbuf_addc(b, ':');
		go_syntax(obj_get(o, keys[i]->key), b);
	}
	strbuf_addc(b, '}');
	map_free(sorted);
}

void go_syntax(const struct obj *o, struct strbuf *b)
{
	switch (obj_type(o)) {
	case OBJ_ABSENT:
	case OBJ_NULL:
		strbuf_adds(b, "interface {}(nil)");
		break;
	case OBJ_BOOL:
		strbuf_adds(b, obj_is_true(o) ? "true" : "false");
		break;
	case OBJ_INT:
	case OBJ_DOUBLE:
		number(o, b);
		break;
	case OBJ_STRING:
		go_quote(obj_as_str(o), b);
		break;
	case OBJ_LIST:
		strbuf_adds(b, "[]interface {}{");
		for (size_t i = 0; i < obj_len(o); i++) {
			if (i > 0)
				strbuf_adds(b, ", ");
			go_syntax(obj_at(o, i), b);
		}
		strbuf_addc(b, '}');
		break;
	case OBJ_MAP:
		map_syntax(o, b);
		break;
	}
}

void go_plain(const struct obj *o, struct strbuf *b)
{
	size_t n = 0;
	switch (obj_type(o)) {
	case OBJ_ABSENT:
	case OBJ_NULL:
		strbuf_adds(b, "<nil>");
		break;
	case OBJ_STRING:
		strbuf_addstr(b, obj_as_str(o));
		break;
	case OBJ_LIST:
		strbuf_addc(b, '[');
		for (; n < obj_len(o); n++) {
			strbuf_adds(b, n ? " " : "");
			go_plain(obj_at(o, n), b);
		}
		strbuf_addc(b, ']');
		break;
	case OBJ_MAP: {
		struct map *sorted = map_new(NULL);
		OBJ_EACH (it, o)
			map_set(sorted, it.key, NULL);
		CLEANUP(xfreep) struct map_entry **keys = map_sorted(sorted);
		strbuf_adds(b, "map[");
		for (; n < map_count(sorted); n++) {
			strbuf_addf(b, "%s%s:", n ? " " : "", keys[n]->key);
			go_plain(obj_get(o, keys[n]->key), b);
		}
		strbuf_addc(b, ']');
		map_free(sorted);
		break;
	}
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
		go_syntax(o, b);
		break;
	}
}
/* NOLINTEND(misc-no-recursion) */

void go_bad_value(const struct obj *o, struct strbuf *b)
{
	enum obj_type t = obj_type(o);
	if (t <= OBJ_NULL)
		strbuf_adds(b, "null");
	else if (t == OBJ_LIST || t == OBJ_MAP)
		json_print_canonical(o, b);
	else
		go_syntax(o, b);
}
