/*
 * manifest: rendered text to documents, and what of each document decides about it: kind, name,
 * annotations (charts.md 9). Texts are slices of the rendered file.
 */
#ifndef INSTALLERS_MANIFEST_H
#define INSTALLERS_MANIFEST_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"
#include "installers/value/value.h"

#define MANIFEST_DOCUMENTS_MAX 20000

struct manifest_head {
	struct str api_version, kind, name, ns;
	struct vmap *annotations; /* of strings; NULL if there are none */
};

/* A walk over the pieces: struct manifest_split s = manifest_split(file, profile);
 * while (manifest_next(&s, &piece)) ... */
struct manifest_split {
	struct str rest;
	bool at_start; /* only there a separator needs no line break before it */
	enum tmpl_profile profile;
};
struct manifest_split manifest_split(struct str file, enum tmpl_profile profile);
bool manifest_next(struct manifest_split *s, struct str *ret_piece);

/* Reads a piece. Messages are those of the YAML library: "error converting YAML to JSON: ...". */
int manifest_head(struct arena *a, struct str piece, struct manifest_head *ret, struct strbuf *msg);

/* Unicode white space at both ends is removed (strings.TrimSpace). */
struct str text_trim(struct str s);

#endif
