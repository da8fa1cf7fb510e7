#include "alm/engine/deadlines.h"

#include "alm/base/keytable.h"

struct deadlines {
	struct keytable *ends; /* id -> int64_t, monotonic */
	size_t sweep_at; /* entries: twice of what the last sweep left, so that it costs little */
};

struct deadlines *deadlines_new(void)
{
	struct deadlines *d = xcalloc(1, sizeof(*d));
	d->ends = keytable_new(sizeof(int64_t));
	d->sweep_at = DEADLINES_SWEPT;
	return d;
}

void deadlines_free(struct deadlines *d)
{
	if (!d)
		return;
	keytable_free(d->ends);
	xfree(d);
}

size_t deadlines_count(const struct deadlines *d)
{
	return keytable_count(d->ends);
}

static bool is_kept(void *mono_ns, const void *end)
{
	return *(const int64_t *)mono_ns - *(const int64_t *)end <= DEADLINE_KEPT_NS;
}

static void sweep(struct deadlines *d, int64_t mono_ns)
{
	keytable_filter(d->ends, is_kept, &mono_ns);
	size_t n = 2 * keytable_count(d->ends);
	d->sweep_at = n > DEADLINES_SWEPT ? n : DEADLINES_SWEPT;
}

int64_t deadlines_left(struct deadlines *d, const char *id, int64_t deadline_ns, int64_t by_wall_ns,
		       int64_t mono_ns)
{
	int64_t end;
	if (keytable_get(d->ends, id, &end))
		return end - mono_ns;
	if (keytable_count(d->ends) >= d->sweep_at)
		sweep(d, mono_ns);
	int64_t left = by_wall_ns > deadline_ns ? deadline_ns : by_wall_ns;
	left = left > deadline_ns / 10 ? left : deadline_ns / 10;
	if (__builtin_add_overflow(mono_ns, left, &end))
		end = INT64_MAX;
	keytable_set(d->ends, id, &end);
	return end - mono_ns;
}
