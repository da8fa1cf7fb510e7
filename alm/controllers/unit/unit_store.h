/*
 * unit_store: a document of many objects (a unit, an install plan) in Secrets: JSON, packed, in
 * chunks that a Secret holds:
 *
 *	PREFIX.0 .. PREFIX.N-1	type app.coreos.com/plan, data.plan; annotated with N and with the
 *				digest of the whole as it is stored, so chunks of two documents
 *				never mix
 */
#ifndef ALM_CONTROLLERS_UNIT_UNIT_STORE_H
#define ALM_CONTROLLERS_UNIT_UNIT_STORE_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

struct plan_cache;
struct view;

#define STORE_CHUNK_BYTES   ((size_t)700000)
#define STORE_CHUNKS_MAX    64
#define STORE_DOCUMENT_MAX  (STORE_CHUNK_BYTES * STORE_CHUNKS_MAX)
#define STORE_TYPE          "app.coreos.com/plan" /* of the Secrets */
#define ANNOTATION_INPUTS   "app.coreos.com/inputs"
#define ANNOTATION_CHUNKS   "app.coreos.com/chunks"
#define ANNOTATION_DOCUMENT "app.coreos.com/document"

/* Where the chunks are read. */
struct store_source {
	struct obj *(*get)(const struct store_source *s, const char *name); /* owned; NULL: none */
	const struct view *view;                                            /* of get */
	const struct obj *items;  /* of get: Secrets, as a list or by their names */
	struct plan_cache *cache; /* NULL: each time it is parsed anew */
	struct arena *a;
};

/* The Secrets of namespace ns that hold the document, as a list; owned. NULL: it has more than
 * STORE_CHUNKS_MAX, and could not be read back. inputs NULL: not said. */
struct obj *store_split(const struct obj *doc, const char *ns, const char *prefix,
			const char *inputs);
const char *store_name(const char *prefix, size_t i, struct arena *a);
/* The document, in the arena; inputs NULL: any. NULL: not (wholly) there, or damaged. */
const struct obj *store_join(const struct store_source *s, const char *prefix, const char *inputs);
/* The first chunk that lacks; NULL: none does. */
const char *store_missing(const struct store_source *s, const char *prefix, const char *inputs);
bool store_is_chunk(const struct obj *o, const char *inputs);

#endif
