#include "alm/controllers/stash.h"

#include "alm/base/clock.h"
#include "alm/base/map.h"

struct stash {
	struct map *items; /* insertion order = age */
	size_t bytes;
};

static size_t cost(const struct outcome *o)
{
	return o->bytes.len + sizeof(*o);
}

static void outcome_free(void *p)
{
	struct outcome *o = p;
	xfree(o->msg);
	xfree(mem_unconst(o->bytes.ptr));
	obj_unref(o->value);
	xfree(o);
}

struct stash *stash_new(void)
{
	struct stash *s = xcalloc(1, sizeof(*s));
	s->items = map_new(outcome_free);
	return s;
}

void stash_free(struct stash *s)
{
	if (!s)
		return;
	map_free(s->items);
	xfree(s);
}

const struct outcome *stash_get(const struct stash *s, const char *id)
{
	return map_get(s->items, id);
}

void stash_drop(struct stash *s, const char *id)
{
	const struct outcome *o = stash_get(s, id);
	if (!o)
		return;
	s->bytes -= cost(o);
	map_del(s->items, id);
}

static void evict(struct stash *s)
{
	while (map_count(s->items) > STASH_ITEMS_MAX ||
	       (s->bytes > STASH_BYTES_MAX && map_count(s->items) > 1))
		stash_drop(s, map_first(s->items)->key);
}

int64_t outcome_retry_in(const struct outcome *o, int64_t now_ns)
{
	int64_t wait = NS_PER_HOUR, age = now_ns - o->at_ns;
	if (o->failures && o->failures <= 6)
		wait = NS_PER_MIN << (o->failures - 1);
	return age < 0 || age >= wait ? 0 : wait - age;
}

void stash_put(struct stash *s, const char *id, const struct error *err, struct str bytes,
	       struct obj *value, int64_t now_ns)
{
	const struct outcome *old = stash_get(s, id);
	unsigned failures = !err ? 0 : old ? old->failures + 1 : 1;
	struct outcome *o = xcalloc(1, sizeof(*o));
	*o = (struct outcome){.code = err ? err->code : 0,
			      .msg = xstrdup(err ? err->msg : ""),
			      .bytes = bytes,
			      .value = value,
			      .at_ns = now_ns,
			      .failures = failures};
	stash_drop(s, id);
	map_set(s->items, id, o);
	s->bytes += cost(o);
	evict(s);
}
