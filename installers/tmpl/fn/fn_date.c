/* fn_date: date functions, and the methods of times, durations, months and weekdays. */

#include "installers/tmpl/fn/fn_date.h"

#include "alm/base/clock.h"
#include "installers/tmpl/fn/zone_name.h"

#define TEXT_MAX STRBUF_SMALL

static struct vtime now(struct tmpl_run *run)
{
	int64_t ns = tmpl_run_host(run)->now_ns;
	int64_t rest = ns % NS_PER_S;
	struct vtime t = {.sec = ns / NS_PER_S - (rest < 0), .zone = zone_local(run)};
	t.nsec = (int32_t)(rest < 0 ? rest + NS_PER_S : rest);
	return t;
}

static int fn_now(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)args;
	(void)n;
	*ret = date_value(tmpl_arena(run), now(run));
	return 0;
}

/* A time, seconds, or now. */
static struct vtime time_of(struct tmpl_run *run, struct value v)
{
	if (v.type == VALUE_TIME)
		return *v.t;
	if (v.type == VALUE_INT || v.type == VALUE_INT64)
		return (struct vtime){.sec = v.i, .zone = zone_local(run)};
	tmpl_mark_random(run);
	return now(run);
}

static int format_in(struct tmpl_run *run, struct str layout, struct value v, struct str zone,
		     struct value *ret)
{
	struct vtime t = time_of(run, v);
	t.zone = zone_named(run, zone); /* NULL, of one that is not known, is UTC (date.h) */
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	date_format(&b, &t, layout);
	return tmpl_return(run, &b, ret);
}

static int fn_date(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	return format_in(run, value_text(args[0]), args[1], STR("Local"), ret);
}

static int fn_date_in_zone(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return format_in(run, value_text(args[0]), args[1], value_text(args[2]), ret);
}

static int fn_html_date(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	return format_in(run, STR("2006-01-02"), args[0], STR("Local"), ret);
}

static int fn_html_date_in_zone(struct tmpl_run *run, const struct value *args, size_t n,
				struct value *ret)
{
	(void)n;
	return format_in(run, STR("2006-01-02"), args[0], value_text(args[1]), ret);
}

static struct vtime plus(struct vtime t, int64_t ns)
{
	int64_t sum = t.nsec + ns % NS_PER_S;
	t.sec += ns / NS_PER_S + sum / NS_PER_S;
	sum %= NS_PER_S;
	if (sum < 0) {
		sum += NS_PER_S;
		t.sec--;
	}
	t.nsec = (int32_t)sum;
	return t;
}

static int modify(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEXT_MAX);
	int64_t ns;
	if (!date_duration(value_text(args[0]), &ns, &msg)) {
		if (must)
			return tmpl_fail_str(run, strbuf_str(&msg));
		*ret = args[1];
		return 0;
	}
	*ret = date_value(tmpl_arena(run), plus(*args[1].t, ns));
	return 0;
}

static int fn_date_modify(struct tmpl_run *run, const struct value *args, size_t n,
			  struct value *ret)
{
	(void)n;
	return modify(run, args, false, ret);
}

static int fn_must_date_modify(struct tmpl_run *run, const struct value *args, size_t n,
			       struct value *ret)
{
	(void)n;
	return modify(run, args, true, ret);
}

static int to_date(struct tmpl_run *run, const struct value *args, bool must, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEXT_MAX);
	/* the zero time of Go */
	struct vtime t = {.sec = date_seconds(1, 1, 1, 0, 0, 0), .zone = &date_utc};
	if (!date_parse(tmpl_arena(run), value_text(args[0]), value_text(args[1]), zone_local(run),
			&t, &msg) &&
	    must)
		return tmpl_fail_str(run, strbuf_str(&msg));
	*ret = date_value(tmpl_arena(run), t);
	return 0;
}

static int fn_to_date(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	return to_date(run, args, false, ret);
}

static int fn_must_to_date(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return to_date(run, args, true, ret);
}

static int fn_unix_epoch(struct tmpl_run *run, const struct value *args, size_t n,
			 struct value *ret)
{
	(void)n;
	*ret = value_cstr(arena_fmt(tmpl_arena(run), "%lld", (long long)args[0].t->sec));
	return 0;
}

/* a - b, saturating as Go's Sub. */
static int64_t between(struct vtime a, struct vtime b)
{
	int64_t ns;
	if (__builtin_mul_overflow(a.sec - b.sec, NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)a.nsec - b.nsec, &ns))
		return a.sec > b.sec ? INT64_MAX : INT64_MIN;
	return ns;
}

static int return_duration(struct tmpl_run *run, int64_t ns, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	date_duration_text(&b, ns);
	return tmpl_return(run, &b, ret);
}

static int fn_ago(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int64_t ns = between(now(run), time_of(run, args[0]));
	int64_t rest = ns % NS_PER_S;
	int64_t up = 2 * rest >= NS_PER_S ? NS_PER_S : 2 * rest <= -NS_PER_S ? -NS_PER_S : 0;
	if (__builtin_add_overflow(ns - rest, up, &ns)) /* as Go's Round */
		ns = up > 0 ? INT64_MAX : INT64_MIN;
	return return_duration(run, ns, ret);
}

static int fn_duration(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	int64_t sec = 0;
	if (args[0].type == VALUE_INT64)
		sec = args[0].i;
	else if (args[0].type == VALUE_STRING && !str_parse_i64(value_text(args[0]), &sec))
		sec = 0;
	return return_duration(run, (int64_t)((uint64_t)sec * (uint64_t)NS_PER_S), ret);
}

static int fn_duration_round(struct tmpl_run *run, const struct value *args, size_t n,
			     struct value *ret)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {
		{UINT64_C(31536000000000000), "y"}, {UINT64_C(2592000000000000), "mo"},
		{UINT64_C(86400000000000), "d"},    {UINT64_C(3600000000000), "h"},
		{UINT64_C(60000000000), "m"},       {UINT64_C(1000000000), "s"},
	};
	(void)n;
	int64_t d = 0;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEXT_MAX);
	if (args[0].type == VALUE_INT64)
		d = args[0].i;
	else if (args[0].type == VALUE_TIME)
		d = between(now(run), *args[0].t);
	else if (args[0].type == VALUE_STRING && !date_duration(value_text(args[0]), &d, &msg))
		d = 0;
	uint64_t u = d < 0 ? -(uint64_t)d : (uint64_t)d;
	*ret = value_cstr("0s");
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (u <= units[i].ns)
			continue;
		*ret = value_cstr(arena_fmt(tmpl_arena(run), "%llu%s",
					    (unsigned long long)(u / units[i].ns), units[i].unit));
		break;
	}
	return 0;
}

/* ---- methods of a time ---- */
static int time_format(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	date_format(&b, args[0].t, value_text(args[1]));
	return tmpl_return(run, &b, ret);
}

static int time_string(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	date_print(&b, args[0].t);
	return tmpl_return(run, &b, ret);
}

#define TIME_FIELD(fn, expr)                                                                       \
	static int fn(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret) \
	{                                                                                          \
		(void)run;                                                                         \
		(void)n;                                                                           \
		const struct vtime *t = args[0].t;                                                 \
		struct civil c;                                                                    \
		date_civil(t, &c);                                                                 \
		*ret = (expr);                                                                     \
		return 0;                                                                          \
	}

TIME_FIELD(time_unix, value_int64(t->sec))
TIME_FIELD(time_unix_milli, value_int64(t->sec * 1000 + t->nsec / 1000000))
TIME_FIELD(time_unix_nano, value_int64((int64_t)((uint64_t)t->sec * 1000000000u) + t->nsec))
TIME_FIELD(time_year, value_int(c.year))
TIME_FIELD(time_day, value_int(c.day))
TIME_FIELD(time_hour, value_int(c.hour))
TIME_FIELD(time_minute, value_int(c.minute))
TIME_FIELD(time_second, value_int(c.second))
TIME_FIELD(time_nanosecond, value_int(t->nsec))
TIME_FIELD(time_year_day, value_int(c.year_day))
TIME_FIELD(time_month, ((struct value){.type = VALUE_MONTH, .i = c.month}))
TIME_FIELD(time_weekday, ((struct value){.type = VALUE_WEEKDAY, .i = c.weekday}))
TIME_FIELD(time_is_zero, value_bool(t->sec == date_seconds(1, 1, 1, 0, 0, 0) && t->nsec == 0))

static int time_add_date(struct tmpl_run *run, const struct value *args, size_t n,
			 struct value *ret)
{
	(void)n;
	struct civil c;
	date_civil(args[0].t, &c);
	for (size_t i = 1; i <= 3; i++) {
		if (args[i].i > 1000000000 || args[i].i < -1000000000)
			return tmpl_fail(run, "AddDate: the span is too large");
	}
	int64_t months = c.year * 12 + (c.month - 1) + args[1].i * 12 + args[2].i;
	int64_t year = months / 12 - (months % 12 < 0);
	int month = (int)(months - year * 12) + 1;
	int64_t days = days_from_civil(year, month, 1) + c.day - 1 + args[3].i;
	int64_t wall = days * 86400 + (int64_t)c.hour * 3600 + (int64_t)c.minute * 60 + c.second;
	struct vtime t = *args[0].t;
	t.sec = wall - zone_offset_of_wall(t.zone ? t.zone : &date_utc, wall);
	*ret = date_value(tmpl_arena(run), t);
	return 0;
}

static int time_add(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	*ret = date_value(tmpl_arena(run), plus(*args[0].t, args[1].i));
	return 0;
}

static int time_sub(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = (struct value){.type = VALUE_DURATION, .i = between(*args[0].t, *args[1].t)};
	return 0;
}

static int time_utc(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct vtime t = *args[0].t;
	t.zone = &date_utc;
	*ret = date_value(tmpl_arena(run), t);
	return 0;
}

static int time_local(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct vtime t = *args[0].t;
	t.zone = zone_local(run);
	*ret = date_value(tmpl_arena(run), t);
	return 0;
}

static int time_before(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bool(between(*args[0].t, *args[1].t) < 0);
	return 0;
}

static int time_after(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bool(between(*args[0].t, *args[1].t) > 0);
	return 0;
}

static int time_equal(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bool(between(*args[0].t, *args[1].t) == 0);
	return 0;
}

/* ---- methods of durations and names ---- */
static int duration_string(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return return_duration(run, args[0].i, ret);
}

static int duration_hours(struct tmpl_run *run, const struct value *args, size_t n,
			  struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_float((double)args[0].i / 3600e9);
	return 0;
}

static int duration_minutes(struct tmpl_run *run, const struct value *args, size_t n,
			    struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_float((double)args[0].i / 60e9);
	return 0;
}

static int duration_seconds(struct tmpl_run *run, const struct value *args, size_t n,
			    struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_float((double)args[0].i / 1e9);
	return 0;
}

static int duration_milliseconds(struct tmpl_run *run, const struct value *args, size_t n,
				 struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_int64(args[0].i / 1000000);
	return 0;
}

static int name_string(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	date_name(&b, args[0]);
	return tmpl_return(run, &b, ret);
}

/* clang-format off */
const struct tmpl_func date_time_methods[] = {
	{"Format", "s:s", time_format, 0},
	{"String", ":s", time_string, 0},
	{"Unix", ":l", time_unix, 0},
	{"UnixMilli", ":l", time_unix_milli, 0},
	{"UnixNano", ":l", time_unix_nano, 0},
	{"Date", ":i", NULL, TMPL_FN_THREE},
	{"Clock", ":i", NULL, TMPL_FN_THREE},
	{"Year", ":i", time_year, 0},
	{"Month", ":i", time_month, 0},
	{"Day", ":i", time_day, 0},
	{"Weekday", ":i", time_weekday, 0},
	{"Hour", ":i", time_hour, 0},
	{"Minute", ":i", time_minute, 0},
	{"Second", ":i", time_second, 0},
	{"Nanosecond", ":i", time_nanosecond, 0},
	{"YearDay", ":i", time_year_day, 0},
	{"IsZero", ":b", time_is_zero, 0},
	{"AddDate", "iii:t", time_add_date, 0},
	{"Add", "d:t", time_add, 0},
	{"Sub", "t:d", time_sub, 0},
	{"UTC", ":t", time_utc, 0},
	{"Local", ":t", time_local, 0},
	{"Before", "t:b", time_before, 0},
	{"After", "t:b", time_after, 0},
	{"Equal", "t:b", time_equal, 0},
	{0},
};
const struct tmpl_func date_duration_methods[] = {
	{"String", ":s", duration_string, 0},
	{"Hours", ":f", duration_hours, 0},
	{"Minutes", ":f", duration_minutes, 0},
	{"Seconds", ":f", duration_seconds, 0},
	{"Milliseconds", ":l", duration_milliseconds, 0},
	{0},
};
const struct tmpl_func date_name_methods[] = {
	{"String", ":s", name_string, 0},
	{0},
};
const struct tmpl_func tmpl_fn_date[] = {
	{"now", ":t", fn_now, TMPL_FN_RANDOM},
	{"date", "sv:s", fn_date, 0},
	{"dateInZone", "svs:s", fn_date_in_zone, 0},
	{"date_in_zone", "svs:s", fn_date_in_zone, 0},
	{"htmlDate", "v:s", fn_html_date, 0},
	{"htmlDateInZone", "vs:s", fn_html_date_in_zone, 0},
	{"dateModify", "st:t", fn_date_modify, 0},
	{"date_modify", "st:t", fn_date_modify, 0},
	{"mustDateModify", "st:t", fn_must_date_modify, 0},
	{"must_date_modify", "st:t", fn_must_date_modify, 0},
	{"toDate", "ss:t", fn_to_date, 0},
	{"mustToDate", "ss:t", fn_must_to_date, 0},
	{"unixEpoch", "t:s", fn_unix_epoch, 0},
	{"ago", "v:s", fn_ago, TMPL_FN_RANDOM},
	{"duration", "v:s", fn_duration, 0},
	{"durationRound", "v:s", fn_duration_round, 0},
	{0},
};
/* clang-format on */
