/* multimap: see multimap.h. */
#include "alm/base/multimap.h"

#include <string.h>

#include "alm/base/map.h"

struct list {
	void **items;
	size_t n, cap;
};

struct multimap {
	struct map *lists;
};

static void list_free(void *p)
{
	struct list *l = p;
	xfree(l->items);
	xfree(l);
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

static struct list *list_with_room(struct multimap *m, const char *key)
{
	struct list *l = map_get(m->lists, key);
	if (!l) {
		l = xcalloc(1, sizeof(*l));
		map_set(m->lists, key, l);
	}
	ARRAY_GROW(l->items, l->cap, l->n + 1);
	return l;
}

void multimap_add(struct multimap *m, const char *key, void *value)
{
	struct list *l = list_with_room(m, key);
	l->items[l->n++] = value;
}

void multimap_add_sorted(struct multimap *m, const char *key, void *value,
			 int (*compare)(const void *a, const void *b))
{
	struct list *l = list_with_room(m, key);
	size_t low = 0, high = l->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(l->items[middle], value) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(l->items + low + 1, l->items + low, (l->n - low) * sizeof(*l->items));
	l->items[low] = value;
	l->n++;
}

void multimap_remove(struct multimap *m, const char *key, const void *value)
{
	struct list *l = map_get(m->lists, key);
	size_t i = 0;
	while (l && i < l->n && l->items[i] != value)
		i++;
	if (!l || i == l->n)
		return;
	l->n--;
	memmove(l->items + i, l->items + i + 1, (l->n - i) * sizeof(*l->items));
	if (!l->n)
		map_del(m->lists, key);
}

void *const *multimap_get(const struct multimap *m, const char *key, size_t *ret_n)
{
	return multimap_getn(m, str_of(key), ret_n);
}

void *const *multimap_getn(const struct multimap *m, struct str key, size_t *ret_n)
{
	const struct list *l = map_getn(m->lists, key);
	*ret_n = l ? l->n : 0;
	return l ? l->items : NULL;
}
