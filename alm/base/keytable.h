/*
 * keytable: values of one small size by string keys, of which there are tens of thousands: an entry
 * takes 8 bytes besides its value, in a table that is two thirds full, where a map (map.h) takes 80 and
 * the key.
 *
 * Keys are not kept, but 64 bits of a keyed hash of each: that two of 100,000 keys are one happens
 * in 1 of 3,000,000,000 processes, and nobody outside can bring it about.
 */
#ifndef ALM_BASE_KEYTABLE_H
#define ALM_BASE_KEYTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/mem.h"

struct keytable;

struct keytable *keytable_new(size_t value_bytes); /* a multiple of 8 */
void keytable_free(struct keytable *t);
DEFINE_FREEP(keytable)

size_t keytable_count(const struct keytable *t);
/* Copies the value out, or in (replacing); false: there is none. */
bool keytable_get(const struct keytable *t, const char *key, void *ret);
void keytable_set(struct keytable *t, const char *key, const void *value);
bool keytable_del(struct keytable *t, const char *key);
/* Those for which stays is false go. */
void keytable_filter(struct keytable *t, bool (*stays)(void *arg, const void *value), void *arg);

#endif
