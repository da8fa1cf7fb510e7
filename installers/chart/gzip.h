/*
 * gzip: one gzip stream (RFC 1952) in memory, on zlib.
 *
 * libarchive's gzip filter chains by itself and swallows further members; here a stream has exactly
 * one member, nothing after it, and the ratio is checked while it grows. Packing has no time and no
 * name in the header: the same bytes give the same stream.
 */
#ifndef INSTALLERS_CHART_GZIP_H
#define INSTALLERS_CHART_GZIP_H

#include <stddef.h>

#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

struct gzip_reader; /* borrows the packed bytes */

/* ratio: unpacked to packed, once 1 MiB is unpacked. E_INVALID "not gzip" at the first read. */
struct gzip_reader *gzip_reader_new(struct str packed, size_t bytes_max, size_t ratio_max);
void gzip_reader_free(struct gzip_reader *g);
DEFINE_FREEP(gzip_reader)
/* The next piece, borrowed until the next call; empty at the end, after the trailer was checked. */
int gzip_reader_next(struct gzip_reader *g, struct str *ret_piece, struct error *err);

/* Appends all of it; b's limit bounds it. */
int gzip_unpack(struct str packed, size_t ratio_max, struct strbuf *b, struct error *err);
/* As small as it gets, which is what archives want. */
int gzip_pack(struct str bytes, struct strbuf *b, struct error *err);
/* Between the two: a third of the time, and a fiftieth larger. */
int gzip_pack_soon(struct str bytes, struct strbuf *b, struct error *err);
/* What is packed to take less memory: a fifth of the time, and a third larger. */
int gzip_pack_fast(struct str bytes, struct strbuf *b, struct error *err);

#endif
