/* cache: see cache.h. */
#include "alm/client/cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/pool.h"
#include "alm/client/trees.h"
#include "alm/client/unzipped.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

/* Sorted by (namespace, name), or by (name, namespace). */
struct order {
	struct informer_object **items;
	size_t n, cap;
	bool by_name;
};

struct cache {
	struct order all, named; /* named: the same objects; empty until somebody has asked */
	bool is_named;
	struct informer_object **garbage;
	size_t n_garbage, garbage_cap;
};

/* With the zero behind it. */
static void add_text(struct strbuf *b, const char *s)
{
	strbuf_add(b, s ? s : "", s ? strlen(s) + 1 : 1);
}

static struct packed plain_text(const char *text)
{
	uint32_t len = (uint32_t)strlen(text);
	return (struct packed){.bytes = text, .len = len, .text_len = len};
}

int cache_object_new(const struct obj *o, struct pack *pack, struct informer_object **ret,
		     struct error *err)
{
	const char *name = meta_name(o), *ns = meta_namespace(o), *uid = meta_uid(o);
	const char *rv = meta_resource_version(o);
	if (!name || !*name)
		return error_set(err, E_INTERNAL, "the server sent a %s without a name",
				 meta_kind(o) ? meta_kind(o) : "object");
	CLEANUP(xfreep) char *json = json_text(o);
	CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(UINT32_MAX);
	add_text(&head, ns);
	add_text(&head, name);
	add_text(&head, rv);
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	struct packed packed =
		pack ? pack_text(pack, unzipped(str_of(json), &room), strbuf_str(&head))
		     : plain_text(json);
	size_t size = offsetof(struct informer_object, ns) + head.len + packed.len;
	struct informer_object *e = pool_keep(size);
	*e = (struct informer_object){.uid = hash_key(str_of(uid ? uid : "")),
				      .pack = pack,
				      .len = packed.len,
				      .text_len = packed.text_len,
				      .dictionary = (uint16_t)packed.dictionary};
	memcpy(e->ns, head.buf, head.len);
	memcpy(e->ns + head.len, packed.bytes, packed.len);
	e->name = e->ns + strlen(e->ns) + 1;
	e->resource_version = e->name + strlen(e->name) + 1;
	*ret = e;
	return 0;
}

void cache_object_free(struct informer_object *o)
{
	size_t size = (size_t)(informer_bytes(o) + o->len - (const char *)o);
	trees_forget(o);
	pool_free(o, size);
}

struct cache *cache_new(void)
{
	struct cache *c = xcalloc(1, sizeof(*c));
	c->named.by_name = true;
	return c;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cache_sweep(c);
	for (size_t i = 0; i < c->all.n; i++)
		cache_object_free(c->all.items[i]);
	xfree(c->all.items);
	xfree(c->named.items);
	xfree(c->garbage);
	xfree(c);
}

static int compare(const struct order *s, const struct informer_object *o, const char *ns,
		   const char *name)
{
	int r = s->by_name ? strcmp(o->name, name) : strcmp(o->ns, ns);
	if (r)
		return r;
	return s->by_name ? strcmp(o->ns, ns) : strcmp(o->name, name);
}

/* Index of the object, or where it would stand. */
static bool find(const struct order *s, const char *ns, const char *name, size_t *ret)
{
	size_t low = 0, high = s->n;
	/* lists come sorted: most searches end behind the last */
	if (high && compare(s, s->items[high - 1], ns, name) < 0)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(s, s->items[middle], ns, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < s->n && compare(s, s->items[low], ns, name) == 0;
}

/* Returns what stood there, or NULL. */
static struct informer_object *order_put(struct order *s, struct informer_object *o)
{
	struct informer_object *before = NULL;
	size_t i;
	if (find(s, o->ns, o->name, &i)) {
		before = s->items[i];
	} else {
		ARRAY_GROW(s->items, s->cap, s->n + 1);
		memmove(s->items + i + 1, s->items + i, (s->n - i) * sizeof(*s->items));
		s->n++;
	}
	s->items[i] = o;
	return before;
}

/* Returns what stood there, or NULL. */
static struct informer_object *order_remove(struct order *s, const char *ns, const char *name)
{
	size_t i;
	if (!find(s, ns, name, &i))
		return NULL;
	struct informer_object *o = s->items[i];
	s->n--;
	memmove(s->items + i, s->items + i + 1, (s->n - i) * sizeof(*s->items));
	return o;
}

size_t cache_count(const struct cache *c)
{
	return c->all.n;
}

const struct informer_object *cache_get(const struct cache *c, const char *ns, const char *name)
{
	size_t i;
	return find(&c->all, ns ? ns : "", name, &i) ? c->all.items[i] : NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct informer_object *const *x = a, *const *y = b;
	static const struct order named = {.by_name = true};
	return compare(&named, *x, (*y)->ns, (*y)->name);
}

static void name_all(struct cache *c)
{
	ARRAY_GROW(c->named.items, c->named.cap, c->all.n);
	if (c->all.n) {
		memcpy(c->named.items, c->all.items, c->all.n * sizeof(*c->all.items));
		qsort(c->named.items, c->all.n, sizeof(*c->named.items), by_name);
	}
	c->named.n = c->all.n;
	c->is_named = true;
}

struct informer_object *const *cache_named(struct cache *c, const char *name, size_t *ret_n)
{
	size_t first, n = 0;
	if (!c->is_named)
		name_all(c);
	(void)find(&c->named, "", name, &first);
	while (first + n < c->named.n && strcmp(c->named.items[first + n]->name, name) == 0)
		n++;
	*ret_n = n;
	return n ? c->named.items + first : NULL;
}

const struct informer_object *cache_at(const struct cache *c, size_t i)
{
	return i < c->all.n ? c->all.items[i] : NULL;
}

size_t cache_after(const struct cache *c, const char *ns, const char *name)
{
	size_t i;
	return find(&c->all, ns, name, &i) ? i + 1 : i;
}

static void discard(struct cache *c, struct informer_object *o)
{
	ARRAY_GROW(c->garbage, c->garbage_cap, c->n_garbage + 1);
	c->garbage[c->n_garbage++] = o;
}

const struct informer_object *cache_put(struct cache *c, struct informer_object *o)
{
	struct informer_object *before = order_put(&c->all, o);
	if (c->is_named)
		order_put(&c->named, o);
	if (before)
		discard(c, before);
	return before;
}

const struct informer_object *cache_remove(struct cache *c, const char *ns, const char *name)
{
	struct informer_object *o = order_remove(&c->all, ns ? ns : "", name);
	if (!o)
		return NULL;
	if (c->is_named)
		order_remove(&c->named, o->ns, o->name);
	discard(c, o);
	return o;
}

struct informer_object **cache_detach(struct cache *c, size_t *ret_n)
{
	*ret_n = c->all.n;
	c->all.n = c->all.cap = c->named.n = 0;
	return STEAL(c->all.items);
}

void cache_sweep(struct cache *c)
{
	for (size_t i = 0; i < c->n_garbage; i++)
		cache_object_free(c->garbage[i]);
	c->n_garbage = 0;
}

bool cache_has_garbage(const struct cache *c)
{
	return c->n_garbage > 0;
}
