/*
 * multimap: string keys to lists of borrowed pointers, in the order in which they came. An index.
 *
 * A list is found and added to in constant time; taking a pointer out costs the length of its list.
 */
#ifndef ALM_BASE_MULTIMAP_H
#define ALM_BASE_MULTIMAP_H

#include <stddef.h>

#include "alm/base/mem.h"

struct multimap;

struct multimap *multimap_new(void);
void multimap_free(struct multimap *m);
DEFINE_FREEP(multimap)

void multimap_add(struct multimap *m, const char *key, void *value);
/* The first that is this pointer; none: nothing happens. */
void multimap_remove(struct multimap *m, const char *key, const void *value);
/* Borrowed until the next change; NULL and 0 without any. */
void *const *multimap_get(const struct multimap *m, const char *key, size_t *ret_n);

#endif
