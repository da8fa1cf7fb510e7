/* multimap: see multimap.h. */
#include "alm/base/multimap.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/pool.h"

/* Most lists have one pointer, which is in the list itself as long as it is alone (cap 0). */
struct list {
	union {
		void *one;
		void **many;
	} items;
	uint32_t n, cap;
};

struct multimap {
	struct map *lists;
};

static void list_free(void *p)
{
	struct list *l = p;
	if (l->cap)
		pool_free(l->items.many, l->cap * sizeof(void *));
	pool_free(l, sizeof(*l));
}

struct multimap *multimap_new(void)
{
	struct multimap *m = xcalloc(1, sizeof(*m));
	m->lists = map_new(list_free);
	return m;
}

void multimap_free(struct multimap *m)
{
	if (!m)
		return;
	map_free(m->lists);
	xfree(m);
}

static void **items_of(struct list *l)
{
	return l->cap ? l->items.many : &l->items.one;
}

/* To double: lists of two or three are as many as the objects that they are of. */
static void list_grow(struct list *l)
{
	size_t n = l->n, cap = n * 2;
	assert(cap <= UINT32_MAX);
	void **many = pool_keep(cap * sizeof(*many));
	memcpy(many, items_of(l), n * sizeof(*many));
	if (l->cap)
		pool_free(l->items.many, l->cap * sizeof(*many));
	l->items.many = many;
	l->cap = (uint32_t)cap;
}

static struct list *list_with_room(struct multimap *m, const char *key)
{
	struct list *l = map_get(m->lists, key);
	if (!l) {
		l = pool_keep(sizeof(*l));
		*l = (struct list){.n = 0};
		map_set(m->lists, key, l);
	} else if (l->n >= (l->cap ? l->cap : 1)) {
		list_grow(l);
	}
	return l;
}

void multimap_add(struct multimap *m, const char *key, void *value)
{
	struct list *l = list_with_room(m, key);
	items_of(l)[l->n++] = value;
}

void multimap_add_sorted(struct multimap *m, const char *key, void *value,
			 int (*compare)(const void *a, const void *b))
{
	struct list *l = list_with_room(m, key);
	void **items = items_of(l);
	size_t low = 0, high = l->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(items[middle], value) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(items + low + 1, items + low, (l->n - low) * sizeof(*items));
	items[low] = value;
	l->n++;
}

void multimap_remove(struct multimap *m, const char *key, const void *value)
{
	struct list *l = map_get(m->lists, key);
	void **items = l ? items_of(l) : NULL;
	size_t i = 0;
	while (l && i < l->n && items[i] != value)
		i++;
	if (!l || i == l->n)
		return;
	l->n--;
	memmove(items + i, items + i + 1, (l->n - i) * sizeof(*items));
	if (!l->n)
		map_del(m->lists, key);
}

void *const *multimap_get(const struct multimap *m, const char *key, size_t *ret_n)
{
	return multimap_getn(m, str_of(key), ret_n);
}

void *const *multimap_getn(const struct multimap *m, struct str key, size_t *ret_n)
{
	struct list *l = map_getn(m->lists, key);
	*ret_n = l ? l->n : 0;
	return l ? items_of(l) : NULL;
}
