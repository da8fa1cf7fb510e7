/* cron: see cron.h. A day of month and a weekday that are both said are alternatives, as in crontab(5). */
#include "alm/apiserver/loops/cron.h"

#include "alm/base/clock.h"
#include "alm/base/mem.h"

#define DAYS_MAX (4 * 366)

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun",
					  "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/* What one field may be; its names count from low. */
struct range {
	int low, high;
	const char *const *names;
	size_t n_names;
};

static int number(struct str s, const struct range *r, int64_t *ret, struct error *err)
{
	for (size_t i = 0; i < r->n_names; i++)
		if (str_is_nocase(s, r->names[i])) {
			*ret = r->low + (int64_t)i;
			return 0;
		}
	if (!str_parse_i64(s, ret))
		return error_set(
			err, E_INVALID,
			"failed to parse int from %.*s: strconv.Atoi: parsing \"%.*s\": invalid "
			"syntax",
			STR_ARG(s), STR_ARG(s));
	if (*ret < 0)
		return error_set(err, E_INVALID, "negative number (%lld) not allowed: %.*s",
				 (long long)*ret, STR_ARG(s));
	return 0;
}

static int in_range(int64_t low, int64_t high, const struct range *r, struct str s,
		    struct error *err)
{
	if (low < r->low)
		return error_set(err, E_INVALID,
				 "beginning of range (%lld) below minimum (%d): %.*s",
				 (long long)low, r->low, STR_ARG(s));
	if (high > r->high)
		return error_set(err, E_INVALID, "end of range (%lld) above maximum (%d): %.*s",
				 (long long)high, r->high, STR_ARG(s));
	if (low > high)
		return error_set(err, E_INVALID,
				 "beginning of range (%lld) beyond end of range (%lld): %.*s",
				 (long long)low, (long long)high, STR_ARG(s));
	return 0;
}

/* "*", "5", "1-5", each with "/2" behind it. */
static int item(struct str s, const struct range *r, uint64_t *bits, struct error *err)
{
	static const struct range any = {0, INT32_MAX, NULL, 0};
	struct str span, step_text, from, to;
	int64_t step = 1, low = r->low, high = r->high;
	bool stepped = str_cut(s, '/', &span, &step_text);
	bool is_span = str_cut(span, '-', &from, &to);
	if (is_span && str_find_char(to, '-') >= 0)
		return error_set(err, E_INVALID, "too many hyphens: %.*s", STR_ARG(s));
	if (!str_is(from, "*") && !str_is(from, "?")) {
		if (number(from, r, &low, err) < 0)
			return -1;
		if (is_span && number(to, r, &high, err) < 0)
			return -1;
		if (!is_span && !stepped)
			high = low;
	}
	if (stepped && str_find_char(step_text, '/') >= 0)
		return error_set(err, E_INVALID, "too many slashes: %.*s", STR_ARG(s));
	if (stepped)
		if (number(step_text, &any, &step, err) < 0)
			return -1;
	if (in_range(low, high, r, s, err) < 0)
		return -1;
	if (!step)
		return error_set(err, E_INVALID, "step of range should be a positive number: %.*s",
				 STR_ARG(s));
	step = step > high - low ? high - low + 1 : step;
	for (int64_t i = low; i <= high; i += step)
		*bits |= UINT64_C(1) << i;
	return 0;
}

static int field(struct str s, const struct range *r, uint64_t *bits, struct error *err)
{
	struct str part;
	while (str_next(&s, ',', &part))
		if (part.len)
			if (item(part, r, bits, err) < 0)
				return -1;
	return 0;
}

static bool is_any(struct str s)
{
	return str_has_prefix(s, STR("*")) || str_has_prefix(s, STR("?"));
}

static struct str expanded(struct str s)
{
	static const struct {
		const char *name, *text;
	} macros[] = {
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
	};
	for (size_t i = 0; i < ARRAY_LEN(macros); i++)
		if (str_is(s, macros[i].name))
			return str_of(macros[i].text);
	return s;
}

static int parse_every(struct str text, struct cron *ret, struct error *err)
{
	struct error ignored;
	if (!str_has_prefix(text, STR("@every ")))
		return error_set(err, E_INVALID, "unrecognized descriptor: %.*s", STR_ARG(text));
	if (duration_parse(str_trim(str_skip(text, 7)), &ret->every_ns, &ignored) < 0)
		return error_set(err, E_INVALID,
				 "failed to parse duration %.*s: time: invalid duration \"%.*s\"",
				 STR_ARG(text), STR_ARG(str_skip(text, 7)));
	ret->every_ns -= ret->every_ns % NS_PER_S; /* a second at the least, as upstream */
	ret->every_ns = ret->every_ns < NS_PER_S ? NS_PER_S : ret->every_ns;
	return 0;
}

/* Between any blanks, as Go's strings.Fields has them. */
static bool next_field(struct str *rest, struct str *part)
{
	*rest = str_trim(*rest);
	size_t n = 0;
	while (n < rest->len && !strchr(" \t\n\v\f\r", rest->ptr[n]))
		n++;
	*part = str_sub(*rest, 0, n);
	*rest = str_skip(*rest, n);
	return n > 0;
}

static size_t count_fields(struct str text)
{
	struct str part;
	size_t n = 0;
	while (next_field(&text, &part))
		n++;
	return n;
}

int cron_parse(struct str text, struct cron *ret, struct error *err)
{
	static const struct range ranges[] = {{0, 59, NULL, 0},
					      {0, 23, NULL, 0},
					      {1, 31, NULL, 0},
					      {1, 12, month_names, ARRAY_LEN(month_names)},
					      {0, 6, day_names, ARRAY_LEN(day_names)}};
	struct cron c = {0};
	uint64_t *const bits[] = {&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays};
	struct str part;
	size_t n = 0, fields;
	*ret = c;
	if (!text.len)
		return error_set(err, E_INVALID, "empty spec string");
	text = str_trim(text);
	struct str rest = expanded(text);
	if (str_has_prefix(rest, STR("@")))
		return parse_every(rest, ret, err);
	fields = count_fields(rest);
	if (fields != ARRAY_LEN(ranges))
		return error_set(err, E_INVALID, "expected exactly %zu fields, found %zu: [%.*s]",
				 ARRAY_LEN(ranges), fields, STR_ARG(text));
	while (next_field(&rest, &part)) {
		if (!part.len)
			continue;
		if (field(part, &ranges[n], bits[n], err) < 0)
			return -1;
		c.any_day |= n == 2 && is_any(part);
		c.any_weekday |= n == 4 && is_any(part);
		n++;
	}
	*ret = c;
	return 0;
}

static bool has(uint64_t bits, int64_t i)
{
	return bits >> i & 1;
}

static bool is_on(const struct cron *c, int64_t day)
{
	int64_t year;
	int month, of_month;
	civil_from_days(day, &year, &month, &of_month);
	bool by_month = has(c->days, of_month), by_week = has(c->weekdays, ((day + 4) % 7 + 7) % 7);
	return has(c->months, month) &&
	       (c->any_day || c->any_weekday ? by_month && by_week : by_month || by_week);
}

int64_t cron_next(const struct cron *c, int64_t after_ns)
{
	if (c->every_ns)
		return after_ns + c->every_ns;
	int64_t minute = after_ns / NS_PER_MIN + 1, day = minute / 1440;
	for (int64_t n = 0; n < DAYS_MAX; n++, day++) {
		if (!is_on(c, day))
			continue;
		for (int64_t m = minute > day * 1440 ? minute - day * 1440 : 0; m < 1440; m++)
			if (has(c->hours, m / 60) && has(c->minutes, m % 60))
				return (day * 1440 + m) * NS_PER_MIN;
	}
	return 0;
}
