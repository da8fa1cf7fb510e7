/*
 * index: one immutable revision of a catalog (lifecycle.md 1.2, 1.4).
 *
 * Built again by every sync, entry by entry; a bad entry is left out and named in rejected. The
 * revision is the SHA-256 over the sorted lines "package version archive-digest descriptor-digest"
 * and catalog.yaml: same content, same revision, whatever order or time stamps.
 */
#ifndef CATALOG_INDEX_INDEX_H
#define CATALOG_INDEX_INDEX_H

#include "catalog/index/index_lookup.h"
#include "catalog/index/package.h"

#define INDEX_VERSIONS_MAX 500000
#define INDEX_REJECTED_MAX 20
#define CATALOG_NAMES_MAX  1000 /* of status.packageNames */

struct catalog_index {
	struct arena *arena; /* everything below; freed by index_free */
	const char *name;    /* of the Catalog */
	int64_t priority;
	char revision[65];
	char policy[65];          /* that the signatures of its archives were judged by; "": none */
	int64_t verified_until_s; /* the first end of a signature; 0: none ends */
	int64_t generated_ns;     /* by the source; 0: it does not say */
	struct package_version **versions; /* by package, then highest version first */
	size_t n, cap;
	size_t n_packages, n_rejected; /* n_rejected counts all */
	const char *catalog_yaml;      /* its text, or NULL */
	const struct obj *notices;     /* what it means, or NULL: nobody has parsed it yet */
	const char *notices_error;     /* why it means nothing; or NULL */
	struct obj *olm;               /* lines of fbc.h, or NULL */
	bool over;                     /* more versions than the limit: the revision is unusable */
	const char *rejected[INDEX_REJECTED_MAX];
	enum error_reason rejected_for[INDEX_REJECTED_MAX];
	struct index_ref *app_types, *resources; /* index_lookup.h */
	size_t n_app_types, n_resources;
	struct digest_ref *digests; /* of all n versions */
};

struct catalog_index *index_new(const char *name, int64_t priority);
void index_free(struct catalog_index *x);
static inline void UNUSED index_freep(struct catalog_index **x)
{
	index_free(*x);
}

/* Reads the entry into the index; a bad one is noted as "WHERE: why". */
void index_add(struct catalog_index *x, const struct package_source *s);
void index_reject(struct catalog_index *x, const char *where, const char *why,
		  enum error_reason reason);
/* Sorts, finds duplicates and ambiguous versions, applies catalog.yaml (deprecations, withdrawn)
 * and computes the revision. E_LIMIT, E_INVALID make the whole revision unusable. */
int index_finish(struct catalog_index *x, struct str catalog_yaml, struct error *err);

/* By package, then highest version first; for what adds versions itself. */
void index_sort(struct catalog_index *x);

/* Instead of index_finish() for versions that were in an index before: nothing is judged again. */
void index_restore(struct catalog_index *x, const char *revision);

/* The versions of a package, highest first; *ret_n 0 if it has none. */
struct package_version *const *index_package(const struct catalog_index *x, const char *package,
					     size_t *ret_n);
/* The version that both have: the same package, text and digest. */
bool index_holds(const struct catalog_index *x, const struct package_version *p);
/* Packages that differ between two revisions, in order of name; either may be NULL. */
void index_changes(const struct catalog_index *from, const struct catalog_index *to,
		   void (*fn)(void *arg, const char *package), void *arg);
struct package_version *index_by_digest(const struct catalog_index *x, struct str digest_prefix);

#endif
