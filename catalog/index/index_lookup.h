/* index_lookup: which packages of a revision install an app type, and which provide a resource; which
 * version is the archive of a digest (index_by_digest()).
 * Sorted tables beside the versions: an app is resolved without looking at every version. */
#ifndef CATALOG_INDEX_INDEX_LOOKUP_H
#define CATALOG_INDEX_INDEX_LOOKUP_H

#include <stddef.h>

struct catalog_index;

struct digest_ref {
	const char *digest;
	size_t at; /* of versions */
};

struct index_ref {
	const char *key, *package;
	const char *app_type; /* that the package names, or NULL */
};

/* Again after what a version provides was learned. */
void index_lookup_build(struct catalog_index *x);
/* By selfRef, by plural.group/version, by plural.group; sorted by package. */
const struct index_ref *index_by_app_type(const struct catalog_index *x, const char *self_ref,
					  size_t *ret_n);
const struct index_ref *index_by_resource(const struct catalog_index *x, const char *resource,
					  size_t *ret_n);
const struct index_ref *index_by_crd(const struct catalog_index *x, const char *crd, size_t *ret_n);

#endif
