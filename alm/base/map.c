/* uthash behind a small face; its hash has a secret key, as keys come from outside. */
#include "alm/base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/pool.h"

#define HASH_FUNCTION(keyptr, keylen, hashv) \
	((hashv) = (unsigned)hash_key(str_n((keyptr), (keylen))))
#define uthash_malloc(n)  pool_keep(n)
#define uthash_free(p, n) pool_free((p), (n))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#include <uthash.h>
/* Most maps have a few keys, and an app has several of them. */
#undef HASH_INITIAL_NUM_BUCKETS
#undef HASH_INITIAL_NUM_BUCKETS_LOG2
#define HASH_INITIAL_NUM_BUCKETS      4U
#define HASH_INITIAL_NUM_BUCKETS_LOG2 2U

struct node {
	struct map_entry entry; /* first: map_next() casts back */
	UT_hash_handle hh;
	char key[];
};

struct map {
	struct node *head;
	void (*free_value)(void *value);
};

static void node_free(struct node *n)
{
	pool_free(n, sizeof(*n) + n->hh.keylen + 1);
}

struct map *map_new(void (*free_value)(void *value))
{
	struct map *m = pool_keep(sizeof(*m));
	*m = (struct map){.free_value = free_value};
	return m;
}

/* NOLINTBEGIN(readability-function-size): the blocks are those of uthash */
void map_clear(struct map *m)
{
	struct node *n, *tmp;
	HASH_ITER(hh, m->head, n, tmp)
	{
		HASH_DELETE(hh, m->head, n);
		if (m->free_value && n->entry.value)
			m->free_value(n->entry.value);
		node_free(n);
	}
}

void map_free(struct map *m)
{
	if (!m)
		return;
	map_clear(m);
	pool_free(m, sizeof(*m));
}

size_t map_count(const struct map *m)
{
	return HASH_COUNT(m->head);
}

static struct node *find(const struct map *m, struct str key)
{
	struct node *n = NULL;
	if (key.ptr)
		HASH_FIND(hh, m->head, key.ptr, key.len, n);
	return n;
}

void *map_getn(const struct map *m, struct str key)
{
	struct node *n = find(m, key);
	return n ? n->entry.value : NULL;
}

void *map_get(const struct map *m, const char *key)
{
	return map_getn(m, str_of(key));
}

bool map_has(const struct map *m, const char *key)
{
	return find(m, str_of(key)) != NULL;
}

const char *map_set(struct map *m, const char *key, void *value)
{
	size_t len = strlen(key);
	struct node *n = find(m, str_n(key, len));
	if (n) {
		if (m->free_value && n->entry.value && n->entry.value != value)
			m->free_value(n->entry.value);
		n->entry.value = value;
		return n->key;
	}
	n = pool_keep(sizeof(*n) + len + 1);
	memcpy(n->key, key, len + 1);
	n->entry.key = n->key;
	n->entry.value = value;
	HASH_ADD_KEYPTR(hh, m->head, n->key, len, n);
	return n->key;
}

void *map_take(struct map *m, const char *key)
{
	struct node *n = find(m, str_of(key));
	if (!n)
		return NULL;
	void *value = n->entry.value;
	HASH_DELETE(hh, m->head, n);
	node_free(n);
	return value;
}

/* NOLINTEND(readability-function-size) */

void map_set_number(struct map *m, const char *key, size_t n)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): nothing looks behind it */
	map_set(m, key, (void *)(uintptr_t)n);
}

size_t map_number(const struct map *m, const char *key)
{
	return (size_t)(uintptr_t)map_get(m, key);
}

bool map_del(struct map *m, const char *key)
{
	if (!map_has(m, key))
		return false;
	void *value = map_take(m, key);
	if (m->free_value && value)
		m->free_value(value);
	return true;
}

struct map_entry *map_first(const struct map *m)
{
	return m->head ? &m->head->entry : NULL;
}

struct map_entry *map_next(const struct map_entry *e)
{
	const struct node *n = (const struct node *)(const void *)e;
	struct node *next = n->hh.next;
	return next ? &next->entry : NULL;
}
#pragma GCC diagnostic pop

static int by_key(const void *a, const void *b)
{
	const struct map_entry *const *x = a, *const *y = b;
	return strcmp((*x)->key, (*y)->key);
}

struct map_entry **map_sorted(const struct map *m)
{
	size_t n = map_count(m), i = 0;
	struct map_entry **all = xcalloc(n, sizeof(struct map_entry *));
	for (struct map_entry *e = map_first(m); e; e = map_next(e))
		all[i++] = e;
	qsort(all, n, sizeof(struct map_entry *), by_key);
	return all;
}
