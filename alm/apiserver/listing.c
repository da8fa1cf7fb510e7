/* listing: see listing.h. */
#include "alm/apiserver/listing.h"

static void free_items(void *p)
{
	struct listing *l = p;
	for (size_t i = 0; i < l->n; i++)
		text_unref(l->items[i].text);
	xfree(l->items);
	l->items = NULL;
	l->n = 0;
}

void listing_keep(struct listing *l, struct arena *a)
{
	l->kept = arena_memdup(a, l, sizeof(*l));
	arena_defer(a, free_items, l->kept);
}

void listing_drop(struct listing *l, size_t i)
{
	text_unref(l->items[i].text);
	l->items[i].text = NULL;
}

void listing_release(struct listing *l)
{
	if (l->kept)
		free_items(l->kept);
	l->items = NULL;
	l->n = 0;
}
