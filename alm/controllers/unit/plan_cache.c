#include "alm/controllers/unit/plan_cache.h"

#include "alm/base/map.h"

struct kept {
	struct obj *doc;
	size_t bytes;
};

struct plan_cache {
	struct map *kept; /* digest -> struct kept, the oldest first */
	size_t bytes;
};

static void kept_free(void *p)
{
	struct kept *k = p;
	obj_unref(k->doc);
	xfree(k);
}

struct plan_cache *plan_cache_new(void)
{
	struct plan_cache *c = xcalloc(1, sizeof(*c));
	c->kept = map_new(kept_free);
	return c;
}

void plan_cache_free(struct plan_cache *c)
{
	if (!c)
		return;
	map_free(c->kept);
	xfree(c);
}

struct obj *plan_cache_get(struct plan_cache *c, const char *digest)
{
	const struct kept *k = map_get(c->kept, digest);
	return k ? obj_ref(k->doc) : NULL;
}

static void drop_first(struct plan_cache *c)
{
	struct map_entry *first = map_first(c->kept);
	const struct kept *k = first->value;
	c->bytes -= k->bytes;
	map_del(c->kept, first->key);
}

void plan_cache_put(struct plan_cache *c, const char *digest, const struct obj *doc,
		    size_t text_bytes)
{
	if (text_bytes > PLAN_CACHE_TEXT_BYTES || map_has(c->kept, digest))
		return;
	while (map_count(c->kept) >= PLAN_CACHE_DOCUMENTS ||
	       c->bytes + text_bytes > PLAN_CACHE_TEXT_BYTES)
		drop_first(c);
	struct kept *k = xcalloc(1, sizeof(*k));
	*k = (struct kept){.doc = obj_ref(doc), .bytes = text_bytes};
	c->bytes += text_bytes;
	map_set(c->kept, digest, k);
}

bool plan_cache_is_empty(const struct plan_cache *c)
{
	return !map_count(c->kept);
}

void plan_cache_clear(struct plan_cache *c)
{
	map_clear(c->kept);
	c->bytes = 0;
}
