/* carried: see carried.h. */
#include "alm/base/carried.h"

#include <assert.h>

#include <zlib.h>

#include "alm/base/mem.h"

#define WINDOW (15 + 16) /* gzip's header */

char *carried_read(const struct carried_text *t)
{
	char *text = xmalloc((size_t)t->text_len + 1);
	z_stream z = {.next_in = mem_unconst(t->bytes),
		      .avail_in = t->len,
		      .next_out = (Bytef *)text,
		      .avail_out = t->text_len};
	int r = inflateInit2(&z, WINDOW);
	if (r == Z_OK)
		r = inflate(&z, Z_FINISH);
	assert(r == Z_STREAM_END && !z.avail_out); /* out of memory aborts (mem.h) */
	inflateEnd(&z);
	text[t->text_len] = '\0';
	return text;
}
