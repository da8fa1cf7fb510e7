/*
 * cache: the objects of an informer, as JSON text, sorted by (namespace, name). Knows nothing of
 * lists and watches.
 *
 * An entry that is replaced or removed stays readable until cache_sweep().
 */
#ifndef ALM_CLIENT_CACHE_H
#define ALM_CLIENT_CACHE_H

#include "alm/client/informer.h"

struct cache;

struct cache *cache_new(void);
void cache_free(struct cache *c);
DEFINE_FREEP(cache)

/* From an object with metadata.name; owned, and goes before pack. E_INTERNAL without a name. */
int cache_object_new(const struct obj *o, struct pack *pack, struct informer_object **ret,
		     struct error *err);
void cache_object_free(struct informer_object *o);

size_t cache_count(const struct cache *c);
const struct informer_object *cache_get(const struct cache *c, const char *ns, const char *name);
/* Those of this name in every namespace, in their order; the first call sorts by name, and from then
 * on a change costs a move of half the pointers in each order. Borrowed until the next change. */
struct informer_object *const *cache_named(struct cache *c, const char *name, size_t *ret_n);
const struct informer_object *cache_at(const struct cache *c, size_t i);
/* The index of the first object behind (ns, name). */
size_t cache_after(const struct cache *c, const char *ns, const char *name);
/* Consumes o; returns what it replaced, or NULL. */
const struct informer_object *cache_put(struct cache *c, struct informer_object *o);
const struct informer_object *cache_remove(struct cache *c, const char *ns, const char *name);
/* Empties it: owned array of ret_n owned objects, in order. */
struct informer_object **cache_detach(struct cache *c, size_t *ret_n);
void cache_sweep(struct cache *c);
bool cache_has_garbage(const struct cache *c);

#endif
