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

void multimap_add(struct multimap *m, const char *key, void *value)
{
	struct list *l = map_get(m->lists, key);
	if (!l) {
		l = xcalloc(1, sizeof(*l));
		map_set(m->lists, key, l);
	}
	ARRAY_GROW(l->items, l->cap, l->n + 1);
	l->items[l->n++] = value;
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
	const struct list *l = map_get(m->lists, key);
	*ret_n = l ? l->n : 0;
	return l ? l->items : NULL;
}
