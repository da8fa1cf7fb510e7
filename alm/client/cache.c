/* cache: see cache.h. */
#include "alm/client/cache.h"

#include <string.h>

#include "alm/base/multimap.h"
#include "alm/base/pool.h"
#include "alm/client/trees.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct cache {
	struct informer_object **items;
	size_t n, cap;
	struct multimap *by_name; /* NULL: nobody has asked */
	struct informer_object **garbage;
	size_t n_garbage, garbage_cap;
};

/* One allocation: the struct and its texts. */
int cache_object_new(const struct obj *o, struct pack *pack, struct informer_object **ret,
		     struct error *err)
{
	const char *name = meta_name(o), *ns = meta_namespace(o), *uid = meta_uid(o);
	const char *rv = meta_resource_version(o);
	if (!name || !*name)
		return error_set(err, E_INTERNAL, "the server sent a %s without a name",
				 meta_kind(o) ? meta_kind(o) : "object");
	CLEANUP(xfreep) char *text = json_text(o);
	const struct packed plain = {
		.bytes = text, .len = (uint32_t)strlen(text), .text_len = (uint32_t)strlen(text)};
	struct packed packed = pack ? pack_text(pack, str_of(text)) : plain;
	const char *const parts[] = {ns ? ns : "", name, uid ? uid : "", rv ? rv : ""};
	size_t size = sizeof(struct informer_object) + sizeof(struct tree_slot) + packed.len;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		size += strlen(parts[i]) + 1;
	struct informer_object *e = pool_keep(size);
	struct tree_slot *slot = (struct tree_slot *)(e + 1);
	char *at = (char *)(slot + 1), *copies[ARRAY_LEN(parts)];
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		size_t n = strlen(parts[i]) + 1;
		copies[i] = memcpy(at, parts[i], n);
		at += n;
	}
	packed.bytes = memcpy(at, packed.bytes, packed.len);
	*e = (struct informer_object){.ns = copies[0],
				      .name = copies[1],
				      .uid = copies[2],
				      .resource_version = copies[3],
				      .pack = pack,
				      .text = packed,
				      .slot = slot};
	*slot = (struct tree_slot){0};
	*ret = e;
	return 0;
}

void cache_object_free(struct informer_object *o)
{
	size_t size = (size_t)(o->text.bytes + o->text.len - (const char *)o);
	tree_slot_clear(o->slot);
	pool_free(o, size);
}

struct cache *cache_new(void)
{
	struct cache *c = xcalloc(1, sizeof(*c));
	return c;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cache_sweep(c);
	for (size_t i = 0; i < c->n; i++)
		cache_object_free(c->items[i]);
	xfree(c->items);
	xfree(c->garbage);
	multimap_free(c->by_name);
	xfree(c);
}

static int compare(const struct informer_object *o, const char *ns, const char *name)
{
	int r = strcmp(o->ns, ns);
	return r ? r : strcmp(o->name, name);
}

/* Index of the object, or where it would stand. */
static bool find(const struct cache *c, const char *ns, const char *name, size_t *ret)
{
	size_t low = 0, high = c->n;
	/* lists come sorted: most searches end behind the last */
	if (high && compare(c->items[high - 1], ns, name) < 0)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(c->items[middle], ns, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < c->n && compare(c->items[low], ns, name) == 0;
}

size_t cache_count(const struct cache *c)
{
	return c->n;
}

const struct informer_object *cache_get(const struct cache *c, const char *ns, const char *name)
{
	size_t i;
	return find(c, ns ? ns : "", name, &i) ? c->items[i] : NULL;
}

void *const *cache_named(struct cache *c, const char *name, size_t *ret_n)
{
	if (!c->by_name) {
		c->by_name = multimap_new();
		for (size_t i = 0; i < c->n; i++)
			multimap_add(c->by_name, c->items[i]->name, c->items[i]);
	}
	return multimap_get(c->by_name, name, ret_n);
}

const struct informer_object *cache_at(const struct cache *c, size_t i)
{
	return i < c->n ? c->items[i] : NULL;
}

size_t cache_after(const struct cache *c, const char *ns, const char *name)
{
	size_t i;
	return find(c, ns, name, &i) ? i + 1 : i;
}

static void discard(struct cache *c, struct informer_object *o)
{
	if (c->by_name)
		multimap_remove(c->by_name, o->name, o);
	ARRAY_GROW(c->garbage, c->garbage_cap, c->n_garbage + 1);
	c->garbage[c->n_garbage++] = o;
}

const struct informer_object *cache_put(struct cache *c, struct informer_object *o)
{
	struct informer_object *before = NULL;
	size_t i;
	if (find(c, o->ns, o->name, &i)) {
		before = c->items[i];
		discard(c, before);
	} else {
		ARRAY_GROW(c->items, c->cap, c->n + 1);
		memmove(c->items + i + 1, c->items + i, (c->n - i) * sizeof(*c->items));
		c->n++;
	}
	c->items[i] = o;
	if (c->by_name)
		multimap_add(c->by_name, o->name, o);
	return before;
}

const struct informer_object *cache_remove(struct cache *c, const char *ns, const char *name)
{
	size_t i;
	if (!find(c, ns ? ns : "", name, &i))
		return NULL;
	struct informer_object *o = c->items[i];
	discard(c, o);
	c->n--;
	memmove(c->items + i, c->items + i + 1, (c->n - i) * sizeof(*c->items));
	return o;
}

struct informer_object **cache_detach(struct cache *c, size_t *ret_n)
{
	*ret_n = c->n;
	c->n = c->cap = 0;
	multimap_free(STEAL(c->by_name));
	return STEAL(c->items);
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
