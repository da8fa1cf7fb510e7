/* zone: time zones from TZif bytes (RFC 9636), with the rule of the footer for later times. */
#include <string.h>

#include "alm/base/clock.h"
#include "installers/value/date.h"

#define ZONE_TYPES_MAX       64
#define ZONE_TRANSITIONS_MAX 4096

struct zone_type {
	int offset;
	const char *abbr;
};

/* One half of a rule: Mm.w.d/time, Jn or n. */
struct zone_change {
	char kind; /* 'M', 'J', 'N' */
	int month, week, day;
	int time; /* seconds after midnight */
};

struct vzone {
	const char *name;
	size_t n_types, n_at;
	struct zone_type *types;
	int64_t *at;
	unsigned char *type_at;
	bool has_rule, has_dst;
	struct zone_type std, dst;
	struct zone_change start, end;
};

static struct zone_type utc_type = {0, "UTC"};
const struct vzone date_utc = {.name = "UTC", .n_types = 1, .types = &utc_type};

/* ---- reading ---- */
struct bytes {
	struct str s;
	bool bad;
};

static uint64_t take(struct bytes *b, size_t n)
{
	uint64_t v = 0;
	if (b->s.len < n) {
		b->bad = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		v = v << 8 | (unsigned char)b->s.ptr[i];
	b->s = str_skip(b->s, n);
	return v;
}

struct counts {
	size_t utc, std, leap, time, type, chars;
};

static bool read_header(struct bytes *b, char *ret_version, struct counts *c)
{
	if (!str_has_prefix(b->s, STR("TZif")) || b->s.len < 44)
		return false;
	*ret_version = b->s.ptr[4];
	b->s = str_skip(b->s, 20);
	c->utc = take(b, 4);
	c->std = take(b, 4);
	c->leap = take(b, 4);
	c->time = take(b, 4);
	c->type = take(b, 4);
	c->chars = take(b, 4);
	return c->time <= ZONE_TRANSITIONS_MAX && c->type <= ZONE_TYPES_MAX && c->type > 0 &&
	       c->leap <= 1024 && c->chars <= 4096 && c->utc <= ZONE_TYPES_MAX &&
	       c->std <= ZONE_TYPES_MAX;
}

static size_t body_size(const struct counts *c, size_t word)
{
	return c->time * word + c->time + c->type * 6 + c->chars + c->leap * (word + 4) + c->std +
	       c->utc;
}

static bool read_types(struct arena *a, struct bytes *b, const struct counts *c, struct vzone *z)
{
	unsigned char abbr_at[ZONE_TYPES_MAX];
	z->n_types = c->type;
	z->types = ARENA_ARRAY(a, struct zone_type, c->type);
	for (size_t i = 0; i < c->type; i++) {
		z->types[i].offset = (int32_t)take(b, 4);
		take(b, 1);
		abbr_at[i] = (unsigned char)take(b, 1);
	}
	if (b->bad || b->s.len < c->chars)
		return false;
	char *chars = arena_alloc(a, c->chars + 1);
	memcpy(chars, b->s.ptr, c->chars);
	b->s = str_skip(b->s, c->chars);
	for (size_t i = 0; i < c->type; i++) {
		if (abbr_at[i] >= c->chars)
			return false;
		z->types[i].abbr = chars + abbr_at[i];
	}
	return true;
}

/* ---- the footer: EST5EDT,M3.2.0,M11.1.0 ---- */
static bool rule_number(struct str *s, int *ret)
{
	int n = 0;
	size_t i = 0;
	for (; i < s->len && i < 6 && char_is_digit(s->ptr[i]); i++)
		n = n * 10 + (s->ptr[i] - '0');
	*s = str_skip(*s, i);
	*ret = n;
	return i > 0;
}

static bool rule_time(struct str *s, int *ret)
{
	int sign = 1, h = 0, m = 0, sec = 0;
	if (s->len && (s->ptr[0] == '-' || s->ptr[0] == '+')) {
		sign = s->ptr[0] == '-' ? -1 : 1;
		*s = str_skip(*s, 1);
	}
	if (!rule_number(s, &h))
		return false;
	if (s->len && s->ptr[0] == ':') {
		*s = str_skip(*s, 1);
		if (!rule_number(s, &m))
			return false;
	}
	if (s->len && s->ptr[0] == ':') {
		*s = str_skip(*s, 1);
		if (!rule_number(s, &sec))
			return false;
	}
	*ret = sign * (h * 3600 + m * 60 + sec);
	return h <= 167 && m < 60 && sec < 60;
}

static bool rule_name(struct arena *a, struct str *s, const char **ret)
{
	size_t n = 0;
	if (s->len && s->ptr[0] == '<') {
		ptrdiff_t end = str_find_char(*s, '>');
		if (end < 0)
			return false;
		*ret = arena_strndup(a, s->ptr + 1, (size_t)end - 1);
		*s = str_skip(*s, (size_t)end + 1);
		return true;
	}
	while (n < s->len && char_is_alpha(s->ptr[n]))
		n++;
	*ret = arena_strndup(a, s->ptr, n);
	*s = str_skip(*s, n);
	return n >= 3;
}

static bool rule_change(struct str *s, struct zone_change *ret)
{
	if (!str_has_prefix(*s, STR(",")))
		return false;
	*s = str_skip(*s, 1);
	struct zone_change c = {.kind = 'N', .time = 7200};
	if (s->len && (s->ptr[0] == 'M' || s->ptr[0] == 'J')) {
		c.kind = s->ptr[0];
		*s = str_skip(*s, 1);
	}
	if (c.kind == 'M') {
		if (!rule_number(s, &c.month) || !str_has_prefix(*s, STR(".")))
			return false;
		*s = str_skip(*s, 1);
		if (!rule_number(s, &c.week) || !str_has_prefix(*s, STR(".")))
			return false;
		*s = str_skip(*s, 1);
	}
	if (!rule_number(s, &c.day))
		return false;
	if (str_has_prefix(*s, STR("/"))) {
		*s = str_skip(*s, 1);
		if (!rule_time(s, &c.time))
			return false;
	}
	if (c.kind == 'M' && (c.month < 1 || c.month > 12 || c.week < 1 || c.week > 5 || c.day > 6))
		return false;
	*ret = c;
	return true;
}

static void read_rule(struct arena *a, struct str s, struct vzone *z)
{
	int offset;
	if (!rule_name(a, &s, &z->std.abbr) || !rule_time(&s, &offset))
		return;
	z->std.offset = -offset;
	if (s.len == 0) {
		z->has_rule = true;
		return;
	}
	if (!rule_name(a, &s, &z->dst.abbr))
		return;
	z->dst.offset = z->std.offset + 3600;
	if (s.len && s.ptr[0] != ',') {
		if (!rule_time(&s, &offset))
			return;
		z->dst.offset = -offset;
	}
	z->has_dst = rule_change(&s, &z->start) && rule_change(&s, &z->end);
	z->has_rule = z->has_dst;
}

const struct vzone *date_zone_parse(struct arena *a, struct str tzif)
{
	struct bytes b = {.s = tzif};
	struct counts c;
	char version;
	size_t word = 4;
	if (!read_header(&b, &version, &c))
		return NULL;
	if (version >= '2') { /* the first block is for old readers */
		b.s = str_skip(b.s, body_size(&c, 4));
		word = 8;
		if (!read_header(&b, &version, &c))
			return NULL;
	}
	if (b.s.len < body_size(&c, word))
		return NULL;
	struct vzone *z = ARENA_NEW(a, struct vzone);
	z->n_at = c.time;
	z->at = ARENA_ARRAY(a, int64_t, c.time + 1);
	z->type_at = arena_alloc(a, c.time + 1);
	for (size_t i = 0; i < c.time; i++)
		z->at[i] = word == 8 ? (int64_t)take(&b, 8) : (int32_t)take(&b, 4);
	for (size_t i = 0; i < c.time; i++) {
		z->type_at[i] = (unsigned char)take(&b, 1);
		if (z->type_at[i] >= c.type)
			return NULL;
	}
	if (!read_types(a, &b, &c, z) || b.bad)
		return NULL;
	b.s = str_skip(b.s, c.leap * (word + 4) + c.std + c.utc);
	struct str footer = str_trim(b.s);
	if (word == 8 && footer.len > 0)
		read_rule(a, footer, z);
	return z;
}

const struct vzone *date_fixed_zone(struct arena *a, int offset, struct str abbreviation)
{
	struct vzone *z = ARENA_NEW(a, struct vzone);
	z->types = ARENA_NEW(a, struct zone_type);
	z->n_types = 1;
	z->types[0].offset = offset;
	z->types[0].abbr =
		arena_strndup(a, abbreviation.ptr ? abbreviation.ptr : "", abbreviation.len);
	return z;
}

/* ---- looking up ---- */
/* Second of the year when the change happens, in local time before it. */
static int64_t change_second(const struct zone_change *c, int64_t year)
{
	int64_t jan1 = days_from_civil(year, 1, 1);
	bool leap = days_from_civil(year + 1, 1, 1) - jan1 == 366;
	int64_t day;
	if (c->kind == 'J') {
		day = jan1 + c->day - 1 + (leap && c->day >= 60);
	} else if (c->kind == 'N') {
		day = jan1 + c->day;
	} else {
		int64_t first = days_from_civil(year, c->month, 1);
		int weekday = (int)(((first + 4) % 7 + 7) % 7);
		day = first + (c->day - weekday + 7) % 7 + (int64_t)(c->week - 1) * 7;
		int64_t next = c->month == 12 ? days_from_civil(year + 1, 1, 1)
					      : days_from_civil(year, c->month + 1, 1);
		while (day >= next)
			day -= 7;
	}
	return day * 86400 + c->time;
}

static const struct zone_type *by_rule(const struct vzone *z, int64_t sec)
{
	if (!z->has_dst)
		return &z->std;
	int64_t year;
	int month, day;
	int64_t days =
		sec / 86400 - (sec % 86400 < 0); /* the year is the one of UTC, as Go has it */
	civil_from_days(days, &year, &month, &day);
	int64_t start = change_second(&z->start, year) - z->std.offset;
	int64_t end = change_second(&z->end, year) - z->dst.offset;
	bool dst = start <= end ? sec >= start && sec < end : sec >= start || sec < end;
	return dst ? &z->dst : &z->std;
}

static const struct zone_type *type_at(const struct vzone *z, int64_t sec)
{
	if (z->n_at == 0 || sec < z->at[0])
		return z->n_at == 0 && z->has_rule ? by_rule(z, sec) : &z->types[0];
	if (sec >= z->at[z->n_at - 1] && z->has_rule)
		return by_rule(z, sec);
	size_t lo = 0, hi = z->n_at;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (sec < z->at[mid])
			hi = mid;
		else
			lo = mid;
	}
	return &z->types[z->type_at[lo]];
}

void zone_lookup(const struct vzone *z, int64_t sec, int *ret_offset, const char **ret_abbr)
{
	const struct zone_type *t = type_at(z ? z : &date_utc, sec);
	*ret_offset = t->offset;
	*ret_abbr = t->abbr;
}

int zone_offset_of_wall(const struct vzone *z, int64_t wall)
{
	int offset, again;
	const char *abbr;
	zone_lookup(z, wall, &offset, &abbr);
	zone_lookup(z, wall - offset, &again, &abbr);
	return again;
}

bool zone_abbreviation(const struct vzone *z, struct str abbr, int64_t wall, int *ret_offset)
{
	int offset;
	const char *name;
	if (!z)
		z = &date_utc;
	for (size_t i = 0; i < z->n_types; i++) {
		if (!str_is(abbr, z->types[i].abbr))
			continue;
		zone_lookup(z, wall - z->types[i].offset, &offset, &name);
		if (str_is(abbr, name)) {
			*ret_offset = offset;
			return true;
		}
	}
	for (size_t i = 0; i < z->n_types; i++) {
		if (str_is(abbr, z->types[i].abbr)) {
			*ret_offset = z->types[i].offset;
			return true;
		}
	}
	return false;
}
