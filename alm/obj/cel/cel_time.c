/* cel_time: the parts of timestamps, in UTC or at an offset, and their texts, as cel-go has them. */
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/cel/cel_table.h"

/* "UTC", "+02:00", "-01:30", "02:00". Names of zones are not known: no expression reads files. */
static bool read_zone(struct str s, int64_t *ret_s)
{
	int sign = 1;
	int64_t hours, minutes;
	struct str h, m;
	*ret_s = 0;
	if (str_is(s, "UTC") || s.len == 0)
		return true;
	if (s.ptr[0] == '+' || s.ptr[0] == '-') {
		sign = s.ptr[0] == '-' ? -1 : 1;
		s = str_skip(s, 1);
	}
	if (!str_cut(s, ':', &h, &m) || h.len != 2 || m.len != 2 || !str_parse_i64(h, &hours) ||
	    !str_parse_i64(m, &minutes) || hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return false;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

enum part { YEAR, MONTH, DATE, DAY, WEEKDAY, YEARDAY, HOURS, MINUTES, SECONDS, MILLIS };

static int64_t part_of(int64_t s, int64_t ns, enum part part)
{
	const int64_t per_day = 86400;
	int64_t days = s / per_day - (s % per_day < 0), left = s - days * per_day, year;
	int month, day;
	civil_from_days(days, &year, &month, &day);
	switch (part) {
	case YEAR:
		return year;
	case MONTH:
		return month - 1;
	case DATE:
		return day;
	case DAY:
		return day - 1;
	case WEEKDAY:
		return ((days + 4) % 7 + 7) % 7; /* 1970 began on a Thursday */
	case YEARDAY:
		return days - days_from_civil(year, 1, 1);
	case HOURS:
		return left / 3600;
	case MINUTES:
		return left / 60 % 60;
	case SECONDS:
		return left % 60;
	case MILLIS:
		break;
	}
	return ns / NS_PER_MS;
}

static struct cel_value in_zone(const struct cel_value *v, enum part part, struct cel_call *c)
{
	int64_t offset;
	if (!read_zone(v[1].str, &offset))
		return cel_error(c->a, "unknown time zone %.*s", STR_ARG(v[1].str));
	return cel_int(part_of(v[0].at.s + offset, v[0].at.ns, part));
}

/* clang-format off */
#define PART(name, part) \
	CEL_FN(name) { return cel_int(part_of(v[0].at.s, v[0].at.ns, part)); } \
	CEL_FN(name##_in) { return in_zone(v, part, c); }
PART(year, YEAR)
PART(month, MONTH)
PART(date, DATE)
PART(day, DAY)
PART(weekday, WEEKDAY)
PART(yearday, YEARDAY)
PART(hours, HOURS)
PART(minutes, MINUTES)
PART(seconds, SECONDS)
PART(millis, MILLIS)
/* clang-format on */

/* A fraction without zeros at its end; none if it is 0. */
static void add_fraction(int64_t ns, struct strbuf *b)
{
	char digits[16];
	int n = snprintf(digits, sizeof(digits), ".%09lld", (long long)ns);
	while (n > 0 && digits[n - 1] == '0')
		n--;
	if (n > 1)
		strbuf_addstr(b, str_n(digits, (size_t)n));
}

void cel_time_text(const struct cel_value *v, struct strbuf *b)
{
	const int64_t second = NS_PER_S;
	if (v->kind == CEL_DURATION) {
		int64_t ns = v->i < 0 ? -(v->i + (v->i == INT64_MIN)) : v->i;
		strbuf_addf(b, "%s%lld", v->i < 0 ? "-" : "", (long long)(ns / second));
		add_fraction(ns % second, b);
		strbuf_addc(b, 's');
		return;
	}
	char text[CLOCK_TEXT_MAX];
	clock_format_seconds(v->at.s, 0, CLOCK_SECONDS, text);
	strbuf_addstr(b, str_n(text, strlen(text) - 1)); /* but Z */
	add_fraction(v->at.ns, b);
	strbuf_addc(b, 'Z');
}

CEL_FN(text_of)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	cel_time_text(&v[0], &b);
	return cel_built(&b, c);
}

CEL_FN(seconds_of)
{
	return cel_int(v[0].at.s);
}

CEL_FN(at_seconds)
{
	if (!cel_is_timestamp(v[0].i))
		return cel_error(c->a, "timestamp overflow");
	return (struct cel_value){.kind = CEL_TIMESTAMP, .at = {.s = v[0].i}};
}

static struct cel_value time_of(const struct cel_value *v, enum cel_kind kind, struct cel_call *c)
{
	struct cel_value r;
	if (!cel_parse_time(kind, v->str, &r))
		return cel_error(c->a, "type conversion error from 'string' to '%s'",
				 cel_kind_name(kind));
	return r;
}

CEL_FN(duration_of)
{
	return time_of(&v[0], CEL_DURATION, c);
}

CEL_FN(timestamp_of)
{
	return time_of(&v[0], CEL_TIMESTAMP, c);
}

static struct cel_value duration_sum(const struct cel_value *v, bool minus, struct cel_call *c)
{
	struct cel_value r = {.kind = CEL_DURATION};
	bool over = minus ? __builtin_sub_overflow(v[0].i, v[1].i, &r.i)
			  : __builtin_add_overflow(v[0].i, v[1].i, &r.i);
	return over ? cel_error(c->a, "integer overflow") : r;
}

/* An instant, and a duration before or behind it. */
static struct cel_value moved(const struct cel_value *t, const struct cel_value *d, int sign,
			      struct cel_call *c)
{
	struct cel_value r = {.kind = CEL_TIMESTAMP};
	r.at.s = t->at.s + sign * (d->i / NS_PER_S);
	r.at.ns = t->at.ns + sign * (d->i % NS_PER_S);
	if (r.at.ns < 0 || r.at.ns >= NS_PER_S) {
		int64_t carry = r.at.ns < 0 ? -1 : 1;
		r.at.s += carry;
		r.at.ns -= carry * NS_PER_S;
	}
	return cel_is_timestamp(r.at.s) ? r : cel_error(c->a, "timestamp overflow");
}

CEL_FN(timestamp_add)
{
	bool first = v[0].kind == CEL_TIMESTAMP;
	return moved(&v[!first], &v[first], 1, c);
}

CEL_FN(timestamp_diff)
{
	struct cel_value r = {.kind = CEL_DURATION};
	if (__builtin_mul_overflow(v[0].at.s - v[1].at.s, (int64_t)NS_PER_S, &r.i) ||
	    __builtin_add_overflow(r.i, v[0].at.ns - v[1].at.ns, &r.i))
		return cel_error(c->a, "integer overflow");
	return r;
}

/* clang-format off */
CEL_FN(duration_add) { return duration_sum(v, false, c); }
CEL_FN(duration_sub) { return duration_sum(v, true, c); }
CEL_FN(timestamp_sub) { return moved(&v[0], &v[1], -1, c); }
CEL_FN(whole_hours) { return cel_int(v[0].i / NS_PER_HOUR); }
CEL_FN(whole_minutes) { return cel_int(v[0].i / NS_PER_MIN); }
CEL_FN(whole_seconds) { return cel_int(v[0].i / NS_PER_S); }
CEL_FN(whole_millis) { return cel_int(v[0].i / NS_PER_MS); }
/* clang-format on */

CEL_FN(itself)
{
	return v[0];
}

/* clang-format off */
#define ROWS(name, fn) {name, "T", 'i', 'm', fn}, {name, "Ts", 'i', 'm', fn##_in}
const struct cel_overload cel_time_fns[] = {
	ROWS("getFullYear", year), ROWS("getMonth", month), ROWS("getDate", date), ROWS("getDayOfMonth", day),
	ROWS("getDayOfWeek", weekday), ROWS("getDayOfYear", yearday), ROWS("getHours", hours),
	ROWS("getMinutes", minutes), ROWS("getSeconds", seconds), ROWS("getMilliseconds", millis),
	{"string", "T", 's', 'g', text_of}, {"string", "D", 's', 'g', text_of},
	{"duration", "s", 'D', 'g', duration_of}, {"duration", "D", 'D', 'g', itself}, {"timestamp", "s", 'T', 'g', timestamp_of}, {"timestamp", "T", 'T', 'g', itself},
	{"_+_", "DD", 'D', 'g', duration_add}, {"_+_", "TD", 'T', 'g', timestamp_add}, {"_+_", "DT", 'T', 'g', timestamp_add},
	{"_-_", "DD", 'D', 'g', duration_sub}, {"_-_", "TD", 'T', 'g', timestamp_sub}, {"_-_", "TT", 'D', 'g', timestamp_diff},
	{"getHours", "D", 'i', 'm', whole_hours}, {"getMinutes", "D", 'i', 'm', whole_minutes},
	{"getSeconds", "D", 'i', 'm', whole_seconds}, {"getMilliseconds", "D", 'i', 'm', whole_millis},
	{"int", "T", 'i', 'g', seconds_of}, {"timestamp", "i", 'T', 'g', at_seconds},
	{0},
};
/* clang-format on */
