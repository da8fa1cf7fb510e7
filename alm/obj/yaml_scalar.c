/* yaml_scalar: see yaml_scalar.h. */
#include "alm/obj/yaml_scalar.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "alm/base/mem.h"

#define NUMBER_BYTES_MAX 400 /* longer texts are strings */

static const struct {
	const char *text;
	struct yaml_scalar value;
} words[] = {
	{"", {.type = YAML_NULL}},
	{"~", {.type = YAML_NULL}},
	{"null", {.type = YAML_NULL}},
	{"Null", {.type = YAML_NULL}},
	{"NULL", {.type = YAML_NULL}},
	{".nan", {.type = YAML_NAN}},
	{".NaN", {.type = YAML_NAN}},
	{".NAN", {.type = YAML_NAN}},
	{".inf", {.type = YAML_INF}},
	{".Inf", {.type = YAML_INF}},
	{".INF", {.type = YAML_INF}},
	{"+.inf", {.type = YAML_INF}},
	{"+.Inf", {.type = YAML_INF}},
	{"+.INF", {.type = YAML_INF}},
	{"-.inf", {.type = YAML_INF}},
	{"-.Inf", {.type = YAML_INF}},
	{"-.INF", {.type = YAML_INF}},
	{"y", {YAML_BOOL, .boolean = true}},
	{"Y", {YAML_BOOL, .boolean = true}},
	{"yes", {YAML_BOOL, .boolean = true}},
	{"Yes", {YAML_BOOL, .boolean = true}},
	{"YES", {YAML_BOOL, .boolean = true}},
	{"true", {YAML_BOOL, .boolean = true}},
	{"True", {YAML_BOOL, .boolean = true}},
	{"TRUE", {YAML_BOOL, .boolean = true}},
	{"on", {YAML_BOOL, .boolean = true}},
	{"On", {YAML_BOOL, .boolean = true}},
	{"ON", {YAML_BOOL, .boolean = true}},
	{"n", {.type = YAML_BOOL}},
	{"N", {.type = YAML_BOOL}},
	{"no", {.type = YAML_BOOL}},
	{"No", {.type = YAML_BOOL}},
	{"NO", {.type = YAML_BOOL}},
	{"false", {.type = YAML_BOOL}},
	{"False", {.type = YAML_BOOL}},
	{"FALSE", {.type = YAML_BOOL}},
	{"off", {.type = YAML_BOOL}},
	{"Off", {.type = YAML_BOOL}},
	{"OFF", {.type = YAML_BOOL}},
};

static const struct yaml_scalar *find_word(struct str s)
{
	if (s.len > 5 || (s.len && str_find_char(STR("~nN.+-yYtToOfF"), s.ptr[0]) < 0))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(s, words[i].text))
			return &words[i].value;
	return NULL;
}

static int digit_value(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return char_is_hex(c) ? char_lower(c) - 'a' + 10 : 99;
}

static bool parse_digits(struct str s, int base, uint64_t *ret)
{
	uint64_t v = 0;
	for (size_t i = 0; i < s.len; i++) {
		int d = digit_value(s.ptr[i]);
		if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*ret = v;
	return s.len > 0;
}

/* strconv.ParseUint with base 0: 0x, 0o, 0b and a leading 0 choose the base. */
static bool parse_magnitude(struct str s, uint64_t *ret)
{
	if (s.len > 1 && s.ptr[0] == '0') {
		switch (char_lower(s.ptr[1])) {
		case 'x':
			return parse_digits(str_skip(s, 2), 16, ret);
		case 'o':
			return parse_digits(str_skip(s, 2), 8, ret);
		case 'b':
			return parse_digits(str_skip(s, 2), 2, ret);
		default:
			return parse_digits(str_skip(s, 1), 8, ret);
		}
	}
	return parse_digits(s, 10, ret);
}

static bool parse_int(struct str s, struct yaml_scalar *ret)
{
	bool is_signed = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	bool negative = is_signed && s.ptr[0] == '-';
	uint64_t v;
	if (!parse_magnitude(is_signed ? str_skip(s, 1) : s, &v))
		return false;
	if (negative && v <= (uint64_t)INT64_MAX + 1) {
		*ret = (struct yaml_scalar){.type = YAML_INT, .i = (int64_t)(0 - v)};
		return true;
	}
	if (!negative && v <= INT64_MAX) {
		*ret = (struct yaml_scalar){.type = YAML_INT, .i = (int64_t)v};
		return true;
	}
	*ret = (struct yaml_scalar){.type = YAML_UINT, .u = v};
	return !is_signed;
}

static size_t digits(struct str s, size_t at)
{
	while (at < s.len && char_is_digit(s.ptr[at]))
		at++;
	return at;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(struct str s)
{
	size_t at = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'), from = at;
	at = digits(s, at);
	bool whole = at > from;
	if (at < s.len && s.ptr[at] == '.') {
		from = ++at;
		at = digits(s, at);
		if (!whole && at == from)
			return false;
	} else if (!whole) {
		return false;
	}
	if (at < s.len && (s.ptr[at] == 'e' || s.ptr[at] == 'E')) {
		at++;
		if (at < s.len && (s.ptr[at] == '-' || s.ptr[at] == '+'))
			at++;
		from = at;
		at = digits(s, at);
		if (at == from)
			return false;
	}
	return at == s.len;
}

static bool parse_float(struct str s, struct yaml_scalar *ret)
{
	double d;
	if (!is_float(s) || !str_parse_double(s, &d) || !isfinite(d))
		return false;
	*ret = (struct yaml_scalar){.type = YAML_FLOAT, .d = d};
	return true;
}

/* One or two digits (or exactly so many), up to max. */
static bool take_number(struct str *s, size_t digits_min, size_t digits_max, int max, int *ret)
{
	size_t n = digits(*s, 0);
	uint64_t v;
	n = n > digits_max ? digits_max : n;
	if (n < digits_min || !parse_digits(str_sub(*s, 0, n), 10, &v) || v > (uint64_t)max)
		return false;
	*s = str_skip(*s, n);
	*ret = (int)v;
	return true;
}

static bool take_char(struct str *s, char c)
{
	if (!s->len || s->ptr[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

static bool take_zone(struct str *s)
{
	int unused;
	if (take_char(s, 'Z'))
		return true;
	return (take_char(s, '+') || take_char(s, '-')) && take_number(s, 2, 2, 24, &unused) &&
	       take_char(s, ':') && take_number(s, 2, 2, 60, &unused);
}

/* 2006-1-2, 2006-1-2T15:4:5.9Z07:00 (T or t), 2006-1-2 15:4:5.9 */
static bool is_timestamp(struct str s)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day, unused;
	if (!take_number(&s, 4, 4, 9999, &year) || !take_char(&s, '-') ||
	    !take_number(&s, 1, 2, 12, &month) || !take_char(&s, '-') || month == 0)
		return false;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	if (!take_number(&s, 1, 2, days[month - 1] + (leap && month == 2), &day) || day == 0)
		return false;
	if (!s.len)
		return true;
	bool zoned = s.ptr[0] == 'T' || s.ptr[0] == 't';
	if (!zoned && s.ptr[0] != ' ')
		return false;
	s = str_skip(s, 1);
	if (!take_number(&s, 1, 2, 23, &unused) || !take_char(&s, ':') ||
	    !take_number(&s, 1, 2, 59, &unused) || !take_char(&s, ':') ||
	    !take_number(&s, 1, 2, 59, &unused))
		return false;
	if (s.len > 1 && s.ptr[0] == '.' && char_is_digit(s.ptr[1]))
		s = str_skip(s, digits(s, 1));
	return (!zoned || take_zone(&s)) && !s.len;
}

struct yaml_scalar yaml_scalar_resolve(struct str plain)
{
	struct yaml_scalar v = {.type = YAML_STRING};
	char buf[NUMBER_BYTES_MAX];
	size_t n = 0;
	const struct yaml_scalar *word = find_word(plain);
	if (word)
		return *word;
	char c = plain.ptr[0];
	if (!char_is_digit(c) && c != '-' && c != '+' && c != '.')
		return v;
	if (c == '.') { /* the library's shortcut: no underscores here */
		parse_float(plain, &v);
		return v;
	}
	if (is_timestamp(plain)) {
		v.type = YAML_TIMESTAMP;
		return v;
	}
	if (plain.len > NUMBER_BYTES_MAX)
		return v;
	for (size_t i = 0; i < plain.len; i++)
		if (plain.ptr[i] != '_')
			buf[n++] = plain.ptr[i];
	if (!parse_int(str_n(buf, n), &v)) {
		v.type = YAML_STRING;
		parse_float(str_n(buf, n), &v);
	}
	return v;
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?, a number of base 60 in YAML 1.1 */
static bool is_base60(struct str s)
{
	size_t groups = 0;
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	if (!s.len || !char_is_digit(s.ptr[0]))
		return false;
	while (s.len && (char_is_digit(s.ptr[0]) || s.ptr[0] == '_'))
		s = str_skip(s, 1);
	for (; take_char(&s, ':'); groups++) {
		size_t n = digits(s, 0);
		if (n == 0 || n > 2 || (n == 2 && s.ptr[0] > '5'))
			return false;
		s = str_skip(s, n);
	}
	if (take_char(&s, '.'))
		while (s.len && (char_is_digit(s.ptr[0]) || s.ptr[0] == '_'))
			s = str_skip(s, 1);
	return groups && !s.len;
}

bool yaml_scalar_is_string(struct str text)
{
	return yaml_scalar_resolve(text).type == YAML_STRING && !is_base60(text);
}
