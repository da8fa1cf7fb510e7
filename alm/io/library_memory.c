/* library_memory: see library_memory.h. A library does not say how long a piece is that goes: before each
 * stands its length, as far as malloc's alignment wants it. */
#include "alm/io/library_memory.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <openssl/crypto.h>

#include "alm/base/pool.h"

struct head {
	alignas(max_align_t) size_t n;
};

/* --- as C's own --- */

void *library_malloc(size_t n)
{
	if (n > SIZE_MAX - sizeof(struct head))
		return NULL;
	struct head *h = pool_share(sizeof(*h) + n);
	*h = (struct head){n};
	return h + 1;
}

void library_free(void *p)
{
	struct head *h = p;
	if (h)
		pool_free(h - 1, sizeof(*h) + h[-1].n);
}

void *library_realloc(void *p, size_t n)
{
	const struct head *old = p;
	void *new = library_malloc(n);
	if (old && new)
		memcpy(new, old, old[-1].n < n ? old[-1].n : n);
	if (new)
		library_free(p);
	return new;
}

void *library_calloc(size_t n, size_t bytes)
{
	if (bytes && n > SIZE_MAX / bytes)
		return NULL;
	void *p = library_malloc(n * bytes);
	return p ? memset(p, 0, n * bytes) : NULL;
}

char *library_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = library_malloc(n);
	return p ? memcpy(p, s, n) : NULL;
}

/* --- as OpenSSL calls them: nothing has no piece --- */

static void *crypto_take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return n ? library_malloc(n) : NULL;
}

static void crypto_give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	library_free(p);
}

static void *crypto_change(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	if (n)
		return library_realloc(p, n);
	library_free(p);
	return NULL;
}

void library_memory_crypto(void)
{
	(void)CRYPTO_set_mem_functions(crypto_take, crypto_change, crypto_give);
}
