/*
 * usage: who still uses one version of a custom kind: how many objects there are, whether the
 * version is stored, which clients write through it. The set difference of the gate
 * (ResourceDropped, lifecycle.md 3) and the steps printed for it rest on these facts.
 *
 * A fold: usage_begin(), usage_object() for every live object in any order, then read the fields.
 * One object at a time is looked at and nothing of it is kept but its name.
 *
 * A client counts as a writer through a version if its newest managedFields entry has that
 * apiVersion. Entries older than the migration noted on the definition do not count; times are in
 * whole seconds, so those of its very second do.
 */
#ifndef CATALOG_GATE_USAGE_H
#define CATALOG_GATE_USAGE_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define USAGE_WRITERS_MAX 16
/* Annotation of the definition: app.coreos.com/migrated-from.v1: TIME (lifecycle.md 7.5). */
#define USAGE_MIGRATED_PREFIX "app.coreos.com/migrated-from."
/* ... and who asked for the last one, as the server knew him: for people, nothing is decided by it. */
#define USAGE_MIGRATED_BY "app.coreos.com/migrated-by"

struct strbuf;

struct usage_writer {
	const char *manager, *last_object; /* object as ns/name */
	int64_t last_ns;
};

struct usage {
	struct arena *arena;
	const char *resource;    /* plural.group/version */
	const char *api_version; /* group/version */
	bool stored;             /* in status.storedVersions */
	bool migration_noted;    /* a migration away is noted on the definition */
	int64_t migrated_ns;
	const char *next_version; /* where a migration would lead; NULL: nowhere */
	size_t n_objects;
	const char *first_object; /* of those, by list order; NULL */
	struct usage_writer
		writers[USAGE_WRITERS_MAX]; /* the most recent first after usage_end() */
	size_t n_writers, n_more_writers;
};

/* Of a definition, as its spec says; NULL: none. */
const char *usage_storage_version(const struct obj *crd);
/* crd is the live definition. keep, if any, is the definition or the list of versions that stays
 * (NULL-ended, NULL: unknown): next_version is its storage version, else the highest that stays. */
void usage_begin(struct usage *u, const struct obj *crd, const char *version,
		 const char *const *keep, struct arena *a);
void usage_object(struct usage *u, const struct obj *o);
void usage_end(struct usage *u);

/* A migration away is noted and nobody wrote through the version since: the drop only warns. */
bool usage_is_migrated(const struct usage *u);
/* "1 object, stored, last written through by kubectl-create" */
void usage_text(const struct usage *u, struct strbuf *b);
/* An entry stays in managedFields for ever when its client writes nothing more, as kubectl create
 * does. The command that takes those of other versions than `keep` out of the object (KEP-0555: a
 * client may), where one is newer than since_ns; NULL: none is, or a name is not fit for a shell.
 */
const char *usage_forget(const struct obj *o, const char *group, const char *plural,
			 const char *keep, int64_t since_ns, struct arena *a);

/* default/name, or name. */
const char *usage_object_name(const struct obj *o, struct arena *a);

#endif
