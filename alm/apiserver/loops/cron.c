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

static bool number(struct str s, const struct range *r, int64_t *ret)
{
	for (size_t i = 0; i < r->n_names; i++)
		if (str_is_nocase(s, r->names[i])) {
			*ret = r->low + (int64_t)i;
			return true;
		}
	return str_parse_i64(s, ret) && *ret >= r->low && *ret <= r->high;
}

/* "*", "5", "1-5", each with "/2" behind it. */
static bool item(struct str s, const struct range *r, uint64_t *bits)
{
	struct str span, step_text, from, to;
	int64_t step = 1, low, high;
	bool stepped = str_cut(s, '/', &span, &step_text);
	if (stepped && (!str_parse_i64(step_text, &step) || step < 1))
		return false;
	if (str_is(span, "*") || str_is(span, "?")) {
		low = r->low;
		high = r->high;
	} else if (str_cut(span, '-', &from, &to)) {
		if (!number(from, r, &low) || !number(to, r, &high) || high < low)
			return false;
	} else {
		if (!number(span, r, &low))
			return false;
		high = stepped ? r->high : low;
	}
	for (int64_t i = low; i <= high; i += step)
		*bits |= UINT64_C(1) << i;
	return true;
}

static bool field(struct str s, const struct range *r, uint64_t *bits)
{
	struct str part;
	*bits = 0;
	while (str_next(&s, ',', &part))
		if (!item(part, r, bits))
			return false;
	return *bits != 0;
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

bool cron_parse(struct str text, struct cron *ret)
{
	static const struct range ranges[] = {{0, 59, NULL, 0},
					      {0, 23, NULL, 0},
					      {1, 31, NULL, 0},
					      {1, 12, month_names, ARRAY_LEN(month_names)},
					      {0, 6, day_names, ARRAY_LEN(day_names)}};
	struct cron c = {0};
	uint64_t *const bits[] = {&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays};
	struct str part;
	struct error ignored;
	size_t n = 0;
	text = str_trim(text);
	if (str_has_prefix(text, STR("@every "))) {
		if (duration_parse(str_trim(str_skip(text, 7)), &c.every_ns, &ignored) < 0 ||
		    c.every_ns < NS_PER_S)
			return false;
		*ret = c;
		return true;
	}
	for (struct str rest = expanded(text); str_next(&rest, ' ', &part);) {
		if (!part.len)
			continue;
		if (n == ARRAY_LEN(ranges) || !field(part, &ranges[n], bits[n]))
			return false;
		c.any_day |= n == 2 && is_any(part);
		c.any_weekday |= n == 4 && is_any(part);
		n++;
	}
	*ret = c;
	return n == ARRAY_LEN(ranges);
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
