/* crypto_memory: see crypto_memory.h. OpenSSL does not say how long a piece is that goes: before each stands
 * its length, as far as malloc's alignment wants it. */
#include "alm/io/crypto_memory.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include <openssl/crypto.h>

#include "alm/base/pool.h"

struct head {
	alignas(max_align_t) size_t n;
};

static void *take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	if (!n || n > SIZE_MAX - sizeof(struct head))
		return NULL;
	struct head *h = pool_keep(sizeof(*h) + n);
	*h = (struct head){n};
	return h + 1;
}

static void give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	struct head *h = p;
	if (h)
		pool_free(h - 1, sizeof(*h) + h[-1].n);
}

static void *change(void *p, size_t n, const char *file, int line)
{
	const struct head *old = p;
	void *new = take(n, file, line);
	if (old && new)
		memcpy(new, old, old[-1].n < n ? old[-1].n : n);
	if (new || !n)
		give(p, file, line);
	return new;
}

void crypto_memory_pool(void)
{
	(void)CRYPTO_set_mem_functions(take, change, give);
}
