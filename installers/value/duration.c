/* duration: time.ParseDuration, with Go's messages, and its String. */
#include "alm/base/clock.h"
#include "installers/value/date.h"

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{"ns", 1},       {"us", 1000},    {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
	{"ms", 1000000}, {"s", NS_PER_S}, {"m", NS_PER_MIN},   {"h", NS_PER_HOUR},
};

static bool fail_duration(struct strbuf *msg, const char *what, struct str unit, struct str text)
{
	strbuf_adds(msg, what);
	if (unit.ptr) {
		date_quote(msg, unit);
		strbuf_adds(msg, " in duration ");
	}
	date_quote(msg, text);
	return false;
}

#define DURATION_MAX (UINT64_C(1) << 63) /* of a negative one */

/* Digits before a point; false: too many. */
static bool take_whole(struct str *s, uint64_t *ret)
{
	uint64_t n = 0;
	for (; s->len && char_is_digit(s->ptr[0]); *s = str_skip(*s, 1)) {
		if (n > DURATION_MAX / 10)
			return false;
		n = n * 10 + (uint64_t)(s->ptr[0] - '0');
		if (n > DURATION_MAX)
			return false;
	}
	*ret = n;
	return true;
}

/* Digits behind it, as far as they fit, in parts of scale. */
static uint64_t take_fraction(struct str *s, double *ret_scale)
{
	uint64_t n = 0;
	bool full = false;
	for (*ret_scale = 1; s->len && char_is_digit(s->ptr[0]); *s = str_skip(*s, 1)) {
		uint64_t next = n * 10 + (uint64_t)(s->ptr[0] - '0');
		full |= n > (DURATION_MAX - 1) / 10 || next > DURATION_MAX;
		if (full)
			continue;
		n = next;
		*ret_scale *= 10;
	}
	return n;
}

static bool take_unit(struct str *s, struct str text, uint64_t *ret, struct strbuf *msg)
{
	size_t len = 0;
	while (len < s->len && s->ptr[len] != '.' && !char_is_digit(s->ptr[len]))
		len++;
	if (len == 0)
		return fail_duration(msg, "time: missing unit in duration ", STR_NONE, text);
	struct str unit = str_sub(*s, 0, len);
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_is(unit, units[i].name)) {
			*s = str_skip(*s, len);
			*ret = (uint64_t)units[i].ns;
			return true;
		}
	return fail_duration(msg, "time: unknown unit ", unit, text);
}

static bool add_unit(struct str *s, struct str text, uint64_t *total, struct strbuf *msg)
{
	uint64_t whole = 0, part = 0, unit;
	double scale = 1;
	size_t n = s->len;
	bool fits = take_whole(s, &whole), any = s->len < n;
	if (fits && s->len && s->ptr[0] == '.') {
		*s = str_skip(*s, 1);
		n = s->len;
		part = take_fraction(s, &scale);
		any |= s->len < n;
	}
	if (!fits || !any)
		return fail_duration(msg, "time: invalid duration ", STR_NONE, text);
	if (!take_unit(s, text, &unit, msg))
		return false;
	fits = whole <= DURATION_MAX / unit;
	whole = fits ? whole * unit : 0;
	if (part) /* nanoseconds of an hour's fraction, to the last one */
		whole += (uint64_t)((double)part * ((double)unit / scale));
	*total += whole;
	if (!fits || whole > DURATION_MAX || *total > DURATION_MAX)
		return fail_duration(msg, "time: invalid duration ", STR_NONE, text);
	return true;
}

bool date_duration(struct str text, int64_t *ret_ns, struct strbuf *msg)
{
	struct str s = text;
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t total = 0;
	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	if (str_is(s, "0")) {
		*ret_ns = 0;
		return true;
	}
	if (s.len == 0)
		return fail_duration(msg, "time: invalid duration ", STR_NONE, text);
	while (s.len)
		if (!add_unit(&s, text, &total, msg))
			return false;
	if (!negative && total == DURATION_MAX)
		return fail_duration(msg, "time: invalid duration ", STR_NONE, text);
	*ret_ns = negative ? (int64_t)-total : (int64_t)total;
	return true;
}

void date_duration_text(struct strbuf *b, int64_t ns)
{
	char out[CLOCK_TEXT_MAX];
	duration_format(ns, out);
	strbuf_adds(b, out);
}
