#include "installers/chart/gzip.h"

#include <assert.h>
#include <stdint.h>
#include <zlib.h>

#define PIECE_BYTES     65536
#define RATIO_FROM      ((size_t)1 << 20)
#define WINDOW_GZIP     (15 + 16) /* zlib: a gzip wrapper, and nothing else */
#define PACK_MEM_LEVEL  8
#define PACK_LEVEL_SOON 6

struct gzip_reader {
	z_stream z;
	struct str packed;
	size_t bytes_max, ratio_max, unpacked;
	bool started, ended;
	unsigned char piece[PIECE_BYTES];
};

struct gzip_reader *gzip_reader_new(struct str packed, size_t bytes_max, size_t ratio_max)
{
	struct gzip_reader *g = xcalloc(1, sizeof(*g));
	g->packed = packed;
	g->bytes_max = bytes_max;
	g->ratio_max = ratio_max;
	return g;
}

void gzip_reader_free(struct gzip_reader *g)
{
	if (!g)
		return;
	if (g->started)
		inflateEnd(&g->z);
	xfree(g);
}

static int start(struct gzip_reader *g, struct error *err)
{
	if (g->packed.len < 2 || (unsigned char)g->packed.ptr[0] != 0x1f ||
	    (unsigned char)g->packed.ptr[1] != 0x8b)
		return error_set(err, E_INVALID, "not gzip");
	if (g->packed.len > UINT32_MAX)
		return error_set(err, E_LIMIT, "gzip stream of %zu bytes is too large",
				 g->packed.len);
	g->z.next_in = mem_unconst(g->packed.ptr);
	g->z.avail_in = (unsigned)g->packed.len;
	if (inflateInit2(&g->z, WINDOW_GZIP) != Z_OK)
		return error_set(err, E_INTERNAL, "zlib does not start");
	g->started = true;
	return 0;
}

static int check_budget(const struct gzip_reader *g, struct error *err)
{
	if (g->unpacked > g->bytes_max)
		return error_set(err, E_LIMIT, "unpacked size is over %zu bytes", g->bytes_max);
	size_t packed = g->packed.len - g->z.avail_in;
	if (g->unpacked > RATIO_FROM && g->unpacked / g->ratio_max > packed)
		return error_set(err, E_LIMIT, "unpacked size is over %zu times the packed size",
				 g->ratio_max);
	return 0;
}

int gzip_reader_next(struct gzip_reader *g, struct str *ret_piece, struct error *err)
{
	if (g->ended) {
		*ret_piece = STR("");
		return 0;
	}
	int rc = g->started ? 0 : start(g, err);
	if (rc < 0)
		return rc;
	g->z.next_out = g->piece;
	g->z.avail_out = sizeof(g->piece);
	int r = inflate(&g->z, Z_NO_FLUSH);
	size_t n = sizeof(g->piece) - g->z.avail_out;
	if (r == Z_BUF_ERROR || (r == Z_OK && !n))
		return error_set(err, E_INVALID, "gzip stream is truncated");
	if (r != Z_OK && r != Z_STREAM_END)
		return error_set(err, E_INVALID, "gzip stream is damaged: %s",
				 g->z.msg ? g->z.msg : "bad data");
	g->unpacked += n;
	rc = check_budget(g, err);
	if (rc < 0)
		return rc;
	g->ended = r == Z_STREAM_END;
	if (g->ended && g->z.avail_in)
		return error_set(err, E_INVALID, "%u bytes after the end of the gzip stream",
				 g->z.avail_in);
	*ret_piece = str_n((const char *)g->piece, n);
	return 0;
}

int gzip_unpack(struct str packed, size_t ratio_max, struct strbuf *b, struct error *err)
{
	CLEANUP(gzip_reader_freep) struct gzip_reader *g =
		gzip_reader_new(packed, b->limit, ratio_max);
	struct str piece;
	do {
		int rc = gzip_reader_next(g, &piece, err);
		if (rc < 0)
			return rc;
		strbuf_addstr(b, piece);
	} while (piece.len || !g->ended);
	return strbuf_check(b, "gzip stream", err);
}

static int pack(struct str bytes, int level, struct strbuf *b, struct error *err)
{
	if (bytes.len > UINT32_MAX / 2)
		return error_set(err, E_LIMIT, "%zu bytes are too many to pack", bytes.len);
	z_stream z = {.next_in = mem_unconst(bytes.ptr), .avail_in = (unsigned)bytes.len};
	if (deflateInit2(&z, level, Z_DEFLATED, WINDOW_GZIP, PACK_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return error_set(err, E_INTERNAL, "zlib does not start");
	size_t bound = deflateBound(&z, bytes.len);
	char *out = strbuf_reserve(b, bound);
	int r = Z_MEM_ERROR;
	if (out) {
		z.next_out = (unsigned char *)out;
		z.avail_out = (unsigned)bound;
		r = deflate(&z, Z_FINISH);
		strbuf_commit(b, bound - z.avail_out);
	}
	deflateEnd(&z);
	if (r != Z_STREAM_END)
		return error_set(err, E_LIMIT, "packed size is over %zu bytes", b->limit);
	return 0;
}

int gzip_pack(struct str bytes, struct strbuf *b, struct error *err)
{
	return pack(bytes, Z_BEST_COMPRESSION, b, err);
}

int gzip_pack_soon(struct str bytes, struct strbuf *b, struct error *err)
{
	return pack(bytes, PACK_LEVEL_SOON, b, err);
}

int gzip_pack_fast(struct str bytes, struct strbuf *b, struct error *err)
{
	return pack(bytes, Z_BEST_SPEED, b, err);
}
