/* toml_scalar.c: numbers, dates and booleans of TOML. Each is first cut out of the text and
 * then judged, as the library does, so that of two errors in one value the same one is reported. */
#include <math.h>
#include <string.h>

#include "installers/tmpl/fn/toml_read.h"
#include "installers/value/date.h"
#include "installers/value/unicode.h"

/* ---- numbers ---- */

enum scalar {
	SCALAR_INTEGER,
	SCALAR_FLOAT,
	SCALAR_INFINITE,
	SCALAR_DATE
}; /* infinite: as soon as its word ends */

/* Each underscore stands behind a digit, and nothing ends with one. */
static bool underscores_fit(struct str s)
{
	bool after_digit = false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '_' && !after_digit)
			return false;
		after_digit = char_is_hex(s.ptr[i]);
	}
	return after_digit;
}

static bool has_leading_zero(struct str s)
{
	if (s.len > 1 && s.ptr[0] == '0')
		return !memchr("box", s.ptr[1], 3);
	return s.len > 2 && (s.ptr[0] == '-' || s.ptr[0] == '+') && s.ptr[1] == '0';
}

static int invalid(struct toml_reader *r, const char *kind, struct str text, const char *why)
{
	return toml_fail_in(r, r->line,
			    arena_fmt(r->a, "Invalid %s %s: %s", kind, toml_quoted(r, text), why));
}

static int out_of_range(struct toml_reader *r, struct str text, const char *type)
{
	return toml_fail_in(r, r->line,
			    arena_fmt(r->a, "%.*s is out of range for %s", STR_ARG(text), type));
}

static struct str without_underscores(struct toml_reader *r, struct str text)
{
	char *out = arena_alloc(r->a, text.len + 1);
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] != '_')
			out[n++] = text.ptr[i];
	out[n] = '\0';
	return str_n(out, n);
}

static bool parse_radix(struct str s, int64_t *ret)
{
	uint64_t base = s.ptr[1] == 'x' ? 16 : s.ptr[1] == 'o' ? 8 : 2, v = 0;
	for (size_t i = 2; i < s.len; i++) {
		char c = s.ptr[i];
		uint64_t d = (uint64_t)(char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10);
		if (v > ((uint64_t)INT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	*ret = (int64_t)v;
	return true;
}

static int read_integer(struct toml_reader *r, struct str text, struct value *ret)
{
	int64_t i;
	if (!underscores_fit(text))
		return invalid(r, "integer", text, "underscores must be surrounded by digits");
	if (has_leading_zero(text))
		return invalid(r, "integer", text, "cannot have leading zeroes");
	struct str plain = without_underscores(r, text);
	bool radix = plain.len > 2 && plain.ptr[0] == '0';
	if (!radix && plain.ptr[0] == '+')
		plain = str_skip(plain, 1);
	if (radix ? !parse_radix(plain, &i) : !str_parse_i64(plain, &i))
		return out_of_range(r, text, "int64");
	*ret = value_int64(i);
	return 0;
}

static size_t count_digits(struct str s, size_t at)
{
	size_t n = 0;
	while (at + n < s.len && char_is_digit(s.ptr[at + n]))
		n++;
	return n;
}

/* -1.5e+3, as strconv.ParseFloat has it; a point is known to stand before a digit. */
static bool is_decimal(struct str s)
{
	size_t at = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	size_t digits = count_digits(s, at);
	at += digits;
	if (at < s.len && s.ptr[at] == '.')
		at += 1 + count_digits(s, at + 1);
	if (at < s.len && char_lower(s.ptr[at]) == 'e') {
		at++;
		at += at < s.len && (s.ptr[at] == '-' || s.ptr[at] == '+');
		size_t n = count_digits(s, at);
		if (!n)
			return false;
		at += n;
	}
	return digits > 0 && at == s.len;
}

/* The parts between points and exponents. */
static bool parts_fit(struct str s)
{
	size_t start = 0;
	for (size_t i = 0; i <= s.len; i++) {
		bool cut = i == s.len || s.ptr[i] == '.' || s.ptr[i] == 'e' || s.ptr[i] == 'E';
		if (cut && i > start && !underscores_fit(str_sub(s, start, i - start)))
			return false;
		if (cut)
			start = i + 1;
	}
	return true;
}

static bool points_fit(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '.' && (i + 1 == s.len || !char_is_digit(s.ptr[i + 1])))
			return false;
	return true;
}

static int read_float(struct toml_reader *r, struct str text, struct value *ret)
{
	bool negative = text.ptr[0] == '-';
	struct str digits = str_skip(text, negative || text.ptr[0] == '+');
	double f = 0;
	if (str_is(digits, "inf") || str_is(digits, "nan")) {
		f = str_is(digits, "inf") ? (double)INFINITY : (double)NAN;
		*ret = value_float(negative ? -f : f);
		return 0;
	}
	if (!parts_fit(text))
		return invalid(r, "float", text, "underscores must be surrounded by digits");
	size_t whole = 0;
	while (whole < text.len && !memchr(".eE", text.ptr[whole], 3))
		whole++;
	if (has_leading_zero(str_sub(text, 0, whole)))
		return invalid(r, "float", text, "cannot have leading zeroes");
	if (!points_fit(text))
		return invalid(r, "float", text, "'.' must be followed by one or more digits");
	struct str plain = without_underscores(r, digits);
	if (!is_decimal(plain))
		return toml_fail_in(
			r, r->line,
			arena_fmt(r->a, "Invalid float value: %s", toml_quoted(r, text)));
	if (!str_parse_double(plain, &f) || !isfinite(f))
		return out_of_range(r, text, "float64");
	*ret = value_float(negative ? -f : f);
	return 0;
}

/* ---- dates ---- */

/* Go's parser takes one digit where the layout has two: the separators tell. */
static bool lacks_a_zero(struct str text, const char *layout)
{
	for (size_t i = 0; layout[i] && layout[i] != '.' && layout[i] != 'Z'; i++)
		if (!char_is_digit(layout[i]) && (i >= text.len || text.ptr[i] != layout[i]))
			return true;
	return false;
}

static int read_date(struct toml_reader *r, struct str text, struct value *ret)
{
	static const struct {
		const char *layout, *zone; /* NULL: in the text */
	} rows[] = {{"2006-01-02T15:04:05.999999999Z07:00", NULL},
		    {"2006-01-02T15:04:05.999999999", TOML_LOCAL_DATETIME},
		    {"2006-01-02", TOML_LOCAL_DATE},
		    {"15:04:05.999999999", TOML_LOCAL_TIME},
		    {"2006-01-02T15:04Z07:00", NULL},
		    {"2006-01-02T15:04", TOML_LOCAL_DATETIME},
		    {"15:04", TOML_LOCAL_TIME}};
	char *normal = arena_strndup(r->a, text.ptr, text.len);
	for (char *c = normal; *c; c++)
		*c = (char)(*c == 'z' ? 'Z' : *c == 't' || *c == ' ' ? 'T' : *c);
	text = str_of(normal);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		struct vtime t;
		if (!date_parse(r->a, str_of(rows[i].layout), text, &date_utc, &t, &msg))
			continue;
		if (lacks_a_zero(text, rows[i].layout))
			break;
		if (rows[i].zone)
			t.zone = date_fixed_zone(r->a, 0, str_of(rows[i].zone));
		*ret = date_value(r->a, t);
		return 0;
	}
	return toml_fail_in(r, r->line,
			    arena_fmt(r->a, "invalid datetime: %s", toml_quoted(r, text)));
}

/* ---- any of them ---- */

static void skip_all(struct toml_reader *r, const char *more)
{
	while (!toml_at_end(r) && (char_is_digit(toml_peek(r)) || strchr(more, toml_peek(r))))
		r->at++;
}

/* Past the digits of 0x, 0o or 0b. */
static int cut_radix(struct toml_reader *r, size_t start)
{
	char kind = toml_peek(r);
	const char *digits = kind == 'x'   ? "0123456789abcdefABCDEF"
			     : kind == 'o' ? "01234567"
					   : "01";
	r->at++;
	if (toml_at_end(r) && r->bad)
		return toml_fail(r, "");
	if (toml_at_end(r) || !strchr(digits, toml_peek(r))) {
		uint32_t rune;
		size_t width = rune_next(str_skip(r->s, r->at), &rune);
		struct str seen = str_sub(r->s, start, r->at - start + width);
		return toml_fail(r, arena_fmt(r->a, "not %s number: '%.*s'",
					      kind == 'x'   ? "a hexadecimal"
					      : kind == 'o' ? "an octal"
							    : "a binary",
					      STR_ARG(seen)));
	}
	while (!toml_at_end(r) && (toml_peek(r) == '_' || strchr(digits, toml_peek(r))))
		r->at++;
	return SCALAR_INTEGER;
}

/* Digits and underscores, then perhaps what makes a float of them. */
static int cut_decimal(struct toml_reader *r)
{
	skip_all(r, "_");
	char c = toml_peek(r);
	if (c != '.' && c != 'e' && c != 'E')
		return SCALAR_INTEGER;
	skip_all(r, "_.-+eE");
	return SCALAR_FLOAT;
}

static int cut_signed(struct toml_reader *r, size_t start)
{
	r->at++;
	char c = toml_peek(r);
	if (c == 'i' || c == 'n') {
		if (toml_take(r, c == 'i' ? "inf" : "nan"))
			return SCALAR_INFINITE;
		r->at++;
		r->at += toml_peek(r) == (c == 'i' ? 'n' : 'a');
		return toml_fail(r, arena_fmt(r->a, "invalid float: '%.*s'",
					      STR_ARG(str_sub(r->s, start, r->at - start))));
	}
	if (c == '.')
		return toml_fail(r, "floats must start with a digit, not '.'");
	if (!char_is_digit(c))
		return toml_fail_char(r, "expected a digit but got ", "");
	r->at++;
	char base = toml_peek(r);
	if (c == '0' && base && strchr("box", base))
		return toml_fail(r, arena_fmt(r->a,
					      "cannot use sign with non-decimal numbers: '%.*s%c'",
					      STR_ARG(str_sub(r->s, start, 2)), base));
	return cut_decimal(r);
}

static int cut_number(struct toml_reader *r)
{
	size_t start = r->at;
	char first = toml_peek(r);
	r->at++;
	char c = toml_peek(r);
	if (first == '0' && c && strchr("box", c))
		return cut_radix(r, start);
	if (first != '0' || char_is_digit(c)) {
		skip_all(r, "");
		c = toml_peek(r);
		if (c == '-' || c == ':') {
			skip_all(r, "-:Tt .Zz+");
			return SCALAR_DATE;
		}
	}
	if (c == '_' || c == '.' || c == 'e' || c == 'E')
		return cut_decimal(r);
	return SCALAR_INTEGER;
}

static int read_word(struct toml_reader *r, struct value *ret)
{
	size_t start = r->at, width;
	uint32_t rune;
	for (; (width = rune_next(str_skip(r->s, r->at), &rune)) > 0 && rune_is_letter(rune);)
		r->at += width;
	struct str word = str_sub(r->s, start, r->at - start);
	if (toml_at_end(r) && r->bad)
		return toml_fail(r, "");
	if (!str_is(word, "true") && !str_is(word, "false"))
		return toml_fail(r, arena_fmt(r->a, "expected value but found %s instead",
					      toml_quoted(r, word)));
	*ret = value_bool(str_is(word, "true"));
	return 0;
}

/* "inf" and "nan"; and, as the library has it, "ian", "nnf" and "inan". Of another word the message
 * lacks what was taken for the beginning of these. */
static bool cut_infinite(struct toml_reader *r)
{
	size_t start = r->at++;
	bool found = (toml_take(r, "n") && toml_take(r, "f")) ||
		     (toml_take(r, "a") && toml_take(r, "n"));
	if (!found)
		r->at = r->at > start + 1 ? r->at - 1 : start;
	return found;
}

int toml_read_scalar(struct toml_reader *r, struct value *ret)
{
	size_t start = r->at;
	char c = toml_peek(r);
	int kind;
	uint32_t rune = 0;
	rune_next(str_skip(r->s, r->at), &rune);
	if (toml_at_end(r))
		return toml_fail(r, "unexpected EOF; expected value");
	if (c == '.')
		return toml_fail(r, "floats must start with a digit, not '.'");
	if (char_is_digit(c))
		kind = cut_number(r);
	else if (c == '-' || c == '+')
		kind = cut_signed(r, start);
	else if ((c == 'i' || c == 'n') && cut_infinite(r))
		kind = SCALAR_INFINITE;
	else if (rune_is_letter(rune))
		return read_word(r, ret);
	else
		return toml_fail(r, arena_fmt(r->a, "expected value but found %s instead",
					      toml_quoted_char(r)));
	if (kind < 0)
		return kind;
	if (kind != SCALAR_INFINITE && toml_at_end(r) && r->bad)
		return toml_fail(r, "");
	struct str text = str_trim(str_sub(r->s, start, r->at - start));
	return kind == SCALAR_DATE      ? read_date(r, text, ret)
	       : kind != SCALAR_INTEGER ? read_float(r, text, ret)
					: read_integer(r, text, ret);
}
