/* date: layouts and the calendar. */
#include "installers/value/date.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"

const char *const date_months[12] = {"January",   "February", "March",    "April",
				     "May",       "June",     "July",     "August",
				     "September", "October",  "November", "December"};
const char *const date_weekdays[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
				      "Thursday", "Friday", "Saturday"};

/* ---- layouts ---- */
/* Longest first where one is the start of another. */
static const struct {
	const char *text;
	enum layout_part part;
} parts[] = {
	{"January", PART_LONG_MONTH},
	{"Jan", PART_MONTH},
	{"Monday", PART_LONG_WEEKDAY},
	{"Mon", PART_WEEKDAY},
	{"MST", PART_TZ},
	{"002", PART_ZERO_YEAR_DAY},
	{"01", PART_ZERO_MONTH},
	{"02", PART_ZERO_DAY},
	{"03", PART_ZERO_HOUR12},
	{"04", PART_ZERO_MINUTE},
	{"05", PART_ZERO_SECOND},
	{"06", PART_YEAR},
	{"15", PART_HOUR},
	{"1", PART_NUM_MONTH},
	{"2006", PART_LONG_YEAR},
	{"2", PART_DAY},
	{"__2", PART_UNDER_YEAR_DAY},
	{"_2", PART_UNDER_DAY},
	{"3", PART_HOUR12},
	{"4", PART_MINUTE},
	{"5", PART_SECOND},
	{"PM", PART_PM},
	{"pm", PART_LOWER_PM},
	{"-070000", PART_NUM_SECONDS_TZ},
	{"-07:00:00", PART_NUM_COLON_SECONDS_TZ},
	{"-0700", PART_NUM_TZ},
	{"-07:00", PART_NUM_COLON_TZ},
	{"-07", PART_NUM_SHORT_TZ},
	{"Z070000", PART_ISO_SECONDS_TZ},
	{"Z07:00:00", PART_ISO_COLON_SECONDS_TZ},
	{"Z0700", PART_ISO_TZ},
	{"Z07:00", PART_ISO_COLON_TZ},
	{"Z07", PART_ISO_SHORT_TZ},
};

/* .000 or .999, not followed by a digit. */
static size_t fraction_length(struct str s)
{
	if (s.len < 2 || (s.ptr[0] != '.' && s.ptr[0] != ',') ||
	    (s.ptr[1] != '0' && s.ptr[1] != '9'))
		return 0;
	size_t n = 1;
	while (n < s.len && s.ptr[n] == s.ptr[1])
		n++;
	return n < s.len && char_is_digit(s.ptr[n]) ? 0 : n;
}

static enum layout_part part_at(struct str s, size_t *ret_len)
{
	*ret_len = fraction_length(s);
	if (*ret_len)
		return s.ptr[1] == '0' ? PART_FRACTION0 : PART_FRACTION9;
	if (str_has_prefix(s, STR("_2006"))) /* a _ and a year, which is found next */
		return PART_NONE;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct str text = str_of(parts[i].text);
		if (!str_has_prefix(s, text))
			continue;
		bool short_name = parts[i].part == PART_MONTH || parts[i].part == PART_WEEKDAY;
		if (short_name && s.len > 3 && char_is_lower(s.ptr[3]))
			continue;
		*ret_len = text.len;
		return parts[i].part;
	}
	return PART_NONE;
}

enum layout_part layout_next(struct str layout, struct str *ret_before, struct str *ret_part,
			     struct str *ret_rest)
{
	for (size_t i = 0; i < layout.len; i++) {
		size_t n;
		enum layout_part part = part_at(str_skip(layout, i), &n);
		if (part == PART_NONE)
			continue;
		*ret_before = str_sub(layout, 0, i);
		*ret_part = str_sub(layout, i, n);
		*ret_rest = str_skip(layout, i + n);
		return part;
	}
	*ret_before = layout;
	*ret_part = *ret_rest = STR("");
	return PART_NONE;
}

/* ---- calendar ---- */
void date_civil(const struct vtime *t, struct civil *ret)
{
	struct civil c = {0};
	zone_lookup(t->zone, t->sec, &c.offset, &c.abbreviation);
	int64_t wall = t->sec + c.offset;
	int64_t days = wall / 86400, rest = wall % 86400;
	if (rest < 0) {
		rest += 86400;
		days--;
	}
	civil_from_days(days, &c.year, &c.month, &c.day);
	c.hour = (int)(rest / 3600);
	c.minute = (int)(rest / 60 % 60);
	c.second = (int)(rest % 60);
	c.weekday = (int)(((days + 4) % 7 + 7) % 7);
	c.year_day = (int)(days - days_from_civil(c.year, 1, 1)) + 1;
	*ret = c;
}

int64_t date_seconds(int64_t year, int month, int day, int hour, int minute, int second)
{
	return days_from_civil(year, month, day) * 86400 + (int64_t)hour * 3600 +
	       (int64_t)minute * 60 + second;
}

struct value date_value(struct arena *a, struct vtime t)
{
	return (struct value){.type = VALUE_TIME, .t = arena_memdup(a, &t, sizeof(t))};
}

/* ---- formatting ---- */
static void add_number(struct strbuf *b, int64_t n, int width, char fill)
{
	char tmp[24];
	int len = 0;
	if (n < 0) {
		strbuf_addc(b, '-');
		n = -n;
	}
	do {
		tmp[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	for (int i = len; i < width; i++)
		strbuf_addc(b, fill);
	while (len > 0)
		strbuf_addc(b, tmp[--len]);
}

static void add_fraction(struct strbuf *b, int32_t nsec, struct str part)
{
	char digits[16];
	size_t n = part.len - 1;
	for (int i = 8; i >= 0; i--) {
		digits[i] = (char)('0' + nsec % 10);
		nsec /= 10;
	}
	if (n > 9)
		n = 9;
	if (part.ptr[1] == '9') {
		while (n > 0 && digits[n - 1] == '0')
			n--;
		if (n == 0)
			return;
	}
	strbuf_addc(b, part.ptr[0]);
	strbuf_add(b, digits, n);
}

static void add_offset(struct strbuf *b, enum layout_part part, int offset)
{
	bool iso = part >= PART_ISO_TZ && part <= PART_ISO_COLON_SECONDS_TZ;
	if (iso && offset == 0) {
		strbuf_addc(b, 'Z');
		return;
	}
	int kind = (int)part -
		   (int)(iso ? PART_ISO_TZ : PART_NUM_TZ); /* tz seconds short colon colonsec */
	strbuf_addc(b, offset < 0 ? '-' : '+');
	offset = abs(offset);
	add_number(b, offset / 3600, 2, '0');
	if (kind == 3 || kind == 4)
		strbuf_addc(b, ':');
	if (kind != 2)
		add_number(b, offset / 60 % 60, 2, '0');
	if (kind == 4)
		strbuf_addc(b, ':');
	if (kind == 1 || kind == 4)
		add_number(b, offset % 60, 2, '0');
}

static void add_zone_name(struct strbuf *b, const struct civil *c)
{
	if (c->abbreviation && c->abbreviation[0]) {
		strbuf_adds(b, c->abbreviation);
		return;
	}
	int minutes = c->offset / 60;
	strbuf_addc(b, minutes < 0 ? '-' : '+');
	minutes = abs(minutes);
	add_number(b, minutes / 60, 2, '0');
	add_number(b, minutes % 60, 2, '0');
}

/* NOLINTNEXTLINE(readability-function-size): a flat switch over the parts of a layout */
static void add_part(struct strbuf *b, enum layout_part part, struct str text,
		     const struct civil *c, int32_t nsec)
{
	int hour12 = c->hour % 12 ? c->hour % 12 : 12;
	switch (part) {
	case PART_NONE:
		break;
	case PART_LONG_MONTH:
		strbuf_adds(b, date_months[c->month - 1]);
		break;
	case PART_MONTH:
		strbuf_add(b, date_months[c->month - 1], 3);
		break;
	case PART_NUM_MONTH:
	case PART_ZERO_MONTH:
		add_number(b, c->month, part == PART_ZERO_MONTH ? 2 : 0, '0');
		break;
	case PART_LONG_WEEKDAY:
		strbuf_adds(b, date_weekdays[c->weekday]);
		break;
	case PART_WEEKDAY:
		strbuf_add(b, date_weekdays[c->weekday], 3);
		break;
	case PART_DAY:
		add_number(b, c->day, 0, '0');
		break;
	case PART_UNDER_DAY:
	case PART_ZERO_DAY:
		add_number(b, c->day, 2, part == PART_ZERO_DAY ? '0' : ' ');
		break;
	case PART_UNDER_YEAR_DAY:
	case PART_ZERO_YEAR_DAY:
		add_number(b, c->year_day, 3, part == PART_ZERO_YEAR_DAY ? '0' : ' ');
		break;
	case PART_HOUR:
		add_number(b, c->hour, 2, '0');
		break;
	case PART_HOUR12:
	case PART_ZERO_HOUR12:
		add_number(b, hour12, part == PART_HOUR12 ? 0 : 2, '0');
		break;
	case PART_MINUTE:
	case PART_ZERO_MINUTE:
		add_number(b, c->minute, part == PART_MINUTE ? 0 : 2, '0');
		break;
	case PART_SECOND:
	case PART_ZERO_SECOND:
		add_number(b, c->second, part == PART_SECOND ? 0 : 2, '0');
		break;
	case PART_LONG_YEAR:
		add_number(b, c->year, 4, '0');
		break;
	case PART_YEAR:
		add_number(b, (c->year < 0 ? 0 : c->year) % 100, 2, '0');
		break;
	case PART_PM:
		strbuf_adds(b, c->hour >= 12 ? "PM" : "AM");
		break;
	case PART_LOWER_PM:
		strbuf_adds(b, c->hour >= 12 ? "pm" : "am");
		break;
	case PART_TZ:
		add_zone_name(b, c);
		break;
	case PART_FRACTION0:
	case PART_FRACTION9:
		add_fraction(b, nsec, text);
		break;
	case PART_ISO_TZ:
	case PART_ISO_SECONDS_TZ:
	case PART_ISO_SHORT_TZ:
	case PART_ISO_COLON_TZ:
	case PART_ISO_COLON_SECONDS_TZ:
	case PART_NUM_TZ:
	case PART_NUM_SECONDS_TZ:
	case PART_NUM_SHORT_TZ:
	case PART_NUM_COLON_TZ:
	case PART_NUM_COLON_SECONDS_TZ:
		add_offset(b, part, c->offset);
		break;
	}
}

void date_format(struct strbuf *b, const struct vtime *t, struct str layout)
{
	struct civil c;
	date_civil(t, &c);
	enum layout_part part;
	do {
		struct str before, text;
		part = layout_next(layout, &before, &text, &layout);
		strbuf_addstr(b, before);
		add_part(b, part, text, &c, t->nsec);
	} while (part != PART_NONE);
}

void date_print(struct strbuf *b, const struct vtime *t)
{
	date_format(b, t, STR("2006-01-02 15:04:05.999999999 -0700 MST"));
}

void date_name(struct strbuf *b, struct value v)
{
	bool month = v.type == VALUE_MONTH;
	int64_t i = month ? v.i - 1 : v.i;
	if (i >= 0 && i < (month ? 12 : 7))
		strbuf_adds(b, month ? date_months[i] : date_weekdays[i]);
	else
		strbuf_addf(b, "%%!%s(%lld)", month ? "Month" : "Weekday", (long long)v.i);
}
