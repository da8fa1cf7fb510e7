/*
 * map: string keys to pointers, iterated in insertion order.
 *
 * Keys are copied. Values are owned by the map if it was made with a free function, else borrowed.
 * A NULL value is allowed; map_has() tells it from an absent key.
 *
 *	for (struct map_entry *e = map_first(m); e; e = map_next(e)) use(e->key, e->value);
 *
 * The entry that is being visited may be deleted after its successor was taken.
 */
#ifndef ALM_BASE_MAP_H
#define ALM_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

struct map;

struct map_entry {
	const char *key;
	void *value;
};

struct map *map_new(void (*free_value)(void *value)); /* NULL: values are borrowed */
void map_free(struct map *m);
DEFINE_FREEP(map)

size_t map_count(const struct map *m);
void *map_get(const struct map *m, const char *key); /* NULL if absent */
void *map_getn(const struct map *m, struct str key);
bool map_has(const struct map *m, const char *key);
/* Replaces (and frees) the value of an existing key, which keeps its place. Returns the map's copy of
 * the key, good as long as the key is there. */
const char *map_set(struct map *m, const char *key, void *value);
/* Of a map that has numbers instead of pointers. */
void map_set_number(struct map *m, const char *key, size_t n);
size_t map_number(const struct map *m, const char *key); /* 0 if absent */
bool map_del(struct map *m, const char *key);            /* false if it was absent */
void *map_take(struct map *m, const char *key);          /* removes without freeing the value */
void map_clear(struct map *m);

struct map_entry *map_first(const struct map *m);
struct map_entry *map_next(const struct map_entry *e);

/* Entries sorted by key bytes: owned array of map_count() borrowed entries. */
struct map_entry **map_sorted(const struct map *m);

#endif
