/* date_parse: text -> time by a layout, with Go's messages. */
#include <string.h>

#include "alm/base/clock.h"
#include "installers/value/date.h"
#include "installers/value/print.h"

struct fields {
	int64_t year;
	int month, day, year_day, hour, minute, second; /* -1: not given */
	int32_t nsec;
	bool pm, pm_set;
	bool has_zone, utc;
	int offset;
	struct str zone_name;
	const char *out_of_range;
};

static bool digits(struct str *s, size_t min, size_t max, int *ret)
{
	int n = 0;
	size_t i = 0;
	while (i < max && i < s->len && char_is_digit(s->ptr[i])) {
		n = n * 10 + (s->ptr[i] - '0');
		i++;
	}
	if (i < min)
		return false;
	*s = str_skip(*s, i);
	*ret = n;
	return true;
}

static void skip_blanks(struct str *s)
{
	while (s->len && s->ptr[0] == ' ')
		*s = str_skip(*s, 1);
}

/* A month or weekday, in any case; len 3 for the short forms. */
static bool name_of(struct str *s, const char *const *names, int n, size_t len, int *ret)
{
	for (int i = 0; i < n; i++) {
		size_t want = len ? len : strlen(names[i]);
		size_t k = 0;
		while (k < want && k < s->len && char_lower(s->ptr[k]) == char_lower(names[i][k]))
			k++;
		if (k == want) {
			*s = str_skip(*s, want);
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool ranged(struct fields *f, const char *what, int n, int lo, int hi)
{
	if (n < lo || n > hi)
		f->out_of_range = what;
	return true;
}

static bool parse_offset(struct str *s, enum layout_part part, struct fields *f)
{
	bool iso = part >= PART_ISO_TZ && part <= PART_ISO_COLON_SECONDS_TZ;
	if (iso && s->len && s->ptr[0] == 'Z') {
		*s = str_skip(*s, 1);
		f->has_zone = f->utc = true;
		return true;
	}
	int kind = (int)part - (int)(iso ? PART_ISO_TZ : PART_NUM_TZ);
	bool colon = kind == 3 || kind == 4, seconds = kind == 1 || kind == 4;
	int h, m = 0, sec = 0;
	struct str t = *s;
	if (!t.len || (t.ptr[0] != '+' && t.ptr[0] != '-'))
		return false;
	bool negative = t.ptr[0] == '-';
	t = str_skip(t, 1);
	if (!digits(&t, 2, 2, &h))
		return false;
	if (kind != 2) {
		if (colon && !str_has_prefix(t, STR(":")))
			return false;
		t = str_skip(t, colon);
		if (!digits(&t, 2, 2, &m))
			return false;
	}
	if (seconds) {
		if (colon && !str_has_prefix(t, STR(":")))
			return false;
		t = str_skip(t, colon);
		if (!digits(&t, 2, 2, &sec))
			return false;
	}
	if (h > 24)
		f->out_of_range = "time zone offset hour";
	if (m > 60)
		f->out_of_range = "time zone offset minute";
	if (sec > 60)
		f->out_of_range = "time zone offset second";
	f->offset = (h * 60 + m) * 60 + sec;
	if (negative)
		f->offset = -f->offset;
	f->has_zone = true;
	*s = t;
	return true;
}

/* The length of "+3" or "-12"; 0 for anything else and for hours over 23. */
static size_t signed_hours(struct str s)
{
	size_t n = 1;
	int hours = 0;
	if (!s.len || (s.ptr[0] != '+' && s.ptr[0] != '-'))
		return 0;
	for (; n < s.len && char_is_digit(s.ptr[n]) && hours <= 23; n++)
		hours = hours * 10 + s.ptr[n] - '0';
	return n > 1 && hours <= 23 ? n : 0;
}

/* The length of a zone's name: three to five capitals, ChST, MeST, GMT+3, -03. */
static size_t zone_name(struct str s)
{
	size_t n = 0;
	if (s.len < 3)
		return 0;
	if (str_has_prefix(s, STR("ChST")) || str_has_prefix(s, STR("MeST")))
		return 4;
	if (str_has_prefix(s, STR("GMT")))
		return 3 + signed_hours(str_skip(s, 3));
	if (s.ptr[0] == '+' || s.ptr[0] == '-')
		return signed_hours(s);
	while (n < 6 && n < s.len && char_is_upper(s.ptr[n]))
		n++;
	if ((n == 5 && s.ptr[4] != 'T') ||
	    (n == 4 && s.ptr[3] != 'T' && !str_has_prefix(s, STR("WITA"))))
		return 0;
	return n >= 3 && n <= 5 ? n : 0;
}

static int gmt_offset(struct str name)
{
	int hours = 0;
	if (name.len < 5 || !str_has_prefix(name, STR("GMT")))
		return 0;
	for (size_t i = 4; i < name.len; i++)
		hours = hours * 10 + name.ptr[i] - '0';
	return (name.ptr[3] == '-' ? -hours : hours) * 3600;
}

static bool parse_zone_name(struct str *s, struct fields *f)
{
	if (str_has_prefix(*s, STR("UTC"))) {
		f->has_zone = f->utc = true;
		*s = str_skip(*s, 3);
		return true;
	}
	size_t n = zone_name(*s);
	f->zone_name = str_sub(*s, 0, n);
	*s = str_skip(*s, n);
	return n > 0;
}

static bool parse_fraction(struct str *s, struct str part, bool exact, struct fields *f)
{
	if (!exact &&
	    (s->len < 2 || (s->ptr[0] != '.' && s->ptr[0] != ',') || !char_is_digit(s->ptr[1])))
		return true; /* .999 is optional */
	size_t n = 1;
	if (exact) {
		n = part.len;
		if (s->len < n)
			return false;
	} else {
		while (n < s->len && char_is_digit(s->ptr[n]))
			n++;
	}
	if (s->ptr[0] != '.' && s->ptr[0] != ',')
		return false;
	int32_t ns = 0;
	for (size_t i = 1; i < n; i++) {
		if (!char_is_digit(s->ptr[i]))
			return false;
		if (i <= 9)
			ns = ns * 10 + (s->ptr[i] - '0');
	}
	for (size_t i = n - 1; i < 9; i++)
		ns *= 10;
	f->nsec = ns;
	*s = str_skip(*s, n);
	return true;
}

static bool parse_year(struct str *s, bool is_long, struct fields *f)
{
	int n;
	if (!digits(s, is_long ? 4 : 2, is_long ? 4 : 2, &n))
		return false;
	f->year = is_long ? n : n >= 69 ? n + 1900 : n + 2000;
	return true;
}

static bool parse_pm(struct str *s, bool upper, struct fields *f)
{
	if (str_has_prefix(*s, upper ? STR("PM") : STR("pm")))
		f->pm = true;
	else if (!str_has_prefix(*s, upper ? STR("AM") : STR("am")))
		return false;
	f->pm_set = true;
	*s = str_skip(*s, 2);
	return true;
}

/* A fraction in the text after seconds although the layout has none. */
static bool parse_second(struct str *s, bool zero, struct str layout_rest, struct fields *f)
{
	if (!digits(s, zero ? 2 : 1, 2, &f->second))
		return false;
	ranged(f, "second", f->second, 0, 59);
	struct str before, part, rest;
	enum layout_part next = layout_next(layout_rest, &before, &part, &rest);
	bool own = before.len == 0 && (next == PART_FRACTION0 || next == PART_FRACTION9);
	if (!own && s->len >= 2 && (s->ptr[0] == '.' || s->ptr[0] == ',') &&
	    char_is_digit(s->ptr[1]))
		return parse_fraction(s, part, false, f);
	return true;
}

static bool parse_clock(struct str *s, enum layout_part part, struct fields *f)
{
	bool zero = part == PART_ZERO_HOUR12 || part == PART_ZERO_MINUTE;
	int n;
	if (part == PART_HOUR) {
		/* one digit is accepted too */
		if (!digits(s, 1, 2, &n))
			return false;
		f->hour = n;
		return ranged(f, "hour", n, 0, 23);
	}
	if (!digits(s, zero ? 2 : 1, 2, &n))
		return false;
	if (part == PART_HOUR12 || part == PART_ZERO_HOUR12) {
		f->hour = n;
		return ranged(f, "hour", n, 0, 12);
	}
	f->minute = n;
	return ranged(f, "minute", n, 0, 59);
}

static bool parse_day(struct str *s, enum layout_part part, struct fields *f)
{
	if (part == PART_UNDER_YEAR_DAY || part == PART_ZERO_YEAR_DAY) {
		size_t blanks = 0;
		while (part == PART_UNDER_YEAR_DAY && blanks < 2 && s->len && s->ptr[0] == ' ') {
			*s = str_skip(*s, 1);
			blanks++;
		}
		return digits(s, part == PART_ZERO_YEAR_DAY ? 3 : 1, 3, &f->year_day);
	}
	if (part == PART_UNDER_DAY && s->len && s->ptr[0] == ' ')
		*s = str_skip(*s, 1);
	return digits(s, part == PART_ZERO_DAY ? 2 : 1, 2, &f->day);
}

static bool parse_part(struct str *s, enum layout_part part, struct str text, struct str rest,
		       struct fields *f)
{
	int n;
	switch ((int)part) {
	case PART_YEAR:
	case PART_LONG_YEAR:
		return parse_year(s, part == PART_LONG_YEAR, f);
	case PART_MONTH:
	case PART_LONG_MONTH:
		if (!name_of(s, date_months, 12, part == PART_MONTH ? 3 : 0, &n))
			return false;
		f->month = n + 1;
		return true;
	case PART_NUM_MONTH:
	case PART_ZERO_MONTH:
		if (!digits(s, part == PART_ZERO_MONTH ? 2 : 1, 2, &f->month))
			return false;
		return ranged(f, "month", f->month, 1, 12);
	case PART_WEEKDAY:
	case PART_LONG_WEEKDAY:
		return name_of(s, date_weekdays, 7, part == PART_WEEKDAY ? 3 : 0, &n);
	case PART_DAY:
	case PART_UNDER_DAY:
	case PART_ZERO_DAY:
	case PART_UNDER_YEAR_DAY:
	case PART_ZERO_YEAR_DAY:
		return parse_day(s, part, f);
	case PART_HOUR:
	case PART_HOUR12:
	case PART_ZERO_HOUR12:
	case PART_MINUTE:
	case PART_ZERO_MINUTE:
		return parse_clock(s, part, f);
	case PART_SECOND:
	case PART_ZERO_SECOND:
		return parse_second(s, part == PART_ZERO_SECOND, rest, f);
	case PART_PM:
	case PART_LOWER_PM:
		return parse_pm(s, part == PART_PM, f);
	case PART_TZ:
		return parse_zone_name(s, f);
	case PART_FRACTION0:
	case PART_FRACTION9:
		return parse_fraction(s, text, part == PART_FRACTION0, f);
	default:
		return parse_offset(s, part, f);
	}
}

/* A stretch of the layout's text; blanks stand for any number of blanks. */
static bool skip_text(struct str *s, struct str text)
{
	while (text.len) {
		if (text.ptr[0] == ' ') {
			if (s->len && s->ptr[0] != ' ')
				return false;
			skip_blanks(&text);
			skip_blanks(s);
			continue;
		}
		if (!s->len || s->ptr[0] != text.ptr[0])
			return false;
		text = str_skip(text, 1);
		*s = str_skip(*s, 1);
	}
	return true;
}

/* time.date_quote(): every byte that is not ASCII as \xNN. */
void date_quote(struct strbuf *b, struct str s)
{
	strbuf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (c >= 0x80 || c < ' ')
			strbuf_addf(b, "\\x%02x", c);
		else if (c == '"' || c == '\\')
			strbuf_addf(b, "\\%c", c);
		else
			strbuf_addc(b, (char)c);
	}
	strbuf_addc(b, '"');
}

static void head(struct strbuf *msg, struct str layout, struct str text)
{
	strbuf_adds(msg, "parsing time ");
	date_quote(msg, text);
	strbuf_adds(msg, " as ");
	date_quote(msg, layout);
}

static bool fail_parse(struct strbuf *msg, struct str layout, struct str text, struct str at,
		       struct str part)
{
	head(msg, layout, text);
	strbuf_adds(msg, ": cannot parse ");
	date_quote(msg, at);
	strbuf_adds(msg, " as ");
	date_quote(msg, part);
	return false;
}

static bool fail_other(struct strbuf *msg, struct str text, const char *before, struct str quoted,
		       const char *after)
{
	strbuf_adds(msg, "parsing time ");
	date_quote(msg, text);
	strbuf_adds(msg, before);
	if (quoted.ptr)
		date_quote(msg, quoted);
	strbuf_adds(msg, after);
	return false;
}

static int days_in(int64_t year, int month)
{
	int64_t next =
		month == 12 ? days_from_civil(year + 1, 1, 1) : days_from_civil(year, month + 1, 1);
	return (int)(next - days_from_civil(year, month, 1));
}

/* Month and day of the day of the year. NULL, or what does not fit. */
static const char *settle_year_day(struct fields *f)
{
	int left = f->year_day, month = 1;
	while (month < 12 && left > days_in(f->year, month))
		left -= days_in(f->year, month++);
	if (left < 1 || left > days_in(f->year, month))
		return ": day-of-year out of range";
	if (f->month >= 0 && f->month != month)
		return ": day-of-year does not match month";
	if (f->day >= 0 && f->day != left)
		return ": day-of-year does not match day";
	f->month = month;
	f->day = left;
	return NULL;
}

/* With default values. NULL, or what does not fit. */
static const char *settle_day(struct fields *f)
{
	const char *wrong = f->year_day >= 0 ? settle_year_day(f) : NULL;
	if (wrong)
		return wrong;
	if (f->month < 0)
		f->month = 1;
	if (f->day < 0)
		f->day = 1;
	return f->day >= 1 && f->day <= days_in(f->year, f->month) ? NULL : ": day out of range";
}

static void make_time(struct arena *a, const struct fields *f, const struct vzone *zone,
		      struct vtime *ret)
{
	int64_t wall = date_seconds(f->year, f->month, f->day, f->hour, f->minute, f->second);
	struct vtime t = {.sec = wall, .nsec = f->nsec, .zone = &date_utc};
	int offset;
	if (f->utc) {
		*ret = t;
		return;
	}
	if (f->has_zone) {
		const char *abbr;
		t.sec = wall - f->offset;
		zone_lookup(zone, t.sec, &offset, &abbr);
		bool same =
			offset == f->offset && (!f->zone_name.len || str_is(f->zone_name, abbr));
		t.zone = same ? zone : date_fixed_zone(a, f->offset, f->zone_name);
	} else if (f->zone_name.len) {
		if (zone_abbreviation(zone, f->zone_name, wall, &offset)) {
			t.sec = wall - offset;
			t.zone = zone;
		} else { /* a made-up zone of that name; GMT+3 has an offset */
			t.zone = date_fixed_zone(a, gmt_offset(f->zone_name), f->zone_name);
		}
	} else {
		t.sec = wall - zone_offset_of_wall(zone, wall);
		t.zone = zone;
	}
	*ret = t;
}

bool date_parse(struct arena *a, struct str layout, struct str text, const struct vzone *zone,
		struct vtime *ret, struct strbuf *msg)
{
	struct fields f = {.month = -1, .day = -1, .year_day = -1};
	struct str s = text, rest = layout;
	for (;;) {
		struct str before, part;
		enum layout_part kind = layout_next(rest, &before, &part, &rest);
		struct str at = s;
		if (!skip_text(&s, before))
			return fail_parse(msg, layout, text, at, before);
		if (kind == PART_NONE)
			break;
		at = s;
		if (!parse_part(&s, kind, part, rest, &f))
			return fail_parse(msg, layout, text, at, part);
		if (f.out_of_range) {
			strbuf_adds(msg, "parsing time ");
			date_quote(msg, text);
			strbuf_addf(msg, ": %s out of range", f.out_of_range);
			return false;
		}
	}
	if (s.len)
		return fail_other(msg, text, ": extra text: ", s, "");
	if (f.pm_set && f.pm && f.hour < 12)
		f.hour += 12;
	else if (f.pm_set && !f.pm && f.hour == 12)
		f.hour = 0;
	const char *wrong = settle_day(&f);
	if (wrong)
		return fail_other(msg, text, wrong, STR_NONE, "");
	make_time(a, &f, zone ? zone : &date_utc, ret);
	return true;
}
