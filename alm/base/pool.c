/*
 * pool: see pool.h. Regions of 1 MiB, aligned to their size, are cut into pages; the first one is
 * the region's own. A page in use has a head, then pieces; those of one class of sizes that have
 * room are in a list. A large page is four of them, as aligned as it is long.
 */
#include "alm/base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "alm/base/sanitizer.h"

#define PAGE_BYTES   ((size_t)4096)
#define REGION_BYTES ((size_t)1 << 20)
#define REGION_PAGES (REGION_BYTES / PAGE_BYTES)
#define LARGE        ((size_t)4)   /* pages that are one */
#define STEP         ((size_t)16)  /* between the sizes; malloc's alignment */
#define LARGE_STEP   ((size_t)128) /* between those above POOL_SMALL_MAX */
#define SMALL        (POOL_SMALL_MAX / STEP)
#define CLASSES      (SMALL + (POOL_PIECE_MAX - POOL_SMALL_MAX) / LARGE_STEP)
#define WORDS        (REGION_PAGES / 64)

_Static_assert(CLASSES <= UINT8_MAX, "struct page has a byte for them");

struct piece {
	struct piece *next;
};

struct page {
	LIST_ENTRY(page) link; /* only while there is room */
	struct piece *freed;   /* pieces that were used */
	uint16_t fresh;        /* pieces behind those that were never used */
	uint16_t used, room;   /* pieces in use, and as many as there can be */
	uint8_t class, stay;   /* 1 to CLASSES; enum stay */
};

struct region {
	LIST_ENTRY(region) link; /* only while it has free pages */
	size_t n_free;
	uint64_t free[WORDS];  /* a bit a page */
	uint64_t dirty[WORDS]; /* of the free ones: it was written to */
};

#define HEAD_BYTES ((sizeof(struct page) + STEP - 1) / STEP * STEP)

/* What the pieces of a page do: go, stay, or stay and are a library's, which may have threads. */
enum stay { GO, STAY, SHARED, STAYS };

LIST_HEAD(page_list, page);
LIST_HEAD(region_list, region);

struct pool {
	struct region_list regions;
	size_t n_pages, n_dirty;
};

static struct page_list with_room[STAYS][CLASSES];
static struct pool own, shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static struct pool *pool_of(unsigned stay)
{
	return stay == SHARED ? &shared : &own;
}

static void take_lock(void)
{
	pthread_mutex_lock(&shared_lock);
}

static void leave_lock(void)
{
	pthread_mutex_unlock(&shared_lock);
}

/* A child has this thread alone: whoever else had the lock would have it for ever. */
static void lock(unsigned stay)
{
	static bool forks;
	if (stay != SHARED)
		return;
	take_lock();
	if (!forks)
		forks = pthread_atfork(take_lock, leave_lock, leave_lock) == 0;
}

static void unlock(unsigned stay)
{
	if (stay == SHARED)
		leave_lock();
}

/* --- sizes --- */

static size_t class_of(size_t n)
{
	if (n > POOL_SMALL_MAX)
		return SMALL + (n - POOL_SMALL_MAX + LARGE_STEP - 1) / LARGE_STEP;
	return n ? (n + STEP - 1) / STEP : 1;
}

static size_t piece_bytes(size_t class)
{
	return class > SMALL ? POOL_SMALL_MAX + (class - SMALL) * LARGE_STEP : class * STEP;
}

static size_t pages_of(size_t class)
{
	return class > SMALL ? LARGE : 1;
}

static size_t pieces_of(size_t class)
{
	return (pages_of(class) * PAGE_BYTES - HEAD_BYTES) / piece_bytes(class);
}

/* --- pages --- */

static struct region *region_of(const void *p)
{
	return (struct region *)(void *)((char *)mem_unconst(p) - (uintptr_t)p % REGION_BYTES);
}

static struct page *page_of(void *p, size_t class)
{
	return (struct page *)(void *)((char *)p - (uintptr_t)p % (pages_of(class) * PAGE_BYTES));
}

static struct region *region_new(struct pool *pool)
{
	struct region *r = mem_region(REGION_BYTES);
	*r = (struct region){.n_free = REGION_PAGES - 1};
	for (size_t i = 0; i < WORDS; i++)
		r->free[i] = UINT64_MAX;
	r->free[0] &= ~UINT64_C(1);
	LIST_INSERT_HEAD(&pool->regions, r, link);
	return r;
}

/* Of each LARGE bits the first one: all of them are set. */
static uint64_t whole(uint64_t bits)
{
	uint64_t pairs = bits & bits >> 1;
	return pairs & pairs >> 2 & UINT64_C(0x1111111111111111);
}

/* The first page of n free ones. */
static bool region_has(const struct region *r, size_t n, size_t *ret)
{
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t bits = n == 1 ? r->free[i] : whole(r->free[i]);
		if (!bits)
			continue;
		*ret = i * 64 + (size_t)__builtin_ctzll(bits);
		return true;
	}
	return false;
}

static uint64_t bits_at(size_t page, size_t n)
{
	return ((UINT64_C(1) << n) - 1) << page % 64;
}

static struct page *page_take(struct pool *pool, size_t class)
{
	size_t at = 0, n = pages_of(class);
	struct region *r = NULL;
	LIST_FOREACH(r, &pool->regions, link)
	{
		if (region_has(r, n, &at))
			break;
	}
	if (!r) {
		r = region_new(pool);
		region_has(r, n, &at);
	}
	uint64_t bits = bits_at(at, n);
	r->free[at / 64] &= ~bits;
	pool->n_dirty -= (size_t)__builtin_popcountll(r->dirty[at / 64] & bits);
	r->dirty[at / 64] &= ~bits;
	r->n_free -= n;
	if (!r->n_free)
		LIST_REMOVE(r, link);
	pool->n_pages += n;
	return (struct page *)(void *)((char *)r + at * PAGE_BYTES);
}

static void page_give(struct page *p)
{
	struct pool *pool = pool_of(p->stay);
	struct region *r = region_of(p);
	size_t at = (uintptr_t)p % REGION_BYTES / PAGE_BYTES, n = pages_of(p->class);
	uint64_t bits = bits_at(at, n);
	r->free[at / 64] |= bits;
	r->dirty[at / 64] |= bits;
	pool->n_dirty += n;
	pool->n_pages -= n;
	if (!r->n_free)
		LIST_INSERT_HEAD(&pool->regions, r, link);
	r->n_free += n;
}

size_t pool_pages(void)
{
	return own.n_pages + shared.n_pages;
}

size_t pool_free_pages(void)
{
	return own.n_dirty + shared.n_dirty;
}

static bool is_to_clear(const struct region *r, size_t i)
{
	return r->free[i / 64] & r->dirty[i / 64] & UINT64_C(1) << i % 64;
}

/* Neighbours at once: what a call costs is the same for one page as for a hundred. */
static size_t clear_pages(struct region *r)
{
	size_t n = 0;
	for (size_t i = 0, end; i < REGION_PAGES; i = end + 1) {
		for (end = i; end < REGION_PAGES && is_to_clear(r, end);)
			end++;
		if (end > i)
			mem_region_clear((char *)r + i * PAGE_BYTES, (end - i) * PAGE_BYTES);
		n += end - i;
	}
	return n;
}

static size_t trim(struct pool *pool)
{
	size_t n = 0;
	struct region *r, *next;
	for (r = LIST_FIRST(&pool->regions); r; r = next) {
		next = LIST_NEXT(r, link);
		n += clear_pages(r);
		for (size_t i = 0; i < WORDS; i++)
			r->dirty[i] &= ~r->free[i];
		if (r->n_free == REGION_PAGES - 1) {
			LIST_REMOVE(r, link);
			mem_region_free(r, REGION_BYTES);
		}
	}
	pool->n_dirty -= n;
	return n;
}

size_t pool_trim(void)
{
	size_t n = trim(&own);
	lock(SHARED);
	n += trim(&shared);
	unlock(SHARED);
	mem_trim();
	return n;
}

/* --- pieces --- */

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
	return n > POOL_PIECE_MAX ? malloc_taken(n) : piece_bytes(class_of(n));
}

static struct page *page_with_room(enum stay stay, size_t class)
{
	struct page *p = LIST_FIRST(&with_room[stay][class - 1]);
	if (p)
		return p;
	p = page_take(pool_of(stay), class);
	*p = (struct page){
		.class = (uint8_t)class, .stay = (uint8_t)stay, .room = (uint16_t)pieces_of(class)};
	LIST_INSERT_HEAD(&with_room[stay][class - 1], p, link);
	return p;
}

static void *take(enum stay stay, size_t n)
{
	struct page *p = page_with_room(stay, class_of(n));
	struct piece *piece = p->freed;
	if (piece)
		p->freed = piece->next;
	else
		piece = (struct piece *)(void *)((char *)p + HEAD_BYTES +
						 p->fresh++ * piece_bytes(p->class));
	if (++p->used == p->room)
		LIST_REMOVE(p, link);
	return piece;
}

void *pool_alloc(size_t n)
{
	return is_mallocs(n) ? xmalloc(n) : take(GO, n);
}

void *pool_keep(size_t n)
{
	return is_mallocs(n) ? xmalloc(n) : take(STAY, n);
}

void *pool_share(size_t n)
{
	if (is_mallocs(n))
		return xmalloc(n);
	lock(SHARED);
	void *p = take(SHARED, n);
	unlock(SHARED);
	return p;
}

static void give(struct page *p, struct piece *piece)
{
	if (p->used == p->room)
		LIST_INSERT_HEAD(&with_room[p->stay][p->class - 1], p, link);
	piece->next = p->freed;
	p->freed = piece;
	if (--p->used)
		return;
	LIST_REMOVE(p, link);
	page_give(p);
}

void pool_free(void *ptr, size_t n)
{
	if (!ptr || is_mallocs(n)) {
		xfree(ptr);
		return;
	}
	struct page *p = page_of(ptr, class_of(n));
	unsigned stay = p->stay;
	assert(p->class == class_of(n));
	lock(stay);
	give(p, ptr);
	unlock(stay);
}

char *pool_text(const char *s)
{
	size_t n = s ? strlen(s) + 1 : 0;
	return s ? memcpy(pool_keep(n), s, n) : NULL;
}

void pool_text_free(void *s)
{
	if (s)
		pool_free(s, strlen(s) + 1);
}
