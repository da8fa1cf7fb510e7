/* The only place that allocates, and the only place where out of memory is met. */
#include "alm/base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KEPT_BYTES (16 << 20)

static void *checked(void *p)
{
	if (!p)
		abort();
	return p;
}

void xfree(void *p)
{
	free(p);
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);
	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		abort();
	size_t bytes = n * size;
	return checked(realloc(p, bytes ? bytes : 1));
}

void xfreep(void *pp)
{
	void *p;
	memcpy(&p, pp, sizeof(p));
	free(p);
}

size_t mem_grown(size_t cap, size_t want)
{
	size_t next = cap + cap / 2;
	if (next < 8)
		next = 8;
	return next < want ? want : next;
}

void mem_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

static void *mem_pages(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return checked(p == MAP_FAILED ? NULL : p);
}

void *mem_stack(size_t n)
{
	char *p = mem_pages(n);
	void *guard = mmap(p, STACK_GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0);
	return checked(guard == MAP_FAILED ? NULL : guard);
}

void *mem_region(size_t n)
{
	char *p = mem_pages(2 * n); /* and what is before and behind it goes back */
	size_t before = (n - (uintptr_t)p % n) % n;
	if (before)
		munmap(p, before);
	munmap(p + before + n, n - before);
	return p + before;
}

void mem_region_free(void *p, size_t n)
{
	munmap(p, n);
}

void mem_region_clear(void *p, size_t n)
{
	madvise(p, n, MADV_DONTNEED);
}

void mem_trim(void)
{
	malloc_trim(0);
}
