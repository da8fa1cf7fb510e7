/*
 * tiles: the log as static files (c2sp.org/tlog-tiles), for monitors and witnesses that read it
 * over HTTP: the newest checkpoint, tiles of 256 hashes, and bundles of the records they are of.
 * Nothing beyond the newest checkpoint is given.
 */
#ifndef ALM_AUDIT_TILES_H
#define ALM_AUDIT_TILES_H

#include "alm/base/strbuf.h"
#include "alm/io/db.h"

#define TILES_BYTES_MAX ((size_t)17 << 20) /* a bundle: 256 records of 64 KiB and their lengths */

struct tiles_answer {
	const char *content_type;
	bool is_fixed; /* the same for ever: a full tile or bundle */
};

/* path: "checkpoint", "tile/L/N", "tile/L/N.p/W", "tile/entries/N", "tile/entries/N.p/W". E_NOTFOUND
 * for what is no such path, not there yet, or pruned. */
int tiles_read(struct db *d, const char *path, struct strbuf *b, struct tiles_answer *ret,
	       struct error *err);

#endif
