/*
 * pool: small pieces of known size, in pages of their own.
 *
 * The trees of a pass are hundreds of thousands of pieces that come and go together. Between them
 * malloc would put what stays, and the room of both would be lost to the system when they go; here
 * a page holds pieces of one size, is free when the last of them is, and pool_trim() gives it back.
 * A piece costs no header. Under a sanitizer each is malloc's, so that it sees them. Those above
 * POOL_SMALL_MAX have pages of four times the size.
 *
 * What outlives the passes (caches, indexes, outcomes) is in other pages, by pool_keep(): one such piece
 * would hold a page of those that go, and between malloc's large pieces it would do the same.
 */
#ifndef ALM_BASE_POOL_H
#define ALM_BASE_POOL_H

#include "alm/base/mem.h"

#define POOL_SMALL_MAX ((size_t)1008)
#define POOL_PIECE_MAX ((size_t)4080) /* four a page; larger ones are malloc's */

/* Not cleared; n is told again when it goes. */
void *pool_alloc(size_t n) __attribute__((returns_nonnull));
/* The same, for what stays. */
void *pool_keep(size_t n) __attribute__((returns_nonnull));
/* The same, for a library, which may have threads: pages of their own, and pool_free() of it from any. */
void *pool_share(size_t n) __attribute__((returns_nonnull));
void pool_free(void *p, size_t n); /* of all three */
/* A text that stays, as a piece; NULL of NULL. */
char *pool_text(const char *s);
void pool_text_free(void *s);
/* What a piece of n bytes takes, as pool_alloc() or malloc gives it (without a sanitizer). */
size_t pool_taken(size_t n);
/* What is free goes back to the system: pages that hold nothing, how many, and what malloc has. */
size_t pool_trim(void);
/* Pages that hold something; those that hold nothing and were not given back. */
size_t pool_pages(void);
size_t pool_free_pages(void);

#endif
