/*
 * tar: ustar, GNU and pax archives, read entry by entry from a gzip stream, and written in GNU
 * form.
 *
 * It hands out names, types and bytes as they are written; what a chart may hold is decided in
 * archive.c. Nothing is allocated because a header claims a size. Multi-volume archives, sparse
 * files and old forms of them are told apart (TAR_SPARSE, TAR_OTHER) but not read.
 */
#ifndef INSTALLERS_TAR_H
#define INSTALLERS_TAR_H

#include "alm/base/strbuf.h"
#include "installers/gzip.h"

#define TAR_BLOCK      512
#define TAR_META_BYTES ((size_t)64 << 10) /* a long name or a pax header */

enum tar_type { TAR_FILE, TAR_DIR, TAR_HARD_LINK, TAR_SYMLINK, TAR_SPARSE, TAR_OTHER };

struct tar_entry {
	struct str name; /* borrowed until the next entry */
	enum tar_type type;
	uint64_t size;
};

struct tar_reader {
	struct gzip_reader *gzip;
	struct str piece;        /* of the stream, not yet taken */
	uint64_t body, padding;  /* of the entry, not yet taken */
	struct strbuf name, pax; /* of the next entry, from extended headers */
	char header[TAR_BLOCK + 1];
	char joined[256 + 2]; /* prefix/name of ustar */
};

/* gzip is borrowed. */
void tar_reader_init(struct tar_reader *t, struct gzip_reader *gzip);
void tar_reader_release(struct tar_reader *t);
/* The next entry; what is left of the last one is skipped. 1: an entry, 0: the end, where nothing
 * but zeros follows. E_INVALID: not tar, damaged, truncated, bytes after the end. */
int tar_reader_next(struct tar_reader *t, struct tar_entry *ret, struct error *err);
/* Appends the whole body of the entry; ends early, without an error, when b is over its limit. */
int tar_reader_body(struct tar_reader *t, struct strbuf *b, struct error *err);

/* A regular file: mode 0644, no owner, no time. */
void tar_write_file(struct strbuf *b, struct str name, struct str data);
void tar_write_end(struct strbuf *b);

#endif
