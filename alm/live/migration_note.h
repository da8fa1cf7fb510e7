/*
 * migration_note: what a definition says of the migration of its objects, read from it and written on
 * it as merge patches. Annotation MIGRATION_ANNOTATION tells where a run is: before its first write
 * that it begins (the server's time of that write is the beginning), and after each page where the
 * next one starts; at the end it goes, and a note for each older version says since when nothing of
 * it is stored.
 */
#ifndef ALM_LIVE_MIGRATION_NOTE_H
#define ALM_LIVE_MIGRATION_NOTE_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

struct migration_note {
	char *next; /* continue token */
	size_t written;
	int64_t remaining;
	int64_t started_ns; /* the server's clock, of the first of all runs */
	int64_t generation; /* of the definition that the token belongs to */
};

/* The entry of spec.versions, borrowed, or NULL. */
const struct obj *migration_version(const struct obj *crd, const char *name);
/* status.storedVersions: "v1 v2". */
const char *migration_stored_versions(const struct obj *crd, struct arena *a);
/* When somebody last wrote spec.versions: what is the storage version is so since then, or longer. */
int64_t migration_versions_since(const struct obj *crd);
/* When we last wrote the definition, by the server's clock; 0: it does not say. */
int64_t migration_noted_at(const struct obj *crd);

/* How far a run before this one came, with the definition that is there now; next is the caller's
 * then. False: none, one that had not begun, or one to another version or of another definition. */
bool migration_note_read(const struct obj *crd, const char *to, struct migration_note *ret);

/* Patches, owned by the caller. */
struct obj *migration_note_begin(const char *to, int64_t now_ns, int64_t remaining);
struct obj *migration_note_page(const char *to, const struct migration_note *n);
/* Entries newer than the start of the migration still count as use of the old version. A version
 * that was written through but never stored is used as well. by: who asked for it; NULL: nobody knows. */
struct obj *migration_note_end(const struct obj *crd, const char *to, int64_t started_ns,
			       const char *by);

#endif
