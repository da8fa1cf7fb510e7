/* pack: see pack.h. One thread, so all packs share zlib's two states (140 KB). */
#include "alm/base/pack.h"

#include <assert.h>

#include <zlib.h>

#define WINDOW    (-15) /* raw: no header, no checksum; the dictionary and as much text */
#define MEM_LEVEL 6
#define LEVEL     6

struct pack {
	struct strbuf dictionary, scratch;
};

struct pack *pack_new(void)
{
	struct pack *p = xcalloc(1, sizeof(*p));
	strbuf_init(&p->dictionary, PACK_FIRST_BYTES + 1);
	strbuf_init(&p->scratch, PACK_TEXT_MAX);
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	strbuf_release(&p->dictionary);
	strbuf_release(&p->scratch);
	xfree(p);
}

/* Ready for one text. What zlib can refuse here is out of memory, which aborts (mem.h). */
static z_stream *packer(const struct pack *p, struct str known)
{
	static z_stream z;
	int r = z.state ? deflateReset(&z)
			: deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEM_LEVEL,
				       Z_DEFAULT_STRATEGY);
	if (r == Z_OK && p->dictionary.len)
		r = deflateSetDictionary(&z, (const Bytef *)p->dictionary.buf,
					 (uInt)p->dictionary.len);
	if (r == Z_OK && known.len)
		r = deflateSetDictionary(&z, (const Bytef *)known.ptr, (uInt)known.len);
	assert(r == Z_OK);
	return &z;
}

static z_stream *unpacker(const struct pack *p, uint32_t dictionary, struct str known)
{
	static z_stream z;
	int r = z.state ? inflateReset(&z) : inflateInit2(&z, WINDOW);
	if (r == Z_OK && dictionary)
		r = inflateSetDictionary(&z, (const Bytef *)p->dictionary.buf, dictionary);
	if (r == Z_OK && known.len)
		r = inflateSetDictionary(&z, (const Bytef *)known.ptr, (uInt)known.len);
	assert(r == Z_OK);
	return &z;
}

/* Whole texts, as long as they fit; the first one may be larger. */
static void learn(struct pack *p, struct str text)
{
	size_t max = p->dictionary.len ? PACK_DICTIONARY_BYTES : PACK_FIRST_BYTES;
	if (p->dictionary.len + text.len <= max)
		strbuf_addstr(&p->dictionary, text);
}

struct packed pack_text(struct pack *p, struct str text, struct str known)
{
	assert(text.len < UINT32_MAX);
	struct packed t = {
		.bytes = text.ptr, .len = (uint32_t)text.len, .text_len = (uint32_t)text.len};
	if (!text.len || text.len > PACK_TEXT_MAX)
		return t;
	z_stream *z = packer(p, known);
	strbuf_clear(&p->scratch);
	z->next_in = mem_unconst(text.ptr);
	z->avail_in = (uInt)text.len;
	z->next_out = (Bytef *)strbuf_reserve(&p->scratch, text.len);
	z->avail_out = (uInt)text.len;
	/* Room for no more than the text has: else it stays as it is. */
	if (deflate(z, Z_FINISH) == Z_STREAM_END && z->avail_out) {
		t.bytes = p->scratch.buf;
		t.len = (uint32_t)text.len - z->avail_out;
		t.dictionary = (uint32_t)p->dictionary.len;
	}
	learn(p, text);
	return t;
}

struct str pack_read(const struct pack *p, const struct packed *t, struct str known,
		     struct strbuf *room)
{
	if (t->len == t->text_len)
		return str_n(t->bytes, t->len);
	z_stream *z = unpacker(p, t->dictionary, known);
	strbuf_clear(room);
	z->next_in = mem_unconst(t->bytes);
	z->avail_in = t->len;
	z->next_out = (Bytef *)strbuf_reserve(room, t->text_len);
	assert(z->next_out);
	z->avail_out = t->text_len;
	int r = inflate(z, Z_FINISH);
	assert(r == Z_STREAM_END && !z->avail_out);
	strbuf_commit(room, t->text_len);
	return strbuf_str(room);
}
