/*
 * multimap: string keys to lists of borrowed pointers, in the order in which they came, or in an
 * order of their own. An index.
 *
 * A list is found and added to in constant time; a place in an order, and taking a pointer out,
 * cost the length of its list. A list has at most UINT32_MAX pointers.
 */
#ifndef ALM_BASE_MULTIMAP_H
#define ALM_BASE_MULTIMAP_H

#include <stddef.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

struct multimap;

struct multimap *multimap_new(void);
void multimap_free(struct multimap *m);
DEFINE_FREEP(multimap)

void multimap_add(struct multimap *m, const char *key, void *value);
/* Behind those that are not greater, if all of the list were added so. */
void multimap_add_sorted(struct multimap *m, const char *key, void *value,
			 int (*compare)(const void *a, const void *b));
/* The first that is this pointer; none: nothing happens. */
void multimap_remove(struct multimap *m, const char *key, const void *value);
/* Borrowed until the next change; NULL and 0 without any. */
void *const *multimap_get(const struct multimap *m, const char *key, size_t *ret_n);
void *const *multimap_getn(const struct multimap *m, struct str key, size_t *ret_n);

#endif
