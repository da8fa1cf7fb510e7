/* policy_cache: see policy_cache.h. */
#include "alm/apiserver/admission/policy_cache.h"

#include "alm/base/map.h"

#define COMPILED_BYTES_MAX ((size_t)32 << 20)

struct compiled {
	struct arena *a;
	struct policy *policy;
	struct text *of; /* a revision that was taken back is given again to another text */
};

static void compiled_free(void *p)
{
	struct compiled *c = p;
	text_unref(c->of);
	arena_free(c->a);
	xfree(c);
}

void policy_cache_init(struct policy_cache *c)
{
	c->compiled = map_new(compiled_free);
}

void policy_cache_release(struct policy_cache *c)
{
	map_free(c->compiled);
	c->compiled = NULL;
}

const struct policy *policy_cache_get(struct policy_cache *cache, const struct head *h,
				      const struct obj *policy)
{
	struct compiled *c = map_get(cache->compiled, h->name);
	const struct store_table *t = h->resource;
	if (c && c->of == h->text)
		return c->policy;
	if (map_count(cache->compiled) > 2 * t->n_heads) { /* mostly of those that are gone */
		policy_cache_release(cache);
		policy_cache_init(cache);
	}
	c = xcalloc(1, sizeof(*c));
	c->a = arena_new(COMPILED_BYTES_MAX);
	c->of = text_ref(h->text);
	c->policy = policy_compile(policy, c->a);
	map_set(cache->compiled, h->name, c);
	return c->policy;
}
