/*
 * mem: allocation that cannot fail, and ownership helpers.
 *
 * Out of memory aborts here and nowhere else, so no caller tests for NULL. A local owner is
 * declared with CLEANUP(x_freep) and handed over with STEAL(p).
 */
#ifndef ALM_BASE_MEM_H
#define ALM_BASE_MEM_H

#include <stddef.h>

#define CLEANUP(fn)                   __attribute__((cleanup(fn)))
#define PRINTF(fmt, args)             __attribute__((format(printf, fmt, args)))
#define UNUSED                        __attribute__((unused))
#define ARRAY_LEN(a)                  (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p) - offsetof(type, member)))

/* gcc's analyzer pairs these with free(); clang refuses the two-argument form. */
#if defined(__GNUC__) && !defined(__clang__)
#define MEM_OWNED __attribute__((__malloc__(xfree, 1), returns_nonnull))
#else
#define MEM_OWNED __attribute__((__malloc__, returns_nonnull))
#endif

void xfree(void *p);
/* Zero bytes give a valid, distinct pointer. */
MEM_OWNED void *xmalloc(size_t n);
MEM_OWNED void *xcalloc(size_t n, size_t size);
MEM_OWNED void *xmemdup(const void *p, size_t n);
MEM_OWNED char *xstrdup(const char *s);
MEM_OWNED char *xstrndup(const char *s, size_t n);
/* Owned; consumes p. n * size is checked for overflow. */
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));

/* For CLEANUP(xfreep) char *s. */
void xfreep(void *pp);

/* p without its const, for an interface that says void * and writes nothing there. */
static inline void *mem_unconst(const void *p)
{
	union {
		const void *from;
		void *to;
	} u = {.from = p};
	return u.to;
}

/* Takes the value out of an owner: return STEAL(p). */
#define STEAL(p)                                \
	(__extension__({                        \
		__typeof__(p) steal_tmp_ = (p); \
		(p) = NULL;                     \
		steal_tmp_;                     \
	}))

/* DEFINE_FREEP(chart) makes chart_freep() for CLEANUP from chart_free(). */
#define DEFINE_FREEP(name)                                      \
	static inline void UNUSED name##_freep(struct name **p) \
	{                                                       \
		name##_free(*p);                                \
	}

/* Grows an array so that it holds at least want elements: ARRAY_GROW(q->items, q->cap, q->n + 1).
 */
#define ARRAY_GROW(items, cap, want)                                               \
	do {                                                                       \
		if ((want) > (cap)) {                                              \
			(cap) = mem_grown((cap), (want));                          \
			(items) = xreallocarray((items), (cap), sizeof(*(items))); \
		}                                                                  \
	} while (0)

/* Gives what is free back to the system: after a start, or a request, that needed much for a
 * moment.
 */
void mem_trim(void);
/* n bytes of zeros at a multiple of n, a power of two of at least a page, from the system itself. */
void *mem_region(size_t n) __attribute__((returns_nonnull));
/* The same at any address for a stack, of which few of many bytes are touched: of what malloc() gives, a sanitizer keeps account
 * of each. It grows down: who goes below its end is stopped by STACK_GUARD_BYTES that nobody may touch. */
#define STACK_GUARD_BYTES ((size_t)4096)
void *mem_stack(size_t n) __attribute__((returns_nonnull));
void mem_region_free(void *p, size_t n); /* of any of them */
/* Whole pages of it are zeros again, and take no memory before they are written to. */
void mem_region_clear(void *p, size_t n);
/* For a process that ends soon: what is freed stays with it, instead of coming back page by page.
 */
void mem_keep(void);

/* The next capacity: at least want, at least 8, by half again. */
size_t mem_grown(size_t cap, size_t want);

#endif
