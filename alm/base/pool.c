/*
 * pool: see pool.h. Regions of 1 MiB, aligned to their size, are cut into pages; the first one is
 * the region's own. A page in use has a head, then pieces; those of one size that have room are in
 * a list.
 */
#include "alm/base/pool.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "alm/base/sanitizer.h"

#define PAGE_BYTES   ((size_t)4096)
#define REGION_BYTES ((size_t)1 << 20)
#define REGION_PAGES (REGION_BYTES / PAGE_BYTES)
#define STEP         ((size_t)16) /* between the sizes; malloc's alignment */
#define SIZES        (POOL_PIECE_MAX / STEP)
#define WORDS        (REGION_PAGES / 64)

struct piece {
	struct piece *next;
};

struct page {
	LIST_ENTRY(page) link; /* only while there is room */
	struct piece *freed;   /* pieces that were used */
	uint16_t fresh;        /* pieces behind those that were never used */
	uint16_t used, size;   /* pieces in use; of one, in steps */
};

struct region {
	LIST_ENTRY(region) link; /* only while it has free pages */
	size_t n_free;
	uint64_t free[WORDS];  /* a bit a page */
	uint64_t dirty[WORDS]; /* of the free ones: it was written to */
};

#define HEAD_BYTES ((sizeof(struct page) + STEP - 1) / STEP * STEP)

LIST_HEAD(page_list, page);
LIST_HEAD(region_list, region);

static struct page_list with_room[SIZES];
static struct region_list regions;
static size_t n_pages;

static size_t pieces_of(const struct page *p)
{
	return (PAGE_BYTES - HEAD_BYTES) / (p->size * STEP);
}

/* --- pages --- */

static struct region *region_of(const void *p)
{
	return (struct region *)(void *)((char *)mem_unconst(p) - (uintptr_t)p % REGION_BYTES);
}

static struct page *page_of(void *p)
{
	return (struct page *)(void *)((char *)p - (uintptr_t)p % PAGE_BYTES);
}

static struct region *region_new(void)
{
	struct region *r = mem_region(REGION_BYTES);
	*r = (struct region){.n_free = REGION_PAGES - 1};
	for (size_t i = 0; i < WORDS; i++)
		r->free[i] = UINT64_MAX;
	r->free[0] &= ~UINT64_C(1);
	LIST_INSERT_HEAD(&regions, r, link);
	return r;
}

static struct page *page_take(void)
{
	struct region *r = LIST_FIRST(&regions);
	if (!r)
		r = region_new();
	size_t i = 0;
	while (!r->free[i])
		i++;
	unsigned bit = (unsigned)__builtin_ctzll(r->free[i]);
	r->free[i] &= ~(UINT64_C(1) << bit);
	if (!--r->n_free)
		LIST_REMOVE(r, link);
	n_pages++;
	return (struct page *)(void *)((char *)r + (i * 64 + bit) * PAGE_BYTES);
}

static void page_give(struct page *p)
{
	struct region *r = region_of(p);
	size_t i = (uintptr_t)p % REGION_BYTES / PAGE_BYTES;
	uint64_t bit = UINT64_C(1) << i % 64;
	r->free[i / 64] |= bit;
	r->dirty[i / 64] |= bit;
	n_pages--;
	if (!r->n_free++)
		LIST_INSERT_HEAD(&regions, r, link);
}

size_t pool_pages(void)
{
	return n_pages;
}

size_t pool_trim(void)
{
	size_t n = 0;
	struct region *r, *next;
	for (r = LIST_FIRST(&regions); r; r = next) {
		next = LIST_NEXT(r, link);
		for (size_t i = 0; i < REGION_PAGES; i++) {
			uint64_t bit = UINT64_C(1) << i % 64;
			if (!(r->free[i / 64] & r->dirty[i / 64] & bit))
				continue;
			mem_region_clear((char *)r + i * PAGE_BYTES, PAGE_BYTES);
			n++;
		}
		for (size_t i = 0; i < WORDS; i++)
			r->dirty[i] &= ~r->free[i];
		if (r->n_free == REGION_PAGES - 1) {
			LIST_REMOVE(r, link);
			mem_region_free(r, REGION_BYTES);
		}
	}
	mem_trim();
	return n;
}

/* --- pieces --- */

static size_t steps(size_t n)
{
	return n ? (n + STEP - 1) / STEP : 1;
}

/* What malloc takes for n bytes: eight more, in steps of 16, at least 32. */
static size_t malloc_taken(size_t n)
{
	size_t taken = (n + 8 + 15) / 16 * 16;
	return taken < 32 ? 32 : taken;
}

static bool is_mallocs(size_t n)
{
	return SANITIZER_RUNS || n > POOL_PIECE_MAX;
}

size_t pool_taken(size_t n)
{
	return n > POOL_PIECE_MAX ? malloc_taken(n) : steps(n) * STEP;
}

static struct page *page_with_room(size_t size)
{
	struct page *p = LIST_FIRST(&with_room[size - 1]);
	if (p)
		return p;
	p = page_take();
	*p = (struct page){.size = (uint16_t)size};
	LIST_INSERT_HEAD(&with_room[size - 1], p, link);
	return p;
}

void *pool_alloc(size_t n)
{
	if (is_mallocs(n))
		return xmalloc(n);
	struct page *p = page_with_room(steps(n));
	struct piece *piece = p->freed;
	if (piece)
		p->freed = piece->next;
	else
		piece = (struct piece *)(void *)((char *)p + HEAD_BYTES +
						 (size_t)p->fresh++ * p->size * STEP);
	if (++p->used == pieces_of(p))
		LIST_REMOVE(p, link);
	return piece;
}

void pool_free(void *ptr, size_t n)
{
	if (!ptr || is_mallocs(n)) {
		xfree(ptr);
		return;
	}
	struct page *p = page_of(ptr);
	struct piece *piece = ptr;
	assert(p->size == steps(n) && p->used);
	if (p->used == pieces_of(p))
		LIST_INSERT_HEAD(&with_room[p->size - 1], p, link);
	piece->next = p->freed;
	p->freed = piece;
	if (--p->used)
		return;
	LIST_REMOVE(p, link);
	page_give(p);
}
