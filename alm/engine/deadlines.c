#include "alm/engine/deadlines.h"

#include "alm/base/map.h"

struct deadlines {
	struct map *ends; /* id -> int64_t, monotonic */
	size_t sweep_at;  /* entries: twice of what the last sweep left, so that it costs little */
};

struct deadlines *deadlines_new(void)
{
	struct deadlines *d = xcalloc(1, sizeof(*d));
	d->ends = map_new(xfree);
	d->sweep_at = DEADLINES_SWEPT;
	return d;
}

void deadlines_free(struct deadlines *d)
{
	if (!d)
		return;
	map_free(d->ends);
	xfree(d);
}

size_t deadlines_count(const struct deadlines *d)
{
	return map_count(d->ends);
}

static void sweep(struct deadlines *d, int64_t mono_ns)
{
	for (struct map_entry *e = map_first(d->ends), *next; e; e = next) {
		next = map_next(e);
		if (mono_ns - *(const int64_t *)e->value > DEADLINE_KEPT_NS)
			map_del(d->ends, e->key);
	}
	size_t n = 2 * map_count(d->ends);
	d->sweep_at = n > DEADLINES_SWEPT ? n : DEADLINES_SWEPT;
}

int64_t deadlines_left(struct deadlines *d, const char *id, int64_t deadline_ns, int64_t by_wall_ns,
		       int64_t mono_ns)
{
	int64_t *end = map_get(d->ends, id);
	if (end)
		return *end - mono_ns;
	if (map_count(d->ends) >= d->sweep_at)
		sweep(d, mono_ns);
	int64_t left = by_wall_ns > deadline_ns ? deadline_ns : by_wall_ns;
	left = left > deadline_ns / 10 ? left : deadline_ns / 10;
	end = xcalloc(1, sizeof(*end));
	if (__builtin_add_overflow(mono_ns, left, end))
		*end = INT64_MAX;
	map_set(d->ends, id, end);
	return *end - mono_ns;
}
