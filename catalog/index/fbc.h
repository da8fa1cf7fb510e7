/*
 * fbc: an existing catalog of OLM (File-Based Catalog: documents with schema olm.*), read for its
 * channels, edges and deprecations.
 *
 * The source turns its files into entry lines with fbc_lines(); entry.c hands each to fbc_take();
 * index_finish() calls fbc_apply() when the versions are known. A bundle whose package and version
 * is a chart archive of the same source gives that version its channels and edges, unless its
 * alm.yaml has some. Every other bundle becomes a version that is listed, with the reason, and
 * never installed, so that paths and versions show as OLM's users know them.
 *
 * OLM's edges belong to a channel, ours to a version: a version has the edges of all its channels.
 */
#ifndef CATALOG_INDEX_FBC_H
#define CATALOG_INDEX_FBC_H

#include "catalog/index/index.h"

#define FBC_FILE_BYTES_MAX ((size_t)64 << 20)
#define FBC_BYTES_MAX      ((size_t)64 << 20) /* of lines in one index */
#define FBC_EDGES_MAX      1000               /* of one version */

/* Might the text be of OLM? A look, without reading it. */
bool fbc_is_likely(struct str text);
/* Appends a line for every document of OLM; *ret_n: how many. YAML documents, or JSON values one
 * after the other. where names the file. */
int fbc_lines(struct str text, const char *where, struct strbuf *lines, size_t *ret_n,
	      struct error *err);

/* {"olm": {...}, "where": "etcd/catalog.yaml"} of a line. */
void fbc_take(struct catalog_index *x, const struct obj *line);
/* Versions are sorted before and after. */
void fbc_apply(struct catalog_index *x);

#endif
