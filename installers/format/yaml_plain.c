/* yaml_plain.c: see yaml_plain.h. */
#include "installers/format/yaml_plain.h"

#include <math.h>
#include <string.h>

#include "installers/format/yaml_go.h"

struct word {
	const char *text;
	enum yaml_plain_type type;
	double f;
};

/* clang-format off */
static const struct word words[] = {
	{"", YAML_PLAIN_NULL, 0}, {"~", YAML_PLAIN_NULL, 0}, {"null", YAML_PLAIN_NULL, 0}, {"Null", YAML_PLAIN_NULL, 0},
	{"NULL", YAML_PLAIN_NULL, 0},
	{"y", YAML_PLAIN_BOOL, 1}, {"Y", YAML_PLAIN_BOOL, 1}, {"yes", YAML_PLAIN_BOOL, 1}, {"Yes", YAML_PLAIN_BOOL, 1},
	{"YES", YAML_PLAIN_BOOL, 1}, {"true", YAML_PLAIN_BOOL, 1}, {"True", YAML_PLAIN_BOOL, 1}, {"TRUE", YAML_PLAIN_BOOL, 1},
	{"on", YAML_PLAIN_BOOL, 1}, {"On", YAML_PLAIN_BOOL, 1}, {"ON", YAML_PLAIN_BOOL, 1},
	{"n", YAML_PLAIN_BOOL, 0}, {"N", YAML_PLAIN_BOOL, 0}, {"no", YAML_PLAIN_BOOL, 0}, {"No", YAML_PLAIN_BOOL, 0},
	{"NO", YAML_PLAIN_BOOL, 0}, {"false", YAML_PLAIN_BOOL, 0}, {"False", YAML_PLAIN_BOOL, 0},
	{"FALSE", YAML_PLAIN_BOOL, 0}, {"off", YAML_PLAIN_BOOL, 0}, {"Off", YAML_PLAIN_BOOL, 0}, {"OFF", YAML_PLAIN_BOOL, 0},
	{".nan", YAML_PLAIN_FLOAT, NAN}, {".NaN", YAML_PLAIN_FLOAT, NAN}, {".NAN", YAML_PLAIN_FLOAT, NAN},
	{".inf", YAML_PLAIN_FLOAT, INFINITY}, {".Inf", YAML_PLAIN_FLOAT, INFINITY}, {".INF", YAML_PLAIN_FLOAT, INFINITY},
	{"+.inf", YAML_PLAIN_FLOAT, INFINITY}, {"+.Inf", YAML_PLAIN_FLOAT, INFINITY},
	{"+.INF", YAML_PLAIN_FLOAT, INFINITY},
	{"-.inf", YAML_PLAIN_FLOAT, -INFINITY}, {"-.Inf", YAML_PLAIN_FLOAT, -INFINITY},
	{"-.INF", YAML_PLAIN_FLOAT, -INFINITY},
};
/* clang-format on */

static bool resolve_word(struct str s, struct yaml_plain *ret)
{
	if (s.len > 5)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!str_is(s, words[i].text))
			continue;
		ret->type = words[i].type;
		ret->b = words[i].f > 0;
		ret->f = words[i].f;
		return true;
	}
	return false;
}

static int digit_of(char c)
{
	if (char_is_digit(c))
		return c - '0';
	if (char_is_hex(c))
		return char_lower(c) - 'a' + 10;
	return 99;
}

/* strconv.ParseInt and ParseUint with base 0 of text without underscores. */
static bool parse_int(struct str s, struct yaml_plain *ret)
{
	bool negative = s.len && s.ptr[0] == '-';
	bool has_sign = negative || (s.len && s.ptr[0] == '+');
	struct str d = str_skip(s, has_sign);
	uint64_t base = 10, v = 0;
	if (d.len >= 3 && d.ptr[0] == '0' && !char_is_digit(d.ptr[1])) {
		char c = char_lower(d.ptr[1]);
		base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
		d = str_skip(d, 2);
	} else if (d.len >= 2 && d.ptr[0] == '0') {
		base = 8;
		d = str_skip(d, 1);
	}
	if (!base || !d.len)
		return false;
	for (size_t i = 0; i < d.len; i++) {
		uint64_t x = (uint64_t)digit_of(d.ptr[i]);
		if (x >= base || v > (UINT64_MAX - x) / base)
			return false;
		v = v * base + x;
	}
	if (has_sign && v > (uint64_t)INT64_MAX + negative)
		return false;
	ret->type = YAML_PLAIN_INT;
	ret->is_unsigned = v > INT64_MAX && !negative;
	ret->u = v;
	ret->i = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? and in range. */
static bool parse_float(struct str s, struct yaml_plain *ret)
{
	struct str d = str_skip(s, s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'));
	size_t i = 0, before, after = 0;
	while (i < d.len && char_is_digit(d.ptr[i]))
		i++;
	before = i;
	if (i < d.len && d.ptr[i] == '.')
		for (i++; i < d.len && char_is_digit(d.ptr[i]); i++)
			after++;
	if (!before && !after)
		return false;
	if (i < d.len && char_lower(d.ptr[i]) == 'e') {
		i++;
		i += i < d.len && (d.ptr[i] == '-' || d.ptr[i] == '+');
		if (i == d.len)
			return false;
		while (i < d.len && char_is_digit(d.ptr[i]))
			i++;
	}
	double f;
	if (i != d.len || !str_parse_double(d, &f) || !isfinite(f))
		return false;
	ret->type = YAML_PLAIN_FLOAT;
	ret->f = s.ptr[0] == '-' ? -f : f;
	return true;
}

static bool parse_number(struct str s, struct yaml_plain *ret)
{
	char plain[512];
	size_t n = 0;
	for (size_t i = 0; i < s.len && n < sizeof(plain); i++)
		if (s.ptr[i] != '_')
			plain[n++] = s.ptr[i];
	if (n == sizeof(plain))
		return false;
	struct str p = str_n(plain, n);
	return parse_int(p, ret) || parse_float(p, ret);
}

/* YYYY-M-D, optionally with T or t, time and zone, or a blank, time and no zone. */
bool yaml_plain_is_date(struct str s)
{
	size_t i = 0, field[3];
	for (int k = 0; k < 3; k++) {
		size_t from = i;
		while (i < s.len && char_is_digit(s.ptr[i]))
			i++;
		field[k] = i - from;
		if (k == 2)
			break;
		if (i >= s.len || s.ptr[i] != '-')
			return false;
		i++;
	}
	return field[0] == 4 && field[1] >= 1 && field[1] <= 2 && field[2] >= 1 && field[2] <= 2;
}

/* Go's table of first characters: only these can be anything but a string. */
bool yaml_plain_resolve(struct str s, struct yaml_plain *ret)
{
	char c = s.len ? s.ptr[0] : '~';
	if (!memchr("yYnNtTfFoO~.+-0123456789", c, 24))
		return false;
	if (resolve_word(s, ret))
		return true;
	if (c == '.')
		return parse_float(s, ret);
	return (char_is_digit(c) || c == '+' || c == '-') && parse_number(s, ret);
}

bool yaml_go_is_string(struct str s)
{
	struct yaml_plain v;
	return !yaml_plain_resolve(s, &v);
}
