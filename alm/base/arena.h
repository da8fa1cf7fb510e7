/*
 * arena: the memory of one reconcile or one request.
 *
 * Everything allocated from an arena dies with it; nothing that lives longer may point into one.
 * The limit is soft: an allocation never fails, but once the limit is passed arena_over() is true
 * and the owner of the reconcile must stop with E_LIMIT at its next step. At four times the limit
 * the process aborts, as that is a loop that forgot its bound.
 */
#ifndef ALM_BASE_ARENA_H
#define ALM_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "alm/base/mem.h"

/* What a request may hold, and what is judged for it. */
#define ARENA_REQUEST_BYTES_MAX ((size_t)64 << 20)

struct arena;

struct arena *arena_new(size_t limit);
/* One that lives long and will hold little: its first block has so many bytes, instead of 4 KiB. */
struct arena *arena_sized(size_t limit, size_t first);
void arena_free(struct arena *a); /* runs the deferred calls, last first; NULL is fine */
DEFINE_FREEP(arena)

/* Zeroed, aligned for pointers, int64_t and double. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_calloc(struct arena *a, size_t n, size_t size);
/* A copy of the first n of an array of cap elements, the others zero: ARENA_GROW(). */
void *arena_grown(struct arena *a, const void *items, size_t n, size_t cap, size_t size);
void *arena_memdup(struct arena *a, const void *p, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n); /* ends at a NUL, as strndup() */
char *arena_text(struct arena *a, const void *p,
		 size_t n); /* n bytes whatever they are, and a NUL */
char *arena_fmt(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vfmt(struct arena *a, const char *fmt, va_list args) PRINTF(2, 0);

/* Ties p to the life of the arena: fn(p) runs in arena_free(). */
void arena_defer(struct arena *a, void (*fn)(void *p), void *p);

bool arena_over(const struct arena *a);
size_t arena_bytes(const struct arena *a);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_calloc((a), (n), sizeof(type)))

/* Makes room for one more than the n elements that an array has: from none to first, then twice as
 * many. What it had before stays in the arena, unused:
 *	ARENA_GROW(a, l->items, l->cap, l->n, 16);
 *	l->items[l->n++] = x;
 */
#define ARENA_GROW(a, items, cap, n, first)                                                \
	do {                                                                               \
		if ((n) == (cap)) {                                                        \
			(cap) = (cap) ? (cap) * 2 : (first);                               \
			(items) = arena_grown((a), (items), (n), (cap), sizeof(*(items))); \
		}                                                                          \
	} while (0)

#endif
