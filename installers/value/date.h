/*
 * date: times as Go has them: layouts, zones, parsing. A zone comes from TZif bytes that the host
 * gives; without them only UTC is known.
 */
#ifndef INSTALLERS_VALUE_DATE_H
#define INSTALLERS_VALUE_DATE_H

#include "alm/base/error.h"
#include "installers/value/value.h"

/* The parts of a layout ("2006", "Jan", ".000"). */
enum layout_part {
	PART_NONE, /* only text is left */
	PART_LONG_MONTH,
	PART_MONTH,
	PART_NUM_MONTH,
	PART_ZERO_MONTH,
	PART_LONG_WEEKDAY,
	PART_WEEKDAY,
	PART_DAY,
	PART_UNDER_DAY,
	PART_ZERO_DAY,
	PART_UNDER_YEAR_DAY,
	PART_ZERO_YEAR_DAY,
	PART_HOUR,
	PART_HOUR12,
	PART_ZERO_HOUR12,
	PART_MINUTE,
	PART_ZERO_MINUTE,
	PART_SECOND,
	PART_ZERO_SECOND,
	PART_LONG_YEAR,
	PART_YEAR,
	PART_PM,
	PART_LOWER_PM,
	PART_TZ,
	PART_ISO_TZ, /* Z0700: Z for UTC */
	PART_ISO_SECONDS_TZ,
	PART_ISO_SHORT_TZ,
	PART_ISO_COLON_TZ,
	PART_ISO_COLON_SECONDS_TZ,
	PART_NUM_TZ, /* -0700 */
	PART_NUM_SECONDS_TZ,
	PART_NUM_SHORT_TZ,
	PART_NUM_COLON_TZ,
	PART_NUM_COLON_SECONDS_TZ,
	PART_FRACTION0, /* .000 */
	PART_FRACTION9, /* .999 */
};

/* The text before the next part, the part as written, what follows it. */
enum layout_part layout_next(struct str layout, struct str *ret_before, struct str *ret_part,
			     struct str *ret_rest);

extern const char *const date_months[12], *const date_weekdays[7];

/* A broken-down time. */
struct civil {
	int64_t year;
	int month, day, hour, minute, second, weekday, year_day; /* month 1.., weekday 0 Sunday */
	int offset;                                              /* seconds east of UTC */
	const char *abbreviation;
};
void date_civil(const struct vtime *t, struct civil *ret);
int64_t date_seconds(int64_t year, int month, int day, int hour, int minute, int second);

extern const struct vzone date_utc;
/* From the bytes of a TZif file (RFC 9636); NULL: they are none. */
const struct vzone *date_zone_parse(struct arena *a, struct str tzif);
const struct vzone *date_fixed_zone(struct arena *a, int offset, struct str abbreviation);
/* z NULL is UTC, here and below. */
void zone_lookup(const struct vzone *z, int64_t sec, int *ret_offset, const char **ret_abbr);
/* The offset that a wall clock reading has in the zone. */
int zone_offset_of_wall(const struct vzone *z, int64_t wall);
/* The offset of an abbreviation used in the zone; false if unknown. */
bool zone_abbreviation(const struct vzone *z, struct str abbr, int64_t wall, int *ret_offset);

void date_format(struct strbuf *b, const struct vtime *t, struct str layout);
void date_print(struct strbuf *b, const struct vtime *t); /* String() */
/* time.ParseInLocation; msg gets Go's message. */
bool date_parse(struct arena *a, struct str layout, struct str text, const struct vzone *zone,
		struct vtime *ret, struct strbuf *msg);
struct value date_value(struct arena *a, struct vtime t);
/* A month or weekday. */
void date_name(struct strbuf *b, struct value v);

/* s as the messages of package time quote it. */
void date_quote(struct strbuf *b, struct str s);

/* time.ParseDuration; msg gets Go's message. */
bool date_duration(struct str text, int64_t *ret_ns, struct strbuf *msg);
void date_duration_text(struct strbuf *b, int64_t ns);

#endif
