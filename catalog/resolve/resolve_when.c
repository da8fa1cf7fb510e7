/* When, not whether (lifecycle.md 2.2): pause, mode, soak and windows make an installable version
 * wait, and each says until when. */
#include <string.h>

#include "alm/base/clock.h"
#include "catalog/resolve/resolve_internal.h"

#define MINUTES_PER_DAY 1440

static const char *const day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/* "Sat" or "saturday" */
static int day_of(const char *text)
{
	size_t len = strlen(text);
	if (len != 3 && (len < 6 || strcmp(text + len - 3, "day") != 0))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(day_names); i++) {
		const char *d = day_names[i];
		if (char_lower(text[0]) == char_lower(d[0]) && char_lower(text[1]) == d[1] &&
		    char_lower(text[2]) == d[2])
			return (int)i;
	}
	return -1;
}

/* "22:00"; 24:00 is the end of the day; -1: none. */
static int minutes_of(const char *text)
{
	struct str h, m;
	int64_t hours, minutes;
	if (!text || !str_cut(str_of(text), ':', &h, &m) || m.len != 2 ||
	    !str_parse_i64(h, &hours) || !str_parse_i64(m, &minutes) || hours < 0 || hours > 24 ||
	    minutes < 0 || minutes > 59 || (hours == 24 && minutes))
		return -1;
	return (int)(hours * 60 + minutes);
}

bool resolve_window_parse(const char *const *days, const char *from, const char *to,
			  struct resolve_window *ret)
{
	*ret = (struct resolve_window){.from = minutes_of(from), .to = minutes_of(to)};
	for (; days && *days; days++) {
		int day = day_of(*days);
		if (day < 0)
			ret->from = -1;
		else
			ret->days |= 1U << day;
	}
	if (ret->from < 0 || ret->to < 0) {
		ret->from = -1; /* never open */
		return false;
	}
	return true;
}

/* Nanoseconds from now to the next opening; 0: it is open; -1: never. */
static int64_t opens_in(const struct resolve_window *w, int64_t now_ns)
{
	int64_t day = now_ns / NS_PER_DAY, length = w->to - w->from;
	if (w->from < 0)
		return -1;
	if (length <= 0)
		length += MINUTES_PER_DAY;
	for (int64_t d = day - 1; d <= day + 7; d++) {
		unsigned weekday = (unsigned)((d + 4) % 7); /* 1970-01-01 was a Thursday */
		int64_t left = d * NS_PER_DAY + w->from * NS_PER_MIN - now_ns;
		if (left > -length * NS_PER_MIN && (!w->days || w->days >> weekday & 1))
			return left > 0 ? left : 0;
	}
	return -1;
}

static int64_t next_window(const struct resolve_input *in)
{
	int64_t best = -1;
	for (size_t i = 0; i < in->n_windows; i++) {
		int64_t t = opens_in(&in->windows[i], in->now_ns);
		if (t >= 0 && (best < 0 || t < best))
			best = t;
	}
	return best;
}

static void wait_for_time(const struct resolver *r, const char *target, struct resolution *ret)
{
	const struct resolve_input *in = r->in;
	if (in->unreadable && !in->to) {
		ret->gate = "Unreadable";
		ret->gate_why = in->unreadable;
		return;
	}
	int64_t seen = in->first_seen ? in->first_seen(in->arg, target) : 0;
	int64_t soaked = (seen ? seen : in->now_ns) + in->soak_ns;
	if (in->soak_ns && !in->to && soaked > in->now_ns) {
		ret->gate = "Soaking";
		ret->until_ns = soaked;
		return;
	}
	int64_t wait = in->n_windows ? next_window(in) : 0;
	if (wait) {
		ret->gate = "OutsideWindow";
		ret->until_ns = wait > 0 ? in->now_ns + wait : 0;
	}
}

void resolver_when(const struct resolver *r, struct resolution *ret)
{
	const struct resolve_input *in = r->in;
	const struct candidate *next = ret->chosen;
	if (!next)
		return;
	if (ret->n_path)
		next = resolver_find(r, ret->path[0]);
	if (in->paused)
		ret->gate = "Paused";
	else if (in->mode && !strcmp(in->mode, "None") && !in->to)
		ret->gate = "ModeNone";
	else if (next && in->installed_version && version_cmp(&next->parsed, &r->installed) > 0)
		wait_for_time(r, next->version, ret);
}

const char *resolve_gate_text(const struct resolution *r, int64_t now_ns, struct arena *a)
{
	char full[CLOCK_TEXT_MAX];
	if (r->gate && r->gate_why)
		return arena_fmt(a, "%s: %s", r->gate, r->gate_why);
	if (!r->gate || !r->until_ns)
		return r->gate && !strcmp(r->gate, "OutsideWindow")
			       ? "OutsideWindow; no window ever opens"
			       : r->gate;
	clock_format(r->until_ns, CLOCK_SECONDS, full);
	if (r->until_ns - now_ns >= 7 * NS_PER_DAY)
		return arena_fmt(a, "%s until %s", r->gate, full);
	return arena_fmt(a, "%s until %s %.5sZ", r->gate,
			 day_names[(r->until_ns / NS_PER_DAY + 4) % 7], full + 11);
}
