/*
 * helm_index: the index.yaml of a Helm repository, read version by version, never as a tree.
 *
 * Bytes in, entry lines (entry.h) out; pure and bounded, so it runs in the sandbox. An entry that
 * cannot be used becomes an error line; a file that cannot be read is an error of the whole.
 */
#ifndef CATALOG_INDEX_HELM_INDEX_H
#define CATALOG_INDEX_HELM_INDEX_H

#include "alm/base/strbuf.h"
#include "catalog/weburl.h"

#define HELM_INDEX_BYTES_MAX ((size_t)64 << 20)
#define HELM_LINES_BYTES_MAX ((size_t)128 << 20)

enum helm_index_flags {
	HELM_INDEX_UNPINNED = 1, /* an entry without digest gets a line with "digest": "" */
	HELM_INDEX_BLOBS = 2,    /* archives lie at base followed by "sha256:DIGEST" */
};

/* base resolves relative urls[]. */
int helm_index_read(struct str text, const struct weburl *base, unsigned flags,
		    struct strbuf *lines, struct error *err);

/* A job of the sandbox: "BASE-URL\nFLAG\nindex.yaml"; FLAG is "unpinned", "blobs" or empty. */
#define HELM_INDEX_JOB "index"
int helm_index_job(struct str input, struct strbuf *output, struct error *err);

#endif
