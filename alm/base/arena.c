#include "alm/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES_MIN ((size_t)4096)
#define BLOCK_BYTES_MAX ((size_t)262144)
#define VFMT_BYTES      256 /* most texts: formatted once */
/* Pointers, int64_t and double; nothing here holds a long double or a vector. */
#define ARENA_ALIGN ((size_t)8)

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

struct deferred {
	struct deferred *next;
	void (*fn)(void *p);
	void *p;
};

struct arena {
	struct block *blocks;
	struct deferred *deferred;
	size_t limit, bytes, first;
};

struct arena *arena_new(size_t limit)
{
	return arena_sized(limit, BLOCK_BYTES_MIN);
}

struct arena *arena_sized(size_t limit, size_t first)
{
	struct arena *a = xcalloc(1, sizeof(*a));
	a->limit = limit;
	a->first = first;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (struct deferred *d = a->deferred; d; d = d->next)
		d->fn(d->p);
	struct block *next;
	for (struct block *b = a->blocks; b; b = next) {
		next = b->next;
		xfree(b);
	}
	xfree(a);
}

static struct block *add_block(struct arena *a, size_t n)
{
	if (n > SIZE_MAX / 2 || (a->limit && (n + a->bytes) / 4 > a->limit))
		abort();
	size_t size = a->blocks ? a->blocks->size * 2 : a->first;
	if (size > BLOCK_BYTES_MAX)
		size = BLOCK_BYTES_MAX;
	if (size < n)
		size = n;
	struct block *b = xmalloc(sizeof(*b) + size);
	b->used = 0;
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

/* Not cleared. */
static void *take(struct arena *a, size_t n)
{
	if (n > SIZE_MAX - ARENA_ALIGN)
		abort();
	n = (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	struct block *b = a->blocks;
	if (!b || b->size - b->used < n)
		b = add_block(a, n);
	void *p = b->data + b->used;
	b->used += n;
	a->bytes += n;
	return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
	return memset(take(a, n), 0, n);
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		abort();
	return arena_alloc(a, n * size);
}

void *arena_grown(struct arena *a, const void *items, size_t n, size_t cap, size_t size)
{
	void *grown = arena_calloc(a, cap, size);
	if (n)
		memcpy(grown, items, n * size);
	return grown;
}

void *arena_memdup(struct arena *a, const void *p, size_t n)
{
	void *copy = take(a, n);
	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = n ? strnlen(s, n) : 0;
	return arena_text(a, s, len);
}

char *arena_text(struct arena *a, const void *p, size_t n)
{
	char *copy = take(a, n + 1);
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vfmt(struct arena *a, const char *fmt, va_list args)
{
	va_list again;
	va_copy(again, args);
	char some[VFMT_BYTES];
	int n = vsnprintf(some, sizeof(some), fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	if ((size_t)n < sizeof(some))
		return arena_text(a, some, (size_t)n);
	char *s = take(a, (size_t)n + 1);
	if (vsnprintf(s, (size_t)n + 1, fmt, args) < 0)
		abort();
	return s;
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *s = arena_vfmt(a, fmt, args);
	va_end(args);
	return s;
}

void arena_defer(struct arena *a, void (*fn)(void *p), void *p)
{
	struct deferred *d = arena_alloc(a, sizeof(*d));
	d->fn = fn;
	d->p = p;
	d->next = a->deferred;
	a->deferred = d;
}

bool arena_over(const struct arena *a)
{
	return a->limit && a->bytes > a->limit;
}

size_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}
