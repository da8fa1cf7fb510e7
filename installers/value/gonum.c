#include "installers/value/gonum.h"

#include <math.h>

#include "alm/base/strbuf.h"

/* '_' may stand between digits, and after a base prefix. */
static bool underscores_ok(struct str s)
{
	char prev = '^';
	size_t i = 0;
	bool hex = false;
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		i = 1;
	if (s.len - i >= 2 && s.ptr[i] == '0') {
		char c = char_lower(s.ptr[i + 1]);
		if (c == 'b' || c == 'o' || c == 'x') {
			prev = '0';
			hex = c == 'x';
			i += 2;
		}
	}
	for (; i < s.len; i++) {
		char c = s.ptr[i];
		if (char_is_digit(c) || (hex && char_is_hex(c))) {
			prev = '0';
		} else if (c == '_') {
			if (prev != '0')
				return false;
			prev = '_';
		} else {
			if (prev == '_')
				return false;
			prev = '!';
		}
	}
	return prev != '_';
}

static unsigned digit_value(char c)
{
	if (char_is_digit(c))
		return (unsigned)(c - '0');
	return char_is_alpha(c) ? (unsigned)(char_lower(c) - 'a') + 10 : 99;
}

/* The base that a prefix names, which goes: 0b, 0o, 0x, or 0 for octal. */
static int take_base(struct str *s)
{
	char c = s->len >= 3 ? char_lower(s->ptr[1]) : '\0';
	if (s->ptr[0] != '0')
		return 10;
	bool named = c == 'b' || c == 'o' || c == 'x';
	*s = str_skip(*s, named ? 2 : 1);
	return c == 'b' ? 2 : c == 'x' ? 16 : 8;
}

enum gonum_result gonum_uint(struct str s, int base, uint64_t *ret)
{
	struct str whole = s;
	bool any_base = base == 0, underscores = false;
	*ret = 0;
	if (s.len == 0)
		return GONUM_SYNTAX;
	if (any_base)
		base = take_base(&s);
	uint64_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '_' && any_base) {
			underscores = true;
			continue;
		}
		unsigned d = digit_value(s.ptr[i]);
		if (d >= (unsigned)base)
			return GONUM_SYNTAX;
		if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
		    __builtin_add_overflow(n, (uint64_t)d, &n)) {
			*ret = UINT64_MAX; /* Go stops here, whatever follows */
			return GONUM_RANGE;
		}
	}
	if (underscores && !underscores_ok(whole))
		return GONUM_SYNTAX;
	*ret = n;
	return GONUM_OK;
}

enum gonum_result gonum_int(struct str s, int base, int64_t *ret)
{
	*ret = 0;
	if (s.len == 0)
		return GONUM_SYNTAX;
	bool negative = s.ptr[0] == '-';
	if (negative || s.ptr[0] == '+')
		s = str_skip(s, 1);
	uint64_t u;
	enum gonum_result r = gonum_uint(s, base, &u);
	if (r == GONUM_SYNTAX)
		return r;
	const uint64_t cutoff = UINT64_C(1) << 63;
	if (r == GONUM_RANGE || u > cutoff || (u == cutoff && !negative)) {
		*ret = negative ? INT64_MIN : INT64_MAX;
		return GONUM_RANGE;
	}
	*ret = negative ? (int64_t)(0 - u) : (int64_t)u;
	return GONUM_OK;
}

static bool equals_lower(struct str s, const char *word)
{
	size_t i = 0;
	for (; i < s.len && word[i]; i++) {
		if (char_lower(s.ptr[i]) != word[i])
			return false;
	}
	return i == s.len && !word[i];
}

static bool special(struct str s, double *ret)
{
	bool sign = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
	struct str body = str_skip(s, sign);
	if (equals_lower(body, "inf") || equals_lower(body, "infinity"))
		*ret = sign && s.ptr[0] == '-' ? -INFINITY : INFINITY;
	else if (!sign && equals_lower(body, "nan"))
		*ret = NAN;
	else
		return false;
	return true;
}

/* After 0x: a mantissa of hex digits with a point, and an exponent that must be there. */
/* mant * 2^exp, rounded once: ldexp() of a rounded number would round twice where doubles get
 * sparse. sticky: something more stood behind. */
static double scaled(uint64_t mant, bool sticky, int64_t exp)
{
	if (!mant)
		return 0;
	int lead = __builtin_clzll(mant);
	mant <<= lead;
	exp -= lead;
	int64_t drop = exp + 11 < -1074 ? -1074 - exp : 11;
	if (drop > 64 || exp > 2000)
		return drop > 64 ? 0 : (double)INFINITY;
	uint64_t half = UINT64_C(1) << (drop - 1);
	uint64_t kept = drop == 64 ? 0 : mant >> drop;
	uint64_t rest = mant & (half | (half - 1));
	kept += rest > half || (rest == half && (sticky || (kept & 1)));
	return ldexp((double)kept, (int)(exp + drop));
}

/* A decimal number with underscores, to the end; large ones are cut. */
static bool hex_exponent(struct str s, int64_t *ret)
{
	bool negative = s.len && s.ptr[0] == '-';
	int64_t n = 0;
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	if (!s.len || !char_is_digit(s.ptr[0]))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!char_is_digit(s.ptr[i]) && s.ptr[i] != '_')
			return false;
		if (s.ptr[i] != '_' && n < 10000) /* as Go cuts it */
			n = n * 10 + (s.ptr[i] - '0');
	}
	*ret = negative ? -n : n;
	return true;
}

static enum gonum_result hex_float(struct str s, bool negative, double *ret)
{
	uint64_t mant = 0;
	bool sticky = false, point = false, digits = false;
	int64_t exp = 0;
	size_t i = 0;
	for (; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c == '_')
			continue;
		if (!char_is_hex(c))
			break;
		digits = true;
		if (mant >> 60) {
			sticky = sticky || digit_value(c) != 0;
			exp += point ? 0 : 4;
		} else {
			mant = mant << 4 | digit_value(c);
			exp -= point ? 4 : 0;
		}
	}
	int64_t power = 0;
	if (!digits || i >= s.len || char_lower(s.ptr[i]) != 'p' ||
	    !hex_exponent(str_skip(s, i + 1), &power))
		return GONUM_SYNTAX;
	double f = scaled(mant, sticky, exp + power);
	*ret = negative ? -f : f;
	return isinf(f) ? GONUM_RANGE : GONUM_OK;
}

enum gonum_result gonum_float(struct str s, double *ret)
{
	*ret = 0;
	if (special(s, ret))
		return GONUM_OK;
	struct str body = s;
	bool negative = s.len && s.ptr[0] == '-';
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		body = str_skip(s, 1);
	bool underscores = str_find_char(s, '_') >= 0;
	if (underscores && !underscores_ok(s))
		return GONUM_SYNTAX;
	if (body.len >= 2 && body.ptr[0] == '0' && char_lower(body.ptr[1]) == 'x')
		return hex_float(str_skip(body, 2), negative, ret);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < body.len; i++) {
		if (body.ptr[i] != '_')
			strbuf_addc(&b, body.ptr[i]);
	}
	double f = 0;
	if (b.over || b.buf[0] == '-' || b.buf[0] == '+' || !str_parse_double(strbuf_str(&b), &f))
		return GONUM_SYNTAX; /* too large a number ends here too */
	*ret = negative ? -f : f;
	return GONUM_OK;
}

int64_t gonum_trunc(double f)
{
	if (!(f >= -0x1p63 && f < 0x1p63))
		return INT64_MIN;
	return (int64_t)f;
}
