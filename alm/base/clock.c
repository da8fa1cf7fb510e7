#include "alm/base/clock.h"

#include <stdio.h>
#include <string.h>

/* Days and civil dates by the era method: 400 years are 146,097 days, a year starts in March. */
int64_t days_from_civil(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + doe - 719468;
}

void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	*ret_day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*ret_month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*ret_year = yoe + era * 400 + (*ret_month <= 2);
}

void clock_format(int64_t ns, enum clock_precision precision, char out[CLOCK_TEXT_MAX])
{
	int64_t s = ns / NS_PER_S, frac = ns % NS_PER_S;
	if (frac < 0) {
		frac += NS_PER_S;
		s--;
	}
	clock_format_seconds(s, frac, precision, out);
}

void clock_format_seconds(int64_t s, int64_t frac, enum clock_precision precision,
			  char out[CLOCK_TEXT_MAX])
{
	int64_t days = s / 86400, sec = s % 86400;
	if (sec < 0) {
		sec += 86400;
		days--;
	}
	int64_t year;
	int month, day;
	civil_from_days(days, &year, &month, &day);
	int n = snprintf(out, CLOCK_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, month,
			 day, (int)(sec / 3600), (int)(sec / 60 % 60), (int)(sec % 60));
	size_t at = n > 0 ? (size_t)n : 0;
	const char *tail = "Z";
	char digits[16];
	if (precision != CLOCK_SECONDS) {
		bool ms = precision == CLOCK_MILLIS;
		snprintf(digits, sizeof(digits), ".%0*dZ", ms ? 3 : 6,
			 (int)(frac / (ms ? NS_PER_MS : NS_PER_US)));
		tail = digits;
	}
	snprintf(out + at, CLOCK_TEXT_MAX - at, "%s", tail);
}

/* Exactly n digits at s, as a number. */
int64_t clock_ns(int64_t n, int64_t unit_ns)
{
	int64_t ns;
	if (__builtin_mul_overflow(n, unit_ns, &ns))
		return n < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static bool digits_at(struct str s, size_t at, size_t n, int *ret)
{
	uint64_t v;
	if (at + n > s.len || !str_parse_u64(str_sub(s, at, n), &v))
		return false;
	*ret = (int)v;
	return true;
}

static bool days_in_month_ok(int year, int month, int day)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (month < 1 || month > 12 || day < 1)
		return false;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return day <= lengths[month - 1] + (month == 2 && leap);
}

static bool parse_offset(struct str s, int *ret_seconds)
{
	int h, m;
	if (s.len == 1 && (*s.ptr == 'Z' || *s.ptr == 'z')) {
		*ret_seconds = 0;
		return true;
	}
	if (s.len != 6 || (*s.ptr != '+' && *s.ptr != '-') || s.ptr[3] != ':' ||
	    !digits_at(s, 1, 2, &h) || !digits_at(s, 4, 2, &m) || h > 23 || m > 59)
		return false;
	*ret_seconds = (h * 3600 + m * 60) * (*s.ptr == '-' ? -1 : 1);
	return true;
}

static size_t parse_fraction(struct str s, int64_t *ret_ns)
{
	size_t i = 1;
	int64_t scale = NS_PER_S / 10;
	*ret_ns = 0;
	if (!s.len || *s.ptr != '.')
		return 0;
	for (; i < s.len && char_is_digit(s.ptr[i]); i++, scale /= 10)
		*ret_ns += (s.ptr[i] - '0') * scale;
	return i;
}

bool clock_parse_seconds(struct str text, int64_t *ret_s, int64_t *ret_frac)
{
	int year, month, day, h, m, s, offset;
	if (text.len < 20 || text.ptr[4] != '-' || text.ptr[7] != '-' ||
	    (text.ptr[10] != 'T' && text.ptr[10] != 't') || text.ptr[13] != ':' ||
	    text.ptr[16] != ':' || !digits_at(text, 0, 4, &year) ||
	    !digits_at(text, 5, 2, &month) || !digits_at(text, 8, 2, &day) ||
	    !digits_at(text, 11, 2, &h) || !digits_at(text, 14, 2, &m) ||
	    !digits_at(text, 17, 2, &s))
		return false;
	if (!days_in_month_ok(year, month, day) || h > 23 || m > 59 || s > 60)
		return false;
	size_t n = parse_fraction(str_skip(text, 19), ret_frac);
	if (n == 1 || !parse_offset(str_skip(text, 19 + n), &offset))
		return false;
	*ret_s = days_from_civil(year, month, day) * 86400 + (int64_t)h * 3600 + (int64_t)m * 60 +
		 s - offset;
	return true;
}

bool clock_parse(struct str text, int64_t *ret_ns)
{
	int64_t s, frac, first = days_from_civil(1678, 1, 1) * 86400,
			 end = days_from_civil(2262, 1, 1) * 86400;
	if (!clock_parse_seconds(text, &s, &frac) || s < first || s >= end)
		return false;
	*ret_ns = s * NS_PER_S + frac;
	return true;
}

/* clang-format off */
static const struct { const char *name; int64_t ns; } units[] = {
	{"ns", 1}, {"us", NS_PER_US}, {"\xc2\xb5s", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S},
	{"m", NS_PER_MIN}, {"h", NS_PER_HOUR}, {"d", NS_PER_DAY},
};
/* clang-format on */

static int64_t unit_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_is(name, units[i].name))
			return units[i].ns;
	return 0;
}

int duration_parse(struct str text, int64_t *ret_ns, struct error *err)
{
	struct str s = text;
	double total = 0;
	bool neg = s.len && *s.ptr == '-';
	if (s.len && (*s.ptr == '-' || *s.ptr == '+'))
		s = str_skip(s, 1);
	if (str_is(s, "0")) {
		*ret_ns = 0;
		return 0;
	}
	if (!s.len)
		goto bad;
	while (s.len) {
		size_t n = 0, u;
		double v;
		while (n < s.len && (char_is_digit(s.ptr[n]) || s.ptr[n] == '.'))
			n++;
		for (u = n; u < s.len && s.ptr[u] != '.' && !char_is_digit(s.ptr[u]);)
			u++;
		int64_t unit = unit_of(str_sub(s, n, u - n));
		if (!n || !unit || !str_parse_double(str_sub(s, 0, n), &v))
			goto bad;
		total += v * (double)unit;
		s = str_skip(s, u);
	}
	if (total > 9.0e18)
		goto bad;
	*ret_ns = (int64_t)(neg ? -total : total);
	return 0;
bad:
	return error_set(err, E_INVALID, "\"%.*s\" is no duration, want one like 30s, 5m or 1h30m",
			 STR_ARG(text));
}

void duration_format(int64_t ns, char out[CLOCK_TEXT_MAX])
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	if (v < (uint64_t)NS_PER_S) {
		double scaled = (double)v;
		const char *unit = "ns";
		if (v >= (uint64_t)NS_PER_MS) {
			scaled /= (double)NS_PER_MS;
			unit = "ms";
		} else if (v >= (uint64_t)NS_PER_US) {
			scaled /= (double)NS_PER_US;
			unit = "\xc2\xb5s";
		}
		if (!v)
			unit = "s";
		snprintf(out, CLOCK_TEXT_MAX, "%s%.9g%s", sign, scaled, unit);
		return;
	}
	uint64_t s = v / (uint64_t)NS_PER_S;
	double seconds = (double)(v % (uint64_t)NS_PER_MIN) / (double)NS_PER_S;
	if (s >= 3600)
		snprintf(out, CLOCK_TEXT_MAX, "%s%lluh%llum%.11gs", sign,
			 (unsigned long long)(s / 3600), (unsigned long long)(s / 60 % 60),
			 seconds);
	else if (s >= 60)
		snprintf(out, CLOCK_TEXT_MAX, "%s%llum%.11gs", sign, (unsigned long long)(s / 60),
			 seconds);
	else
		snprintf(out, CLOCK_TEXT_MAX, "%s%.11gs", sign, seconds);
}

static void two_units(char out[CLOCK_TEXT_MAX], int64_t a, const char *ua, int64_t b,
		      const char *ub)
{
	if (b)
		snprintf(out, CLOCK_TEXT_MAX, "%lld%s%lld%s", (long long)a, ua, (long long)b, ub);
	else
		snprintf(out, CLOCK_TEXT_MAX, "%lld%s", (long long)a, ua);
}

void duration_human(int64_t ns, char out[CLOCK_TEXT_MAX])
{
	int64_t s = ns / NS_PER_S, m = s / 60, h = m / 60, d = h / 24, y = d / 365;
	if (s < -1)
		snprintf(out, CLOCK_TEXT_MAX, "<invalid>");
	else if (s < 0)
		snprintf(out, CLOCK_TEXT_MAX, "0s");
	else if (s < 120)
		two_units(out, s, "s", 0, "");
	else if (m < 10)
		two_units(out, m, "m", s % 60, "s");
	else if (m < 180)
		two_units(out, m, "m", 0, "");
	else if (h < 8)
		two_units(out, h, "h", m % 60, "m");
	else if (h < 48)
		two_units(out, h, "h", 0, "");
	else if (d < 8)
		two_units(out, d, "d", h % 24, "h");
	else if (d < 730)
		two_units(out, d, "d", 0, "");
	else if (y < 8)
		two_units(out, y, "y", d % 365, "d");
	else
		two_units(out, y, "y", 0, "");
}
