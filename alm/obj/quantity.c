/* quantity: see quantity.h. The value is counted in nanos, 128 bits wide. */
#include "alm/obj/quantity.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/mem.h"

#define WRONG_FORMAT                                                                            \
	"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-" \
	"9]*)$'"
#define WRONG_SUFFIX "unable to parse quantity's suffix"
#define TOO_LARGE    "the quantity is larger than 10^27"
#define NANO         9

__extension__ typedef unsigned __int128 wide;

/* In nanos. Beyond it a number with a decimal suffix is refused. */
#define VALUE_MAX  ((wide)1000000000000000000 * 1000000000000000000)
#define BINARY_MAX ((wide)INT64_MAX * 1000000000)

enum family { DECIMAL, BINARY, EXPONENT };

/* clang-format off */
static const struct { const char *text; int power; enum family family; } suffixes[] = {
	{"n", -9, DECIMAL}, {"u", -6, DECIMAL}, {"m", -3, DECIMAL}, {"", 0, DECIMAL}, {"k", 3, DECIMAL},
	{"M", 6, DECIMAL}, {"G", 9, DECIMAL}, {"T", 12, DECIMAL}, {"P", 15, DECIMAL}, {"E", 18, DECIMAL},
	{"Ki", 10, BINARY}, {"Mi", 20, BINARY}, {"Gi", 30, BINARY}, {"Ti", 40, BINARY}, {"Pi", 50, BINARY},
	{"Ei", 60, BINARY},
};
/* clang-format on */

struct number {
	bool negative;
	struct str digits, fraction, suffix;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct str cut_digits(struct str *rest)
{
	size_t n = 0;
	while (n < rest->len && is_digit(rest->ptr[n]))
		n++;
	struct str digits = str_sub(*rest, 0, n);
	*rest = str_skip(*rest, n);
	return digits;
}

static const char *split(struct str s, struct number *ret)
{
	*ret = (struct number){.negative = s.len && s.ptr[0] == '-'};
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	ret->digits = cut_digits(&s);
	if (s.len && s.ptr[0] == '.') {
		s = str_skip(s, 1);
		ret->fraction = cut_digits(&s);
	}
	ret->suffix = s;
	size_t i = 0;
	while (i < s.len && s.ptr[i] && strchr("eEinumkKMGTP", s.ptr[i]))
		i++;
	if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+'))
		i++;
	while (i < s.len && is_digit(s.ptr[i]))
		i++;
	return i < s.len ? WRONG_FORMAT : NULL;
}

static const char *read_suffix(struct str s, int *ret_power, enum family *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		if (str_is(s, suffixes[i].text)) {
			*ret_power = suffixes[i].power;
			*ret = suffixes[i].family;
			return NULL;
		}
	int64_t power;
	struct str digits = str_skip(s, 1);
	if (s.len < 2 || (s.ptr[0] != 'e' && s.ptr[0] != 'E'))
		return WRONG_SUFFIX;
	if (digits.ptr[0] == '+')
		digits = str_skip(digits, 1);
	if (!str_parse_i64(digits, &power) || power < -1000 || power > 1000)
		return WRONG_SUFFIX;
	*ret_power = (int)power;
	*ret = EXPONENT;
	return NULL;
}

/* Whole nanos; more than VALUE_MAX is VALUE_MAX, a rest is rounded up. */
static wide nanos_of(const struct number *n, int power, enum family family)
{
	int scale = NANO + (family == BINARY ? 0 : power);
	wide v = 0, factor = family == BINARY ? (wide)1 << power : 1;
	bool rest = false;
	size_t total = n->digits.len + n->fraction.len;
	/* digit i stands for 10^(digits - 1 - i), times 10^scale nanos */
	for (size_t i = 0; i < total; i++) {
		bool whole = i < n->digits.len;
		char c = whole ? n->digits.ptr[i] : n->fraction.ptr[i - n->digits.len];
		int64_t at = (int64_t)n->digits.len - 1 - (int64_t)i + scale;
		if (c == '0')
			continue;
		if (at > 36)
			return VALUE_MAX;
		wide unit = (wide)(c - '0') * factor;
		for (; at > 0 && unit <= VALUE_MAX; at--)
			unit *= 10;
		for (; at < 0 && unit; at++) {
			rest |= unit % 10 != 0;
			unit /= 10;
		}
		v += unit;
		if (v > VALUE_MAX)
			return VALUE_MAX;
	}
	return v + rest;
}

static const char *suffix_of(int power, enum family family)
{
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		if (suffixes[i].power == power && (suffixes[i].family == family || power == 0))
			return suffixes[i].text;
	return "";
}

static void put(bool negative, wide mantissa, int power, enum family family,
		char out[QUANTITY_TEXT_MAX])
{
	char digits[40];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(mantissa % 10));
		mantissa /= 10;
	} while (mantissa);
	const char *sign = negative && digits[at] != '0' ? "-" : "";
	if (digits[at] == '0')
		power = 0;
	if (family == EXPONENT && power != 0)
		snprintf(out, QUANTITY_TEXT_MAX, "%s%se%d", sign, digits + at, power);
	else
		snprintf(out, QUANTITY_TEXT_MAX, "%s%s%s", sign, digits + at,
			 suffix_of(power, family));
}

/* What says in other digits what the canonical form says stays as it is: "01", "+5", "1e+3". */
static bool is_canonical(const struct number *n, int power, enum family family, int floor)
{
	int64_t m;
	if (n->fraction.len || !n->digits.len || !str_parse_i64(n->digits, &m) || m == 0)
		return false;
	if (family == BINARY)
		return m % 1024 != 0 && m <= INT64_MAX >> power;
	return power % 3 == 0 && power >= floor &&
	       (m % 1000 != 0 || (family == DECIMAL && power == 18));
}

/* v nanos, not finer than the floor. */
static void show(bool negative, wide v, enum family family, int floor, char out[QUANTITY_TEXT_MAX])
{
	int shown = -NANO;
	wide one = 1000000000;
	for (; shown < floor; shown += 3)
		v = (v + 999) / 1000;
	one /= floor == QUANTITY_MILLI ? 1000000 : 1;
	if (family == BINARY && v % one == 0 && v >= 1024 * one) {
		v /= one;
		for (shown = 0; shown < 60 && v % 1024 == 0; shown += 10)
			v /= 1024;
		put(negative, v, shown, BINARY, out);
		return;
	}
	for (; (shown < 18 || family == EXPONENT) && v && v % 1000 == 0; shown += 3)
		v /= 1000;
	put(negative, v, shown, family == BINARY ? DECIMAL : family, out);
}

const char *quantity_canonical(struct str text, int floor, char out[QUANTITY_TEXT_MAX])
{
	struct number n;
	int power = 0;
	enum family family = DECIMAL;
	text = str_trim(text);
	const char *fault = text.len ? split(text, &n) : WRONG_FORMAT;
	if (!fault)
		fault = read_suffix(n.suffix, &power, &family);
	if (fault)
		return fault;
	if (text.len < QUANTITY_TEXT_MAX && is_canonical(&n, power, family, floor)) {
		memcpy(out, text.ptr, text.len);
		out[text.len] = '\0';
		return NULL;
	}
	wide v = nanos_of(&n, power, family);
	if (family == BINARY && v > BINARY_MAX)
		v = BINARY_MAX;
	else if (v >= VALUE_MAX)
		return TOO_LARGE;
	show(n.negative, v, family, floor, out);
	return NULL;
}

bool quantity_read(struct str text, struct quantity *ret)
{
	struct number n;
	int power = 0;
	enum family family = DECIMAL;
	text = str_trim(text);
	if (!text.len || split(text, &n) || read_suffix(n.suffix, &power, &family))
		return false;
	wide v = nanos_of(&n, power, family);
	if (v >= VALUE_MAX)
		return false;
	ret->nanos = n.negative ? -(quantity_nanos)v : (quantity_nanos)v;
	ret->family = (int)family;
	return true;
}

void quantity_add(struct quantity *q, const struct quantity *more)
{
	if (q->nanos == 0)
		q->family = more->family;
	q->nanos += more->nanos;
}

void quantity_print(const struct quantity *q, char out[QUANTITY_TEXT_MAX])
{
	bool negative = q->nanos < 0;
	show(negative, (wide)(negative ? -q->nanos : q->nanos), (enum family)q->family,
	     QUANTITY_NANO, out);
}
